"""The ready-made typed tools."""
