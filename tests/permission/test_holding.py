"""Which commands are not to run held, and their neighbours that may."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from bracex import expand

from agentscope_like.permission import DecisionRow, PermissionBehavior
from tests.permission.kit import HOLDING, Place, decide, make_place, objection_to_holding

KINDS = tomllib.loads(Path(__file__).with_name("holding.toml").read_text("utf-8"))
HELD = Path(__file__).parent.parent / "data" / "commands" / "held"
MOST_ASKED = 0.05


def commands(side: str) -> list[tuple[str, str]]:
    """Return the commands of one side of all kinds, each with the reason of its kind."""
    return [
        (command, kind["because"])
        for kind in KINDS.values()
        for each in kind[side]
        for command in expand(each)
    ]


@pytest.mark.parametrize(("command", "because"), commands("objected"))
def test_a_command_that_would_not_work_is_not_to_run_held(command: str, because: str) -> None:
    """What is known to need more than a held run has is told in a few words."""
    assert (objection_to_holding(command) or "").endswith(because)


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if "each" in kind])
def test_each_program_that_would_not_work_is_not_to_run_held(kind: str) -> None:
    """No program and no sub-command that needs more than a held run has is forgotten."""
    because = KINDS[kind]["because"]
    each = [command for one in KINDS[kind]["each"] for command in expand(one)]
    assert [one for one in each if not (objection_to_holding(one) or "").endswith(because)] == []


@pytest.mark.parametrize(("command", "because"), commands("spared"))
def test_its_neighbour_may_run_held(command: str, because: str) -> None:
    """Commands that look alike, and those that nobody knows, may."""
    assert objection_to_holding(command) is None, because


def test_a_link_out_of_the_project_leads_outside(tmp_path: Path) -> None:
    """What counts is where a path leads."""
    here = make_place(tmp_path, "a/x")
    (here.work / "out").symlink_to("/opt")
    (here.work / "in").symlink_to("a")
    assert objection_to_holding("touch out/x", here) == (
        f"`{here.work}/out/x` lies outside the working directories"
    )
    assert objection_to_holding("touch in/x", here) is None


def test_a_path_that_no_system_takes_is_told() -> None:
    """What cannot be looked up is no reason to run the command."""
    assert "characters long" in (objection_to_holding(f"touch {'a/' * 2500}") or "")
    assert objection_to_holding(f"touch {'a/' * 25}b") is None


def test_the_program_is_named_with_its_sub_command() -> None:
    """A person reads which part of a line is meant."""
    told = objection_to_holding("make && git -C sub push origin && echo done")
    assert told == "`git push` uses the network"


def rows() -> list[str]:
    """Return a command for each program and beginning of the table."""
    table = tomllib.loads(HOLDING.read_text("utf-8"))
    return [
        f"{program} {words}".strip()
        for need in table["need"].values()
        for row in need["rows"]
        if not row.keys() & {"operands", "any_word", "flags"}
        for program in row.get("programs", "").split()
        for words in row.get("words", [""])
    ]


def test_each_row_speaks_of_a_command() -> None:
    """No program or sub-command of the table is one that no command is read as."""
    ends = ("", " x", " --no-such")
    heard = [any(objection_to_holding(f"{each}{end}") for end in ends) for each in rows()]
    assert [each for each, is_heard in zip(rows(), heard, strict=True) if not is_heard] == []
    assert len(heard) > 400


@pytest.fixture
def project(tmp_path: Path) -> Place:
    """A project with the files that the lists name; the home is not below /tmp."""
    files = ".env .git/HEAD README.md c/main.c data/log.txt shop/cart.py"
    return make_place(tmp_path, files)._replace(home=Path("/home/u"))


def listed(name: str) -> list[str]:
    """Return the commands of a list."""
    lines = (HELD / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["command"] for line in lines]


def asks(command: str, where: Place) -> bool:
    """Return whether a person is asked before the command runs, where it could run held."""
    decision = decide(command, where, mode="accept_edits")
    if decision.behavior is PermissionBehavior.ALLOW:
        return False
    could_be_held = decision.row is DecisionRow.NOTHING_MATCHED
    return not could_be_held or objection_to_holding(command, where) is not None


def test_everyday_commands_are_hardly_asked_about(project: Place) -> None:
    """Development goes on unasked where commands can run held."""
    everyday = listed("everyday")
    asked = [command for command in everyday if asks(command, project)]
    assert len(everyday) > 150
    assert len(asked) <= MOST_ASKED * len(everyday), asked


def test_what_must_be_asked_is_asked(project: Place) -> None:
    """No command of the list that must ask would run held."""
    must_ask = listed("asks")
    assert len(must_ask) > 55
    assert [command for command in must_ask if not asks(command, project)] == []
