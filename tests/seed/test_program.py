"""A program that is written from seed 002 alone runs unchanged."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.agent import Agent
from agentscope_like.event import (
    ConfirmResult,
    ExternalExecutionResultEvent,
    UserConfirmResultEvent,
)
from agentscope_like.mcp import MCPClient, StdioMCPConfig
from agentscope_like.message import (
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from agentscope_like.middleware import MiddlewareBase
from agentscope_like.model import ScriptedModel
from agentscope_like.permission import (
    AdditionalWorkingDirectory,
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionMode,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import (
    Bash,
    Edit,
    FunctionTool,
    Read,
    ToolBase,
    ToolChunk,
    ToolGroup,
    Toolkit,
    ToolMiddlewareBase,
    Write,
)
from tests.seed.kit import OFFICE

SKILL = """\
---
name: release
description: How to make a release.
---

1. Count the words of the notes.
2. Have the release approved, then deploy it.
"""

SESSION = Path(__file__).with_name("program.jsonl")


class WordCount(ToolBase):
    """A custom tool, which allows itself; its first attempt fails."""

    name = "WordCount"
    description = "Count the words of a text."
    input_schema = {  # noqa: RUF012
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The text."}},
        "required": ["text"],
    }
    is_concurrency_safe = True
    is_read_only = True

    def __init__(self, middlewares: list[ToolMiddlewareBase] | None = None) -> None:
        super().__init__(middlewares)
        self.attempts = 0

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        return PermissionDecision(behavior=PermissionBehavior.ALLOW, message="It only counts.")

    async def call(self, text: str) -> ToolChunk:
        self.attempts += 1
        if self.attempts == 1:
            raise OSError("busy")
        return ToolChunk(content=[TextBlock(text=f"{len(text.split())} words")])


class HumanApproval(ToolBase):
    """An external tool."""

    name = "HumanApproval"
    description = "Request human approval for a sensitive operation."
    input_schema = {  # noqa: RUF012
        "type": "object",
        "properties": {"action": {"type": "string"}, "reason": {"type": "string"}},
        "required": ["action", "reason"],
    }
    is_concurrency_safe = True
    is_read_only = False
    is_external_tool = True

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        return PermissionDecision(behavior=PermissionBehavior.ALLOW, message="Always dispatched.")


def get_weather(city: str, unit: str = "celsius") -> str:
    """Get the current weather for a city.

    Args:
        city: The city name to look up.
        unit: Temperature unit, either "celsius" or "fahrenheit".
    """
    return f"The weather in {city} is 22°{unit[0].upper()}"


def deploy(target: str) -> str:
    """Deploy the release.

    Args:
        target: Where to.
    """
    return f"deployed to {target}"


def run_query(sql: str) -> str:
    """Run a query.

    Args:
        sql: The query.
    """
    return f"no rows for {sql}"


class Logging(ToolMiddlewareBase):
    """A layer around a tool."""

    def __init__(self, log: list[str]) -> None:
        self.log = log

    async def on_tool_call(
        self,
        tool: ToolBase,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., AsyncGenerator[ToolChunk, None]],
    ) -> AsyncGenerator[ToolChunk, None]:
        self.log.append(f"calling {tool.name}")
        async for chunk in next_handler(**input_kwargs):
            yield chunk
        self.log.append(f"{tool.name} finished")


class Retry(ToolMiddlewareBase):
    """Another, inside of it."""

    def __init__(self, max_attempts: int = 3) -> None:
        self.max_attempts = max_attempts

    async def on_tool_call(
        self,
        tool: ToolBase,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., AsyncGenerator[ToolChunk, None]],
    ) -> AsyncGenerator[ToolChunk, None]:
        for attempt in range(1, self.max_attempts + 1):
            try:
                async for chunk in next_handler(**input_kwargs):
                    yield chunk
                return
            except OSError:
                if attempt == self.max_attempts:
                    raise


class Audit(MiddlewareBase):
    """A layer around an agent's calls."""

    def __init__(self, log: list[str]) -> None:
        self.log = log

    async def on_acting(
        self,
        agent: Agent,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., AsyncGenerator[Any, None]],
    ) -> AsyncGenerator[Any, None]:
        self.log.append(f"{agent.name} runs {input_kwargs['tool_call'].name}")
        async for item in next_handler():
            yield item


