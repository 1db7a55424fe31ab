"""`skill.read` reads a file of a skill, and nothing outside of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_like.message import ToolResultState
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.profile import Account, SkillPolicy
from agentscope_like.skill import Skill
from agentscope_like.state import AgentState
from agentscope_like.tool import SkillLibrary, SkillList, SkillRead, SkillSearch, Toolkit
from tests.skill.agent_kit import FORMS, library_of
from tests.skill.kit import write_file, write_skill
from tests.tool.answers import answer_of, error_of
from tests.tool.kit import call_of, outcome


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    """Return the directory of a skill."""
    write_skill(tmp_path / "pdf", text="Read the form first.")
    write_file(tmp_path / "pdf", FORMS, "references/forms.md")
    return tmp_path / "pdf"


def contents_of(directory: Path) -> dict[Path, bytes]:
    """Return the files below a directory."""
    return {path: path.read_bytes() for path in directory.rglob("*.md")}


async def test_tt_90_the_main_file_is_read_by_default(pdf: Path) -> None:
    """And another one by its path; the name is required."""
    tool = SkillRead(library_of(pdf))
    answer = await answer_of(tool, name="pdf")
    assert answer["text"] == (pdf / "SKILL.md").read_text()
    assert answer["ref"] == "skills/pdf/SKILL.md"
    assert (await answer_of(tool, name="pdf", path="references/forms.md"))["text"] == FORMS
    assert "name" in (await error_of(tool))[1]
    code, _ = await error_of(tool, name="pdf", path="missing.md")
    assert code == "skill.file_not_found"
    code, _ = await error_of(tool, name="pdf", path="references")
    assert code == "skill.not_a_file"


async def test_a_skill_without_a_directory_has_its_text() -> None:
    """And no other file."""
    skill = Skill("notes", "About notes.", "", "Write notes.", 0.0)
    tool = SkillRead(SkillLibrary({"profile": skill}, SkillPolicy(), Account(9)))
    assert (await answer_of(tool, name="notes"))["text"] == "Write notes."
    code, _ = await error_of(tool, name="notes", path="etc/passwd")
    assert code == "skill.file_not_found"


async def test_tt_91_at_most_80_000_characters_are_read(pdf: Path) -> None:
    """By default 20,000, which is said; and never more than the profile lets one call read."""
    write_file(pdf, "龍" * 90_000, "long.md")
    wide = SkillPolicy(max_read_chars_per_call=80_000, max_read_chars_per_run=1_000_000)
    tool = SkillRead(library_of(pdf, policy=wide))
    answer = await answer_of(tool, name="pdf", path="long.md")
    assert (len(answer["text"]), answer["truncated"], answer["end_char"]) == (20_000, True, 20_000)
    answer = await answer_of(tool, name="pdf", path="long.md", max_chars=80_000)
    assert len(answer["text"]) == 80_000
    for most in (0, 80_001):
        _, text = await error_of(tool, name="pdf", path="long.md", max_chars=most)
        assert "max_chars" in text
    tool = SkillRead(library_of(pdf))
    code, text = await error_of(tool, name="pdf", path="long.md", max_chars=20_001)
    assert code == "skill.read_budget_exceeded"
    assert "20,000" in text
    assert not (await answer_of(tool, name="pdf", max_chars=20_000))["truncated"]
    narrow = SkillPolicy(max_read_chars_per_call=10)
    answer = await answer_of(SkillRead(library_of(pdf, policy=narrow)), name="pdf")
    assert len(answer["text"]) == 10


async def test_tt_89_a_spent_budget_is_a_recoverable_error(pdf: Path) -> None:
    """By default what is left is read; what was asked for and is not left is refused as a whole."""
    write_file(pdf, "a" * 100, "a.md")
    library = library_of(pdf, most=150)
    tool = SkillRead(library)
    assert len((await answer_of(tool, name="pdf", path="a.md"))["text"]) == 100
    code, _ = await error_of(tool, name="pdf", path="a.md", max_chars=51)
    assert code == "skill.read_budget_exhausted"
    assert library.budget.characters_left == 50
    answer = await answer_of(tool, name="pdf", path="a.md")
    assert (len(answer["text"]), answer["truncated"]) == (50, True)
    assert answer["note"].startswith("Those were the last characters of skills")
    code, _ = await error_of(tool, name="pdf", path="a.md")
    assert code == "skill.read_budget_exhausted"


async def test_a_budget_is_never_exceeded_by_calls_at_the_same_time(pdf: Path) -> None:
    """Of a run and its children, whose characters are taken from both."""
    write_file(pdf, "a" * 10, "a.md")
    parent = Account(1_000, most_characters=105)
    children = [Account(1_000, most_characters=60, within=parent) for _ in range(2)]
    tools = [
        SkillRead(SkillLibrary({"global": str(pdf)}, SkillPolicy(), one))
        for one in (parent, *children)
    ]
    toolkits = [Toolkit([tool]) for tool in tools]
    call = call_of("skill.read", '{"name": "pdf", "path": "a.md", "max_chars": 10}')
    responses = await asyncio.gather(
        *(outcome(toolkits[number % 3], call, AgentState()) for number in range(30))
    )
    states = [response.state for response in responses if response is not None]
    assert states.count(ToolResultState.SUCCESS) == 10
    assert states.count(ToolResultState.ERROR) == 20
    assert parent.characters_left == 5


async def test_tt_92_lines_count_from_1_and_characters_from_0(pdf: Path) -> None:
    """A part behind the end, and a line 0, are recoverable errors."""
    tool = SkillRead(library_of(pdf))

    async def read(**part: int) -> str:
        answer = await answer_of(tool, name="pdf", path="references/forms.md", **part)
        return str(answer["text"])

    assert await read(start_line=3, line_count=1) == "Fill in the form.\n"
    assert await read(start_line=3) == "Fill in the form.\nThen sign it.\n"
    assert await read(line_count=1) == "# Forms\n"
    assert await read(start_line=4.0, line_count=99) == "Then sign it.\n"  # type: ignore[arg-type]
    assert await read(start_char=2, max_chars=5) == "Forms"
    assert await read(start_char=len(FORMS) - 1) == "\n"
    for part in ({"start_line": 0}, {"line_count": 0}, {"start_char": -1}):
        code, _ = await error_of(tool, name="pdf", path="references/forms.md", **part)
        assert code is None
    for part in ({"start_line": 5}, {"start_char": len(FORMS)}):
        code, _ = await error_of(tool, name="pdf", path="references/forms.md", **part)
        assert code == "skill.invalid_range"


async def test_lines_that_are_cut_are_told_as_they_are(pdf: Path) -> None:
    """The last line is the one that was reached, and reading goes on from there."""
    tool = SkillRead(library_of(pdf))
    answer = await answer_of(
        tool, name="pdf", path="references/forms.md", start_line=3, line_count=2, max_chars=10
    )
    assert (answer["text"], answer["truncated"]) == ("Fill in th", True)
    assert (answer["start_line"], answer["end_line"]) == (3, 3)
    rest = await answer_of(
        tool, name="pdf", path="references/forms.md", start_char=answer["end_char"]
    )
    assert answer["text"] + rest["text"] == "Fill in the form.\nThen sign it.\n"


@pytest.mark.parametrize("lines", [{"start_line": 1}, {"line_count": 2}])
async def test_tt_93_lines_and_characters_are_not_mixed(pdf: Path, lines: dict[str, int]) -> None:
    """Not even from the first line or character on; a maximum goes with both."""
    tool = SkillRead(library_of(pdf))
    code, _ = await error_of(tool, name="pdf", start_char=0, **lines)
    assert code == "skill.invalid_range"
    assert (await answer_of(tool, name="pdf", max_chars=3, **lines))["text"] == "---"


async def test_tt_94_skills_are_only_read(pdf: Path) -> None:
    """Also where nothing may be changed; a deny rule stops even that."""
    library = library_of(pdf)
    before = contents_of(pdf)
    context = PermissionContext(mode=PermissionMode.EXPLORE)
    state = AgentState(permission_context=context)
    for tool, arguments in (
        (SkillList(library), "{}"),
        (SkillSearch(library), '{"name": "pdf", "query": "form"}'),
        (SkillRead(library), '{"name": "pdf"}'),
    ):
        assert tool.is_read_only
        response = await outcome(Toolkit([tool]), call_of(tool.name, arguments), state)
        assert response is not None
        assert response.state is ToolResultState.SUCCESS
    assert contents_of(pdf) == before
    rule = PermissionRule(tool_name="skill.read", behavior=PermissionBehavior.DENY)
    state.permission_context.table(PermissionBehavior.DENY).add(rule)
    toolkit = Toolkit([SkillRead(library)])
    response = await outcome(toolkit, call_of("skill_read", '{"name": "pdf"}'), state)
    assert response is not None
    assert response.state is ToolResultState.DENIED


@pytest.mark.parametrize(
    "path",
    [
        *("/etc/passwd", "../outside/secret.md", "references/../../outside/secret.md", "~/x", "."),
        *("a\0b", ".env", "references/.hidden", "link.md", "elsewhere/secret.md", "inner.md"),
        "SKILL.md/x",
    ],
)
async def test_tt_89_nothing_outside_of_a_skill_is_read(pdf: Path, path: str) -> None:
    """Neither by a path nor over a symlink, not even one to a file inside."""
    outside = write_file(pdf.parent / "outside", "a secret", "secret.md")
    write_file(pdf, "a secret", ".env")
    (pdf / "link.md").symlink_to(outside)
    (pdf / "inner.md").symlink_to(pdf / "SKILL.md")
    (pdf / "elsewhere").symlink_to(outside.parent)
    tool = SkillRead(library_of(pdf))
    code, text = await error_of(tool, name="pdf", path=path)
    assert code == "skill.invalid_path"
    assert "a secret" not in text
    assert (await answer_of(tool, name="pdf", path="./references//forms.md"))["text"] == FORMS


async def test_a_file_that_may_hold_a_secret_is_not_read(pdf: Path) -> None:
    """Nor one that is no text, a device or too large; a byte order mark is left out."""
    write_file(pdf, "key", "id_rsa")
    write_file(pdf, b"\xff", "latin.txt")
    write_file(pdf, b"a\0", "data.bin")
    write_file(pdf, b"a" * (4 * 2**20 + 1), "large.md")
    write_file(pdf, "\ufefftext", "mark.md")
    tool = SkillRead(library_of(pdf))
    for path, expected in (
        ("id_rsa", "skill.sensitive_file"),
        ("latin.txt", "skill.not_text"),
        ("data.bin", "skill.not_text"),
        ("large.md", "skill.file_too_large"),
    ):
        code, _ = await error_of(tool, name="pdf", path=path)
        assert code == expected
    assert (await answer_of(tool, name="pdf", path="mark.md"))["text"] == "text"


@given(
    st.lists(st.sampled_from(["..", ".", "", "references", "forms.md", "outside", "~"]), max_size=6)
)
def test_no_path_leads_outside(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    """Of whatever parts it is made."""

    async def read(pdf: Path) -> None:
        tool = SkillRead(library_of(pdf))
        toolkit = Toolkit([tool])
        path = "/".join(parts).replace('"', "")
        call = call_of("skill.read", f'{{"name": "pdf", "path": "{path}"}}')
        response = await outcome(toolkit, call, AgentState())
        assert response is not None
        if response.state is ToolResultState.SUCCESS:
            assert [part for part in parts if part not in ("", ".")] == ["references", "forms.md"]

    root = tmp_path_factory.mktemp("skills")
    write_skill(root / "pdf")
    write_file(root / "pdf", FORMS, "references/forms.md")
    write_file(root / "outside", "a secret", "forms.md")
    asyncio.run(read(root / "pdf"))
