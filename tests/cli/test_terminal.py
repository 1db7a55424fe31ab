"""The program as a person at a terminal meets it."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest

from tests.cli.program import MESSAGE, Program, call, turn
from tests.sandbox.kit import is_running

pytestmark = pytest.mark.slow

RUN = "Run it? ["
OFF = ("--contain", "off")
"""What asks is asked about before it runs."""


def test_yes_runs_the_call_and_the_session_goes_on(program: Program) -> None:
    """A yes runs the call; then the next message can be typed, and Ctrl-D ends."""
    model = program.script(
        turn(call("c1", "Bash", command="touch made.txt && echo made it")),
        turn(say="All done."),
        turn(say="Second answer."),
    )
    terminal = program.open("run", *OFF, "--model", model, "make it")
    shown = terminal.answer(RUN, "y")
    assert "touch made.txt" in shown
    assert "Bash asks" in shown
    terminal.expect("made it")
    terminal.expect("All done.")
    terminal.answer(MESSAGE, "and now?")
    terminal.expect("Second answer.")
    assert terminal.leave() == 0
    assert (program.project / "made.txt").exists()


def test_silence_and_typing_ahead_approve_nothing(program: Program) -> None:
    """An empty line, an unknown key, and keys pressed before the question stood there ask again."""
    model = program.script(turn(call("c1", "Bash", command="touch made.txt")), turn(say="Done."))
    terminal = program.open("run", *OFF, "--model", model, "make it")
    terminal.child.send("y\r")
    terminal.answer(RUN, "")
    terminal.expect("Type one of")
    terminal.answer(RUN, "x")
    terminal.expect("Type one of")
    assert not (program.project / "made.txt").exists()
    terminal.answer(RUN, "n")
    terminal.answer("Tell the agent", "")
    terminal.expect("Done.")
    terminal.leave()
    assert not (program.project / "made.txt").exists()


def test_no_tells_the_agent_why(program: Program) -> None:
    """A no with a message reaches the model, and the call does not run."""
    model = program.script(turn(call("c1", "Bash", command="touch made.txt")), turn(say="Fine."))
    terminal = program.open("run", *OFF, "--model", model, "make it")
    terminal.answer(RUN, "n")
    terminal.answer("Tell the agent", "Use the other file.")
    shown = terminal.expect("Fine.")
    assert "They said: Use the other file." in shown
    terminal.leave()
    assert not (program.project / "made.txt").exists()


def test_an_edited_command_is_what_runs(program: Program) -> None:
    """Editing changes what runs and what is shown; what the model wanted does not run."""
    model = program.script(turn(call("c1", "Bash", command="touch a.txt")), turn(say="Fine."))
    terminal = program.open("run", *OFF, "--model", model, "make it")
    terminal.answer(RUN, "e")
    terminal.expect("Command:")
    terminal.press("u")
    terminal.type("touch b.txt\r")
    shown = terminal.expect("Fine.")
    assert "* Bash touch b.txt" in shown
    assert "ok Bash touch b.txt" in shown
    terminal.leave()
    assert (program.project / "b.txt").exists()
    assert not (program.project / "a.txt").exists()


def test_edited_arguments_must_be_an_object(program: Program) -> None:
    """Arguments of other tools are edited as JSON, again until they are an object."""
    model = program.script(
        turn(call("c1", "Write", file_path="a.txt", content="one")), turn(say="Fine.")
    )
    terminal = program.open("run", *OFF, "--model", model, "make it")
    shown = terminal.answer(RUN, "e")
    assert "+one" in shown
    terminal.expect("Arguments:")
    terminal.type("\x1b[1;5F")
    terminal.type("x\x1b\r")
    terminal.expect("not a JSON object")
    terminal.expect("Arguments:")
    terminal.type("\x1b[1;5F\x7f\x1b\r")
    terminal.expect("Fine.")
    terminal.leave()
    assert (program.project / "a.txt").read_text(encoding="utf-8") == "one"


def test_a_rule_remembered_for_the_session_spares_the_next_question(program: Program) -> None:
    """A remembered rule lets the same kind of call run unasked, in this session only."""
    model = program.script(
        turn(call("c1", "Write", file_path="a.txt", content="one")),
        turn(call("c2", "Write", file_path="a.txt", content="two")),
        turn(say="Fine."),
    )
    terminal = program.open("run", *OFF, "--model", model, "make it")
    terminal.answer(RUN, "1")
    terminal.answer("for this project?", "s")
    terminal.expect("Fine.")
    terminal.leave()
    assert (program.project / "a.txt").read_text(encoding="utf-8") == "two"
    assert "No rules" in program.call("rules").stdout


def test_a_rule_remembered_for_the_project_holds_in_the_next_session(program: Program) -> None:
    """A rule for the project is listed, outlives the session, and can be forgotten again."""
    model = program.script(
        turn(call("c1", "Write", file_path="a.txt", content="one")), turn(say="Fine.")
    )
    terminal = program.open("run", *OFF, "--model", model, "make it")
    terminal.answer(RUN, "1")
    terminal.answer("for this project?", "p")
    terminal.expect("Fine.")
    terminal.leave()
    again = program.call(
        "check", "--tool", "Write", json.dumps({"file_path": "a.txt", "content": "two"})
    )
    assert again.returncode == 0
    assert "from project" in again.stdout
    assert "allow Write(" in program.call("rules").stdout
    assert program.call("rules", "remove", "1").returncode == 0
    assert "No rules" in program.call("rules").stdout


def test_an_external_call_is_answered_by_the_person(program: Program) -> None:
    """What the person types is the result of an external call; an empty line is not."""
    model = program.script(
        turn(call("c1", "HumanApproval", action="publish", reason="ready")), turn(say="Fine.")
    )
    terminal = program.open("run", *OFF, "--model", model, "publish it")
    shown = terminal.answer("Result:", "")
    assert "publish" in shown
    assert "ready" in shown
    terminal.answer("Result:", "go ahead")
    shown = terminal.expect("Fine.")
    assert "go ahead" in shown
    assert terminal.leave() == 0


def test_ctrl_c_interrupts_the_running_call_and_a_second_ends(program: Program) -> None:
    """Ctrl-C ends the running command and returns to the prompt; there it ends the program."""
    model = program.script(
        turn(call("c1", "Bash", command="echo begun; sleep 60; touch made.txt")), turn(say="No.")
    )
    terminal = program.open("run", "--mode", "bypass", "--model", model, "sleep")
    terminal.expect("| begun")
    begun = time.monotonic()
    terminal.press("c")
    terminal.expect("interrupted")
    terminal.expect(MESSAGE)
    assert time.monotonic() - begun < 10
    terminal.press("c")
    assert terminal.end() == 130


@pytest.mark.parametrize("at_once", [False, True])
def test_a_second_ctrl_c_ends_however_stubborn_the_call_is(program: Program, at_once: bool) -> None:
    """Two presses end the program, also where the command ignores the first."""
    model = program.script(
        turn(call("c1", "Bash", command="trap '' INT TERM; echo begun; sleep 60; touch made.txt"))
    )
    terminal = program.open("run", "--mode", "bypass", "--model", model, "sleep")
    terminal.expect("| begun")
    terminal.press("c")
    if not at_once:
        time.sleep(0.3)
    terminal.press("c")
    assert terminal.end() == 130
    assert not (program.project / "made.txt").exists()


def test_ctrl_c_at_a_question_ends_the_reply_and_runs_nothing(program: Program) -> None:
    """Ctrl-C at a question refuses it, and the person can say something else."""
    model = program.script(
        turn(call("c1", "Bash", command="touch made.txt")), turn(say="Something else.")
    )
    terminal = program.open("run", *OFF, "--model", model, "make it")
    terminal.expect(RUN)
    terminal.press("c")
    terminal.expect("interrupted")
    terminal.answer(MESSAGE, "go on")
    terminal.expect("Something else.")
    terminal.leave()
    assert not (program.project / "made.txt").exists()


def test_a_session_left_at_a_question_asks_again_when_resumed(program: Program) -> None:
    """Ctrl-D at a question leaves it open; resuming approves nothing, it asks again."""
    model = program.script(turn(call("c1", "Bash", command="touch made.txt")), turn(say="Fine."))
    terminal = program.open("run", *OFF, "--model", model, "make it")
    terminal.expect(RUN)
    terminal.press("d")
    terminal.end()
    session = program.call("sessions").stdout.split()[0]
    terminal = program.open("run", *OFF, "--resume", session)
    terminal.expect(RUN)
    assert not (program.project / "made.txt").exists()
    terminal.type("y\r")
    terminal.expect("Fine.")
    assert terminal.leave() == 0
    assert (program.project / "made.txt").exists()


def test_a_killed_session_is_resumed_with_the_call_interrupted(program: Program) -> None:
    """After kill -9 in the middle of a call, its command is gone; resuming shows it interrupted."""
    model = program.script(
        turn(call("c1", "Bash", command="echo begun; sleep 64.602")),
        turn(say="I see that it was interrupted."),
    )
    terminal = program.open("run", "--mode", "bypass", "--model", model, "sleep")
    terminal.expect("| begun")
    terminal.child.kill(signal.SIGKILL)
    terminal.end()
    deadline = time.monotonic() + 10
    while is_running("sleep 64.602") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running("sleep 64.602")
    session = program.call("sessions").stdout.split()[0]
    terminal = program.open("run", "--resume", session)
    shown = terminal.expect("I see that it was interrupted.")
    assert "interrupted Bash" in shown
    assert terminal.leave() == 0


def test_the_whole_call_can_be_viewed(program: Program) -> None:
    """A long call is shown shortened, which is said, and whole on demand."""
    content = "\n".join(f"line {number}" for number in range(200))
    model = program.script(
        turn(call("c1", "Write", file_path="a.txt", content=content)), turn(say="Fine.")
    )
    terminal = program.open("run", *OFF, "--model", model, "make it")
    shown = terminal.answer(RUN, "v")
    assert "more lines" in shown
    assert "line 150" not in shown
    terminal.expect("line 150")
    terminal.answer(RUN, "n")
    terminal.answer("Tell the agent", "")
    terminal.expect("Fine.")
    terminal.leave()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=["term", "hup"]
)
def test_a_program_that_is_told_to_end_leaves_no_process(
    program: Program, number: signal.Signals, code: int
) -> None:
    """What runs is ended with the program, the terminal gone or not; the session can go on."""
    model = program.script(
        turn(call("c1", "Bash", command=f"echo begun; sleep 64.6{code}")),
        turn(say="I see that it was interrupted."),
    )
    terminal = program.open("run", "--mode", "bypass", "--model", model, "sleep")
    terminal.expect("| begun")
    assert is_running(f"sleep 64.6{code}")
    terminal.child.kill(number)
    assert terminal.end() == code
    assert "Traceback" not in terminal.unread
    assert not is_running(f"sleep 64.6{code}")
    session = program.call("sessions").stdout.split()[0]
    terminal = program.open("run", "--resume", session)
    terminal.expect("I see that it was interrupted.")
    assert terminal.leave() == 0


def test_a_terminal_that_goes_away_leaves_no_process(program: Program) -> None:
    """Closing the window ends the program and what it runs."""
    model = program.script(turn(call("c1", "Bash", command="echo begun; sleep 64.601")))
    terminal = program.open("run", "--mode", "bypass", "--model", model, "sleep")
    terminal.expect("| begun")
    os.close(terminal.child.child_fd)
    deadline = time.monotonic() + 10
    while terminal.child.isalive() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert terminal.child.exitstatus == 129
    assert not is_running("sleep 64.601")


def test_a_question_waits_for_a_later_session_when_the_program_is_told_to_end(
    program: Program,
) -> None:
    """SIGTERM at a question answers nothing; resumed, the call asks again."""
    model = program.script(turn(call("c1", "Bash", command="touch made.txt")), turn(say="Fine."))
    terminal = program.open("run", *OFF, "--model", model, "make it")
    terminal.expect(RUN)
    terminal.child.kill(signal.SIGTERM)
    assert terminal.end() == 143
    session = program.call("sessions").stdout.split()[0]
    terminal = program.open("run", "--resume", session)
    terminal.expect(RUN)
    terminal.press("d")
    terminal.end()
    assert not (program.project / "made.txt").exists()


BURST = "y\ry\ry\ry\r"


def test_a_burst_of_keys_answers_nothing_by_accident(program: Program) -> None:
    """Keys pressed at once answer one question at most: the next one begins to listen later."""
    calls = [call(f"c{number}", "Bash", command=f"touch {number}.txt") for number in range(3)]
    model = program.script(turn(*calls), turn(say="Done."))
    terminal = program.open("run", *OFF, "--model", model, "make them")
    terminal.child.send(BURST)
    terminal.expect(RUN)
    terminal.child.send(BURST)
    time.sleep(0.15)
    terminal.child.send(BURST)
    time.sleep(1)
    assert list(program.project.iterdir()) == []
    terminal.type(BURST)
    terminal.expect("ok Bash touch 0.txt")
    terminal.expect(RUN)
    time.sleep(1)
    assert {path.name for path in program.project.iterdir()} == {"0.txt"}
    terminal.child.send("y\r")
    terminal.answer(RUN, "y")
    terminal.expect("Done.")
    terminal.leave()
    assert {path.name for path in program.project.iterdir()} == {"0.txt", "1.txt", "2.txt"}


def test_a_burst_remembers_no_rule_and_answers_no_question_of_the_agent(program: Program) -> None:
    """The choice of where to remember a rule, and `AskUser`, listen as late as any question."""
    asked = {"questions": [{"question": "Which?", "options": [{"label": "a"}, {"label": "b"}]}]}
    model = program.script(
        turn(call("c1", "Bash", command="touch made.txt"), call("q", "AskUser", **asked)),
        turn(say="Done."),
    )
    terminal = program.open("run", *OFF, "--model", model, "make it")
    terminal.expect(RUN)
    terminal.type("1\rp\r1\r1\r")
    terminal.expect("this project? [s/p]")
    time.sleep(1)
    assert not list((program.home / "data").rglob("projects/*.json"))
    terminal.type("s\r1\r1\r")
    terminal.expect("Answer (a number")
    terminal.child.send("1\r1\r")
    time.sleep(0.6)
    terminal.type("2\r")
    assert "-> b" in terminal.expect("Done.")
    assert terminal.leave() == 0
    assert not list((program.home / "data").rglob("projects/*.json"))


STUCK = """
from agentscope_like.tool import Write

def stuck(*_):
    print("preparing", flush=True)
    open({pipe!r}).read()

Write.plan = stuck
"""


@pytest.mark.parametrize(
    ("numbers", "code"),
    [([signal.SIGINT] * 4, 130), ([signal.SIGTERM], 143), ([signal.SIGHUP], 129)],
    ids=["int", "term", "hup"],
)
def test_a_question_that_cannot_be_prepared_keeps_nobody_from_leaving(
    program: Program, monkeypatch: pytest.MonkeyPatch, numbers: list[signal.Signals], code: int
) -> None:
    """A file that does not answer, as on a dead file system, stops neither Ctrl-C nor signals."""
    os.mkfifo(program.home / "pipe")
    patch = STUCK.format(pipe=str(program.home / "pipe"))
    (program.home / "sitecustomize.py").write_text(patch, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(program.home))
    model = program.script(turn(call("c1", "Write", file_path="a.txt", content="x")))
    terminal = program.open("run", *OFF, "--model", model, "make it")
    terminal.expect("preparing")
    for number in numbers:
        time.sleep(0.2)
        if terminal.child.isalive():
            terminal.child.kill(number)
    assert terminal.end() == code
    assert not (program.project / "a.txt").exists()
