"""How many tokens a context has."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_like.agent import Agent
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
from agentscope_like.tool import Toolkit
from tests.agent.kit import UNTOLD, DictatedModel
from tests.tool.kit import Probe, call_of

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


class CountingModel(DictatedModel):
    """Takes what AgentScope's models take: `count_tokens` has no defaults."""

    def __init__(self, *turns: Any) -> None:
        super().__init__(*turns)
        self.counted: list[tuple[int, list[str] | None]] = []
        self.given: list[dict[str, Any]] = []

    async def count_tokens(  # type: ignore[override]
        self, messages: list[Msg], tools: list[dict[str, Any]] | None
    ) -> int:
        names = None if tools is None else [tool["function"]["name"] for tool in tools]
        self.counted.append((len(messages), names))
        return await super().count_tokens(messages, tools)

    async def _call_api(self, model_name: str, *args: Any, **given: Any) -> Any:
        assert not args
        self.given.append(given)
        return await super()._call_api(model_name, **given)


async def test_a_request_is_counted_whole_once_a_round() -> None:
    """All messages with the tools, as the model is given them."""
    tool = Probe()
    model = CountingModel([call_of("Probe", "{}", "c")], [TextBlock(text="Done.")])
    agent = Agent("robot", "Be brief.", model, Toolkit([tool]), injection_config=UNTOLD)
    await agent.reply(UserMsg("user", "go"))
    assert model.counted == [(2, ["Probe"]), (3, ["Probe"])]


@pytest.mark.parametrize("tools", [[], [Probe()]])
async def test_a_model_is_called_with_names(tools: list[Probe]) -> None:
    """The name of the model first; messages, a list of tools and the choice by their names."""
    model = CountingModel([TextBlock(text="Done.")])
    agent = Agent("robot", "", model, Toolkit(tools), injection_config=UNTOLD)
    await agent.reply(UserMsg("user", "go"))
    (given,) = model.given
    assert sorted(given) == ["messages", "tool_choice", "tools"]
    assert isinstance(given["tools"], list)
    assert given["tool_choice"] is None


async def test_compressing_counts_with_both_arguments() -> None:
    """A model whose `count_tokens` has no defaults can be compressed for as well."""
    summary = [call_of("write_summary", '{"task_overview": "t"}', "s")]
    model = CountingModel(summary, [TextBlock(text="Done.")])
    model.context_size = 400
    agent = Agent("robot", "", model, injection_config=UNTOLD)
    await agent.observe([UserMsg("user", TEXT), UserMsg("user", TEXT), UserMsg("user", TEXT)])
    await agent.reply(UserMsg("user", TEXT))
    assert agent.state.summary
