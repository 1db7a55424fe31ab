"""What a shell command line means."""
