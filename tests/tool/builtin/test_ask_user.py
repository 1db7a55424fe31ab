"""Questions to a person, and answers that fit them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentscope_like.event import ExternalExecutionResultEvent
from agentscope_like.exception import ResumeError
from agentscope_like.message import (
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionEngine,
    PermissionMode,
)
from agentscope_like.tool import AskUser, HumanApproval, PersonTool, UserAnswer, UserQuestion
from agentscope_like.tool.builtin.people.questions import QuestionOption, answer_of
from tests.agent.kit import agent_of, calls_of, events_of, outline, reloaded, results_of, text_of
from tests.tool.kit import call_of

DONE = [TextBlock(text="All done.")]
COLOUR = {
    "question": "Which colour?",
    "header": "Colour",
    "context": "The door is old.",
    "options": [{"label": "Red", "description": "Like the roof."}, {"label": "Blue"}],
}
SIZES = {
    "question": "Which sizes?",
    "options": [{"label": "S"}, {"label": "M"}, {"label": "L"}],
    "multi_select": True,
}
NAME = {"question": "What is it called?"}


def asking(*questions: dict[str, Any]) -> ToolCallBlock:
    """Return a call that asks these questions."""
    return call_of("AskUser", json.dumps({"questions": list(questions)}), "q")


def answered(*answers: dict[str, Any], output: str = "said", **fields: Any) -> ToolResultBlock:
    """Return a result that gives these answers."""
    return ToolResultBlock(
        id="q",
        name="AskUser",
        output=output,
        state=ToolResultState.SUCCESS,
        metadata={"answers": list(answers)},
    ).model_copy(update=fields)


def sent(result: ToolResultBlock, reply_id: str) -> ExternalExecutionResultEvent:
    """Return the event that brings the result."""
    return ExternalExecutionResultEvent(reply_id=reply_id, execution_results=[result])


async def test_it_parks_and_its_answers_reach_the_model() -> None:
    """The call waits outside, over a restart too; the result has text and data."""
    call = asking(COLOUR, SIZES, NAME)
    agent = agent_of([AskUser()], [call], DONE)
    assert outline(await events_of(agent, "go"))[-1] == "REQUIRE_EXTERNAL_EXECUTION q"
    agent = reloaded(agent, [AskUser()], DONE)
    result = AskUser.result(
        calls_of(agent)["q"],
        [
            UserAnswer("Which colour?", ("Blue",)),
            UserAnswer("Which sizes?", ("S", "L"), other="and XXL"),
            UserAnswer("What is it called?", other="Door"),
        ],
    )
    message = await agent.reply(sent(result, agent.state.reply_id))
    assert message.get_text_content() == "All done."
    kept = results_of(agent)["q"]
    assert text_of(kept) == (
        "Which colour?\n-> Blue\n"
        "Which sizes?\n-> S, L, and XXL (in their own words)\n"
        "What is it called?\n-> Door (in their own words)"
    )
    assert kept.metadata["answers"][1] == {
        "question": "Which sizes?",
        "selected": ["S", "L"],
        "other": "and XXL",
    }


RIGHT = {"question": "Which colour?", "selected": ["Red"]}


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ([], "has no answer"),
        ([{**RIGHT, "question": "Which color?"}], "was not asked"),
        ([RIGHT, RIGHT], "answered 2 times"),
        ([{**RIGHT, "selected": ["Green"]}], "'Green' is not an option"),
        ([{**RIGHT, "selected": ["red"]}], "'red' is not an option"),
        ([{**RIGHT, "selected": ["Red", "Blue"]}], "takes one option"),
        ([{**RIGHT, "other": "or so"}], "takes one option"),
        ([{**RIGHT, "selected": []}], "is empty"),
        ([{**RIGHT, "selected": [], "other": "  "}], "is empty"),
        ([{**RIGHT, "selected": "Red"}], "metadata|array|answers"),
        ([{**RIGHT, "chosen": ["Red"]}], "chosen"),
    ],
)
async def test_answers_that_do_not_fit_are_refused_and_the_call_keeps_waiting(
    answers: list[dict[str, Any]], told: str
) -> None:
    """Nothing is done; a result that fits is taken afterwards."""
    agent = agent_of([AskUser()], [asking(COLOUR)], DONE)
    await agent.reply(UserMsg("user", "go"))
    before = agent.state.model_dump_json()
    with pytest.raises(ResumeError, match=told):
        await agent.reply(sent(answered(*answers), agent.state.reply_id))
    assert agent.state.model_dump_json() == before
    await agent.reply(sent(answered(RIGHT), agent.state.reply_id))
    assert calls_of(agent)["q"].state is ToolCallState.FINISHED


async def test_several_of_many_may_be_chosen_each_once() -> None:
    """Options of a multiple choice are as many as wanted, and one's own words beside them."""
    call, tool = asking(SIZES), AskUser()
    tool_input = json.loads(call.input)
    fitting = answered({"question": "Which sizes?", "selected": ["S", "M"], "other": "XL"})
    await tool.check_external_result(fitting, tool_input=tool_input)
    twice = answered({"question": "Which sizes?", "selected": ["S", "S"]})
    with pytest.raises(ValueError, match="chosen twice"):
        await tool.check_external_result(twice, tool_input=tool_input)


