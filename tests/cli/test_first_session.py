"""The first minutes with the program: what is asked, what is shown, what is waited for."""

from __future__ import annotations

import asyncio

import pytest

from tests.cli.program import MESSAGE, Program, call, turn
from tests.model.chat_server import delta, failed, serving, streamed

pytestmark = pytest.mark.slow

RUN = "Run it? ["
TEXT = "".join(f"line {number}\n" for number in range(1, 31))
EDIT = {"file_path": "a.txt", "old_string": "line 15\n", "new_string": "fifteen\n"}


def work(program: Program) -> str:
    """Return a script that reads, searches, edits and runs a command, and ends."""
    (program.project / "a.txt").write_text(TEXT, encoding="utf-8")
    return program.script(
        turn(call("c1", "Read", file_path="a.txt")),
        turn(call("c2", "Grep", pattern="line 1", path=".")),
        turn(call("c3", "Glob", pattern="**/*.txt")),
        turn(call("c4", "Bash", command="wc -l a.txt && grep -c line a.txt")),
        turn(call("c5", "Edit", **EDIT)),
        turn(call("c6", "Bash", command="sort a.txt > sorted.txt")),
        turn(say="Done."),
    )


def test_a_first_session_asks_only_about_what_changes_files(program: Program) -> None:
    """Of reading, searching, editing and a command, the edit and the command ask: two questions."""
    terminal = program.open("run", "--contain", "off", "--model", work(program), "go")
    opening = terminal.expect("Edit asks")
    assert "files of the project are read unasked" in opening
    assert RUN not in opening
    terminal.answer(RUN, "y")
    terminal.expect("Bash asks")
    terminal.answer(RUN, "y")
    assert " asks " not in terminal.expect("Done.")
    assert terminal.leave() == 0
    assert "fifteen" in (program.project / "sorted.txt").read_text(encoding="utf-8")


def test_the_question_about_an_edit_shows_it_in_its_file(program: Program) -> None:
    """The diff has the line's number and the lines around it, and no row of a table."""
    terminal = program.open("run", "--model", work(program), "go")
    shown = terminal.expect(RUN)
    question = shown[shown.index("Edit asks") :]
    assert "line 14" in question
    assert "line 16" in question
    assert "@@ -12,7 +12,7 @@" in question
    assert "row " not in question
    terminal.child.close(force=True)


def test_reads_may_be_asked_about(program: Program) -> None:
    """With --ask-reads the same read asks; one yes for the project's files spares the others."""
    terminal = program.open("run", "--ask-reads", "--model", work(program), "go")
    shown = terminal.expect(RUN)
    assert "Read asks" in shown
    assert "Read(**)" in shown
    terminal.child.close(force=True)


def test_a_credential_is_asked_about_all_the_same(program: Program) -> None:
    """The rules with which a session starts show no secret."""
    (program.project / ".env").write_text("TOKEN=1\n", encoding="utf-8")
    model = program.script(turn(call("c1", "Read", file_path=".env")), turn(say="Done."))
    result = program.call("run", "--model", model, "go")
    assert "Read asks" in result.stdout
    assert "TOKEN" not in result.stdout


def test_an_edit_that_can_only_fail_is_not_asked_about(program: Program) -> None:
    """The model is told at once that the text is not there; nobody is asked."""
    (program.project / "a.txt").write_text(TEXT, encoding="utf-8")
    wrong = {**EDIT, "old_string": "line 99"}
    model = program.script(
        turn(call("c1", "Read", file_path="a.txt")),
        turn(call("c2", "Edit", **wrong)),
        turn(say="Done."),
    )
    result = program.call("run", "--model", model, "go")
    assert "asks" not in result.stdout.replace("--ask-reads asks", "")
    assert "Done." in result.stdout


def test_a_silent_command_shows_its_time(program: Program) -> None:
    """A command that says nothing for some seconds shows for how long it has been running."""
    model = program.script(turn(call("c1", "Bash", command="sleep 5")), turn(say="Done."))
    terminal = program.open("run", "--mode", "bypass", "--model", model, "go")
    terminal.expect("running for 3 s")
    terminal.expect("Done.")
    assert terminal.leave() == 0