class Program:
    """One run of the program, from its start to its end.

    Args:
        work: Where it works.
        state: The state that an earlier run has saved.
    """

    def __init__(self, work: Path, state: AgentState) -> None:
        self.log: list[str] = []
        self.client = MCPClient(
            name="files",
            is_stateful=True,
            mcp_config=StdioMCPConfig(
                command=sys.executable, args=["-S", "-E", str(OFFICE), "--root", str(work)]
            ),
        )
        toolkit = Toolkit(
            tools=[
                Bash(),
                Read(),
                Write(),
                Edit(),
                WordCount(middlewares=[Logging(self.log), Retry(max_attempts=3)]),
                FunctionTool(get_weather),
                HumanApproval(),
            ],
            mcps=[self.client],
            skills_or_loaders=[str(work / "skills")],
            tool_groups=[
                ToolGroup(
                    name="database",
                    description="Tools for the database.",
                    instructions="Wrap changes in a transaction.",
                    tools=[FunctionTool(run_query)],
                ),
                ToolGroup(
                    name="deployment",
                    description="Tools for deploying.",
                    instructions="Confirm the target first.",
                    tools=[FunctionTool(deploy)],
                ),
            ],
        )
        self.agent = Agent(
            name="robot",
            system_prompt="You make releases.",
            model=ScriptedModel(SESSION),
            toolkit=toolkit,
            middlewares=[Audit(self.log)],
            state=state,
        )

    async def reply(
        self, inputs: Msg | UserConfirmResultEvent | ExternalExecutionResultEvent
    ) -> Msg:
        """Let the agent reply, and save its state."""
        await self.client.connect()
        try:
            return await self.agent.reply(inputs)
        finally:
            await self.client.close()

    @property
    def saved(self) -> AgentState:
        """Return the state as a later run reads it."""
        return AgentState.model_validate_json(self.agent.state.model_dump_json())

    @property
    def waiting(self) -> dict[str, ToolCallBlock]:
        """Return the calls that wait for somebody, by id."""
        return {call.id: call for call in self.agent.state.get_awaiting_tool_calls("robot")}

    def answer(self, **confirmed: bool) -> UserConfirmResultEvent:
        """Return a person's answers, by the ids of the calls; what is confirmed is remembered."""
        results = [
            ConfirmResult(
                confirmed=yes,
                tool_call=self.waiting[call_id],
                rules=self.waiting[call_id].suggested_rules if yes else None,
            )
            for call_id, yes in confirmed.items()
        ]
        return UserConfirmResultEvent(reply_id=self.agent.state.reply_id, confirm_results=results)

    def results(self) -> dict[str, tuple[str, str]]:
        """Return the results in the agent's message: how each call ended, and its text."""
        message = self.agent.state.context[-1]
        return {
            block.id: (
                block.state.value,
                "".join(part.text for part in block.output if isinstance(part, TextBlock)),
            )
            for block in message.content
            if isinstance(block, ToolResultBlock) and not isinstance(block.output, str)
        }


@pytest.fixture
def release(work: Path) -> Path:
    """Give a directory with notes and a skill."""
    (work / "notes.txt").write_text("draft notes\n")
    (work / "skills" / "release").mkdir(parents=True)
    (work / "skills" / "release" / "SKILL.md").write_text(SKILL)
    return work


async def test_the_program_of_the_document_runs(release: Path) -> None:
    """It parks for approvals and an outside system, goes on from JSON, and ends its work."""
    directory = AdditionalWorkingDirectory(path=str(release), source="session")
    context = PermissionContext(
        mode=PermissionMode.ACCEPT_EDITS, working_directories={str(release): directory}
    )
    first = Program(release, AgentState(permission_context=context))
    await first.reply(UserMsg("you", "Make a release."))
    assert first.waiting.keys() == {"weather", "approval"}
    assert first.agent.state.tool_context.activated_groups == ["deployment"]
    results = first.results()
    assert "Count the words of the notes." in results["skill"][1]
    assert "Confirm the target first." in results["groups"][1]
    assert "draft notes" in results["read"][1]
    assert results["count"] == ("success", "2 words")
    assert results["served"] == ("success", "draft notes\n")
    assert first.log == [
        "robot runs Skill",
        "robot runs reset_tools",
        "robot runs Read",
        "robot runs WordCount",
        "calling WordCount",
        "WordCount finished",
        "robot runs mcp__files__read_file",
    ]

    second = Program(release, first.saved)
    await second.reply(second.answer(weather=True))
    assert second.waiting.keys() == {"approval"}
    assert second.results()["weather"] == ("success", "The weather in Rome is 22°C")

    third = Program(release, second.saved)
    approved = ToolResultBlock(
        id="approval", name="HumanApproval", output="Go ahead.", state=ToolResultState.SUCCESS
    )
    await third.reply(
        ExternalExecutionResultEvent(
            reply_id=third.agent.state.reply_id, execution_results=[approved]
        )
    )
    assert third.waiting.keys() == {"deploy"}
    assert (release / "notes.txt").read_text() == "final notes\n"
    assert third.results()["bash"] == ("success", "final notes\n")

    last = Program(release, third.saved)
    reply = await last.reply(last.answer(deploy=False))
    assert reply.get_text_content() == "How is it done here?\nReleased."
    results = last.results()
    assert results["deploy"][0] == "denied"
    assert results["query"][0] == "error"  # its group is not active
    assert last.waiting == {}
    assert [rule.behavior for rule in rules_of(last.agent)] == [PermissionBehavior.ALLOW]


def rules_of(agent: Agent) -> list[Any]:
    """Return the rules that answers have left behind."""
    lists = agent.state.permission_context.allow_rules.values()
    return [rule for rules in lists for rule in rules]
