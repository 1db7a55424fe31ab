"""Edits of what the same command makes, and changes of which only the end of the path is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tool.builtin.bash_kit import decide


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a project in which a symlink leads elsewhere, and a repository lies deep down."""
    work = tmp_path / "work"
    for folder in ("z/d", "d", "v/site-packages", "a/b/g/.git", "nm/x", "src", "build"):
        (work / folder).mkdir(parents=True)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (work / "z/d/l").symlink_to(victim)
    (work / "notes.txt").write_text("notes")
    (work / "src/a.py").write_text("")
    return work


@pytest.mark.parametrize(
    "command",
    [
        "echo x > d/l; cp -r d z",
        "mkdir nd; echo x > nd/l; cp -rT nd z/d",
        "cp notes.txt d/l && cp -r d z",
        "mv notes.txt d/l; cp -r d/. z/d",
        "ln notes.txt d/l; cp -r d z",
        "echo x > l; cp l* z/d/",
        'echo x > l; for f in l*; do cp "$f" z/d/; done',
        'echo x > d/l; for f in d/*; do cp "$f" z/d/; done',
        "echo 'import os' > v/a.pth; cp v/a* v/site-packages/",
        "rm -rf a",
        "rm -rf a/b",
    ],
)
async def test_what_may_leave_the_project_or_end_a_history_is_no_plain_edit(
    command: str, work: Path
) -> None:
    """A copy of what the command itself makes counts where it ends, a nested history too."""
    assert (await decide(command, work, mode="accept_edits")).behavior.value == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "echo x > d/m; cp -r d z",
        "mkdir -p build/x && cp -r src build/",
        "echo x > src/new.py; cp -r src build",
        "echo x > m; cp m* build/",
        "touch src/b.py && cp src/*.py build/",
        "cp notes.txt src/n.txt && cp -r src build/copy",
        "rm -rf nm",
    ],
)
async def test_other_copies_of_what_is_made_are_plain_edits(command: str, work: Path) -> None:
    """A copy that stays in the project, at no symlink and at nothing sensitive, is an edit."""
    assert (await decide(command, work, mode="accept_edits")).behavior.value == "allow"


@pytest.mark.parametrize(
    ("command", "immune"),
    [
        ('cp a.json "$(git rev-parse --git-dir)/hooks/pre-commit"', True),
        ('cp a.json "$x/.git/hooks/pre-commit"', True),
        ('cp a.json "$x/.bashrc"', True),
        ("cp a.json ~root/.ssh/authorized_keys", True),
        ('cd "$x" && cp ../a.json .git/config', True),
        ('cp a.json "$x/src/data.json"', False),
        ('cp a.json "$(git rev-parse --show-toplevel)/a.json"', False),
        ('cd "$x" && cp ../a.json b.json', False),
    ],
)
async def test_a_sensitive_end_is_asked_about_whatever_the_start(
    command: str, immune: bool, work: Path
) -> None:
    """A path that ends as a sensitive one does is a safety question, which no rule spares."""
    decision = await decide(command, work, ["allow cp:*"])
    assert decision.bypass_immune is immune
    assert decision.behavior.value == ("ask" if immune else "allow")
