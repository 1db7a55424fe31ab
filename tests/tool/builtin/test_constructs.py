"""Each construct of the shell: what is read in it, what it does, and what is decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.shell import analyze
from tests.tool.builtin.bash_kit import decide
from tests.tool.builtin.construct_kit import (
    constructs,
    done,
    outcome,
    places,
    ran,
    stood,
    workspace,
)


def test_what_is_read_stays_so() -> None:
    """The words, places, effects, doubts and proof of each construct are those on record."""
    for construct in constructs():
        command = construct["command"]
        analysis = analyze(command, directory="/ws", home="/home/u")
        assert ran(analysis) == construct["runs"], command
        assert stood(analysis) == construct["stands"], command
        assert done(analysis) == construct["does"], command
        assert places(analysis) == construct["doubts"], command
        assert analysis.read_only == construct["reads_only"], command


@pytest.mark.parametrize("mode", ["default", "accept_edits"])
async def test_what_is_decided_stays_so(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each construct is allowed, asked about or held back as on record."""
    work, home = workspace(tmp_path)
    monkeypatch.setenv("HOME", str(home))
    for construct in constructs():
        decision = await decide(construct["command"], work, mode=mode)
        expected = construct["default"] if mode == "default" else construct["accept_edits"]
        assert outcome(decision) == expected, construct["command"]
