"""Typed tools that tests put into toolkits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from agentscope_like.message import ToolCallBlock, ToolResponse
from agentscope_like.permission import (
    AdditionalWorkingDirectory,
    PermissionContext,
    PermissionEngine,
    PermissionMode,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit
from agentscope_like.typed import (
    Action,
    Effects,
    Observation,
    ToolConversation,
    ToolDefinition,
    ToolExecutor,
)


class Touch(Action):
    """What an action touches, as the test says."""

    reads: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()


class Touched(Observation):
    """How often the executor has run."""

    runs: int


class TouchExecutor(ToolExecutor[Touch, Touched]):
    """Counts its runs; it touches nothing."""

    inline = True

    def __init__(self) -> None:
        self.actions: list[Touch] = []
        self.conversations: list[ToolConversation | None] = []

    def __call__(self, action: Touch, conversation: ToolConversation | None = None) -> Touched:
        self.actions.append(action)
        self.conversations.append(conversation)
        return Touched.from_text(f"run {len(self.actions)}", runs=len(self.actions))


class TouchTool(ToolDefinition[Touch, Touched]):
    """Says as its effects what its arguments say."""

    description = "Touches what it is told to."

    @classmethod
    def create(cls, conv_state: AgentState | None = None, **params: Any) -> Sequence[Self]:
        return [cls(executor=TouchExecutor(), **params)]

    def effects(self, action: Touch) -> Effects:
        return Effects(
            reads=action.reads,
            lists=action.lists,
            searches=action.searches,
            writes=action.writes,
            commands=action.commands,
            hosts=action.hosts,
        )


def touch_tool(**params: Any) -> tuple[TouchTool, TouchExecutor]:
    """Return a tool and the executor that counts its runs."""
    (tool,) = TouchTool.create(**params)
    executor = tool.executor
    assert isinstance(executor, TouchExecutor)
    return tool, executor


def state_in(mode: str = "default", *rules: str, cwd: Any = None) -> AgentState:
    """Return the state of a session in this mode, with these rules."""
    directories = {} if cwd is None else {str(cwd): AdditionalWorkingDirectory(path=str(cwd))}
    context = PermissionContext(mode=PermissionMode(mode), working_directories=directories)
    for rule in rules:
        PermissionEngine(context).add_rule(rule)
    return AgentState(permission_context=context)


async def run(
    toolkit: Toolkit, name: str, arguments: str, state: AgentState
) -> tuple[ToolCallBlock, ToolResponse | None]:
    """Decide and run a call; return it with its response, or with None if it waits."""
    call = ToolCallBlock(id="c1", name=name, input=arguments)
    response = None
    async for item in toolkit.call_tool(call, state):
        if isinstance(item, ToolResponse):
            response = item
    return call, response
