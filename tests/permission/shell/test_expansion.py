"""Expanding patterns, with bash as the oracle."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agentscope_like.paths.glob_expansion import Expansion
from agentscope_like.paths.look_budget import FOLDER, Effort, TooManyFilesError
from agentscope_like.tool.builtin.bash.shell_process import find_bash

PATTERNS = [
    *("*", "*.py", "?.py", ".*", "*/*", "*/*/*", "d/*", "[ab].py", "[!a].py", "[^a].py", "d/.h*"),
    *("none*", "*/a.py", "link/*", "**", "**/a.py", "[a-c]*", "d*/", "*.PY", "a.p[xy]", "./*"),
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a small tree with hidden files and a link."""
    (tmp_path / "d" / "e").mkdir(parents=True)
    for name in ("a.py", "b.py", "c.txt", ".hidden", "d/a.py", "d/.hid", "d/e/a.py"):
        (tmp_path / name).write_text("")
    (tmp_path / "link").symlink_to("d")
    (tmp_path / "broken").symlink_to("nowhere")
    return tmp_path


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_is_expanded_as_bash_does(tree: Path, pattern: str) -> None:
    """What is found is what bash would hand to a program, but for `.` and `..`."""
    said = subprocess.run(
        [find_bash() or "", "-c", f"shopt -s nullglob; printf '%s\\n' {tree}/{pattern}"],
        capture_output=True,
        text=True,
        check=True,
        env={"LC_ALL": "C"},
    ).stdout
    wanted = {line.rstrip("/").replace("/./", "/") for line in said.splitlines() if line}
    wanted = {path for path in wanted if path.rpartition("/")[2] not in (".", "..")}
    found = {path.replace("/./", "/") for path in Expansion().expand(f"{tree}/{pattern}")}
    if pattern.endswith("/"):
        assert wanted <= found
    else:
        assert found == wanted


@pytest.mark.parametrize(
    "pattern", ["[[:alpha:]].py", "[[=a=]].py", "d/[[.a.]].py", "[[:lower:]b]*"]
)
def test_a_class_is_no_less_than_for_bash(tree: Path, pattern: str) -> None:
    """What a class of characters matches is up to the locale: all that bash finds is found."""
    said = subprocess.run(
        [find_bash() or "", "-c", f"shopt -s nullglob; printf '%s\\n' {tree}/{pattern}"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said.strip()
    assert set(said.split()) <= set(Expansion().expand(f"{tree}/{pattern}"))


@pytest.mark.parametrize("pattern", ["**/*.py", "**", "d/**/a.py", "**/e/*", "x/**"])
def test_a_deep_pattern_goes_as_deep_as_bash_goes(tree: Path, pattern: str) -> None:
    """With `globstar` all that bash finds is found, and nothing else of that name is without."""
    said = subprocess.run(
        [
            find_bash() or "",
            "-c",
            f"shopt -s nullglob globstar; printf '%s\\n' {tree}/{pattern}",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    wanted = {line.rstrip("/") for line in said.splitlines() if line}
    found = set(Expansion(deep=True).expand(f"{tree}/{pattern}"))
    assert {each for each in wanted if "/link/" not in each} <= found
    assert f"{tree}/d/e/a.py" not in Expansion().expand(f"{tree}/**/*.py")


def test_too_many_matches_are_refused(tree: Path) -> None:
    """All patterns of one command share one effort."""
    patterns = Expansion(effort=Effort(2 * FOLDER + 40))
    assert len(patterns.expand(f"{tree}/*.py")) == 2
    assert len(patterns.expand(f"{tree}/*.py")) == 2
    with pytest.raises(TooManyFilesError):
        patterns.expand(f"{tree}/*")


def test_too_many_entries_are_refused(tree: Path) -> None:
    """A pattern that matches nothing does not walk the whole file system either."""
    assert Expansion(effort=Effort(FOLDER + 7)).expand(f"{tree}/nothing*") == []
    with pytest.raises(TooManyFilesError):
        Expansion(effort=Effort(FOLDER + 3)).expand(f"{tree}/nothing*")
