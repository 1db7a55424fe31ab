"""Tells whether files have changed since they were looked at."""

from __future__ import annotations

from agentscope_like.file_changes.inotify import add_watch, new_instance
from agentscope_like.file_changes.looks import Looks

__all__ = ["Looks", "add_watch", "new_instance"]
