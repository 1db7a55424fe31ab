"""`skill.search` finds passages in one skill, and takes what it shows from the budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentscope_like.tool import SkillRead, SkillSearch
from tests.skill.agent_kit import FORMS, library_of
from tests.skill.kit import write_file, write_skill
from tests.tool.answers import answer_of, error_of, response_of


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    """Return the directory of a skill."""
    write_skill(tmp_path / "pdf", description="On PDF.", text="Read the form first.")
    write_file(tmp_path / "pdf", FORMS, "references/forms.md")
    return tmp_path / "pdf"


async def refs_of(directory: Path, query: str, **arguments: Any) -> list[str]:
    """Return the references of the hits, the best first."""
    tool = SkillSearch(library_of(directory))
    return [
        hit["ref"] for hit in (await answer_of(tool, name="pdf", query=query, **arguments))["hits"]
    ]


async def test_tt_83_name_and_query_are_required(pdf: Path) -> None:
    """And the query is not blank."""
    tool = SkillSearch(library_of(pdf))
    assert "query" in (await error_of(tool, name="pdf"))[1]
    assert "name" in (await error_of(tool, query="form"))[1]
    assert (await error_of(tool, name="pdf", query=" "))[0] == "skill.invalid_query"
    assert await refs_of(pdf, "sign") == ["skills/pdf/references/forms.md#L2-L4"]


async def test_tt_84_a_file_or_directory_is_searched(pdf: Path) -> None:
    """A missing one, or one outside, is a recoverable error."""
    assert len(await refs_of(pdf, "form")) == 2
    assert await refs_of(pdf, "form", path="SKILL.md") == ["skills/pdf/SKILL.md#L4-L6"]
    for path in ("references", "references/", "./references", "references/forms.md"):
        assert await refs_of(pdf, "form", path=path) == ["skills/pdf/references/forms.md#L1-L4"]
    assert len(await refs_of(pdf, "form", path=".")) == 2
    tool = SkillSearch(library_of(pdf))
    code, _ = await error_of(tool, name="pdf", query="form", path="missing")
    assert code == "skill.file_not_found"
    code, _ = await error_of(tool, name="pdf", query="form", path="../pdf")
    assert code == "skill.invalid_path"


async def test_tt_85_there_are_20_hits_by_default_and_50_at_most(pdf: Path) -> None:
    """Over the limit is an error."""
    write_file(pdf, "needle\n" * 60, "many.md")
    assert len(await refs_of(pdf, "needle", context_lines=0)) == 20
    assert len(await refs_of(pdf, "needle", context_lines=0, limit=50)) == 50
    for limit in (0, 51):
        tool = SkillSearch(library_of(pdf))
        assert "limit" in (await error_of(tool, name="pdf", query="needle", limit=limit))[1]


async def test_tt_86_two_lines_of_context_by_default_and_5_at_most(pdf: Path) -> None:
    """None if none are wanted."""
    write_file(pdf, "a\n" * 20 + "needle\n" + "b\n" * 20, "long.md")
    assert await refs_of(pdf, "needle") == ["skills/pdf/long.md#L19-L23"]
    assert await refs_of(pdf, "needle", context_lines=0) == ["skills/pdf/long.md#L21-L21"]
    assert await refs_of(pdf, "needle", context_lines=5) == ["skills/pdf/long.md#L16-L26"]
    for lines in (-1, 6):
        tool = SkillSearch(library_of(pdf))
        _, text = await error_of(tool, name="pdf", query="needle", context_lines=lines)
        assert "context_lines" in text


async def test_tt_87_passages_are_shown_and_never_whole_files(pdf: Path) -> None:
    """No line is shown twice, and long ones are shortened around the word."""
    lines = ["needle" if n in (10, 12) else f"line {n}" for n in range(100)]
    write_file(pdf, "\n".join(lines), "long.md")
    write_file(pdf, "x " * 5_000 + "thread " + "y " * 5_000, "one.md")
    tool = SkillSearch(library_of(pdf))
    hits = (await answer_of(tool, name="pdf", query="needle"))["hits"]
    assert [hit["ref"] for hit in hits] == ["skills/pdf/long.md#L9-L13"]
    assert hits[0]["snippet"] == "\n".join(lines[8:13])
    (hit,) = (await answer_of(tool, name="pdf", query="thread"))["hits"]
    assert len(hit["snippet"]) == 300
    assert "thread" in hit["snippet"]
    response = await response_of(tool, name="pdf", query="thread")
    assert response.metadata["resource_refs"] == ["skills/pdf/one.md#L1-L1"]


async def test_tt_88_what_is_shown_is_taken_from_the_budget(pdf: Path) -> None:
    """The same one that reading takes from; a search over it shows nothing, and takes nothing."""
    library = library_of(pdf, most=100)
    tool = SkillSearch(library)
    (hit,) = (await answer_of(tool, name="pdf", query="sign"))["hits"]
    left = 100 - len(hit["snippet"])
    assert library.budget.characters_left == left
    while left >= len(hit["snippet"]):
        await answer_of(tool, name="pdf", query="sign")
        left -= len(hit["snippet"])
    code, text = await error_of(tool, name="pdf", query="sign")
    assert code == "skill.read_budget_exhausted"
    assert "sign it" not in text
    assert library.budget.characters_left == left
    assert (await answer_of(tool, name="pdf", query="submarine"))["hits"] == []
    code, _ = await error_of(
        SkillRead(library), name="pdf", path="references/forms.md", max_chars=41
    )
    assert code == "skill.read_budget_exhausted"


async def test_tt_89_files_that_are_no_text_are_left_out(pdf: Path) -> None:
    """And counted; searching one of them by its path is a recoverable error."""
    write_file(pdf, b"form \xff", "latin.txt")
    write_file(pdf, b"form \0", "data.bin")
    tool = SkillSearch(library_of(pdf))
    answer = await answer_of(tool, name="pdf", query="form")
    assert (answer["searched_files"], answer["skipped_files"]) == (2, 2)
    assert len(answer["hits"]) == 2
    for path in ("latin.txt", "data.bin"):
        code, _ = await error_of(tool, name="pdf", query="form", path=path)
        assert code == "skill.not_text"


async def test_hidden_files_secrets_and_symlinks_are_not_searched(pdf: Path) -> None:
    """Whatever they are called."""
    outside = write_file(pdf.parent / "outside", "needle", "secret.md")
    write_file(pdf, "needle", ".env")
    write_file(pdf, "needle", ".git/config")
    write_file(pdf, "needle", "id_rsa")
    (pdf / "link.md").symlink_to(outside)
    (pdf / "inner.md").symlink_to(pdf / "SKILL.md")
    (pdf / "elsewhere").symlink_to(outside.parent)
    assert await refs_of(pdf, "needle") == []
