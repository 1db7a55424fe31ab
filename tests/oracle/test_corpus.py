"""The project's own corpus, judged through the public door with no rules at all."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionEngine,
    PermissionMode,
)
from agentscope_like.tool import Bash
from tests.oracle.corpus import Sample, everyday, harmful, known_to_be_asked

MOST_NEEDLESS = 0.03
"""The share of everyday reads that may be asked about (seed 002 asks for "hardly any")."""

_MODES = [PermissionMode.EXPLORE, PermissionMode.DEFAULT]


async def _allowed(samples: list[Sample], mode: PermissionMode, directory: Path) -> list[Sample]:
    """Return the samples that the engine allows without a question."""
    engine, bash = PermissionEngine(PermissionContext(mode=mode)), Bash(cwd=directory)
    decisions = [
        await engine.check_permission(bash, {"command": sample.command}) for sample in samples
    ]
    return [
        sample
        for sample, decision in zip(samples, decisions, strict=True)
        if decision.behavior is PermissionBehavior.ALLOW
    ]


@pytest.mark.parametrize("mode", _MODES)
async def test_no_harmful_command_is_allowed(mode: PermissionMode, tmp_path: Path) -> None:
    """None of the harmful commands runs without a question, whatever its technique."""
    assert await _allowed(harmful(), mode, tmp_path) == []


@pytest.mark.parametrize("mode", _MODES)
async def test_everyday_reads_are_not_asked_about(mode: PermissionMode, tmp_path: Path) -> None:
    """Hardly any command that only reads leads to a question, and none that did not before."""
    samples = everyday()
    allowed = set(await _allowed(samples, mode, tmp_path))
    asked = [sample.command for sample in samples if sample not in allowed]
    assert len(asked) < MOST_NEEDLESS * len(samples), asked
    assert set(asked) <= known_to_be_asked()


def test_the_corpus_is_well_formed() -> None:
    """No command is in the corpus twice, and every kind has its share."""
    samples = [*harmful(), *everyday()]
    commands = [sample.command for sample in samples]
    assert len(commands) == len(set(commands)), _repeated(commands)
    assert len(harmful()) > 3_000
    assert len(everyday()) > 1_400


def _repeated(commands: list[str]) -> list[str]:
    grouped = itertools.groupby(sorted(commands))
    return [json.dumps(command) for command, group in grouped if len(list(group)) > 1]
