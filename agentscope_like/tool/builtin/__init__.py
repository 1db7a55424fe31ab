"""The tools that come with the library."""
