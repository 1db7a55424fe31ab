"""The rows of dangerous commands, and their harmless neighbours."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from bracex import expand

from tests.permission.kit import danger_of

ROWS = tomllib.loads(Path(__file__).with_name("dangers.toml").read_text("utf-8"))


def commands(row: str, side: str) -> list[str]:
    """Return the commands of one side of a row."""
    return [command for each in ROWS[row][side] for command in expand(each)]


@pytest.mark.parametrize("row", ROWS)
def test_a_dangerous_command_is_known(row: str) -> None:
    """A row speaks of the command and says why."""
    for command in commands(row, "dangerous"):
        reason = danger_of(command)
        assert reason, command
        assert not reason.endswith(".."), command


@pytest.mark.parametrize("row", ROWS)
def test_its_harmless_neighbour_is_not(row: str) -> None:
    """No row speaks of everyday commands that look alike."""
    assert {each: danger_of(each) for each in commands(row, "harmless") if danger_of(each)} == {}


def test_unknown_words_are_no_danger_by_themselves() -> None:
    """A word that is not known does not make a command dangerous, nor keep it from being so."""
    assert danger_of('git push "$x"') == ""
    assert danger_of('git push "$x" --force')
    assert danger_of('git log "$x"') == ""


@pytest.mark.parametrize(
    "start", ["+", "+HEAD:", ":", "-", "--", "--f", "--fo", "-f", "-uf", "--delete="]
)
def test_a_computed_word_counts_with_what_it_begins_with(start: str) -> None:
    """A row speaks of a word whose beginning decides it, whatever follows."""
    assert danger_of(f'git push origin "{start}$x"')
    assert danger_of(f'git log origin "{start}$x"') == ""


@pytest.mark.parametrize("start", ["", "main", "HEAD:", "-u", "--tags", "refs/"])
def test_a_beginning_that_decides_nothing_is_no_danger(start: str) -> None:
    """What could follow is not guessed."""
    assert danger_of(f'git push "{start}$x"') == ""


def test_each_text_that_a_word_may_be_counts() -> None:
    """One that is dangerous is enough, as a sub-command too."""
    assert danger_of('for i in x +main push; do git push "$i"; done')
    assert danger_of('for i in x +main push; do git "$i" -f; done')
    assert danger_of('for i in x y; do git push "$i"; done') == ""
