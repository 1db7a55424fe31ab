"""The agent's questions to the user, at the terminal and from a recording."""

from __future__ import annotations

import json

import pytest

from agentscope_like.cli.ask.respondent import Interrupted
from agentscope_like.message import ToolCallBlock
from tests.cli.program import Program, call, turn
from tests.cli.test_prompt import Typed, person

QUESTIONS = [
    {
        "question": "Which colour?",
        "header": "Colour",
        "context": "The door is old.",
        "options": [{"label": "Red", "description": "Like the roof."}, {"label": "Blue"}],
    },
    {
        "question": "Which sizes?",
        "options": [{"label": "S"}, {"label": "M"}],
        "multi_select": True,
    },
    {"question": "What is it called?"},
]


def asked(*questions: object) -> ToolCallBlock:
    """Return a call that asks these questions."""
    text = json.dumps({"questions": questions or QUESTIONS})
    return ToolCallBlock(id="c", name="AskUser", input=text)


async def test_each_question_is_shown_with_its_options_and_answered() -> None:
    """Numbers choose, several where several may be chosen; words are one's own answer."""
    typed = Typed("2", "1, m", "The door")
    someone, shown = person(typed)
    result = await someone.perform(asked())
    assert result.metadata["answers"] == [
        {"question": "Which colour?", "selected": ["Blue"], "other": None},
        {"question": "Which sizes?", "selected": ["S", "M"], "other": None},
        {"question": "What is it called?", "selected": [], "other": "The door"},
    ]
    assert "-> Blue" in str(result.output)
    seen = shown.getvalue()
    for text in ("The door is old.", "1  Red", "Like the roof.", "2  Blue", "What is it called?"):
        assert text in seen


async def test_silence_and_slips_ask_again() -> None:
    """An empty line and the number of no option are no answers."""
    typed = Typed("", "3", "1", "x", "y")
    someone, shown = person(typed)
    result = await someone.perform(asked())
    assert result.metadata["answers"][0]["selected"] == ["Red"]
    assert shown.getvalue().count("Not understood") == 2


async def test_what_a_question_hides_is_spelt_out() -> None:
    """What would steer the terminal is shown, not obeyed."""
    someone, shown = person(Typed("1"))
    options = [{"label": "\x1b[2Ka"}, {"label": "b"}]
    await someone.perform(asked({"question": "Run \x1b[8mrm\x1b[0m?", "options": options}))
    assert "\x1b[8m" not in shown.getvalue()
    assert "\x1b[2K" not in shown.getvalue()


async def test_ctrl_c_at_a_question_interrupts() -> None:
    """It is passed on; no half of the answers is sent."""
    someone, _ = person(Typed("1", Interrupted))
    with pytest.raises(Interrupted):
        await someone.perform(asked())


def test_recorded_answers_are_typed_a_line_for_each_question(program: Program) -> None:
    """A recording answers as the person would type it."""
    model = program.script(
        turn(call("c1", "AskUser", questions=QUESTIONS)),
        turn(say="Thank you."),
        {"answer": "c1", "output": "red\n1,2\nThe door"},
    )
    result = program.call("run", "--model", model, "go")
    assert result.returncode == 0
    assert "Thank you." in result.stdout
    assert "-> S, M" in result.stdout


@pytest.mark.parametrize("output", ["red", "5\n1\nThe door"])
def test_a_recording_that_does_not_fit_is_told_to_the_agent(program: Program, output: str) -> None:
    """Too few lines, or the number of no option: the call fails, and the session goes on."""
    model = program.script(
        turn(call("c1", "AskUser", questions=QUESTIONS)),
        turn(say="A pity."),
        {"answer": "c1", "output": output},
    )
    result = program.call("run", "--model", model, "go")
    assert result.returncode == 0
    assert "does not fit" in result.stdout
    assert "A pity." in result.stdout


def test_nobody_is_asked_where_nobody_is(program: Program) -> None:
    """In dont_ask the agent is told at once; without a terminal and a recording likewise."""
    model = program.script(turn(call("c1", "AskUser", questions=QUESTIONS)), turn(say="Well."))
    result = program.call("run", "--mode", "dont_ask", "--model", model, "go")
    assert "nobody is there in dont_ask mode" in " ".join(result.stdout.split())
    assert "Well." in result.stdout
    result = program.call("run", "--model", model, "go")
    assert "nobody is at the terminal" in result.stdout


def test_a_person_answers_at_the_terminal(program: Program) -> None:
    """The question stands at the prompt; the answer reaches the agent."""
    model = program.script(
        turn(call("c1", "AskUser", questions=QUESTIONS[:1])), turn(say="Painted.")
    )
    terminal = program.open("run", "--model", model, "paint it")
    shown = terminal.answer("own words", "2")
    assert "Which colour?" in shown
    assert "-> Blue" in terminal.expect("Painted.")
    assert terminal.leave() == 0
