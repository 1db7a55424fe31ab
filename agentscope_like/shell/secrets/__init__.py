"""Finds the secrets that a command would read."""

from __future__ import annotations

from agentscope_like.shell.secrets.known_ends import may_be_sensitive
from agentscope_like.shell.secrets.shown_secrets import Secrets
from agentscope_like.shell.secrets.told_names import named_files

__all__ = [
    "Secrets",
    "may_be_sensitive",
    "named_files",
]
