"""The error of a file tool, and the largest file that one reads whole."""

from __future__ import annotations

from agentscope_like.exception import AgentOrientedException

__all__ = ["MAX_WHOLE_BYTES", "FileToolError"]

MAX_WHOLE_BYTES = 64 * 1024 * 1024
"""Largest file, in bytes, that is taken into memory whole, as editing and searching do."""


class FileToolError(AgentOrientedException):
    """A file that cannot be used as asked; the message says what to do instead."""
