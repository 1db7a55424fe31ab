"""The loop of a session: interrupts at awkward moments, rules, models behind a server."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.agent import Agent
from agentscope_like.cli.ask.call_question import Question
from agentscope_like.cli.ask.respondent import Ended, external_result
from agentscope_like.cli.check import make_context
from agentscope_like.cli.errors import ExitCode
from agentscope_like.cli.program_tools import all_tools
from agentscope_like.cli.project.project_rules import ProjectRules
from agentscope_like.cli.run.session import Session
from agentscope_like.cli.show.render import Renderer
from agentscope_like.cli.show.summary import Tally
from agentscope_like.cli.show.theme import make_console
from agentscope_like.event import AgentEvent, ConfirmResult, EventType
from agentscope_like.message import ToolCallBlock, ToolResultBlock
from agentscope_like.model import Script, ScriptedModel
from agentscope_like.permission import PermissionMode
from agentscope_like.session import SQLiteSessionStorage
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit
from tests.cli.program import Program, call, turn
from tests.model.chat_server import delta, serving, streamed


class Answers:
    """Answers as it is told; then ends."""

    def __init__(self, source: str | None = None, *, edits: Sequence[str] = ()) -> None:
        self.source = source
        self.edits = list(edits)
        self.asked: list[Question] = []

    async def confirm(self, question: Question) -> ConfirmResult:
        """Say yes, with the next edit if any, and remember the first rule where a source is set."""
        self.asked.append(question)
        if self.edits:
            edited = question.call.model_copy(update={"input": self.edits.pop(0)})
            return ConfirmResult(confirmed=True, tool_call=edited)
        rules = None
        if self.source is not None:
            rules = [question.rules[0].model_copy(update={"source": self.source})]
        return ConfirmResult(confirmed=True, tool_call=question.call, rules=rules)

    async def perform(self, call: ToolCallBlock) -> ToolResultBlock:
        """Return a result."""
        return external_result(call, "done")

    async def next_message(self) -> str | None:
        """End."""
        raise Ended


class Storage(SQLiteSessionStorage):
    """Stores, and lets a test do something before it does."""

    before: Callable[[AgentEvent], Awaitable[None]] | None = None

    async def append(self, session_id: str, event: AgentEvent) -> None:
        """Store an event."""
        if self.before is not None:
            await self.before(event)
        await super().append(session_id, event)


class Setting:
    """A session with everything around it in one directory."""

    def __init__(self, place: Path, *turns: dict[str, Any], answers: Answers) -> None:
        self.directory = place / "project"
        self.directory.mkdir()
        self.out = io.StringIO()
        console = make_console(width=100)
        console.file = self.out
        script = Script.parse("\n".join(map(json.dumps, turns)))
        self.storage = Storage(place / "sessions.db")
        state = AgentState(
            permission_context=make_context(PermissionMode.DEFAULT, self.directory, ())
        )
        self.agent = Agent(
            "agent", "", ScriptedModel(script), Toolkit(all_tools(self.directory)), state=state
        )
        self.project = ProjectRules(self.directory, data=place / "data")
        self.session = Session(
            self.agent,
            self.storage,
            answers,
            Renderer(console),
            self.directory,
            self.project,
            Tally(),
        )

    async def run(self, message: str = "go") -> ExitCode:
        """Run the session to its end."""
        try:
            return await asyncio.wait_for(self.session.run(message), 30)
        finally:
            await self.storage.close()


@pytest.mark.parametrize(
    "moment",
    [EventType.TEXT_BLOCK_DELTA, EventType.TOOL_CALL_END, EventType.TOOL_RESULT_TEXT_DELTA],
)
async def test_an_interrupt_while_storing_ends_the_reply(tmp_path: Path, moment: EventType) -> None:
    """Ctrl-C that comes while an event is being stored interrupts too, and nothing more runs."""
    setting = Setting(
        tmp_path,
        turn(call("c1", "Bash", command="echo begun; sleep 20; touch made.txt"), say="I will."),
        turn(say="Not reached."),
        answers=Answers(),
    )
    pressed: list[EventType] = []

    async def interrupt(event: AgentEvent) -> None:
        if event.type is moment and not pressed:
            pressed.append(moment)
            setting.session.interrupt()
            await asyncio.sleep(0)

    setting.storage.before = interrupt
    await setting.run()
    assert pressed
    assert "interrupted" in setting.out.getvalue()
    assert "Not reached." not in setting.out.getvalue()
    assert not (setting.directory / "made.txt").exists()
    assert setting.agent.state.get_unfinished_tool_calls("agent") == []


async def test_every_event_is_stored_before_it_is_shown(tmp_path: Path) -> None:
    """What is on the screen can be found in the storage, whenever the process dies."""
    setting = Setting(tmp_path, turn(say="A first sentence, in pieces."), answers=Answers())
    stored = ""

    async def note(event: AgentEvent) -> None:
        nonlocal stored
        stored += getattr(event, "delta", "")
        shown = setting.out.getvalue()
        assert all(word in stored for word in shown.split())

    setting.storage.before = note
    await setting.run()
    assert "in pieces." in setting.out.getvalue()


async def test_a_rule_for_the_project_is_kept_and_counts_at_once(tmp_path: Path) -> None:
    """A rule remembered for the project is in its file, and spares the next question."""
    answers = Answers("project")
    setting = Setting(
        tmp_path,
        turn(call("c1", "Write", file_path="a.txt", content="1")),
        turn(call("c2", "Write", file_path="a.txt", content="2")),
        turn(say="Done."),
        answers=answers,
    )
    await setting.run()
    assert len(answers.asked) == 1
    assert len(setting.project.load()) == 1


async def test_a_rule_that_cannot_be_kept_counts_for_the_session(tmp_path: Path) -> None:
    """Where the project's file is unusable the person is told, and the session goes on."""
    setting = Setting(
        tmp_path,
        turn(call("c1", "Write", file_path="a.txt", content="1")),
        turn(say="Done."),
        answers=Answers("project"),
    )
    setting.project.path.parent.mkdir(parents=True)
    setting.project.path.write_text("{}", encoding="utf-8")
    assert await setting.run() is ExitCode.DONE
    assert "remembered for this session only" in setting.out.getvalue()
    rules = setting.agent.state.permission_context.allow_rules["Write"]
    assert [rule.source for rule in rules] == ["session"]


