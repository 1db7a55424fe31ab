"""Skills in a directory: what is found, what is refused, what is seen anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentscope_like.exception import ConfigurationError
from agentscope_like.skill import LocalSkillLoader, Skill
from tests.skill.kit import write_file, write_skill


async def names(loader: LocalSkillLoader) -> list[str]:
    """Return the names of what the loader lists."""
    return [skill.name for skill in await loader.list_skills()]


async def only_problem(directory: Path) -> str:
    """Return what is wrong with the one skill of the directory."""
    loader = LocalSkillLoader(directory)
    assert await loader.list_skills() == []
    (problem,) = loader.problems
    return problem.message


async def test_a_directory_that_is_a_skill(tmp_path: Path) -> None:
    """Everything about the skill comes from its file; the front matter is not in its text."""
    path = write_skill(tmp_path, "pdf", "Fill in forms.", "# Forms\n\nRead `forms.py` first.")
    (skill,) = await LocalSkillLoader(str(tmp_path)).list_skills()
    assert skill == Skill(
        "pdf",
        "Fill in forms.",
        str(tmp_path),
        "# Forms\n\nRead `forms.py` first.",
        path.stat().st_mtime,
    )


async def test_a_directory_of_skills(tmp_path: Path) -> None:
    """A directory that is no skill stands for those right below it; the others are no skills."""
    write_skill(tmp_path / "b", "beta")
    write_skill(tmp_path / "a", "alpha")
    write_skill(tmp_path / "deep" / "er", "gamma")
    (tmp_path / "notes").mkdir()
    loader = LocalSkillLoader(tmp_path)
    assert await names(loader) == ["alpha", "beta"]
    assert loader.problems == ()


async def test_subdirectories_of_a_skill_are_scanned_on_demand(tmp_path: Path) -> None:
    """A skill's own subdirectories hold its files, unless `scan_subdir` looks for skills there."""
    write_skill(tmp_path, "root")
    write_skill(tmp_path / "one", "one")
    write_skill(tmp_path / "two" / "three", "three")
    write_skill(tmp_path / ".git" / "four", "four")
    assert await names(LocalSkillLoader(tmp_path)) == ["root"]
    assert await names(LocalSkillLoader(tmp_path, scan_subdir=True)) == ["root", "one", "three"]


async def test_changes_on_disk_are_seen(tmp_path: Path) -> None:
    """Edits, new skills and removed ones are there at the next listing; the rest is not reread."""
    loader = LocalSkillLoader(tmp_path)
    write_skill(tmp_path / "kept", "kept")
    path = write_skill(tmp_path / "edited", "edited", text="Old.")
    before = {skill.name: skill for skill in await loader.list_skills()}
    write_skill(tmp_path / "edited", "edited", text="New, and longer.")
    write_skill(tmp_path / "later", "later")
    after = {skill.name: skill for skill in await loader.list_skills()}
    assert list(after) == ["edited", "kept", "later"]
    assert after["edited"].markdown == "New, and longer."
    assert after["kept"] is before["kept"]
    path.unlink()
    assert await names(loader) == ["kept", "later"]


async def test_a_directory_may_come_later(tmp_path: Path) -> None:
    """A directory that is missing has no skills, which is said; once it is there, it has."""
    loader = LocalSkillLoader(tmp_path / "later")
    assert await names(loader) == []
    assert "later: the directory cannot be read" in loader.problems[0].message
    write_skill(tmp_path / "later" / "a", "alpha")
    assert await names(loader) == ["alpha"]
    assert loader.problems == ()


