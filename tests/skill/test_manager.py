"""The manager of skills, and the view of it that a session has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentscope_like.exception import ConfigurationError
from agentscope_like.skill import SkillFileError, SkillManager, SkillProxy, SkillSchema
from tests.skill.kit import SEED_SKILL, write_file, write_package, write_skill


def manager_of(*names: str, text: str = "Do it.") -> SkillManager:
    """Return a manager of skills without files."""
    manager = SkillManager()
    for name in names:
        manager.register_skill(SkillSchema(name, "For work.", instructions=text))
    return manager


def test_sage_s_07_a_directory_s_skills_are_registered(tmp_path: Path) -> None:
    """All right below it, in the order of their directories; what is no skill is none."""
    write_skill(tmp_path / "b", "beta")
    write_package(tmp_path / "my_skill")
    write_skill(tmp_path / "deep" / "er", "gamma")
    write_file(tmp_path, "not a directory", "notes.md")
    skill_manager = SkillManager()
    assert skill_manager.add_skill_dir(str(tmp_path)) == ["beta", "my_skill"]
    assert skill_manager.list_skill_names() == ["beta", "my_skill"]
    assert skill_manager.add_skill_dir(tmp_path, scan_subdir=True) == ["gamma"]
    assert skill_manager.problems == ()


def test_a_skill_is_found_by_name_then_by_id(tmp_path: Path) -> None:
    """A name is never hidden by another skill's id."""
    write_skill(tmp_path / "pdf", "forms", "By its directory.")
    write_skill(tmp_path / "other", "pdf", "By its name.")
    write_file(tmp_path / "other", "id: office-7\n", "skill.yaml")
    manager = SkillManager([tmp_path])
    found = {name: manager.get_skill(name) for name in ("pdf", "forms", "office-7", "nothing")}
    assert {name: skill and skill.name for name, skill in found.items()} == {
        "pdf": "pdf",
        "forms": "forms",
        "office-7": "pdf",
        "nothing": None,
    }


async def test_changes_on_disk_are_seen(tmp_path: Path) -> None:
    """A listing for a model looks again, at metadata and files, too; the rest when told to."""
    write_package(tmp_path / "a")
    manager = SkillManager([tmp_path])
    write_file(tmp_path / "a", "description: New.\n", "skill.yaml")
    write_file(tmp_path / "a", "", "assets/more.txt")
    write_skill(tmp_path / "b", "later")
    assert manager.list_skill_names() == ["a"]
    assert [skill.name for skill in await manager.list_skills()] == ["a", "later"]
    skill = manager.get_skill("a")
    assert skill is not None
    assert skill.description == "New."
    assert "assets/more.txt" in skill.file_list
    (tmp_path / "a" / "skill.yaml").unlink()
    manager.reload()
    skill = manager.get_skill("a")
    assert skill is not None
    assert skill.description.startswith("What problem")


def test_the_first_of_a_name_is_used(tmp_path: Path) -> None:
    """Of skills of one name that of the directory registered first; the other is a problem."""
    write_skill(tmp_path / "one" / "x", "pdf", "First.")
    write_skill(tmp_path / "two" / "a", "pdf", "Second.")
    write_skill(tmp_path / "two" / "b", "docx", "Other.")
    manager = SkillManager([tmp_path / "one", tmp_path / "two"])
    assert [one.description for one in manager.list_skill_info()] == ["First.", "Other."]
    assert f"'pdf' is in {tmp_path / 'one' / 'x'} already" in manager.problems[0].message


def test_a_directory_twice_is_one(tmp_path: Path) -> None:
    """Its skills are not taken for others of the same names; one that comes later is found."""
    manager = SkillManager([tmp_path / "later"])
    assert "cannot be read" in manager.problems[0].message
    write_skill(tmp_path / "later" / "a", "alpha")
    assert manager.add_skill_dir(tmp_path / "later") == ["alpha"]
    assert manager.problems == ()
    write_skill(tmp_path / "later" / "deep" / "er", "beta")
    manager.register_skill(SkillSchema("own", "For work."))
    assert manager.add_skill_dir(tmp_path / "later", scan_subdir=True) == ["beta"]
    assert manager.list_skill_names() == ["alpha", "beta", "own"]


def test_trap_a_bad_skill_is_left_as_it_is(tmp_path: Path) -> None:
    """Registering what cannot be used is an error, and leaves all as it was (5.1, 17)."""
    write_file(tmp_path / "bad", "---\nname: a\n---\n")
    manager = SkillManager()
    with pytest.raises(SkillFileError, match=r"bad/SKILL\.md:1: the front matter has no `desc"):
        manager.register_skill(tmp_path / "bad")
    assert (tmp_path / "bad" / "SKILL.md").exists()
    assert manager.list_skill_names() == []


