"""Decides whether a tool call may run; never runs anything itself."""
