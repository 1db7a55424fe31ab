"""Small tools that tests put into toolkits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from agentscope_like.message import TextBlock, ToolCallBlock, ToolResponse
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolBase, ToolChunk, Toolkit

OPEN_SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "count": {"type": "integer", "minimum": 1}},
}


class Probe(ToolBase):
    """Answers with its text, counts its runs, and holds the opinion it was given."""

    description = "Answers with its text."
    input_schema = OPEN_SCHEMA
    is_concurrency_safe = True
    is_read_only = False

    def __init__(
        self,
        name: str = "Probe",
        opinion: str = "allow",
        *,
        safety: bool = False,
        concurrent: bool = True,
        external: bool = False,
        work: Callable[[str], AsyncGenerator[Any, None]] | None = None,
        middlewares: Any = None,
    ) -> None:
        super().__init__(middlewares)
        self.name = name
        self.opinion = PermissionBehavior(opinion)
        self.safety = safety
        self.is_concurrency_safe = concurrent
        self.is_external_tool = external
        self.work = work
        self.runs: list[str] = []
        self.basis: str | None = None

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        safety = self.safety or tool_input.get("text") == "dangerous"
        opinion = PermissionBehavior.ASK if safety else self.opinion
        return PermissionDecision(opinion, f"{self.name} wants to run.", bypass_immune=safety)

    async def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool:
        return rule_content is None or rule_content == tool_input.get("text")

    def decision_basis(self, tool_input: dict[str, Any]) -> str | None:
        return self.basis

    async def call(self, text: str = "", count: int = 1) -> AsyncGenerator[Any, None]:
        self.runs.append(text)
        if self.work is not None:
            async with aclosing(self.work(text)) as stream:
                async for chunk in stream:
                    yield chunk
            return
        await asyncio.sleep(0)
        yield chunk_of(f"{self.name}:{text}" * count)


def chunk_of(text: str) -> ToolChunk:
    """Return a chunk of one text."""
    return ToolChunk(content=[TextBlock(text=text)])


def call_of(
    name: str = "Probe", arguments: str = '{"text": "hi"}', call_id: str = "c1"
) -> ToolCallBlock:
    """Return a model's call."""
    return ToolCallBlock(id=call_id, name=name, input=arguments)


async def outcome(toolkit: Toolkit, call: ToolCallBlock, state: AgentState) -> ToolResponse | None:
    """Return the response of a guarded call, or None where it waits."""
    last = None
    async for item in toolkit.call_tool(call, state):
        last = item
    return last if isinstance(last, ToolResponse) else None


def text_of(response: ToolResponse | None) -> str:
    """Return the text of a response."""
    if response is None:
        return ""
    return "".join(block.text for block in response.content if isinstance(block, TextBlock))
