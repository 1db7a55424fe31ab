"""Everyday commands hardly ask, and what must ask never takes effect unasked."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from agentscope_like.message import ToolCallState
from agentscope_like.sandbox.held import held_objection
from tests.sandbox.held.lifelike import (
    EverydayCommand,
    Lifelike,
    asking_commands,
    everyday_commands,
)
from tests.sandbox.held.questions import (
    MODES,
    Counted,
    When,
    counted_as_other_user,
    counted_here,
    recorded_questions,
    share,
)
from tests.tool.builtin.held.held_kit import Scene

COMMANDS = int(os.environ.get("QUESTION_COMMANDS", "15"))
"""How many of the commands run in each mode as each user; all of them take half an hour."""

MOST_ASKING = {"accept_edits": 0.05, "default": 0.65}
MOST_ASKING_BEFORE = 0.05
LEAST_SAME = 0.99

_OBJECTION = held_objection(Path(tempfile.gettempdir(), "layers-tried"), [], home="/nowhere")

pytestmark = [
    pytest.mark.skipif(_OBJECTION is not None, reason=f"nothing can be held here: {_OBJECTION}"),
    pytest.mark.timeout(3600 if COMMANDS > 100 else 600),
    pytest.mark.slow,
]


def chosen() -> list[EverydayCommand]:
    """Return commands from all over the list."""
    rows = everyday_commands()
    step = max(1, len(rows) // COMMANDS)
    return rows[::step][:COMMANDS]


@pytest.fixture(scope="module")
def here() -> list[Counted]:
    """Run commands as this user."""
    return counted_here(chosen())


@pytest.fixture(scope="module")
def by_other_user(here: list[Counted]) -> list[Counted]:
    """Run them as a user without rights, after the modules are loaded."""
    if not here or os.geteuid() != 0:
        pytest.skip("only root can become another user")
    return counted_as_other_user(chosen())


@pytest.mark.parametrize("mode", MODES)
def test_everyday_commands_hardly_ask(mode: str) -> None:
    """In ACCEPT_EDITS 5 % ask at most; in DEFAULT 65 %, and hardly any before they run."""
    rows = recorded_questions()
    assert share(rows, mode, When.BEFORE, When.AFTERWARDS) <= MOST_ASKING[mode]
    assert share(rows, mode, When.BEFORE) <= MOST_ASKING_BEFORE
    listed = [row.command for row in everyday_commands()]
    assert [row.command for row in rows if row.mode == mode] == listed


@pytest.mark.parametrize("user", ["here", "by_other_user"])
def test_they_ask_as_it_is_recorded(user: str, request: pytest.FixtureRequest) -> None:
    """For any user 99 % ask then and only then; what is not installed is not compared."""
    recorded = {(row.command, row.mode): row.when for row in recorded_questions()}
    pairs = [(row, recorded[row.command, row.mode]) for row in request.getfixturevalue(user)]
    ran = [each for each in pairs if When.MISSING not in (each[0].when, each[1])]
    different = [each for each in ran if each[0].when is not each[1]]
    assert len(ran) - len(different) >= LEAST_SAME * len(ran), different
    assert len(ran) > COMMANDS


def test_questions_are_counted() -> None:
    """The count tells what is lost from what is kept, and what is asked from what cannot run."""
    drops = "import os; os.system('git stash push -u; git stash drop')"
    expected = {
        "git stash push -u": When.NEVER,
        f'python3 -c "{drops}"': When.AFTERWARDS,
        "cat .env": When.BEFORE,
        "no-such-program": When.MISSING,
    }
    found = counted_here([EverydayCommand(each, "git") for each in expected], ["accept_edits"])
    assert {row.command: row.when for row in found} == expected, found


@pytest.fixture(scope="module")
def lifelike() -> Iterator[Lifelike]:
    """Make the project, for decisions alone."""
    with Lifelike() as project, patch.dict(os.environ, project.variables, clear=True):
        project.renew()
        yield project


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("command", [row.command for row in asking_commands()])
async def test_what_must_ask_gets_no_grant(lifelike: Lifelike, command: str, mode: str) -> None:
    """A person is asked before it runs, on the host or held; nothing takes effect meanwhile."""
    scene = Scene(lifelike.top, mode)
    call = scene.call(command)
    decided = await scene.toolkit.decide(call, scene.state)
    assert decided.grant is None
    assert call.state is ToolCallState.ASKING


@pytest.mark.parametrize("mode", MODES)
async def test_its_neighbours_get_a_grant(lifelike: Lifelike, mode: str) -> None:
    """Commands of which no harm is known run at once there, held."""
    for command in ("make", "pytest -q", "npm test --prefix web", "git commit -m x"):
        scene = Scene(lifelike.top, mode)
        decided = await scene.toolkit.decide(scene.call(command), scene.state)
        assert decided.grant is not None
        assert decided.grant.held_call is not None
