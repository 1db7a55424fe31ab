"""`worldinfo.read_activated` reads what was activated for its run, within its limits."""

from __future__ import annotations

from typing import TypeAlias

import pytest

from agentscope_like.conversation import (
    ContextEntry,
    InMemoryActivations,
    ReadActivated,
    SQLiteActivations,
)
from agentscope_like.exception import ConfigurationError
from tests.conversation.kit import answer_of, error_of

Activations: TypeAlias = InMemoryActivations | SQLiteActivations

CAVE = ContextEntry("book#1", "Cave", "The cave is deep.", "book", is_constant=True, position="top")


async def tool_of(activations: Activations, *texts: str) -> ReadActivated:
    """Return the tool of a run with entries of these texts, `e0` and so on."""
    entries = [ContextEntry(f"e{number}", "", text) for number, text in enumerate(texts)]
    await activations.capture("run", entries)
    return ReadActivated(activations, "run")


async def test_tt_72_the_activation_of_the_own_run_is_read(activations: Activations) -> None:
    """Neither a later one of the same run nor that of another; without one it is an error."""
    await activations.capture("run", [CAVE])
    await activations.capture("other", [ContextEntry("book#2", "Sea", "Another run's.")])
    kept = await activations.capture("run", [ContextEntry("book#3", "Hill", "A later one.")])
    assert list(kept) == [CAVE]
    answer = await answer_of(ReadActivated(activations, "run"))
    assert [one["ref"] for one in answer["entries"]] == ["book#1"]
    code, _ = await error_of(ReadActivated(activations, "run"), entries=[{"ref": "book#2"}])
    assert code == "worldinfo.entry_not_found"
    code, _ = await error_of(ReadActivated(activations, "a third"))
    assert code == "worldinfo.not_captured"


async def test_tt_73_without_arguments_no_text_is_told(activations: Activations) -> None:
    """But references and what is known of them; an unknown argument is refused."""
    await activations.capture("run", [CAVE])
    tool = ReadActivated(activations, "run")
    (listed,) = (await answer_of(tool))["entries"]
    assert listed == {
        "ref": "book#1",
        "title": "Cave",
        "source": "book",
        "constant": True,
        "position": "top",
        "total_chars": 17,
    }
    assert "did you mean 'entries'" in (await error_of(tool, entrys=[]))[1]
    assert "entries" in (await error_of(tool, entries=[]))[1]


async def test_tt_74_an_entry_is_read_by_its_reference(activations: Activations) -> None:
    """In whole or in part, of at most 8,000 characters."""
    await activations.capture("run", [CAVE, ContextEntry("long", "", "龍" * 9_000)])
    tool = ReadActivated(activations, "run")
    (whole,) = (await answer_of(tool, entries=[{"ref": "book#1"}]))["entries"]
    assert whole["text"] == CAVE.text
    wanted = {"ref": "book#1", "start_char": 4, "max_chars": 4}
    (part,) = (await answer_of(tool, entries=[wanted]))["entries"]
    assert (part["text"], part["start_char"], part["end_char"]) == ("cave", 4, 8)
    (most,) = (await answer_of(tool, entries=[{"ref": "long", "max_chars": 8_000}]))["entries"]
    assert len(most["text"]) == 8_000
    assert "max_chars" in (await error_of(tool, entries=[{"ref": "long", "max_chars": 8_001}]))[1]
    assert "ref" in (await error_of(tool, entries=[{"start_char": 1}]))[1]
    code, _ = await error_of(tool, entries=[{"ref": "book#1", "start_char": 17}])
    assert code == "worldinfo.invalid_range"
    code, text = await error_of(tool, entries=[{"ref": "book1"}])
    assert code == "worldinfo.entry_not_found"
    assert "did you mean 'book#1'" in text


async def test_tt_75_one_call_reads_20_entries(activations: Activations) -> None:
    """And not 21."""
    tool = await tool_of(activations, *("text" for _ in range(21)))
    wanted = [{"ref": f"e{number}"} for number in range(21)]
    assert len((await answer_of(tool, entries=wanted[:20]))["entries"]) == 20
    assert "20" in (await error_of(tool, entries=wanted))[1]


async def test_tt_76_a_whole_entry_has_8000_characters(activations: Activations) -> None:
    """One more is refused, and told how to read."""
    tool = await tool_of(activations, "龍" * 8_000, "龍" * 8_001)
    assert (await answer_of(tool, entries=[{"ref": "e0"}]))["entries"][0]["text"] == "龍" * 8_000
    code, text = await error_of(tool, entries=[{"ref": "e1"}])
    assert code == "worldinfo.read_too_large"
    assert "max_chars" in text


async def test_tt_77_over_20000_characters_the_whole_call_fails(activations: Activations) -> None:
    """And none of its entries is returned; 20,000 are."""
    tool = await tool_of(activations, "a" * 8_000, "b" * 8_000, "c" * 4_001)
    code, text = await error_of(tool, entries=[{"ref": f"e{number}"} for number in range(3)])
    assert code == "worldinfo.read_too_large"
    assert "aaa" not in text
    wanted = [{"ref": "e0"}, {"ref": "e1"}, {"ref": "e2", "max_chars": 4_000}]
    assert sum(len(one["text"]) for one in (await answer_of(tool, entries=wanted))["entries"]) == (
        20_000
    )


@pytest.mark.parametrize("refs", [("",), ("a", "a")])
async def test_refs_name_one_entry_each(activations: Activations, refs: tuple[str, ...]) -> None:
    """Or nothing is captured."""
    with pytest.raises(ConfigurationError, match="ref"):
        await activations.capture("run", [ContextEntry(ref, "", "text") for ref in refs])
    assert await activations.activated("run") is None
