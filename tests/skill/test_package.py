"""Skill packages: what is read of `SKILL.md` and `skill.yaml`, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.exception import ConfigurationError
from agentscope_like.skill import SkillFileError, SkillManager, SkillSchema
from tests.skill.kit import SEED_SKILL, write_file, write_package, write_skill


def the_skill(tmp_path: Path, markdown: str, metadata: str | None = None) -> SkillSchema:
    """Return what a package of these files is read as; its directory is `my_skill`."""
    directory = tmp_path / "my_skill"
    write_file(directory, markdown)
    if metadata is not None:
        write_file(directory, metadata, "skill.yaml")
    return SkillManager().register_skill(directory)


def test_sage_s_01_a_skill_is_a_directory(tmp_path: Path) -> None:
    """A description, and optional scripts and assets, are all of it; other files may be there."""
    write_package(tmp_path / "my_skill")
    skill = SkillManager().register_skill(tmp_path / "my_skill")
    assert skill.description == "What problem this skill solves, when to use it."
    assert skill.file_list == ("SKILL.md", "assets/words.txt", "scripts/run.sh")
    bare = write_skill(tmp_path / "bare", "bare").parent
    assert SkillManager().register_skill(bare).file_list == ("SKILL.md",)


def test_sage_s_02_a_skill_md_is_required(tmp_path: Path) -> None:
    """A directory without it is no skill, which is said where it was named as one."""
    write_file(tmp_path / "none", "name: none\ndescription: d\n", "skill.yaml")
    write_skill(tmp_path / "one", "one")
    manager = SkillManager()
    assert manager.add_skill_dir(tmp_path) == ["one"]
    assert manager.problems == ()
    with pytest.raises(SkillFileError, match=r"none: it has no SKILL\.md"):
        manager.register_skill(tmp_path / "none")


def test_sage_s_03_skill_yaml_is_optional_metadata(tmp_path: Path) -> None:
    """It gives id, name, description and when to use the skill; other fields are left alone."""
    skill = the_skill(
        tmp_path,
        SEED_SKILL,
        "id: office-7\nname: My Skill\ndescription: 'Solves it: quickly.'\nversion: 1.0\n"
        "activation_scenarios:\n  - a form is to be filled in\n  - a form is to be read\n",
    )
    assert (skill.id, skill.name) == ("office-7", "My Skill")
    assert skill.description == "Solves it: quickly."
    assert skill.activation_scenarios == ("a form is to be filled in", "a form is to be read")
    assert skill.as_skill().description == (
        "Solves it: quickly. Use it for: a form is to be filled in; a form is to be read"
    )


@pytest.mark.parametrize("key", ["activation_scenarios", "activation scenarios"])
def test_one_scenario_needs_no_list(tmp_path: Path, key: str) -> None:
    """A single text is as good as a list, and the key may be written as the document says it."""
    skill = the_skill(tmp_path, SEED_SKILL, f"{key}: forms\n")
    assert skill.activation_scenarios == ("forms",)


def test_sage_s_04_a_skill_md_needs_no_front_matter(tmp_path: Path) -> None:
    """The document's own example is a skill: named like its directory, described by its prose."""
    skill = the_skill(tmp_path, SEED_SKILL)
    assert (skill.name, skill.id) == ("my_skill", "my_skill")
    assert skill.description == "What problem this skill solves, when to use it."
    assert skill.instructions == SEED_SKILL.strip()
    assert skill.as_skill().description == skill.description


def test_sage_s_06_a_schema_holds_what_is_known(tmp_path: Path) -> None:
    """Name, description, path, instructions and files, whatever the name on disk is."""
    directory = tmp_path / "a"
    path = write_skill(directory, "pdf", "Fill in forms.", "# Forms")
    write_file(directory, "x", "scripts/deep/run.py")
    assert SkillManager().register_skill(directory) == SkillSchema(
        name="pdf",
        description="Fill in forms.",
        path=str(directory),
        instructions="# Forms",
        file_list=("SKILL.md", "scripts/deep/run.py"),
        id="a",
        updated_at=path.stat().st_mtime,
    )


