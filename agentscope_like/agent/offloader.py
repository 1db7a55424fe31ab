"""`Offloader`: keeps what the context cannot hold, where the agent can read it again."""

from __future__ import annotations

from typing import Protocol

from agentscope_like.message import Msg, ToolResultBlock

__all__ = ["Offloader"]


class Offloader(Protocol):
    """Stores history and tool results, and says where.

    What a method returns is told to the model, as a path as a rule. One that raises costs the
    reference only: the reply goes on, and the model is told that the rest was not kept.
    """

    async def offload_context(self, session_id: str, msgs: list[Msg]) -> str:
        """Store the messages that a summary replaces, and return where."""

    async def offload_tool_result(self, session_id: str, tool_result: ToolResultBlock) -> str:
        """Store the whole of a result that the model is shown a part of, and return where."""
