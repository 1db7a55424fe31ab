"""What a pattern of a command stands for now, with bash as the oracle."""

from __future__ import annotations

import subprocess

import pytest

from tests.permission.kit import Place, make_place, met

PATTERNS = [
    *("*", "*.py", "?.py", ".*", "*/*", "*/*/*", "d/*", "[ab].py", "[!a].py", "[^a].py", "d/.h*"),
    *("none*", "*/a.py", "link/*", "**", "**/a.py", "[a-c]*", "d*/", "*.PY", "a.p[xy]", "./*"),
]
FILES = "a.py b.py c.txt .hidden d/a.py d/.hid d/e/a.py"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a project with hidden files and links."""
    made = make_place(tmp_path_factory.mktemp("expansion"), FILES)
    (made.work / "link").symlink_to("d")
    (made.work / "broken").symlink_to("nowhere")
    return made


def matched(pattern: str, tree: Place, *options: str) -> set[str]:
    """Return the files that bash hands to a program for a pattern."""
    script = f"shopt -s {' '.join(('nullglob', *options))}; printf '%s\\n' {pattern}"
    said = subprocess.run(
        ["bash", "-c", script], cwd=tree.work, capture_output=True, text=True, check=True
    ).stdout
    found = {(tree.work / line).resolve() for line in said.splitlines() if line}
    return {str(path.relative_to(tree.work)) for path in found if path.is_file()}


def read_by(command: str, tree: Place) -> set[str]:
    """Return the files that a command is known to read: those that rules deny it for."""
    return {name for name in FILES.split() if met(command, f"Read(./{name})", tree) == "deny"}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_is_expanded_as_bash_does(tree: Place, pattern: str) -> None:
    """What is found is what bash hands to a program."""
    assert read_by(f"cat {pattern}", tree) == matched(pattern, tree)


@pytest.mark.parametrize(
    "pattern", ["[[:alpha:]].py", "[[=a=]].py", "d/[[.a.]].py", "[[:lower:]b]*"]
)
def test_a_class_is_no_less_than_for_bash(tree: Place, pattern: str) -> None:
    """What a class of characters matches is up to the locale: all that bash finds is found."""
    assert matched(pattern, tree)
    assert matched(pattern, tree) <= read_by(f"cat {pattern}", tree)


@pytest.mark.parametrize("pattern", ["**/*.py", "**", "d/**/a.py", "**/e/*", "x/**"])
def test_a_deep_pattern_goes_as_deep_as_bash_goes(tree: Place, pattern: str) -> None:
    """With `globstar` all that bash finds is found, and nothing else of that name is without."""
    deep = read_by(f"shopt -s globstar; cat {pattern}", tree)
    assert matched(pattern, tree, "globstar") <= deep
    assert "d/e/a.py" not in read_by("cat **/*.py", tree)
