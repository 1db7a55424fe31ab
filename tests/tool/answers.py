"""Calls of tools that answer in JSON and fail with codes."""

from __future__ import annotations

import json
from typing import Any

from agentscope_like.message import ToolResponse, ToolResultState
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolBase, Toolkit
from tests.tool.kit import call_of, outcome, text_of


async def response_of(tool: ToolBase, **arguments: Any) -> ToolResponse:
    """Return the response of a call that nobody was asked about."""
    call = call_of(tool.name, json.dumps(arguments))
    response = await outcome(Toolkit([tool]), call, AgentState())
    assert response is not None
    return response


async def answer_of(tool: ToolBase, **arguments: Any) -> dict[str, Any]:
    """Return what a successful call answers."""
    response = await response_of(tool, **arguments)
    assert response.state is ToolResultState.SUCCESS, text_of(response)
    answer: dict[str, Any] = json.loads(text_of(response))
    return answer


async def error_of(tool: ToolBase, **arguments: Any) -> tuple[str | None, str]:
    """Return the code and the text of a call that fails; the code is None for misfits."""
    response = await response_of(tool, **arguments)
    assert response.state is ToolResultState.ERROR
    return response.metadata.get("error_code"), text_of(response)
