"""What the pieces of a tool's output come to."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_like.message import (
    Base64Source,
    DataBlock,
    TextBlock,
    ToolChunk,
    ToolResponse,
    ToolResultState,
    URLSource,
)

STATES = ["success", "interrupted", "denied", "error", "running"]


def text(value: str, block_id: str = "t") -> TextBlock:
    """Return a text block."""
    return TextBlock(id=block_id, text=value)


def data(value: str, block_id: str = "d") -> DataBlock:
    """Return a block of inline data."""
    return DataBlock(id=block_id, source=Base64Source(data=value, media_type="image/png"))


def link(block_id: str = "d") -> DataBlock:
    """Return a block of data elsewhere."""
    source = URLSource.model_validate(
        {"url": "https://example.org/a.png", "media_type": "image/png"}
    )
    return DataBlock(id=block_id, source=source)


def shape(response: ToolResponse) -> list[str]:
    """Return the content in short."""
    shown = []
    for block in response.content:
        if isinstance(block, TextBlock):
            shown.append(block.text)
        else:
            source = block.source
            shown.append(f"<{source.data if isinstance(source, Base64Source) else source.url}>")
    return shown


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ([text("a"), text("b")], ["ab"]),
        ([text("a", "1"), text("b", "2")], ["ab"]),
        ([text("a", "1"), data("AAAA"), text("b", "2")], ["a", "<AAAA>", "b"]),
        ([text("a", "1"), data("AAAA"), text("b", "1")], ["ab", "<AAAA>"]),
        ([data("AAAA"), data("BBBB")], ["<AAAABBBB>"]),
        ([data("YQ=="), data("YmM=")], ["<YWJj>"]),
        ([data("AAAA"), text("a"), data("BBBB")], ["<AAAABBBB>", "a"]),
        ([data("AAAA", "1"), data("BBBB", "2")], ["<AAAA>", "<BBBB>"]),
        ([data("AAAA"), link()], ["<AAAA>", "<https://example.org/a.png>"]),
        ([], []),
    ],
)
def test_blocks_of_one_id_are_joined_and_text_follows_text(
    blocks: list[TextBlock | DataBlock], expected: list[str]
) -> None:
    """However the blocks are spread over chunks, the response is the same."""
    for size in (1, 2, 3):
        response = ToolResponse()
        before = [block.model_copy(deep=True) for block in blocks]
        for start in range(0, len(blocks), size):
            response.append_chunk(ToolChunk(content=blocks[start : start + size]))
        assert shape(response) == expected
        assert blocks == before, "what the tool yielded stays as it was"


@pytest.mark.parametrize(("first", "second"), list(itertools.product(STATES, STATES)))
def test_the_worst_state_wins(first: str, second: str) -> None:
    """In either order; RUNNING says nothing."""
    severity = {"running": 0, "success": 0, "interrupted": 1, "denied": 1, "error": 2}
    response = ToolResponse()
    for state in (first, second):
        response.append_chunk(ToolChunk(content=[], state=ToolResultState(state)))
    assert severity[response.state] == max(severity[first], severity[second])
    assert response.state.value != "running"


@given(st.lists(st.text(max_size=5), max_size=12))
def test_no_text_is_lost(pieces: list[str]) -> None:
    """The text of the response is the text of the chunks, in their order."""
    response = ToolResponse()
    for piece in pieces:
        response.append_chunk(ToolChunk(content=[text(piece, piece)], metadata={"last": piece}))
    assert "".join(shape(response)) == "".join(pieces)
    assert response.metadata == ({"last": pieces[-1]} if pieces else {})
    assert ToolResponse.model_validate_json(response.model_dump_json()) == response