BAD = [
    ("", 1, "there is no front matter: begin the file with"),
    ("# Skill: PDF\n", 1, "there is no front matter: begin the file with"),
    ("---\nname: a\ndescription: b\n", 1, "does not end: close it with a line `---`"),
    ("---\n---\nText.", 1, "the front matter has no fields"),
    ("---\n- name\n---\n", 1, "the front matter has no fields"),
    ("---\ndescription: b\n---\n", 1, "no `name`"),
    ("---\nname: a\nDescription: b\n---\n", 1, "no `description`; did you mean 'Description'?"),
    ("---\nname: a\ndescription: use: when\n---\n", 3, "is no YAML: mapping values are not"),
    ("---\nname: a\ndescription: 'b\n---\n", 3, "is no YAML"),
    ("---\nlicense: x\nname: 7\ndescription: b\n---\n", 3, "`name` is no text but int"),
    ("---\nname: yes\ndescription: b\n---\n", 2, "`name` is no text but bool"),
    ("---\nname: a\ndescription: [b]\n---\n", 3, "`description` is no text but seq"),
    ("---\nname: !!python/object:os.system a\ndescription: b\n---\n", 2, "`name` is no text"),
    ("---\nname: ''\ndescription: b\n---\n", 2, "1 to 64 characters, this has 0"),
    ("---\nname: a\ndescription: ' '\n---\n", 3, "1 to 1,024 characters, this has 0"),
    (f"---\nname: {'a' * 65}\ndescription: b\n---\n", 2, "1 to 64 characters, this has 65"),
    (f"---\nname: a\ndescription: {'b' * 1025}\n---\n", 3, "this has 1,025"),
    ('---\nname: "a\\nb"\ndescription: b\n---\n', 2, "is not plain text"),
    ("---\nname: a\u202eb\ndescription: b\n---\n", 2, "is not plain text"),
    ("---\nname: <b>\ndescription: b\n---\n", 2, "is not plain text"),
    ("---\nname: a\nname: b\ndescription: c\n---\n", 3, "`name` is given twice"),
    ("---\nname: &n a\ndescription: *n\n---\n", 3, "it has an alias"),
    ("---\nname: a\ndescription: \x07\n---\n", 3, "a character that YAML does not have"),
    (f"---\nname: a\nx: {'[' * 5000}\n---\n", 1, "nested too deeply"),
    (f"---\nname: a\nx: {'y' * 20_000}\n---\n", 1, "over 16,384 characters"),
    (b"---\nname: a\ndescription: \xff\n---\n", 3, "it is not UTF-8"),
]


@pytest.mark.parametrize(("content", "line", "message"), BAD)
async def test_a_bad_skill_is_named_with_its_line(
    tmp_path: Path, content: str | bytes, line: int, message: str
) -> None:
    """What is wrong is said with file and line, and the other skills are loaded all the same."""
    path = write_file(tmp_path / "bad", content)
    write_skill(tmp_path / "good", "good")
    loader = LocalSkillLoader(tmp_path)
    assert await names(loader) == ["good"]
    (problem,) = loader.problems
    assert (problem.file, problem.line) == (str(path), line)
    assert problem.message.startswith(f"{path}:{line}: ")
    assert message in problem.message


GOOD = [
    ("\ufeff---\r\nname: a\r\ndescription: b\r\n---\r\nText.\r\n", "a", "b", "Text."),
    ("---\nname: 'a: b'\ndescription: \"b\"\n---\n", "a: b", "b", ""),
    ("---\nname: Ärger 文\ndescription: >-\n  b\n  c\n---\nT", "Ärger 文", "b c", "T"),
    ("---\nname: a\ndescription: b\nlicense: MIT\n? [x]\n: y\n---\n---\nT", "a", "b", "---\nT"),
]


@pytest.mark.parametrize(("content", "name", "description", "markdown"), GOOD)
async def test_unusual_front_matter_is_read(
    tmp_path: Path, content: str, name: str, description: str, markdown: str
) -> None:
    """Line ends, quotes, folded text and fields of others are no obstacle."""
    write_file(tmp_path, content)
    (skill,) = await LocalSkillLoader(tmp_path).list_skills()
    assert (skill.name, skill.description, skill.markdown) == (name, description, markdown)


