"""`skill.list` shows the skills that a profile shows, of all scopes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentscope_like.exception import ConfigurationError
from agentscope_like.profile import REFERENCE_TOOLS, Account, Profile, ProfileError, SkillPolicy
from agentscope_like.tool import SkillLibrary, SkillList, SkillRead, SkillSearch
from tests.skill.agent_kit import library_of
from tests.skill.kit import write_file, write_skill
from tests.tool.answers import answer_of, error_of


async def names_in(library: SkillLibrary) -> list[str]:
    """Return the names that are listed."""
    return [one["name"] for one in (await answer_of(SkillList(library)))["skills"]]


def library_with(policy: SkillPolicy, *directories: Path) -> SkillLibrary:
    """Return the library of a run under a policy."""
    return library_of(*directories, policy=policy)


async def test_tt_78_a_list_has_no_texts(tmp_path: Path) -> None:
    """But names, descriptions and files; it takes no arguments, and nothing from the budget."""
    write_skill(tmp_path / "pdf", text="The long instructions.")
    write_file(tmp_path / "pdf", "x", "references/a.md")
    library = library_of(tmp_path)
    (listed,) = (await answer_of(SkillList(library)))["skills"]
    assert listed == {
        "name": "pdf",
        "description": "Fill in forms.",
        "files": ["SKILL.md", "references/a.md"],
    }
    assert "unknown argument" in (await error_of(SkillList(library), name="pdf"))[1]
    assert library.budget.characters_left == 80_000


async def test_many_files_are_counted(tmp_path: Path) -> None:
    """Instead of being listed all."""
    write_skill(tmp_path / "pdf")
    for number in range(60):
        write_file(tmp_path / "pdf", "x", f"f{number}.md")
    (listed,) = (await answer_of(SkillList(library_of(tmp_path))))["skills"]
    assert len(listed["files"]) == 50
    assert listed["more_files"] == 11


async def test_tt_79_a_later_scope_replaces_a_skill(tmp_path: Path) -> None:
    """In the order global, preset, profile, character, however they are given."""
    for scope in ("global", "preset", "profile", "character"):
        write_skill(tmp_path / scope / "pdf", text=f"Text of {scope}.")
        write_skill(tmp_path / scope / scope, scope)
    given: dict[str, Any] = {
        scope: str(tmp_path / scope) for scope in ("character", "preset", "global", "profile")
    }
    account = Account(80)
    library = SkillLibrary(given, SkillPolicy(), account)
    assert await names_in(library) == ["character", "global", "pdf", "preset", "profile"]
    assert "Text of character." in (await answer_of(SkillRead(library), name="pdf"))["text"]
    del given["character"]
    library = SkillLibrary(given, SkillPolicy(), account)
    assert "Text of profile." in (await answer_of(SkillRead(library), name="pdf"))["text"]


def test_an_unknown_scope_is_refused() -> None:
    """With the nearest one that there is."""
    with pytest.raises(ConfigurationError, match="did you mean 'global'"):
        SkillLibrary({"globals": []}, SkillPolicy(), Account(1))


async def test_tt_80_visible_names_those_that_are_seen(tmp_path: Path) -> None:
    """And one that is not installed is an error of the profile."""
    write_skill(tmp_path / "a", "a")
    write_skill(tmp_path / "b", "b")
    library = library_with(SkillPolicy(visible=("a",)), tmp_path)
    assert await names_in(library) == ["a"]
    assert await library.installed_names() == ["a", "b"]
    installed = await library.installed_names()
    Profile(id="p", skills=SkillPolicy(visible=("a",))).check(REFERENCE_TOOLS, installed)
    with pytest.raises(ProfileError, match="no skill 'c' is installed"):
        Profile(id="p", skills=SkillPolicy(visible=("c",))).check(REFERENCE_TOOLS, installed)


async def test_tt_81_deny_comes_before_visible(tmp_path: Path) -> None:
    """And `*` hides all."""
    write_skill(tmp_path / "a", "a")
    write_skill(tmp_path / "b", "b")
    some = SkillPolicy(visible=("a", "b"), deny=("a",))
    assert await names_in(library_with(some, tmp_path)) == ["b"]
    assert await names_in(library_with(SkillPolicy(deny=("*",)), tmp_path)) == []


async def test_tt_82_a_star_shows_all_that_are_not_denied(tmp_path: Path) -> None:
    """Those that are installed later as well."""
    write_skill(tmp_path / "a", "a")
    library = library_with(SkillPolicy(visible=("*",), deny=("b",)), tmp_path)
    assert await names_in(library) == ["a"]
    write_skill(tmp_path / "b", "b")
    write_skill(tmp_path / "c", "c")
    assert await names_in(library) == ["a", "c"]


@pytest.mark.parametrize("tool", [SkillRead, SkillSearch])
async def test_tt_83_and_89_a_hidden_skill_cannot_be_read(tmp_path: Path, tool: Any) -> None:
    """And is told like one that does not exist; one that is shown can be."""
    write_skill(tmp_path / "a", "a")
    write_skill(tmp_path / "b", "b")
    library = library_with(SkillPolicy(deny=("a",)), tmp_path)
    arguments = {"query": "it"} if tool is SkillSearch else {}
    for name in ("a", "z"):
        code, text = await error_of(tool(library), name=name, **arguments)
        assert code == "skill.policy_denied"
        assert "did you mean" not in text or "'a'" not in text.partition("did you mean")[2]
    assert await answer_of(tool(library), name="b", **arguments)
