"""Defines `Checkpoints`, the tool that lists what can be restored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar

from typing_extensions import override

from agentscope_like.checkpoint import Checkpoint, CheckpointStore
from agentscope_like.message import ToolChunk
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agentscope_like.state import AgentState
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.builtin.tool_results import succeeded

__all__ = ["Checkpoints"]

_LIMIT, _MAX_LIMIT = 20, 100
_SHOWN_PATHS = 3


class Checkpoints(ToolBase):
    """Lists the checkpoints of the agent's session, the latest first.

    Args:
        checkpoints: Where they are kept.
        session_id: Whose checkpoints are listed; by default, those of the session that calls.
        middlewares: Layers around `call`.
    """

    name = "Checkpoints"
    description = (
        "Lists the checkpoints that were made before your changes of files, the latest first: "
        "number, time, what was done, files. Restore takes their numbers. before: only those of "
        "smaller numbers, for the next page. limit: how many, 20 by default and at most 100."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "before": {"type": ["integer", "null"], "minimum": 1},
            "limit": {"type": "integer", "minimum": 1, "maximum": _MAX_LIMIT, "default": _LIMIT},
        },
    }
    is_concurrency_safe = True
    is_read_only = True
    is_state_injected = True
    touches_only_agent_state: ClassVar[bool] = True

    def __init__(
        self,
        checkpoints: CheckpointStore,
        *,
        session_id: str | None = None,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
    ) -> None:
        super().__init__(middlewares)
        self._checkpoints = checkpoints
        self._session_id = session_id

    @override
    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Allow every call: it shows what the agent itself has done."""
        del tool_input, context
        return PermissionDecision(PermissionBehavior.ALLOW, "It lists the agent's own changes.")

    async def call(
        self, _agent_state: AgentState, before: int | None = None, limit: int = _LIMIT
    ) -> ToolChunk:
        """Return one line for each checkpoint."""
        session_id = self._session_id or _agent_state.session_id
        page = await asyncio.to_thread(
            self._checkpoints.page, before=before, limit=limit, session_id=session_id
        )
        metadata = {"checkpoints": [each.id for each in page]}
        return succeeded("\n".join(map(_in_short, page)) or "There are no checkpoints.", metadata)


def _in_short(checkpoint: Checkpoint) -> str:
    paths = ", ".join(checkpoint.paths[:_SHOWN_PATHS])
    more = len(checkpoint.paths) - _SHOWN_PATHS
    rest = f" and {more:,} more" if more > 0 else ""
    state = "" if checkpoint.state == "done" else f" [{checkpoint.state}]"
    time = checkpoint.made_at[:19].replace("T", " ")
    return f"#{checkpoint.id} {time}{state} {checkpoint.summary} ({paths}{rest})"