async def test_a_result_without_success_needs_no_answers() -> None:
    """A person who does not answer is an error or an interruption, told in words."""
    agent = agent_of([AskUser()], [asking(COLOUR)], DONE)
    await agent.reply(UserMsg("user", "go"))
    refused = answered(state=ToolResultState.ERROR, metadata={}, output="They left.")
    await agent.reply(sent(refused, agent.state.reply_id))
    assert text_of(results_of(agent)["q"]) == "They left."


async def test_a_result_says_its_answers_in_words_too() -> None:
    """The model reads the output; without it the answers would not reach it."""
    with pytest.raises(ValueError, match="`output` is empty"):
        await AskUser().check_external_result(answered(RIGHT, output=""))


@pytest.mark.parametrize(
    ("questions", "told"),
    [
        ([], "less than 1 item"),
        ([NAME] * 5, "more than 4 items"),
        ([{"question": ""}], "shorter than 1"),
        ([{"header": "x"}], '"question" is a required'),
        ([NAME, NAME], "asked twice"),
        ([{**NAME, "options": [{"label": "a"}]}], "no choice"),
        ([{**NAME, "options": [{"label": "a"}, {"label": "A"}]}], "same label"),
        ([{**SIZES, "options": [{"label": "a, b"}, {"label": "c"}]}], "comma"),
    ],
)
async def test_questions_that_cannot_be_asked_go_back_to_the_model(
    questions: list[dict[str, Any]], told: str
) -> None:
    """Nobody is bothered with them; the model is told what to mend."""
    agent = agent_of([AskUser()], [asking(*questions)], DONE)
    await agent.reply(UserMsg("user", "go"))
    assert told in text_of(results_of(agent)["q"])
    assert agent.state.context[-1].get_text_content() == "All done."


async def test_what_a_model_leaves_empty_counts_as_left_out() -> None:
    """None in the place of options, headers and flags is no mistake."""
    empty = {"question": "Why?", "header": None, "options": None, "multi_select": None}
    agent = agent_of([AskUser()], [asking(empty)], DONE)
    await agent.reply(UserMsg("user", "go"))
    assert AskUser.questions(calls_of(agent)["q"]) == [UserQuestion("Why?")]


@pytest.mark.parametrize("mode", list(PermissionMode))
@pytest.mark.parametrize("tool", [AskUser(), HumanApproval()], ids=lambda tool: tool.name)
async def test_a_person_is_asked_where_there_is_one(tool: PersonTool, mode: PermissionMode) -> None:
    """Nobody is there in dont_ask; questions change nothing, so that a planner may ask them."""
    tool_input: dict[str, Any] = {"questions": [NAME]}
    if tool.name == "HumanApproval":
        tool_input = {"action": "go", "reason": "now"}
    decision = await PermissionEngine(PermissionContext(mode=mode)).check_permission(
        tool, tool_input
    )
    denied = mode is PermissionMode.DONT_ASK or (
        mode is PermissionMode.EXPLORE and tool.name == "HumanApproval"
    )
    assert (decision.behavior is PermissionBehavior.DENY) is denied
    assert decision.behavior is not PermissionBehavior.ASK


async def test_nobody_is_waited_for_for_ever() -> None:
    """In dont_ask the reply goes on at once, and the model is told why."""
    agent = agent_of([AskUser()], [asking(NAME)], DONE)
    agent.state.permission_context.mode = PermissionMode.DONT_ASK
    message = await agent.reply(UserMsg("user", "go"))
    assert message.get_text_content() == "All done."
    assert "nobody is there" in text_of(results_of(agent)["q"])


CHOICE = UserQuestion("Which?", options=(QuestionOption("Red"), QuestionOption("7")))
MANY = UserQuestion("Which?", options=CHOICE.options, multi_select=True)
OPEN = UserQuestion("Which?")


@pytest.mark.parametrize(
    ("question", "typed", "answer"),
    [
        (CHOICE, "1", UserAnswer("Which?", ("Red",))),
        (CHOICE, " red ", UserAnswer("Which?", ("Red",))),
        (CHOICE, "7", UserAnswer("Which?", ("7",))),
        (CHOICE, "red, 7", UserAnswer("Which?", other="red, 7")),
        (CHOICE, "neither", UserAnswer("Which?", other="neither")),
        (MANY, "1,7", UserAnswer("Which?", ("Red", "7"))),
        (MANY, "red, 1", UserAnswer("Which?", ("Red",))),
        (MANY, "red, and so on", UserAnswer("Which?", other="red, and so on")),
        (OPEN, "3", UserAnswer("Which?", other="3")),
        (OPEN, "two\nlines", UserAnswer("Which?", other="two\nlines")),
    ],
)
def test_what_is_typed_is_an_option_or_ones_own_words(
    question: UserQuestion, typed: str, answer: UserAnswer
) -> None:
    """Numbers and labels choose; whatever is neither is what the person wants to say."""
    assert answer_of(question, typed) == answer


@pytest.mark.parametrize(("question", "typed"), [(CHOICE, "3"), (MANY, "0"), (OPEN, "  ")])
def test_a_slip_of_the_keyboard_is_no_answer(question: UserQuestion, typed: str) -> None:
    """The number of no option, and nothing at all, are asked about again."""
    with pytest.raises(ValueError, match=r"options 1 to 2|type an answer"):
        answer_of(question, typed)