PROSE = [
    ("# Skill: A\n\nFirst line\nand second.\n\nMore.", "First line and second."),
    ("Plain.", "Plain."),
    ("\ufeff# A\r\n\r\nText.\r\n", "Text."),
    ("A title\n=======\n\nText.", "Text."),
    ("A title\n-------\nText.", "Text."),
    ("# A\n- one\n* two\n1. three\n> four\n| five |\n---\n\nText.", "Text."),
    ("# A\n```sh\nnot this\n\n# nor this\n```\nText.", "Text."),
    ("# A\n~~~~\n```\nnot this\n~~~~\nText.", "Text."),
    ("# A\n<!-- not\nthis -->\nText.", "Text."),
    ("# A\n    code\n\nText.", "Text."),
    ("# A\n**When** to use it.\n- a point", "**When** to use it."),
]


@pytest.mark.parametrize(("markdown", "description"), PROSE)
def test_the_first_prose_describes_a_skill(tmp_path: Path, markdown: str, description: str) -> None:
    """Headings, lists, code, tables, quotations and comments do not say what a skill is for."""
    assert the_skill(tmp_path, markdown).description == description


MIXED = [
    ("---\nname: a\ndescription: b\n---\nT", "description: c\n", "a", "b"),
    ("---\ndescription: b\n---\nT", "name: a\n", "a", "b"),
    ("---\nname: a\n---\nT", "description: c\n", "a", "c"),
    ("---\nname: a\ndescription: b\n---\nT", "name: a\n", "a", "b"),
    ("# A\n\nProse.", "name: a\n", "a", "Prose."),
    ("# A", "description: c\n", "my_skill", "c"),
    ("# A\n\nProse.", "# nothing yet\n", "my_skill", "Prose."),
]


@pytest.mark.parametrize(("markdown", "metadata", "name", "description"), MIXED)
def test_each_field_has_an_order_of_sources(
    tmp_path: Path, markdown: str, metadata: str, name: str, description: str
) -> None:
    """Front matter comes first, then `skill.yaml`, then the directory's name and the prose."""
    skill = the_skill(tmp_path, markdown, metadata)
    assert (skill.name, skill.description) == (name, description)


BAD: list[tuple[str | bytes, str | None, str, int, str]] = [
    ("", None, "SKILL.md", 1, "nothing says what the skill is for"),
    ("# A\n\n- a list\n", None, "SKILL.md", 1, "nothing says what the skill is for"),
    ("# A\n\n" + "b" * 1025, None, "SKILL.md", 3, "the first paragraph describes the skill"),
    ("name: a\ndescription: b\n---\n", None, "SKILL.md", 1, "looks like front matter"),
    ("---\nname: a\n", None, "SKILL.md", 1, "does not end"),
    ("---\nDescription: a\n---\nT", None, "SKILL.md", 1, "no `description`; did you mean"),
    ("---\ndescription: b\n---\nT", None, "SKILL.md", 1, "no `name`"),
    ("---\nname: ../up\ndescription: b\n---\n", None, "SKILL.md", 2, "cannot be that of a direct"),
    ("---\nname: .git\ndescription: b\n---\n", None, "SKILL.md", 2, "cannot be that of a direct"),
    ("---\nname: a\ndescription: b\n---\n", "name: c", "SKILL.md", 2, "'a' here and 'c' in skill"),
    ("Text.", "name: a\ndescription: use: it", "skill.yaml", 2, "is no YAML"),
    ("Text.", "- name", "skill.yaml", 1, "the file has no fields"),
    ("Text.", "\nname: 7", "skill.yaml", 2, "`name` is no text but int"),
    ("Text.", 'name: "\\UFFFFFFFF"', "skill.yaml", 1, "names a character that there is not"),
    ("Text.", 'description: "a \\uD800"', "skill.yaml", 1, "holds half of a character"),
    ("Text.", f"# {'x' * 17_000}", "skill.yaml", 1, "over 16,384 characters"),
    ("Text.", "id: a/b", "skill.yaml", 1, "cannot be that of a directory"),
    ("Text.", "name: a\nname: b", "skill.yaml", 2, "given twice"),
    ("Text.", "name: &n a\nid: *n", "skill.yaml", 2, "it has an alias"),
    ("Text.", "activation_scenarios: {a: b}", "skill.yaml", 1, "no text but map"),
    ("Text.", f"activation_scenarios: {'a' * 1010}", "skill.yaml", 1, "belongs to the descri"),
    (b"\nText \xff", None, "SKILL.md", 2, "not UTF-8"),
]