async def test_an_alias_bomb_is_refused_at_once(tmp_path: Path) -> None:
    """A few lines that would stand for gigabytes are an error, not a hang."""
    rows = ["a: &a [x, x]"] + [
        f"{after}: &{after} [{','.join([f'*{before}'] * 9)}]"
        for before, after in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    write_file(tmp_path, "---\nname: a\n" + "\n".join(rows) + "\n---\n")
    assert "it has an alias" in await only_problem(tmp_path)


async def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    """At most 256 KiB are read."""
    write_skill(tmp_path, text="x" * 300_000)
    assert "over 262,144 bytes" in await only_problem(tmp_path)


async def test_a_file_outside_of_the_directory_is_not_read(tmp_path: Path) -> None:
    """A link to a file elsewhere is refused; one inside of the skill is followed."""
    secret = write_skill(tmp_path / "elsewhere", "secret")
    (tmp_path / "skills" / "leak").mkdir(parents=True)
    (tmp_path / "skills" / "leak" / "SKILL.md").symlink_to(secret)
    inner = write_skill(tmp_path / "skills" / "kept", "kept")
    inner.rename(inner.with_name("english.md"))
    inner.symlink_to("english.md")
    loader = LocalSkillLoader(tmp_path / "skills")
    assert await names(loader) == ["kept"]
    (problem,) = loader.problems
    assert f"leads to {secret}, outside of its directory" in problem.message


async def test_a_directory_outside_of_the_directory_is_not_read(tmp_path: Path) -> None:
    """A link to a skill elsewhere is refused; the loader's own directory may be a link."""
    write_skill(tmp_path / "elsewhere", "secret")
    write_skill(tmp_path / "skills" / "own", "own")
    (tmp_path / "skills" / "leak").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "link").symlink_to(tmp_path / "skills")
    for scan_subdir in (False, True):
        loader = LocalSkillLoader(tmp_path / "link", scan_subdir)
        assert await names(loader) == ["own"]
        assert len(loader.problems) == 1


@pytest.mark.parametrize("kind", ["directory", "pipe", "dangling link"])
async def test_what_is_no_file_is_not_read(tmp_path: Path, kind: str) -> None:
    """Something else of that name is a problem, and nothing waits for it."""
    path = tmp_path / "SKILL.md"
    if kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("nowhere.md")
    assert "SKILL.md: it " in await only_problem(tmp_path)


async def test_a_name_twice_is_a_problem(tmp_path: Path) -> None:
    """The first skill of a name is used; the other is named with its place."""
    write_skill(tmp_path / "a", "pdf", text="First.")
    write_skill(tmp_path / "b", "pdf", text="Second.")
    loader = LocalSkillLoader(tmp_path)
    assert [skill.markdown for skill in await loader.list_skills()] == ["First."]
    assert f"'pdf' is in {tmp_path / 'a'} already" in loader.problems[0].message
    assert loader.problems[0].file == str(tmp_path / "b" / "SKILL.md")


async def test_names_are_told_apart_exactly(tmp_path: Path) -> None:
    """Names that differ in case are two skills."""
    write_skill(tmp_path / "a", "pdf")
    write_skill(tmp_path / "b", "PDF")
    assert await names(LocalSkillLoader(tmp_path)) == ["pdf", "PDF"]


async def test_a_problem_is_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What stays wrong is not repeated at each listing; what goes wrong anew is said."""
    write_file(tmp_path / "bad", "no")
    loader = LocalSkillLoader(tmp_path)
    await loader.list_skills()
    await loader.list_skills()
    assert len(caplog.records) == 1
    write_file(tmp_path / "worse", "no")
    await loader.list_skills()
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert "worse/SKILL.md:1: there is no front matter" in caplog.records[1].getMessage()


async def test_a_vast_directory_is_given_up(tmp_path: Path) -> None:
    """A tree that nobody meant is not searched to its end, which is said."""
    write_skill(tmp_path / "0", "first")
    for number in range(1, 2_002):
        (tmp_path / str(number)).mkdir()
    loader = LocalSkillLoader(tmp_path, scan_subdir=True)
    await loader.list_skills()
    assert "over 2,000 directories" in loader.problems[0].message


@pytest.mark.parametrize(
    ("name", "description"), [("", "b"), ("a" * 65, "b"), (" a", "b"), ("a", ""), ("a", "b" * 1025)]
)
def test_a_skill_that_no_model_could_be_told_of(name: str, description: str) -> None:
    """A program's own skills are held to the same limits."""
    with pytest.raises(ConfigurationError):
        Skill(name, description, dir="", markdown="", updated_at=0)


def test_an_empty_path_is_no_directory() -> None:
    """It would be the working directory, which nobody meant."""
    with pytest.raises(ConfigurationError, match="the skill directory is empty"):
        LocalSkillLoader("")
