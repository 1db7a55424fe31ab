"""Questions to a person, with what they type written down."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import pytest
from rich.console import Console
from rich.theme import Theme

from agentscope_like.cli.ask.call_question import Question
from agentscope_like.cli.ask.keyboard import Person
from agentscope_like.cli.ask.respondent import Ended, Interrupted
from agentscope_like.cli.show.theme import STYLES
from agentscope_like.message import ToolCallBlock, ToolCallState
from agentscope_like.permission import (
    DecisionRow,
    PermissionBehavior,
    PermissionDecision,
    PermissionRule,
)
from agentscope_like.permission.explain import Explanation
from tests.permission.kit import analyze
from tests.permission.test_explain import HOSTILE


class Typed:
    """Types what it was told to; raises what it was told to raise; notes what it was shown."""

    def __init__(self, *lines: str | type[Exception] | Callable[[str], str]) -> None:
        self._lines = list(lines)
        self.prompts: list[str] = []
        self.defaults: list[str] = []

    async def line(self, prompt: str, *, default: str = "", multiline: bool = False) -> str:
        """Return the next line."""
        self.prompts.append(prompt)
        self.defaults.append(default)
        line = self._lines.pop(0)
        if isinstance(line, type):
            raise line
        return line(default) if callable(line) else line


def ask(command: str, *rules: str) -> Question:
    """Return the question about a command."""
    suggested = [
        PermissionRule(tool_name="Bash", rule_content=r, behavior=PermissionBehavior.ALLOW)
        for r in rules
    ]
    decision = PermissionDecision(
        PermissionBehavior.ASK,
        "No rule allows it.",
        row=DecisionRow.NOTHING_MATCHED,
        suggested_rules=suggested,
    )
    arguments = {"command": command}
    call = ToolCallBlock(
        id="c",
        name="Bash",
        input=json.dumps(arguments),
        state=ToolCallState.ASKING,
        suggested_rules=suggested,
        decision=decision,
    )
    reading = analyze(command, directory="/work")
    return Question(call, Explanation(decision, "Bash", arguments, reading))


def person(typed: Typed) -> tuple[Person, io.StringIO]:
    """Return a person who types, and what they see."""
    stream = io.StringIO()
    console = Console(file=stream, width=90, theme=Theme(dict(STYLES)), highlight=False)
    return Person(console, typed), stream


@pytest.mark.parametrize("yes", ["y", "Y", "yes", " y "])
async def test_only_a_yes_is_a_yes(yes: str) -> None:
    """A yes confirms the call as it is, and remembers nothing."""
    answer = await person(Typed(yes))[0].confirm(ask("touch a"))
    assert answer.confirmed
    assert answer.rules is None


@pytest.mark.parametrize("other", ["", " ", "1", "0", "yy", "ok", "\n", "²"])
async def test_what_is_no_answer_asks_again(other: str) -> None:
    """Whatever is not one of the keys is no answer."""
    typed = Typed(other, "n", "")
    answer = await person(typed)[0].confirm(ask("touch a"))
    assert not answer.confirmed
    assert answer.message is None
    assert len(typed.prompts) == 3


@pytest.mark.parametrize(("scope", "source"), [("s", "session"), ("p", "project")])
async def test_a_rule_is_remembered_for_a_scope(scope: str, source: str) -> None:
    """The number of a suggested rule is a yes that remembers it where the person says."""
    answer = await person(Typed("2", "", scope))[0].confirm(ask("touch a", "touch a", "touch:*"))
    assert answer.confirmed
    assert [(r.rule_content, r.source) for r in answer.rules or ()] == [("touch:*", source)]


async def test_an_edited_command_keeps_its_other_arguments() -> None:
    """A plain command is edited as text; the call keeps its id, name and other arguments."""
    typed = Typed("e", lambda text: text + " b")
    answer = await person(typed)[0].confirm(ask("touch a"))
    assert answer.confirmed
    assert json.loads(answer.tool_call.input) == {"command": "touch a b"}
    assert (answer.tool_call.id, answer.tool_call.name) == ("c", "Bash")


async def test_a_command_that_hides_something_is_edited_as_ascii() -> None:
    """What cannot be seen cannot be edited as text: it is spelt out, and kept."""
    typed = Typed("e", lambda text: text)
    answer = await person(typed)[0].confirm(ask("ls \u202e\u200b"))
    assert typed.defaults[1].isascii()
    assert r"\u202e\u200b" in typed.defaults[1]
    assert json.loads(answer.tool_call.input) == {"command": "ls \u202e\u200b"}


async def test_edited_json_is_asked_for_until_it_is_an_object() -> None:
    """What is no JSON object is given back to be mended, as it was typed."""
    typed = Typed("e", "[1]", '{"command": "ls"}')
    answer = await person(typed)[0].confirm(ask("ls \u202e"))
    assert typed.defaults[2] == "[1]"
    assert json.loads(answer.tool_call.input) == {"command": "ls"}


@pytest.mark.parametrize("raised", [Interrupted, Ended])
async def test_leaving_a_question_answers_nothing(raised: type[Exception]) -> None:
    """Ctrl-C and the end of the input are passed on; in an edit, Ctrl-C leaves the edit alone."""
    for lines in ([raised], ["e", raised, raised], ["1", raised], ["n", raised]):
        with pytest.raises(raised):
            await person(Typed(*lines))[0].confirm(ask("touch a", "touch:*"))


async def test_a_result_is_what_the_person_types() -> None:
    """An external call is shown whole, and an empty result is asked for again."""
    call = ToolCallBlock(id="c", name="HumanApproval", input='{"action": "go", "reason": "now"}')
    someone, seen = person(Typed("", "  ", "fine "))
    result = await someone.perform(call)
    assert (result.id, result.name, result.output) == ("c", "HumanApproval", "fine")
    assert "now" in seen.getvalue()


async def test_messages_end_with_the_input() -> None:
    """Empty lines are no message; `/exit`, Ctrl-C and the end of the input end the session."""
    assert await person(Typed("", "hello "))[0].next_message() == "hello"
    for end in ("/exit", Ended, Interrupted):
        assert await person(Typed(end))[0].next_message() is None


@pytest.mark.parametrize("text", HOSTILE)
async def test_a_hostile_call_cannot_fake_the_question(text: str) -> None:
    """Command, rules and the whole view are shown with what steers the terminal spelt out."""
    someone, seen = person(Typed("v", "n", ""))
    await someone.confirm(ask(text, text))
    assert all(char.isprintable() or char == "\n" for char in seen.getvalue())