async def test_calls_that_wait_together_are_asked_one_by_one(tmp_path: Path) -> None:
    """A question and an external call of one response are both answered, each by its id."""
    answers = Answers()
    setting = Setting(
        tmp_path,
        turn(
            call("c1", "HumanApproval", action="a", reason="b"),
            call("c2", "Bash", command="touch made.txt"),
            call("c3", "HumanApproval", action="c", reason="d"),
        ),
        turn(say="Done."),
        answers=answers,
    )
    assert await setting.run() is ExitCode.DONE
    assert [question.call.id for question in answers.asked] == ["c2"]
    assert (setting.directory / "made.txt").exists()


async def test_an_edit_that_does_not_fit_is_asked_for_again(tmp_path: Path) -> None:
    """The person is told what does not fit, and nothing reaches the model before it does."""
    answers = Answers(edits=['{"file_path": 1}', '{"file_path": "a.txt", "content": "2"}'])
    setting = Setting(
        tmp_path,
        turn(call("c1", "Write", file_path="a.txt", content="1")),
        turn(say="Done."),
        answers=answers,
    )
    assert await setting.run() is ExitCode.DONE
    assert len(answers.asked) == 2
    assert "file_path: 1 is not of type" in setting.out.getvalue()
    assert (setting.directory / "a.txt").read_text() == "2"
    assert len(setting.agent.state.context[-1].get_content_blocks("tool_result")) == 1


async def test_a_model_behind_a_server(program: Program) -> None:
    """`--base-url` needs no key, and the answer is shown as it comes."""
    reply = streamed(delta(role="assistant", content="Hello "), delta("stop", content="you."))
    async with serving(reply) as server:
        result = await asyncio.to_thread(
            program.run, "run", "--model", "m", "--base-url", server.url, "hi"
        )
    assert (result.returncode, result.stderr) == (0, "")
    assert "Hello you." in result.stdout
    assert server.requests[0]["model"] == "m"
