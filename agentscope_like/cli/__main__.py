"""Runs the program as `python -m agentscope_like.cli`."""

from agentscope_like.cli.main import main

__all__: list[str] = []

main()
