"""Defines the base class of `ToolManager` and `ToolProxy`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

from agentscope_like.message import (
    ToolCallBlock,
    ToolCallState,
    ToolResponse,
    ToolResultBlock,
    ToolResultState,
)
from agentscope_like.message.block import new_id
from agentscope_like.state import AgentState
from agentscope_like.tool.call import refused
from agentscope_like.tool.spec import ToolSpec
from agentscope_like.tool.toolkit import Toolkit

__all__ = ["ManagedToolkit"]

ASKS = (
    "{name} did not run: a person has to approve it, and nobody can be asked here. {why} Use "
    "another tool, or tell the user."
)
OUTSIDE = "{name} did not run: it is done outside, and nobody is there to do it."


class ManagedToolkit(Toolkit):
    """A toolkit with the methods that Sage's documents give a manager (seed 000, 1.3)."""

    def list_all_tools_name(self) -> list[str]:
        """Return the names of all tools that a model may see, in order.

        A server's tools are included once it was connected.
        """
        self._inventory.look()
        return self._inventory.names()

    def get_tool_spec(self, name: str) -> ToolSpec | None:
        """Return the specification of the tool with this name; None if there is none."""
        self._inventory.look()
        tool = self._inventory.tools.get(name)
        return None if tool is None else ToolSpec.of(tool)

    async def run_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | str,
        state: AgentState,
        *,
        call_id: str | None = None,
    ) -> ToolResultBlock:
        """Decide a call, run it if it is allowed, and return its result for the model.

        If the call does not run, the result says why, even if a person would have to approve it.
        With an `Agent` or `call_tool`, such a call waits instead.

        Args:
            name: The tool.
            arguments: Its arguments, or a model's JSON text.
            state: The state of the session, with its `permission_context`.
            call_id: The call's id; a new one by default.
        """
        text = arguments if isinstance(arguments, str) else json.dumps(dict(arguments))
        call = ToolCallBlock(id=call_id or new_id(), name=name, input=text)
        response: ToolResponse | None = None
        async with aclosing(self.call_tool(call, state)) as items:
            async for item in items:
                if isinstance(item, ToolResponse):
                    response = item
        if response is None:
            response = _not_waited_for(call)
        return ToolResultBlock(
            id=call.id,
            name=name,
            output=response.content,
            state=response.state,
            metadata=response.metadata,
        )


def _not_waited_for(call: ToolCallBlock) -> ToolResponse:
    why = call.decision.message if call.decision is not None else ""
    said = OUTSIDE if call.state is ToolCallState.SUBMITTED else ASKS
    return refused(call.id, said.format(name=call.name, why=why), ToolResultState.DENIED)
