"""What the tests of the document share: its blocks, tools to watch, and questions to the engine."""

from __future__ import annotations

import ast
import inspect
import json
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from typing import Any

from agentscope_like.mcp import HttpMCPConfig, MCPClient
from agentscope_like.message import TextBlock, ToolCallBlock, ToolChunk, ToolResponse
from agentscope_like.permission import (
    AdditionalWorkingDirectory,
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolBase, Toolkit, ToolMiddlewareBase
from tests.seed.servers.office import OfficeAddress

ALLOW, DENY, ASK, PASSTHROUGH = (
    PermissionBehavior.ALLOW,
    PermissionBehavior.DENY,
    PermissionBehavior.ASK,
    PermissionBehavior.PASSTHROUGH,
)
DEFAULT, EDITS, EXPLORE, BYPASS, DONT_ASK = (
    PermissionMode.DEFAULT,
    PermissionMode.ACCEPT_EDITS,
    PermissionMode.EXPLORE,
    PermissionMode.BYPASS,
    PermissionMode.DONT_ASK,
)

DONE = (TextBlock(text="Done."),)
"""A model's last turn."""

BLOCKS = Path(__file__).parent / "blocks"
OFFICE = Path(__file__).parent / "servers" / "office.py"


async def run_block(
    name: str, /, *, places: Mapping[str, str] | None = None, **names: Any
) -> dict[str, Any]:
    """Run a code block of the document, and return the names that it defines.

    Args:
        name: Its file, without the suffix.
        places: Addresses and directories of the document, and what stands for them here.
        names: What the block uses without defining it.
    """
    source = (BLOCKS / f"{name}.txt").read_text()
    for there, here in (places or {}).items():
        assert there in source
        source = source.replace(there, here)
    code = compile(source, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    namespace: dict[str, Any] = {"__name__": "block", **names}
    running = eval(code, namespace)
    if inspect.iscoroutine(running):
        await running
    return namespace


def rule(
    tool: str, content: str | None = None, behavior: PermissionBehavior = ALLOW
) -> PermissionRule:
    """Return a rule of a user."""
    return PermissionRule(tool_name=tool, rule_content=content, behavior=behavior)


def permitting(
    *rules: PermissionRule, mode: PermissionMode = DEFAULT, work: Path | None = None
) -> PermissionContext:
    """Return a context with these rules, and `work` as its working directory."""
    directories = {}
    if work is not None:
        directories[str(work)] = AdditionalWorkingDirectory(path=str(work), source="session")
    context = PermissionContext(mode=mode, working_directories=directories)
    for one in rules:
        context.table(one.behavior).add(one)
    return context


async def decide(
    tool: ToolBase,
    *rules: PermissionRule,
    mode: PermissionMode = DEFAULT,
    work: Path | None = None,
    **tool_input: Any,
) -> PermissionDecision:
    """Return what the engine decides about a call."""
    context = permitting(*rules, mode=mode, work=work)
    return await PermissionEngine(context).check_permission(tool, tool_input)


def state_of(context: PermissionContext | None = None) -> AgentState:
    """Return a new agent's state."""
    return AgentState(permission_context=context or PermissionContext())


async def shown(toolkit: Toolkit, *groups: str) -> list[str]:
    """Return the names of the tools that the model is told of."""
    return [schema["function"]["name"] for schema in await toolkit.get_tool_schemas(list(groups))]


def call_of(name: str, /, **arguments: Any) -> ToolCallBlock:
    """Return a model's call."""
    return ToolCallBlock(id="c1", name=name, input=json.dumps(arguments))


async def call(
    toolkit: Toolkit, name: str, /, _state: AgentState | None = None, **arguments: Any
) -> ToolResponse | None:
    """Call a tool as a model does; None where the call waits for somebody."""
    state = _state if _state is not None else AgentState()
    items = [item async for item in toolkit.call_tool(call_of(name, **arguments), state)]
    if not items:
        return None
    assert isinstance(items[-1], ToolResponse)
    return items[-1]


async def said(
    toolkit: Toolkit, name: str, /, _state: AgentState | None = None, **arguments: Any
) -> str:
    """Call a tool that answers, and return its text."""
    response = await call(toolkit, name, _state, **arguments)
    assert response is not None, f"{name} waits for somebody"
    return text_of(response)


def text_of(item: ToolChunk | ToolResponse) -> str:
    """Return the text of a chunk, or of a response."""
    return "".join(block.text for block in item.content if isinstance(block, TextBlock))


async def run(tool: ToolBase, /, **arguments: Any) -> str:
    """Run a tool itself, outside of any toolkit, and return its text."""
    return "".join([text_of(chunk) async for chunk in tool(**arguments)])


def client_of(
    office: OfficeAddress, name: str = "office", *, is_stateful: bool = False, **options: Any
) -> MCPClient:
    """Return a client of the office server."""
    return MCPClient(
        name=name, is_stateful=is_stateful, mcp_config=HttpMCPConfig(url=office.url), **options
    )


class Echo(ToolBase):
    """Says what it is told; each opinion and property can be chosen."""

    description = "Says what it is told."
    input_schema = {  # noqa: RUF012
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    }
    is_concurrency_safe = True
    is_read_only = False

    def __init__(
        self,
        name: str = "Echo",
        opinion: PermissionBehavior = ALLOW,
        *,
        middlewares: list[ToolMiddlewareBase] | None = None,
        **attributes: Any,
    ) -> None:
        super().__init__(middlewares)
        self.name = name
        self.opinion = opinion
        self.heard: list[str] = []
        for key, value in attributes.items():
            setattr(self, key, value)

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        return PermissionDecision(self.opinion, "It speaks.")

    async def call(self, text: str) -> ToolChunk:
        self.heard.append(text)
        return ToolChunk(content=[TextBlock(text=text)])


class Layer(ToolMiddlewareBase):
    """Notes when it begins and ends, under its label."""

    def __init__(self, label: str, notes: list[str]) -> None:
        self.label = label
        self.notes = notes

    async def on_tool_call(
        self,
        tool: ToolBase,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., AsyncGenerator[ToolChunk, None]],
    ) -> AsyncGenerator[ToolChunk, None]:
        self.notes.append(f"{self.label} before")
        async for chunk in next_handler(**input_kwargs):
            yield chunk
        self.notes.append(f"{self.label} after")


def office_program(directory: Path, name: str = "mcp-server-filesystem") -> Path:
    """Make a program of this name that is the office server, and return its directory."""
    directory.mkdir(exist_ok=True)
    program = directory / name
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E {OFFICE} "$@"\n')
    program.chmod(0o755)
    return directory
