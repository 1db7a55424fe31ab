"""`agentscope-like run` holds unknown commands, and asks about what they changed."""

from __future__ import annotations

import pytest

from agentscope_like.tool import Bash
from tests.cli.program import MESSAGE, Program, call, turn

pytestmark = pytest.mark.slow

APPLY = "Apply it? ["


def script(program: Program) -> str:
    """Return a model that runs a script of the project, which writes a file."""
    path = program.project / "work.sh"
    path.write_text("#!/bin/sh\necho said\necho new > made.txt\n")
    path.chmod(0o755)
    return program.script(turn(call("c1", "Bash", command="./work.sh")), turn(say="Done."))


def test_the_first_line_says_so_and_the_question_comes_afterwards(program: Program) -> None:
    """The difference is behind a key; a yes applies the changes."""
    terminal = program.open("run", "--model", script(program), "go")
    shown = terminal.expect(APPLY)
    assert "unknown commands run held" in shown.split("work.sh")[0]
    assert "ran held; apply?" in shown
    assert "made.txt (new, +1)" in shown
    assert "| said" in shown
    assert not (program.project / "made.txt").exists()
    terminal.answer("", "d")
    terminal.expect("+new")
    terminal.answer(APPLY, "y")
    terminal.expect("Done.")
    assert terminal.leave() == 0
    assert (program.project / "made.txt").read_text() == "new\n"


def test_a_no_is_told_to_the_agent(program: Program) -> None:
    """The person's words reach the model; the files are as before."""
    terminal = program.open("run", "--model", script(program), "go")
    terminal.answer(APPLY, "n")
    terminal.answer("Tell the agent", "not there")
    shown = terminal.expect("Done.")
    assert "the files are as before. They said: not there" in " ".join(shown.split())
    assert terminal.leave() == 0
    assert not (program.project / "made.txt").exists()


def test_a_session_left_at_the_question_asks_again_and_runs_nothing(program: Program) -> None:
    """Resumed in a new process, the same changes are asked about, and applied after a yes."""
    terminal = program.open("run", "--model", script(program), "go")
    terminal.expect(APPLY)
    (program.project / "work.sh").unlink()  # it could not run again
    terminal.press("d")
    terminal.end()
    sessions = program.call("sessions").stdout.split()
    session = next(
        word for word in sessions if len(word) >= 8 and set(word) <= set("0123456789abcdef")
    )
    terminal = program.open("run", "--resume", session)
    terminal.answer(APPLY, "y")
    terminal.expect(MESSAGE)
    terminal.press("d")
    terminal.end()
    assert (program.project / "made.txt").read_text() == "new\n"


@pytest.mark.parametrize("options", [("--contain", "off"), ("--confine", "off")])
def test_it_can_be_switched_off(program: Program, options: tuple[str, ...]) -> None:
    """Then the command asks before it runs; without an answer it does not."""
    shown = program.call("run", *options, "--model", script(program), "go").stdout
    assert "held" not in shown
    assert "nobody is at the terminal" in shown
    assert not (program.project / "made.txt").exists()


def test_nobody_at_the_terminal_drops_what_would_be_asked_about(program: Program) -> None:
    """In accept_edits the same changes are applied; a misspelt option is refused."""
    shown = program.call("run", "--model", script(program), "go").stdout
    assert "nobody is at the terminal" in shown
    assert not (program.project / "made.txt").exists()
    program.call("run", "--mode", "accept_edits", "--model", script(program), "go")
    assert (program.project / "made.txt").exists()
    refused = program.call("run", "--contain", "of", "--model", "scripted:x", "go")
    assert refused.returncode == 64
    assert "off" in refused.stderr


def test_a_machine_that_cannot_hold_commands_is_told_of(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said once, and everything asks as ever."""

    async def objection(*_: object) -> str:
        return "no overlayfs today"

    monkeypatch.setattr(Bash, "holding_objection", objection)
    shown = program.call("run", "--model", script(program), "go").stdout
    assert shown.count("no overlayfs today") == 1
