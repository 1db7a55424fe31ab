"""Defines the error of the file tools, and the largest file that they read whole."""

from __future__ import annotations

from agentscope_like.exception import AgentOrientedException

__all__ = ["MAX_WHOLE_BYTES", "FileToolError"]

MAX_WHOLE_BYTES = 64 * 1024 * 1024
"""The maximum size, in bytes, of a file that is read whole for editing or searching."""


class FileToolError(AgentOrientedException):
    """A file that cannot be used as asked; the message says what to do instead."""
