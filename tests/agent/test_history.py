"""The context as what can be removed as a whole, and as the model is shown it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_like.agent import ContextConfig
from agentscope_like.agent.context.history import passages, without, without_images
from agentscope_like.message import (
    AssistantMsg,
    Base64Source,
    ContentBlock,
    DataBlock,
    HintBlock,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from tests.agent.kit import agent_of, model_of
from tests.tool.kit import call_of


def image(name: str) -> DataBlock:
    """Return an image."""
    return DataBlock(id=name, source=Base64Source(data="AA==", media_type="image/png"))


async def test_the_model_is_shown_the_latest_images_only() -> None:
    """A note stands for each of the others; the state keeps them all."""
    result = ToolResultBlock(id="c", name="Probe", output=[image("2"), image("3")])
    call = call_of(call_id="c")
    context = [
        UserMsg("user", [TextBlock(text="Look"), image("1")]),
        AssistantMsg("robot", [call, result]),
        UserMsg("user", [image("4")]),
    ]
    shown = without_images(context, 2)
    assert "left out" in (shown[0].get_text_content() or "")
    kept = shown[1].content[1]
    assert isinstance(kept, ToolResultBlock)
    assert [block.type for block in kept.output if not isinstance(block, str)] == ["text", "data"]
    assert shown[2] is context[2]
    assert [block.id for block in result.output if isinstance(block, DataBlock)] == ["2", "3"]
    assert without_images(context, 4) == context


async def test_an_agent_shows_as_many_images_as_its_context_may_have() -> None:
    """`max_image_num` counts in each request; what the state holds is not touched."""
    agent = agent_of([], [TextBlock(text="Seen.")], [TextBlock(text="Seen.")])
    message = UserMsg("user", [image("1"), image("2"), image("3")])
    for most in (1, 5):
        agent.context_config = ContextConfig(max_image_num=most)
        await agent.reply(message if most == 1 else None)
        shown = model_of(agent).seen[-1][1]
        assert len(shown.get_content_blocks("data")) == min(most, 3)
        agent.state.context[1:] = []
    assert len(agent.state.context[0].get_content_blocks("data")) == 3


@st.composite
def histories(draw: st.DrawFn) -> list[Msg]:
    """Draw contexts of whole and of unfinished rounds."""
    context: list[Msg] = []
    for n in range(draw(st.integers(1, 4))):
        context.append(UserMsg("user", f"q{n}", id=f"u{n}"))
        blocks: list[ContentBlock] = []
        for r in range(draw(st.integers(0, 3))):
            blocks.append(TextBlock(id=f"t{n}.{r}", text="thinking aloud"))
            ids = [f"c{n}.{r}.{k}" for k in range(draw(st.integers(0, 3)))]
            blocks += [call_of(call_id=i) for i in ids]
            for call_id in draw(st.permutations(ids)):
                blocks.append(
                    ToolResultBlock(
                        id=call_id, name="Probe", output="x", state=ToolResultState.SUCCESS
                    )
                )
            if draw(st.booleans()):
                blocks.append(HintBlock(id=f"h{n}.{r}", hint="mind"))
        for block in blocks:
            if isinstance(block, ToolCallBlock):
                block.state = ToolCallState.FINISHED
        context.append(Msg(name="robot", role="assistant", content=blocks, id=f"a{n}"))
    return context


@settings(max_examples=60, deadline=None)
@given(histories(), st.data())
def test_passages_are_the_context_and_any_tail_of_them_is_whole(
    context: list[Msg], data: st.DataObject
) -> None:
    """Together they are all blocks in order; without the first ones no call loses its result."""
    found = passages(context)
    assert [b for p in found for b in p.blocks] == [b for m in context for b in m.content]
    cut = data.draw(st.integers(0, len(found)))
    rest = without(context, found[:cut], keep=None)
    blocks = [b for m in rest for b in m.content]
    assert blocks == [b for p in found[cut:] for b in p.blocks]
    calls = {b.id for b in blocks if isinstance(b, ToolCallBlock)}
    assert calls == {b.id for b in blocks if isinstance(b, ToolResultBlock)}
