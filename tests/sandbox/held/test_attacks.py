"""Attacks as code do not leave a held run; each succeeds where the one wall is missing."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from agentscope_like.sandbox.held import held_objection
from tests.sandbox.held.attempts import (
    Attack,
    Attempt,
    attacks,
    tried_as_other_user,
    tried_here,
)
from tests.sandbox.held.world import PYTHON

ATTACKS = attacks()
LEAST_WITH_CONTROL = 40

_ON_HOST = held_objection(Path(tempfile.gettempdir(), "layers-tried"), [], home="/nowhere")

pytestmark = [
    pytest.mark.skipif(_ON_HOST is not None, reason=f"nothing can be held here: {_ON_HOST}"),
    pytest.mark.skipif(not os.access(PYTHON, os.X_OK), reason="the system has no Python"),
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def attempts() -> dict[str, Attempt]:
    """Try all attacks, held and without the wall."""
    return tried_here(ATTACKS, controls=True)


@pytest.fixture(scope="module")
def by_other_user(attempts: dict[str, Attempt]) -> dict[str, Attempt]:
    """Try all attacks held as a user without rights, after the modules are loaded."""
    if not attempts or os.geteuid() != 0:
        pytest.skip("only root can become another user")
    return tried_as_other_user(ATTACKS)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_is_held(attack: Attack, attempts: dict[str, Attempt]) -> None:
    """A held command achieves nothing of it, and what it changed on the layer is listed."""
    attempt = attempts[attack.name]
    assert attempt.ran, attempt.output
    assert not attempt.held, attempt.output
    if attack.lists:
        assert attack.lists in attempt.listed, attempt.output


@pytest.mark.parametrize(
    "attack", [each for each in ATTACKS if each.has_control], ids=lambda attack: attack.name
)
def test_it_succeeds_without_the_wall(attack: Attack, attempts: dict[str, Attempt]) -> None:
    """The same code achieves something where the wall is missing, so that the wall is what held."""
    attempt = attempts[attack.name]
    if not attempt.control and attack.may_lack:
        pytest.skip(f"this machine lacks what it attacks: {attack.may_lack}")
    assert attempt.control, attempt.control_output


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_of_another_user_is_held(
    attack: Attack, by_other_user: dict[str, Attempt]
) -> None:
    """A user who is not root is held as well, in a namespace of users."""
    attempt = by_other_user[attack.name]
    assert attempt.ran, attempt.output
    assert not attempt.held, attempt.output
    if attack.lists:
        assert attack.lists in attempt.listed, attempt.output


def test_most_attacks_have_a_control(attempts: dict[str, Attempt]) -> None:
    """Those without one say why, and are few."""
    assert sum(bool(each.control) for each in attempts.values()) >= LEAST_WITH_CONTROL
    assert all(each.because for each in ATTACKS if each.control == "none")
