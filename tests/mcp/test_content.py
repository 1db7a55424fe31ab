"""What MCP tools return, as blocks."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types import CallToolResult, Tool

from agentscope_like.message import Base64Source, DataBlock, TextBlock, ToolResultState
from agentscope_like.tool import MCPTool, ToolChunk


class Canned:
    """A session that gives one result to every call."""

    def __init__(self, result: dict[str, Any]) -> None:
        self.result = CallToolResult.model_validate(result)

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        read_timeout_seconds: float | None = None,
    ) -> CallToolResult:
        return self.result


async def chunk_of(*content: dict[str, Any], **result: Any) -> ToolChunk:
    """Return what a tool makes of the result."""
    tool = Tool(name="t", input_schema={"type": "object"})
    canned = Canned({"content": list(content), **result})
    return await MCPTool("s", tool, session=canned).call()


def texts_of(chunk: ToolChunk) -> list[str]:
    """Return the texts of a chunk."""
    return [block.text for block in chunk.content if isinstance(block, TextBlock)]


def text(of: str) -> dict[str, Any]:
    """Return text content."""
    return {"type": "text", "text": of}


async def test_texts_stay_apart() -> None:
    """Two texts become one block with a line feed between, data keeps its place."""
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    chunk = await chunk_of(text("one"), text("two"), image, text("three"))
    assert texts_of(chunk) == ["one\ntwo", "three"]
    assert [block.type for block in chunk.content] == ["text", "data", "text"]


@pytest.mark.parametrize(
    ("item", "media_type", "name"),
    [
        ({"type": "image", "data": "AAAA", "mimeType": "image/png"}, "image/png", None),
        ({"type": "audio", "data": "AAAA", "mimeType": "Audio/WAV; rate=1"}, "audio/wav", None),
        (
            {"type": "resource", "resource": {"uri": "x://1", "blob": "AAAA"}},
            "application/octet-stream",
            "x://1",
        ),
        (
            {"type": "image", "data": "AA\nAA", "mimeType": "image/png\r\nX: 1"},
            "application/octet-stream",
            None,
        ),
    ],
)
async def test_data_becomes_a_block(item: dict[str, Any], media_type: str, name: str) -> None:
    """Images, sounds and files become data of a type that can be told."""
    (block,) = (await chunk_of(item)).content
    assert isinstance(block, DataBlock)
    assert block.source == Base64Source(data="AAAA", media_type=media_type)
    assert block.name == name


async def test_data_that_is_none_is_told_in_words() -> None:
    """What is not base64 would spoil every later request to the model, so it is left out."""
    chunk = await chunk_of({"type": "image", "data": "%%%", "mimeType": "image/png"})
    assert "not base64" in texts_of(chunk)[0]


async def test_a_link_is_told_and_not_followed() -> None:
    """A link to a resource is text with all that is known of it."""
    link = {"type": "resource_link", "uri": "file:///etc/x", "name": "x", "size": 1000}
    chunk = await chunk_of({**link, "mimeType": "text/plain", "description": "The file x."})
    assert texts_of(chunk) == [
        "[link to the resource 'x': file:///etc/x (text/plain, 1,000 bytes)]\nThe file x."
    ]


async def test_an_embedded_text_is_text() -> None:
    """An embedded text says where it comes from."""
    item = {"type": "resource", "resource": {"uri": "notes://1", "text": "buy milk"}}
    assert texts_of(await chunk_of(item)) == ["[resource notes://1]\nbuy milk"]


@pytest.mark.parametrize(
    ("texts", "structured"),
    [
        (['{"x": 1}'], {"x": 1}),
        (["3"], {"result": 3}),
        (["hello"], {"result": "hello"}),
        (["1", "2"], {"result": [1, 2]}),
        (["a", "b"], {"result": ["a", "b"]}),
        (["hello"], {"content": "hello"}),
        ([], None),
    ],
)
async def test_a_structured_result_is_not_said_twice(texts: list[str], structured: Any) -> None:
    """Where the texts say it already, a structured result adds nothing."""
    chunk = await chunk_of(*map(text, texts), structuredContent=structured)
    assert texts_of(chunk) == (["\n".join(texts)] if texts else [])


@pytest.mark.parametrize("texts", [[], ["3 found"], ['{"x": 2}'], ["1"]])
async def test_a_structured_result_is_said_where_no_text_does(texts: list[str]) -> None:
    """A structured result that the texts do not say is added as JSON."""
    (said,) = texts_of(await chunk_of(*map(text, texts), structuredContent={"x": 1}))
    assert said.endswith('{\n  "x": 1\n}')


async def test_an_error_is_an_error() -> None:
    """`is_error` becomes an error result, also where nothing is said; else there is none."""
    failed = await chunk_of(text("disk full"), isError=True)
    assert (failed.state, texts_of(failed)) == (ToolResultState.ERROR, ["disk full"])
    silent = await chunk_of(isError=True)
    assert (silent.state, bool(texts_of(silent)[0])) == (ToolResultState.ERROR, True)
    assert (await chunk_of(text("fine"))).state is not ToolResultState.ERROR