def test_a_page_a_memory_and_a_command_in_the_background(program: Program) -> None:
    """Only the page asks; the next session of the project finds what was kept."""
    model = program.script(
        turn(call("c1", "WebFetch", url="https://example.org/a")),
        turn(call("c2", "MemorySave", title="tests", text="Run them with make unit.")),
        turn(call("c3", "Bash", command="ls", run_in_background=True)),
        turn(say="Done."),
    )
    terminal = program.open("run", "--model", model, "go")
    terminal.expect("WebFetch asks")
    terminal.answer(RUN, "n")
    terminal.answer("nothing", "")
    assert " asks " not in terminal.expect("Done.")
    assert terminal.leave() == 0
    again = program.script(turn(call("c1", "MemorySearch", query="tests")), turn(say="Done."))
    assert "make unit" in program.call("run", "--model", again, "go").stdout


def test_tools_that_are_switched_off_are_not_there(program: Program) -> None:
    """With --without a model is told that there is no such tool; with --no-save none remembers."""
    without = ("--without", "web", "--without", "memory", "--without", "background")
    for name, values, options in (
        ("WebFetch", {"url": "https://example.org/a"}, without),
        ("MemorySearch", {"query": "tests"}, without),
        ("MemorySearch", {"query": "tests"}, ("--no-save",)),
        ("CommandWait", {"command_id": "x"}, without),
        ("Bash", {"command": "ls", "run_in_background": True}, without),
    ):
        model = program.script(turn(call("c1", name, **values)), turn(say="Done."))
        shown = program.call("run", *options, "--model", model, "go").stdout
        assert "asks" not in shown.replace("--ask-reads asks", ""), name
        assert "no tool" in shown or "run_in_background" in shown, shown
    refused = program.call("run", "--without", "wep", "--model", "x")
    assert "did you mean" in refused.stderr.lower()
    assert "web" in refused.stderr


def test_what_is_not_kept_is_not_offered(program: Program) -> None:
    """With --no-save nothing is stored, and no command to go on with is shown."""
    model = program.script(turn(say="Done."))
    terminal = program.open("run", "--no-save", "--model", model, "go")
    terminal.expect("Done.")
    assert terminal.leave() == 0
    assert "--resume" not in terminal.unread
    assert program.call("sessions").stdout.startswith("No sessions")
    refused = program.call("run", "--no-save", "--resume", "3f", "--model", model)
    assert "--no-save" in refused.stderr


def test_ctrl_c_clears_a_half_typed_line(program: Program) -> None:
    """The first Ctrl-C drops what was typed; the program goes on, and an empty line ends it."""
    model = program.script(turn(say="Done."), turn(say="Again."))
    terminal = program.open("run", "--model", model, "go")
    terminal.expect(MESSAGE)
    terminal.type("half a mess")
    terminal.expect("half a mess")
    terminal.press("c")
    terminal.type("whole\r")
    assert "half a messwhole" not in terminal.expect("Again.")
    terminal.expect(MESSAGE)
    terminal.press("c")
    assert terminal.end() == 0


def test_ctrl_c_inside_an_edit_returns_to_the_question(program: Program) -> None:
    """Giving up an edit approves nothing and ends nothing: the question stands there again."""
    model = program.script(turn(call("c1", "Bash", command="touch made.txt")), turn(say="Done."))
    terminal = program.open("run", "--contain", "off", "--model", model, "go")
    terminal.answer(RUN, "e")
    terminal.expect("Command:")
    terminal.press("c")
    terminal.expect("Nothing was edited")
    terminal.answer(RUN, "n")
    terminal.answer("Tell the agent", "")
    terminal.expect("Done.")
    assert terminal.leave() == 0
    assert not (program.project / "made.txt").exists()


def test_what_is_typed_while_the_agent_works_stands_at_the_next_prompt(program: Program) -> None:
    """Keys pressed meanwhile are not mixed into the output; the prompt then shows them."""
    model = program.script(
        turn(call("c1", "Bash", command="echo begin; sleep 2; echo end")),
        turn(say="Done."),
        turn(say="Again."),
    )
    terminal = program.open("run", "--mode", "bypass", "--model", model, "go")
    terminal.expect("begin")
    terminal.child.send("typed early")
    assert "typed" not in terminal.expect("Done.")
    terminal.expect(MESSAGE)
    terminal.type("\r")
    terminal.expect("Again.")
    assert terminal.leave() == 0


async def test_waiting_for_a_busy_server_is_shown(program: Program) -> None:
    """A server that says 429 is waited for, and the person is told for how long."""
    busy = failed(429, headers={"retry-after": "1"})
    answer = streamed(delta(content="Hello."), delta("stop"))
    async with serving(busy, answer) as server:
        result = await asyncio.to_thread(
            program.run, "run", "--no-save", "--model", "m", "--base-url", server.url, "go"
        )
    assert "m did not answer; trying again in 1 s" in result.stdout
    assert "Hello." in result.stdout
