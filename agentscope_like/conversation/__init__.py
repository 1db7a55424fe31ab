"""Gives an agent the chat that it works for: to search, to read and to commit to."""

from __future__ import annotations

from agentscope_like.conversation.commit import CommitMode, CommitSink

__all__ = ["CommitMode", "CommitSink"]
