"""Ready-made typed tools, each in a room of its own."""
