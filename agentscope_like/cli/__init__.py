"""Runs the agent and its decisions in a terminal."""

__all__: list[str] = []