def test_a_name_is_registered_once(tmp_path: Path) -> None:
    """A second skill of a name is an error where it is registered by itself."""
    manager = manager_of("pdf")
    write_skill(tmp_path / "pdf", "pdf")
    for skill in (tmp_path / "pdf", SkillSchema("pdf", "Another.")):
        with pytest.raises(ConfigurationError, match="there is a skill named 'pdf' already"):
            manager.register_skill(skill)
    assert manager.list_skill_names() == ["pdf"]


def test_trap_one_bad_skill_does_not_disable_the_cache(tmp_path: Path) -> None:
    """What has not changed is not read again, whatever is wrong beside it (2.7)."""
    write_file(tmp_path / "bad", "")
    write_skill(tmp_path / "good", "good", text="Do it.")
    manager = SkillManager([tmp_path])
    before = manager.get_skill("good")
    manager.reload()
    after = manager.get_skill("good")
    assert before is not None
    assert after is not None
    assert after.instructions is before.instructions


def test_a_path_is_no_list_of_directories(tmp_path: Path) -> None:
    """One directory is not taken for a list of them, and no text for one."""
    with pytest.raises(ConfigurationError, match="give a list"):
        SkillManager(str(tmp_path))
    with pytest.raises(ConfigurationError, match="the skill directory is empty"):
        SkillManager([""])


def test_sage_s_08_a_proxy_shows_the_available_skills(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Those that are named, and no others; a name that there is no skill of is warned of."""
    write_package(tmp_path / "my_skill")
    write_skill(tmp_path / "b", "secret")
    skill_manager = SkillManager([tmp_path])
    proxy = SkillProxy(skill_manager, available_skills=["my_skill", "my_skil"])
    assert proxy.list_skill_names() == ["my_skill"]
    assert proxy.get_skill("secret") is None
    assert proxy.unknown_skills == ("my_skil",)
    (record,) = caplog.records
    assert record.getMessage() == (
        "available_skills: no skill is named 'my_skil'; did you mean 'my_skill'?"
    )


def test_sage_s_08_the_first_of_several_managers_wins() -> None:
    """Of a name that several have, the skill of the first is shown."""
    first, second = manager_of("a", text="First."), manager_of("a", "b", text="Second.")
    proxy = SkillProxy([first, second], available_skills=["a", "b"])
    assert [one.instructions for one in proxy.list_skill_info()] == ["First.", "Second."]
    assert SkillProxy([second, first]).list_skill_info()[0].instructions == "Second."


@pytest.mark.parametrize(
    ("available", "shown"), [(None, ["a", "b"]), ([], []), (("b",), ["b"]), ({"a"}, ["a"])]
)
def test_what_a_whitelist_means(available: Any, shown: list[str]) -> None:
    """None is all, an empty list is nothing."""
    assert SkillProxy(manager_of("a", "b"), available).list_skill_names() == shown


def test_an_id_names_a_skill_in_a_whitelist(tmp_path: Path) -> None:
    """The name of its directory, or the id of its metadata, stands for a skill."""
    write_file(tmp_path / "my_skill", SEED_SKILL)
    write_file(tmp_path / "my_skill", "name: My Skill\n", "skill.yaml")
    manager = SkillManager([tmp_path])
    assert SkillProxy(manager, ["my_skill"]).list_skill_names() == ["My Skill"]
    assert SkillProxy(manager, ["My Skill"]).list_skill_names() == ["My Skill"]


async def test_trap_a_proxy_is_not_widened_by_what_comes_later(tmp_path: Path) -> None:
    """A skill that comes later is shown by no list, not even by one that it was dropped from."""
    write_skill(tmp_path / "a", "a")
    manager = SkillManager([tmp_path])
    narrow, every = SkillProxy(manager, ["a", "b"]), SkillProxy(manager)
    write_skill(tmp_path / "b", "b")
    manager.register_skill(SkillSchema("c", "For work."))
    assert [skill.name for skill in await narrow.list_skills()] == ["a"]
    assert [skill.name for skill in await every.list_skills()] == ["a", "b", "c"]


def test_a_proxy_of_a_proxy_shows_no_more() -> None:
    """It stands wherever a manager does."""
    inner = SkillProxy(manager_of("a", "b", "c"), ["a", "b"])
    assert SkillProxy(inner, ["b", "c"]).list_skill_names() == ["b"]


def test_sage_s_16_each_request_has_its_own_view() -> None:
    """What one agent may use changes neither the manager nor what another may."""
    manager = manager_of("a", "b")
    one, other = SkillProxy(manager, ["a"]), SkillProxy(manager, ["b"])
    assert one.list_skill_names() == ["a"]
    assert other.list_skill_names() == ["b"]
    assert manager.list_skill_names() == ["a", "b"]


@pytest.mark.parametrize(
    ("managers", "available", "message"),
    [
        ([], None, "has no manager"),
        (["skills"], None, "holds 'skills'"),
        (None, "my_skill", "is one name"),
    ],
)
def test_what_makes_no_proxy(managers: Any, available: Any, message: str) -> None:
    """A path is no manager, and a name no list."""
    with pytest.raises(ConfigurationError, match=message):
        SkillProxy(manager_of("a") if managers is None else managers, available)
