"""The small languages in words: awk, sed, SQL for sqlite3, and conditions."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from bracex import expand

from tests.permission.kit import analyze

LANGUAGES = tomllib.loads(Path(__file__).with_name("languages.toml").read_text("utf-8"))


def commands(side: str) -> list[str]:
    """Return the commands of one side, of all languages."""
    found = [command for language in LANGUAGES.values() for command in language[side]]
    for language in LANGUAGES.values():
        for words, expected in language.get("words", ()):
            found += expand(words) if expected == side else []
    return found


@pytest.mark.parametrize("command", commands("reads"))
def test_a_harmless_script_is_proven(command: str) -> None:
    """A script that only computes, prints and queries needs no question."""
    assert analyze(command, directory="/ws", home="/home/u").all_doubts == ()


@pytest.mark.parametrize("command", commands("other"))
def test_its_neighbour_is_not(command: str) -> None:
    """A script that writes, runs programs, or could be read in two ways is doubted."""
    assert not analyze(command, directory="/ws", home="/home/u").read_only


@pytest.mark.parametrize(
    ("command", "reason"),
    [row for language in LANGUAGES.values() for row in language.get("told", ())],
)
def test_the_doubt_says_what_a_script_does(command: str, reason: str) -> None:
    """A person who is asked sees which word of the script it is, and what that does."""
    assert analyze(command, directory="/ws", home="/home/u").all_doubts[0].message == reason
