"""Streamed pieces of a response become the blocks that the whole response has."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

import pytest

from agentscope_like.event import EventType
from agentscope_like.message import (
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    Usage,
)
from agentscope_like.model import ChatResponse, ChatUsage
from tests.agent.kit import agent_of, events_of
from tests.tool.kit import Probe, call_of

Piece = TextBlock | ThinkingBlock | ToolCallBlock


def text(words: str, block_id: str) -> TextBlock:
    """Return a piece of text."""
    return TextBlock(text=words, id=block_id)


def thought(words: str, block_id: str) -> ThinkingBlock:
    """Return a piece of thinking."""
    return ThinkingBlock(thinking=words, id=block_id)


def streaming(
    *parts: list[Piece], usage: ChatUsage | None = None
) -> Callable[[], AsyncGenerator[ChatResponse, None]]:
    """Return a turn that gives the parts, the last of which is the whole."""

    async def stream() -> AsyncGenerator[ChatResponse, None]:
        for part in parts[:-1]:
            yield ChatResponse(content=list(part), is_last=False)
        yield ChatResponse(content=list(parts[-1]), is_last=True, usage=usage)

    return stream


def words_of(message: Msg) -> list[str]:
    """Return the blocks of a message: their words, thinking in brackets."""
    shown = []
    for block in message.content:
        if isinstance(block, TextBlock):
            shown.append(block.text)
        elif isinstance(block, ThinkingBlock):
            shown.append(f"({block.thinking})")
        elif not isinstance(block, ToolResultBlock):
            shown.append(block.id)
    return shown


CALL = call_of("Probe", "{}", "c")

CASES: dict[str, tuple[list[list[Piece]], list[str]]] = {
    "text": ([[text("He", "a")], [text("llo", "b")], [text("Hello", "c")]], ["Hello"]),
    "thinking, then text": (
        [
            [thought("th", "a")],
            [thought("ink", "b")],
            [text("He", "c")],
            [text("llo", "d")],
            [thought("think", "e"), text("Hello", "f")],
        ],
        ["(think)", "Hello"],
    ),
    "both in each part": (
        [
            [thought("1", "a"), text("x", "b")],
            [thought("2", "c"), text("y", "d")],
            [thought("12", "e"), text("xy", "f")],
        ],
        ["(12)", "xy"],
    ),
    "the whole has more": ([[text("He", "a")], [text("Hello", "b")]], ["Hello"]),
    "the whole is trimmed": ([[text(" Hi ", "a")], [text("Hi", "b")]], [" Hi "]),
    "only the whole": ([[text("a", "1"), text("b", "2")]], ["a", "b"]),
    "one id": ([[text("He", "a")], [text("llo", "a")], [text("Hello", "a")]], ["Hello"]),
    "two blocks of two ids": (
        [
            [text("a", "1"), text("b", "2")],
            [text("A", "1"), text("B", "2")],
            [text("aA", "1"), text("bB", "2")],
        ],
        ["aA", "bB"],
    ),
    "text around a call": (
        [
            [text("He", "a")],
            [CALL.model_copy()],
            [text("llo", "b")],
            [text("He", "x"), CALL.model_copy(), text("llo", "y")],
        ],
        ["He", "c", "llo"],
    ),
    "one id, then another": (
        [[text("a", "1")], [text("b", "2")], [text("ab", "3"), text("c", "4")]],
        ["ab", "c"],
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_what_is_streamed_comes_out_once(case: tuple[list[list[Piece]], list[str]]) -> None:
    """Whatever ids the pieces have, the message has each word once, in as few blocks as it can."""
    parts, wanted = case
    agent = agent_of([Probe()], streaming(*parts), [text("end", "end")])
    events = await events_of(agent, "go")
    assert words_of(agent.state.context[-1]) in (wanted, [*wanted, "end"])
    heard = Msg(name="robot", role="assistant", content=[], id=agent.state.reply_id)
    for event in events:
        heard.append_event(event)
    assert words_of(heard) == words_of(agent.state.context[-1])
    begun = [event.type for event in events].count(EventType.TEXT_BLOCK_START)
    ended = [event.type for event in events].count(EventType.TEXT_BLOCK_END)
    assert begun == ended


async def test_the_message_says_what_it_cost() -> None:
    """The usage is the sum over all calls of the model; a later reply counts anew."""
    cost = ChatUsage(input_tokens=10, output_tokens=2, time=0.1, cache_input_tokens=1)
    more = ChatUsage(input_tokens=20, output_tokens=3, time=0.1)
    agent = agent_of(
        [Probe()],
        streaming([CALL.model_copy()], usage=cost),
        streaming([text("a", "a")], usage=more),
        streaming([text("b", "b")]),
    )
    await events_of(agent, "go")
    assert agent.state.context[-1].usage == Usage(
        input_tokens=30, output_tokens=5, cache_input_tokens=1
    )
    await events_of(agent, "go")
    assert agent.state.context[-1].usage is None
