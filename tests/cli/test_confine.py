"""`agentscope-like run --confine`."""

from __future__ import annotations

import pytest

from agentscope_like.sandbox import host, isolation
from agentscope_like.sandbox.isolation.bubblewrap import bubblewrap_objection
from tests.cli.program import Program, call, turn
from tests.sandbox.kit import require_bubblewrap

WHERE = call("c1", "Bash", command="echo temporary files: $TMPDIR")
CONFINED = "temporary files: /dev/shm"


def test_commands_are_confined_unless_it_is_switched_off(program: Program) -> None:
    """By default a proven read runs confined, which shows in where its temporary files would be."""
    require_bubblewrap()
    model = program.script(turn(WHERE), turn(say="Done."))
    assert CONFINED in program.call("run", "--model", model, "go").stdout
    assert CONFINED not in program.call("run", "--confine", "off", "--model", model, "go").stdout


def test_a_machine_that_cannot_confine_is_told_of(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commands run there as ever, which is said once; where they must be confined, none runs."""
    monkeypatch.setattr(isolation, "bubblewrap_objection", lambda **_: "no bwrap today")
    model = program.script(turn(WHERE), turn(call("c2", "Bash", command="echo x")), turn(say="D."))
    told = program.call("run", "--model", model, "go")
    assert told.returncode == 0
    assert "temporary files:" in told.stdout
    assert told.stdout.count("not confined: no bwrap today") == 1
    assert "no bwrap" not in program.call("run", "--confine", "off", "--model", model, "go").stdout
    refused = program.call("run", "--confine", "require", "--model", model, "go")
    assert refused.returncode == 78
    assert "no bwrap today" in refused.stderr


def test_check_tells_of_a_machine_without_bubblewrap(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks what would be decided learns that nothing enforces it; programs do not."""
    assert "not confined" not in program.call("check", "ls").stdout or bubblewrap_objection()
    monkeypatch.setattr(host, "find_bubblewrap", lambda: None)
    assert "not confined here: there is no bwrap" in program.call("check", "ls").stdout
    assert "not confined" not in program.call("check", "--json", "ls").stdout


def test_another_word_is_refused(program: Program) -> None:
    """A misspelt word does not switch anything off."""
    refused = program.call("run", "--confine", "of", "--model", "scripted:x", "go")
    assert refused.returncode == 64
    assert "off" in refused.stderr
