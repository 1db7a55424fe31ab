"""The rows of dangerous commands, and their harmless neighbours."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest
from bracex import expand

from agentscope_like.permission.command.dangers import Dangers
from agentscope_like.shell.catalog.command_families import families
from agentscope_like.shell.values import Unknown

ROWS = tomllib.loads(Path(__file__).with_name("dangers.toml").read_text("utf-8"))


def danger_of(command: str) -> str | None:
    """Return why the command is dangerous, or None."""
    words = shlex.split(command)
    plain = families().without_leading_options(words)
    return Dangers(words).of(words) or Dangers(plain).of(plain)


def commands(side: str) -> list[str]:
    """Return the commands of one side of all rows."""
    return [command for row in ROWS.values() for each in row[side] for command in expand(each)]


@pytest.mark.parametrize("command", commands("dangerous"))
def test_a_dangerous_command_is_known(command: str) -> None:
    """A row speaks of the command and says why."""
    reason = danger_of(command)
    assert reason
    assert not reason.endswith(".")


@pytest.mark.parametrize("command", commands("harmless"))
def test_its_harmless_neighbour_is_not(command: str) -> None:
    """No row speaks of everyday commands that look alike."""
    assert danger_of(command) is None


def test_unknown_words_are_no_danger_by_themselves() -> None:
    """A word that is not known does not make a command dangerous, nor keep it from being so."""
    dangers = Dangers(["push", None, "--force", "x"])
    assert dangers.of(["git", "push", None]) is None
    assert dangers.of(["git", "push", None, "--force"])
    assert dangers.of([None, "x"]) is None
    assert dangers.of([]) is None


@pytest.mark.parametrize(
    "start", ["+", "+HEAD:", ":", "-", "--", "--f", "--fo", "-f", "-uf", "--delete="]
)
def test_a_computed_word_counts_with_what_it_begins_with(start: str) -> None:
    """A row speaks of a word whose beginning decides it, whatever follows."""
    dangers = Dangers(["push", "origin"], [Unknown(prefix=start)])
    assert dangers.of(["git", "push", "origin", None])
    assert dangers.of(["git", "log", "origin", None]) is None


@pytest.mark.parametrize("start", ["", "main", "HEAD:", "-u", "--tags", "refs/"])
def test_a_beginning_that_decides_nothing_is_no_danger(start: str) -> None:
    """What could follow is not guessed."""
    assert Dangers(["push"], [Unknown(prefix=start)]).of(["git", "push", None]) is None


def test_each_text_that_a_word_may_be_counts() -> None:
    """One that is dangerous is enough, as a sub-command too."""
    either = Unknown(choices=("x", "+main", "push"))
    assert Dangers(["push"], [either]).of(["git", "push", None])
    assert Dangers(["-f"], [either]).of(["git", None, "-f"])

    assert Dangers(["push"], [Unknown(choices=("x", "y"))]).of(["git", "push", None]) is None
