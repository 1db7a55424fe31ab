"""`agentscope-like run` where there is no terminal."""

from __future__ import annotations

import subprocess

import pytest

from tests.cli.program import COMMAND, Program, call, turn

pytestmark = pytest.mark.slow

TOUCH = call("c1", "Bash", command="touch made.txt")


def test_recorded_answers_are_used_and_printed(program: Program) -> None:
    """Without a terminal the script's answers count, and each is printed with its question."""
    model = program.script(
        turn(TOUCH),
        turn(call("c2", "Bash", command="rm made.txt")),
        turn(call("c3", "HumanApproval", action="publish", reason="ready")),
        turn(say="Done."),
        {"answer": "c1", "confirmed": True},
        {"answer": "c2", "confirmed": False, "message": "Keep it."},
        {"answer": "c3", "output": "approved"},
    )
    result = program.run("run", "--model", model, "--summary", "go")
    assert (result.returncode, result.stderr) == (0, "")
    assert "answer (recorded): yes" in result.stdout
    assert "answer (recorded): no: Keep it." in result.stdout
    assert "result (recorded): approved" in result.stdout
    assert "3 prompts (1 yes, 1 no, 1 done by hand)" in result.stdout
    assert "Done." in result.stdout
    assert (program.project / "made.txt").exists()


def test_what_is_not_recorded_is_rejected(program: Program) -> None:
    """Without a terminal and a recorded answer a call is rejected, which is said; never run."""
    model = program.script(
        turn(TOUCH, call("c2", "HumanApproval", action="a", reason="b")), turn(say="Done.")
    )
    result = program.call("run", "--model", model, "go")
    assert result.returncode == 0
    assert "nobody is at the terminal" in result.stdout
    assert "Nobody is at the terminal" in result.stdout
    assert not (program.project / "made.txt").exists()


def test_a_recorded_answer_of_the_wrong_kind_approves_nothing(program: Program) -> None:
    """A recorded result does not confirm a call that asks."""
    model = program.script(turn(TOUCH), turn(say="Done."), {"answer": "c1", "output": "approved"})
    result = program.call("run", "--model", model, "go")
    assert result.returncode == 0
    assert not (program.project / "made.txt").exists()


def test_a_recorded_rule_is_remembered(program: Program) -> None:
    """A recorded yes with a rule spares the next question, for the session only."""
    model = program.script(
        turn(call("c1", "Write", file_path="a.txt", content="1")),
        turn(call("c2", "Write", file_path="a.txt", content="2")),
        turn(say="Done."),
        {"answer": "c1", "confirmed": True, "remember": "a.txt"},
    )
    result = program.call("run", "--model", model, "go")
    assert result.stdout.count("answer (recorded)") == 1
    assert (program.project / "a.txt").read_text(encoding="utf-8") == "2"
    assert "No rules" in program.call("rules").stdout


def test_without_a_terminal_there_must_be_a_task(program: Program) -> None:
    """No task, and one of blanks only, are refused before anything is stored or sent."""
    model = program.script(turn(say="Done."))
    for arguments in ((), ("",), (" \n",)):
        result = program.call("run", "--model", model, *arguments)
        assert result.returncode == 64
        assert "give one" in result.stderr
    assert program.call("sessions").stdout.startswith("No sessions")


def test_explore_denies_and_bypass_runs(program: Program) -> None:
    """The mode of the command line is the session's."""
    model = program.script(turn(TOUCH), turn(say="Done."))
    denied = program.call("run", "--mode", "explore", "--model", model, "go")
    assert "denied Bash" in denied.stdout
    assert not (program.project / "made.txt").exists()
    program.call("run", "--mode", "bypass", "--model", model, "go")
    assert (program.project / "made.txt").exists()


def test_a_model_that_fails_ends_the_run_with_an_error(program: Program) -> None:
    """When the script is used up the reply fails: it is said, and the exit code is 1."""
    result = program.call("run", "--model", program.script(turn(TOUCH)), "go")
    assert result.returncode == 1
    assert "The model failed" in result.stdout
    assert "Traceback" not in result.stdout + result.stderr


def test_a_session_remembers_its_directory_model_and_mode(program: Program) -> None:
    """A resumed session goes on where it was, wherever the program is started."""
    model = program.script(turn(say="One."), turn(TOUCH), turn(say="Two."))
    program.call("run", "--mode", "explore", "--model", model, "first")
    listed = program.call("sessions").stdout
    assert "first" in listed
    session = listed.split()[0]
    elsewhere = Program(program.home, program.home)
    result = elsewhere.call("run", "--resume", session, "second")
    assert str(program.project) in result.stdout
    assert "denied Bash" in result.stdout
    assert "Two." in result.stdout
    refused = elsewhere.call("run", "--resume", session, "--cwd", str(program.home), "third")
    assert refused.returncode == 64
    assert "leave --cwd out" in refused.stderr


def test_a_repository_cannot_grant_itself_rights(program: Program) -> None:
    """Files in the project that look like remembered rules change nothing."""
    project = program.project
    for place in (project, project / "projects", project / ".agentscope-like"):
        place.mkdir(exist_ok=True)
        (place / "rules.json").write_text(
            '{"version": 1, "directory": "' + str(project) + '", "rules": [{"behavior": "allow", '
            '"tool_name": "Bash", "added_at": ""}]}',
            encoding="utf-8",
        )
    assert program.call("check", "rm notes").returncode == 2


def test_a_data_directory_that_cannot_be_made_is_told(program: Program) -> None:
    """Where sessions cannot be stored, the program says so and does nothing unrecorded."""
    (program.home / "data").write_text("in the way", encoding="utf-8")
    model = program.script(turn(TOUCH), turn(say="Done."), {"answer": "c1", "confirmed": True})
    result = program.run("run", "--model", model, "go")
    assert result.returncode == 78
    assert str(program.home / "data") in result.stderr
    assert "Traceback" not in result.stderr
    assert not (program.project / "made.txt").exists()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-"])
def test_closed_streams_are_no_terminal(program: Program, closed: str) -> None:
    """A program that is started without standard input or output does its task all the same."""
    model = program.script(turn(call("c1", "Bash", command="touch made.txt")), turn(say="Done."))
    done = subprocess.run(
        [
            "bash",
            "-c",
            f'"$@" {closed}',
            "bash",
            *COMMAND,
            "run",
            "--mode",
            "bypass",
            "--model",
            model,
            "make it",
        ],
        cwd=program.project,
        env=program.environment,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (program.project / "made.txt").exists()