@pytest.mark.parametrize(("markdown", "metadata", "file", "line", "message"), BAD)
def test_a_bad_package_is_named_with_file_and_line(
    tmp_path: Path,
    markdown: str | bytes,
    metadata: str | None,
    file: str,
    line: int,
    message: str,
) -> None:
    """What is wrong is said where it is, and the other skills are there all the same."""
    directory = tmp_path / "my_skill"
    write_file(directory, markdown)
    if metadata is not None:
        write_file(directory, metadata, "skill.yaml")
    write_skill(tmp_path / "other", "other")
    manager = SkillManager([tmp_path])
    assert manager.list_skill_names() == ["other"]
    (problem,) = manager.problems
    assert (problem.file, problem.line) == (str(directory / file), line)
    assert message in problem.message


def test_a_directory_whose_name_is_none(tmp_path: Path) -> None:
    """Where nothing else names the skill, that is said; a name in `skill.yaml` mends it."""
    directory = tmp_path / ".hidden"
    write_file(directory, SEED_SKILL)
    with pytest.raises(SkillFileError, match="named like its directory"):
        SkillManager().register_skill(directory)
    write_file(directory, "name: shown\n", "skill.yaml")
    assert SkillManager().register_skill(directory).name == "shown"


@pytest.mark.parametrize("name", ["a/b", "..", ".", ".git", "a\\b", "a\nb", "", "a\0b"])
def test_a_name_that_leads_out_of_a_directory_is_refused(name: str) -> None:
    """A program's own skills are held to it as well; blanks and other scripts are names."""
    with pytest.raises(ConfigurationError):
        SkillSchema(name, "For work.")
    assert SkillSchema("Ärger 文 v1.2", "For work.").id == "Ärger 文 v1.2"


def test_links_that_leave_a_package_are_not_followed(tmp_path: Path) -> None:
    """They are no files of it; one to a file inside is, and metadata from elsewhere is refused."""
    secret = write_file(tmp_path, "description: stolen", "secret.yaml")
    directory = write_package(tmp_path / "skills" / "my_skill")
    (directory / "secret").symlink_to(secret)
    (directory / "elsewhere").symlink_to(tmp_path)
    (directory / "gone").symlink_to("nowhere")
    (directory / "again.txt").symlink_to("assets/words.txt")
    manager = SkillManager([tmp_path / "skills"])
    (skill,) = manager.list_skill_info()
    assert skill.file_list == ("SKILL.md", "again.txt", "assets/words.txt", "scripts/run.sh")
    (directory / "skill.yaml").symlink_to(secret)
    manager.reload()
    assert manager.list_skill_names() == []
    assert "skill.yaml: it leads to" in manager.problems[0].message


def test_a_package_of_too_many_files_is_left_out(tmp_path: Path) -> None:
    """At most 1,000 files and directories are listed, but for those that are never part of one."""
    for number in range(1_001):
        write_file(tmp_path / "many", "", f"node_modules/{number}")
    write_skill(tmp_path / "many", "many")
    manager = SkillManager([tmp_path])
    assert manager.get_skill("many") is not None
    (tmp_path / "many" / "node_modules").rename(tmp_path / "many" / "assets")
    manager.reload()
    assert manager.list_skill_names() == []
    assert "over 1,000 files" in manager.problems[0].message
