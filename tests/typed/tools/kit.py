"""Calls of ready-made tools, as a model makes them."""

from __future__ import annotations

import json
from typing import Any

from agentscope_like.message import ToolCallBlock, ToolResultState
from agentscope_like.permission import PermissionDecision, PermissionEngine
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolBase, Toolkit
from tests.typed.kit import run

__all__ = ["Answer", "call", "decided"]


class Answer:
    """What came of a call.

    Attributes:
        call: The call.
        text: What the model reads; empty while the call waits.
        ok: Whether it succeeded.
        facts: The observation, as JSON.
    """

    def __init__(self, call: ToolCallBlock, response: Any) -> None:
        self.call = call
        blocks = [] if response is None else response.content
        self.text = "".join(getattr(block, "text", "") for block in blocks)
        self.ok = response is not None and response.state is ToolResultState.SUCCESS
        self.facts = {} if response is None else response.metadata.get("observation", {})


async def call(tool: ToolBase, state: AgentState, **arguments: Any) -> Answer:
    """Decide and run a call."""
    return Answer(*await run(Toolkit([tool]), tool.name, json.dumps(arguments), state))


async def decided(tool: ToolBase, state: AgentState, **arguments: Any) -> PermissionDecision:
    """Return what the engine decides about a call."""
    engine = PermissionEngine(state.permission_context, state)
    return await engine.check_permission(tool, arguments)
