"""How many tokens a context has."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_like.agent.context.context_size import ContextSize, summary_messages
from agentscope_like.message import (
    AssistantMsg,
    Base64Source,
    ContentBlock,
    DataBlock,
    HintBlock,
    Msg,
    SystemMsg,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolResultState,
    URLSource,
    UserMsg,
)
from agentscope_like.state import AgentState
from tests.agent.kit import DictatedModel
from tests.tool.kit import call_of

TEXT = "word " * 80  # about 100 tokens


def result(output: Any) -> ToolResultBlock:
    """Return a result."""
    return ToolResultBlock(id="c", name="Probe", output=output, state=ToolResultState.SUCCESS)


def data(kind: str, text: str) -> DataBlock:
    """Return data of a kind."""
    return DataBlock(source=Base64Source(data=text, media_type=kind))


@pytest.mark.parametrize(
    ("block", "least", "most"),
    [
        (TextBlock(text=TEXT), 100, 110),
        (ThinkingBlock(thinking=TEXT), 0, 10),
        (HintBlock(hint=TEXT), 100, 115),
        (HintBlock(hint=[TextBlock(text=TEXT)]), 100, 115),
        (call_of(arguments=TEXT), 100, 115),
        (result(TEXT), 100, 115),
        (result([TextBlock(text=TEXT), TextBlock(text=TEXT)]), 200, 215),
        (data("image/png", "AA=="), 1_000, 2_000),
        (data("application/pdf", "A" * 4_000), 1_000, 1_010),
        (
            DataBlock(
                source=URLSource.model_validate(
                    {"url": "https://example.org/a.pdf", "media_type": "application/pdf"}
                )
            ),
            5,
            20,
        ),
    ],
    ids=lambda value: getattr(value, "type", ""),
)
async def test_each_block_counts_for_about_what_it_takes(
    block: ContentBlock, least: int, most: int
) -> None:
    """A token has about four letters; an image counts for its usual price, reasoning for none."""
    count = await DictatedModel().count_tokens([AssistantMsg("robot", [block])])
    assert least <= count <= most


async def test_the_schemas_of_tools_count_too() -> None:
    """The model reads them with each request."""
    model, messages = DictatedModel(), [SystemMsg("system", "Be brief.")]
    schema = {"type": "function", "function": {"name": "a", "description": TEXT}}
    with_tools = await model.count_tokens(messages, [schema])
    assert with_tools - await model.count_tokens(messages) >= 100


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["message", "block", "cut", "summary", "replace"]), max_size=12))
async def test_a_context_that_grew_or_was_cut_is_counted_right(steps: list[str]) -> None:
    """Counting what is new comes to what counting everything does, frames of messages aside."""
    state, model = AgentState(), DictatedModel()
    size = ContextSize(state, model)
    for step in steps:
        match step:
            case "message":
                state.context.append(Msg(name="robot", role="assistant", content=[]))
            case "block" if state.context:
                state.context[-1].content.append(TextBlock(text=TEXT))
            case "cut" if state.context:
                state.context[-1].content[:1] = []
                state.context[:1] = []
            case "summary":
                state.summary = TEXT + str(len(str(state.summary)))
            case "replace" if state.context:
                state.context[0] = UserMsg("user", "other")
            case _:
                pass
        counted = await size.count()
        whole = await model.count_tokens([*summary_messages(state), *state.context])
        assert abs(counted - whole) <= 5 * len(steps)
