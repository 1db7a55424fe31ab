"""The model that replays a script."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path

import pytest

from agentscope_like.exception import ConfigurationError, ModelError
from agentscope_like.message import AssistantMsg, Msg, TextBlock, ThinkingBlock, UserMsg
from agentscope_like.message.block import ToolCallBlock
from agentscope_like.model import ChatResponse, Script, ScriptedModel

SCRIPT = Script.parse(
    '{"think": "Where is it?", "say": "I will look for it."}\n'
    '{"say": "Two.", "calls": [{"id": "c1", "name": "Bash", "input": {"command": "ls -la"}}]}\n'
    "{}\n"
    '{"say": "Four."}\n'
)


async def ask(model: ScriptedModel, *messages: Msg) -> list[ChatResponse]:
    answer = await model(list(messages))
    if isinstance(answer, ChatResponse):
        return [answer]
    async with aclosing(answer):
        return [response async for response in answer]


def said(response: ChatResponse) -> str:
    return "".join(block.text for block in response.content if isinstance(block, TextBlock))


async def test_pieces_join_to_the_whole() -> None:
    """The pieces of each block, joined by block id, are the blocks of the last response."""
    model = ScriptedModel(SCRIPT, chunk_size=3)
    for _ in SCRIPT.turns:
        *pieces, whole = await ask(model)
        assert whole.is_last
        assert not any(piece.is_last for piece in pieces)
        assert {piece.id for piece in pieces} <= {whole.id}
        joined: dict[str, str] = {}
        for piece in pieces:
            for block in piece.content:
                joined[block.id] = joined.get(block.id, "") + text_of(block)
        assert joined == {block.id: text_of(block) for block in whole.content}


def text_of(block: object) -> str:
    if isinstance(block, ThinkingBlock):
        return block.thinking
    if isinstance(block, ToolCallBlock):
        return block.input
    return block.text if isinstance(block, TextBlock) else ""


async def test_turn_after_turn_and_then_an_error() -> None:
    """Turns come in order, an empty one is an empty answer, and past the end the model says so."""
    model = ScriptedModel(SCRIPT, stream=False)
    assert [said((await ask(model))[0]) for _ in range(4)] == [
        "I will look for it.",
        "Two.",
        "",
        "Four.",
    ]
    with pytest.raises(ModelError, match="4 turns and all are given"):
        await ask(model)


async def test_a_new_model_goes_on_where_the_messages_stand() -> None:
    """After a restart, the turn after the last one that the messages hold a block of is given."""
    first = (await ask(ScriptedModel(SCRIPT)))[-1]
    told = [UserMsg("u", "go"), AssistantMsg("a", list(first.content))]
    second = (await ask(ScriptedModel(SCRIPT), *told))[-1]
    assert said(second) == "Two."
    told[-1].content.extend(second.content)
    assert (await ask(ScriptedModel(SCRIPT), *told))[-1].content == []


async def test_what_was_summed_up_does_not_matter() -> None:
    """Messages that were removed, merged or added do not change which turn comes."""
    call = ToolCallBlock(id="c1", name="Bash", input="{}")
    told = [UserMsg("u", "x")] * 9 + [AssistantMsg("a", [call]), UserMsg("u", "more")]
    assert (await ask(ScriptedModel(SCRIPT), *told))[-1].content == []
    model = ScriptedModel(SCRIPT)
    for _ in range(3):
        await ask(model, UserMsg("u", "nothing of the past is left"))
    assert said((await ask(model))[-1]) == "Four."


async def test_an_interrupted_turn_counts_as_given() -> None:
    """A stream that is closed early is not given again."""
    model = ScriptedModel(SCRIPT, chunk_size=1)
    answer = await model([])
    assert not isinstance(answer, ChatResponse)
    async with aclosing(answer):
        await anext(answer)
    assert model.position == 1
    assert said((await ask(model))[-1]) == "Two."


async def test_position_and_file(tmp_path: Path) -> None:
    """A script is taken from a path too, and begun at any turn."""
    path = tmp_path / "s.jsonl"
    path.write_text('{"say": "a"}\n{"say": "b"}\n')
    assert said((await ask(ScriptedModel(str(path), position=1)))[-1]) == "b"


async def test_delay_is_waited_between_pieces() -> None:
    """Each piece is followed by one wait of `delay` seconds."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    model = ScriptedModel(SCRIPT, delay=0.25, chunk_size=10, position=3, sleep=sleep)
    assert len(await ask(model)) == 2
    assert waits == [0.25]


@pytest.mark.parametrize("wrong", [{"delay": -1.0}, {"chunk_size": 0}, {"position": -1}])
def test_numbers_out_of_range(wrong: dict[str, int]) -> None:
    """A number that makes no sense is refused when the model is made."""
    with pytest.raises(ConfigurationError):
        ScriptedModel(SCRIPT, **wrong)  # type: ignore[arg-type]
