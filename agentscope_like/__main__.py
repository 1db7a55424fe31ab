"""Runs the terminal program: `python -m agentscope_like`."""

from agentscope_like.cli import main

__all__: list[str] = []

main()
