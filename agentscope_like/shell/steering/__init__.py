"""Finds the files of a project that steer a program, so that nothing is proven of it."""

from __future__ import annotations

from agentscope_like.shell.steering.steering_search import steered

__all__ = ["steered"]
