"""Commands on a terminal: what they show, how long they run, and how they end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agentscope_like.sandbox.terminal.keeper import keeper_works
from agentscope_like.typed.tools.terminal import TerminalAction
from tests.sandbox.kit import require_bubblewrap, until
from tests.typed.terminal.kit import Session, left_with


async def test_a_command_shows_its_output_and_status(session: Session) -> None:
    """Both streams are in order; a failure is an error."""
    seen = await session("echo one; echo two >&2; echo three")
    assert seen.output == "one\ntwo\nthree"
    assert seen.observation.exit_code == 0
    assert not seen.observation.is_error
    failed = await session("echo x; exit 3")
    assert failed.observation.is_error
    assert failed.observation.exit_code == 3
    assert "[exit status 3]" in failed.text
    assert "without any output" in (await session("true")).text


async def test_a_program_has_a_terminal(session: Session) -> None:
    """It is asked what only a person at a terminal would see."""
    assert (await session("test -t 0 -a -t 1 -a -t 2 && echo yes")).output == "yes"
    assert (await session("stty size; echo $TERM")).output == "40 160\nxterm"


@pytest.mark.parametrize("confine", ["require", "off"])
async def test_a_proven_read_writes_nothing_on_a_terminal(
    make_session: Callable[..., Session], tmp_path: Path, confine: str
) -> None:
    """Not by a pager that a repository names, nor by what a program does on a terminal alone.

    Where the kernel does not enforce the proof, a proven read has the streams that Bash gives it.
    """
    if confine == "require":
        require_bubblewrap()
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (
        ["init", "--quiet"],
        ["commit", "--quiet", "--allow-empty", "-m", "first"],
        ["config", "core.pager", "touch pwned"],
        ["config", "pager.log", "touch pwned"],
    ):
        await asyncio.to_thread(subprocess.run, [*git, *words], cwd=tmp_path, check=True)
    session = make_session(mode="explore", confine=confine)
    on_terminal = (await session("[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo yes")).output == "yes"
    assert on_terminal == (confine == "require")
    assert "first" in (await session("git log --oneline")).output
    await session("nohup ls")
    assert os.listdir(tmp_path) == [".git"]


async def test_a_proven_read_without_a_terminal_is_interrupted_as_well(
    make_session: Callable[..., Session],
) -> None:
    """The terminal still controls it; it has no input to wait for."""
    session = make_session(mode="explore", confine="off")
    assert (await session("cat; echo end; ls /nope")).output.startswith("end\nls: cannot access")
    await session("sleep 60")
    assert (await session("C-c")).observation.exit_code == 130


async def test_a_quiet_program_goes_on_and_is_looked_at_later(session: Session) -> None:
    """The call returns what there is; the next one shows what came since."""
    first = await session("echo begun; read -r; echo done")
    assert first.observation.is_running
    assert first.observation.exit_code is None
    assert first.output == "begun"
    assert "is still running" in first.text
    assert (await session()).output == ""
    await session.type("\n")
    last = await session.ended()
    assert last.observation.command is None or last.observation.exit_code == 0


async def test_while_a_program_runs_no_other_is_begun(session: Session, tmp_path: Path) -> None:
    """The answer says what runs and what can be done."""
    await session("sleep 60")
    refused = await session("touch made")
    assert "`sleep 60` is still running" in refused.text
    assert not (tmp_path / "made").exists()


async def test_input_without_a_program_is_not_typed(session: Session) -> None:
    """Nor is it run as a command."""
    assert "Nothing was typed" in (await session.type("touch made")).text
    assert "No program is running" in (await session()).text
    assert "No program is running" in (await session("C-c")).text


async def test_a_conversation_with_a_program(session: Session) -> None:
    """What is typed is read, and what is answered is shown."""
    seen = await session("python3 -q")
    if ">>>" not in seen.output:
        seen = await session.until(lambda seen: ">>>" in seen.output, session)
    assert seen.observation.is_running
    assert "42" in (await session.type("6*7")).output
    await session.type("def f():\n    return 'in' + 'dented'\n\n")
    assert "indented" in (await session.type("f()")).output
    assert (await session.type("C-d")).observation.exit_code == 0


async def test_a_question_of_a_program_is_shown_soon(make_session: Callable[..., Session]) -> None:
    """A line that has not ended is not waited behind for as long as a quiet program."""
    session = make_session(no_change_timeout_seconds=30)
    begun = time.monotonic()
    asked = await session("read -rp 'name? ' name; echo \"hello $name\"")
    assert time.monotonic() - begun < 15
    assert asked.output == "name? "
    assert (await session.type("you")).output.endswith("hello you")


async def test_a_full_screen_program_is_shown_and_left(session: Session, tmp_path: Path) -> None:
    """`less` shows a page, is searched, and ends with `q`."""
    (tmp_path / "lines").write_text("".join(f"line {n}\n" for n in range(500)))
    first = await session("less lines")
    if "line 5\n" not in first.output:
        first = await session.until(lambda seen: "line 5\n" in seen.output, session)
    assert "line 5\n" in first.output
    assert "line 300" in (await session.type("/line 300")).output
    await session.type("q")
    assert not (await session.ended()).observation.is_running


async def test_c_c_interrupts_and_c_d_ends_the_input(session: Session) -> None:
    """Confined programs and others."""
    for command in ("sleep 60", "python3 -c 'import time; time.sleep(60)'"):
        await session(command)
        assert (await session("C-c")).observation.exit_code in (1, 130)
    await session("cat > got")
    await session.type("text")
    assert (await session("C-d")).observation.exit_code == 0


async def test_a_timeout_ends_the_command(session: Session) -> None:
    """With all its processes, however quiet it was; its output until then is shown."""
    begun = time.monotonic()
    seen = await session(f"echo begun; sleep {session.number}", timeout=0.6)
    assert time.monotonic() - begun < 10
    assert seen.observation.timeout
    assert seen.observation.exit_code is None
    assert seen.output == "begun"
    assert "ended after its timeout of 0.6 s" in seen.text
    assert left_with(session.number) == []


async def test_with_a_timeout_a_quiet_command_is_waited_for(session: Session) -> None:
    """It says how long the command may take."""
    seen = await session("sleep 0.8; echo done", timeout=20)
    assert seen.output == "done"


async def test_long_output_is_windowed(session: Session) -> None:
    """The beginning and the end are shown, and how much is between them."""
    seen = await session("seq 1 100000", timeout=30)
    assert seen.output.startswith("1\n2\n")
    assert seen.output.endswith("100000")
    assert "characters are left out here" in seen.output
    assert len(seen.output) < 31_000


async def test_background_processes_end_with_the_command(session: Session) -> None:
    """It is told."""
    seen = await session(
        f"setsid nohup sleep {session.number} >/dev/null 2>&1 & until pgrep -f '^sleep "
        f"{session.number}'; do :; done"
    )
    assert "left in the background were ended" in seen.text
    assert left_with(session.number) == []


async def test_the_end_of_a_program_between_calls_is_told(session: Session, tmp_path: Path) -> None:
    """The next command is told of it first, and starts where that one ended."""
    (tmp_path / "d").mkdir()
    await session("cd d; export name=new; sleep 0.8; echo ended")
    process = session.tool.executor.terminal(session.state)  # type: ignore[union-attr]
    await until(lambda: not process.is_running)
    seen = await session('pwd; echo "$name"')
    assert "has ended meanwhile" in seen.text
    assert "ended" in seen.text
    assert seen.output == f"{tmp_path}/d\nnew"


HIDDEN = "(env -i setsid sleep {0} &); trap '' HUP TERM INT; sleep {0}"


async def test_nothing_is_left_after_close(session: Session) -> None:
    """Nor a daemon in a session and an environment of its own."""
    if not keeper_works():
        pytest.skip("there can be no keeper here")
    await session(HIDDEN.format(session.number))
    assert len(left_with(session.number)) == 2
    session.tool.close()
    assert left_with(session.number) == []
    await session.tool.aclose()


async def test_nothing_is_left_after_reset(session: Session) -> None:
    """What ran is ended before the answer."""
    await session(f"sleep {session.number}")
    assert f"`sleep {session.number}` was ended" in (await session(reset=True)).text
    assert left_with(session.number) == []


async def test_nothing_is_left_of_a_call_that_is_cancelled(session: Session) -> None:
    """Nobody sees what the program does, so it ends."""
    calling = asyncio.create_task(session(f"sleep {session.number}", timeout=60))
    await until(lambda: bool(left_with(session.number)))
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert left_with(session.number) == []
    assert (await session("echo on")).output == "on"


KILLED = """
import asyncio, os, sys
from pathlib import Path
from tests.typed.terminal.kit import Session, left_with
from tests.typed.terminal.test_running import HIDDEN

async def main():
    session = Session(Path(sys.argv[2]), confine=sys.argv[3])
    await session(sys.argv[4].format(sys.argv[1]))
    assert left_with(sys.argv[1])
    os.kill(os.getpid(), 9)

asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("confine", "command"),
    [("require", "sleep {0}"), ("require", HIDDEN), ("off", HIDDEN)],
    ids=["confined", "not known", "off"],
)
def test_nothing_is_left_after_this_process_was_killed(
    session: Session, tmp_path: Path, confine: str, command: str
) -> None:
    """Neither of a confined command nor of one whose effects are not known."""
    if not keeper_works():
        pytest.skip("there can be no keeper here")
    if confine == "require":
        require_bubblewrap()
    words = [sys.executable, "-c", KILLED, session.number, str(tmp_path), confine, command]
    done = subprocess.run(words, timeout=50, check=False)
    assert done.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 10
    while left_with(session.number) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert left_with(session.number) == []


async def test_an_interrupted_call_returns_what_there_is(session: Session) -> None:
    """Another thread can have it return; the program runs on."""
    calling = asyncio.create_task(session("echo begun; sleep 60", timeout=60))
    executor = session.tool.executor
    assert executor is not None
    while not calling.done():
        await asyncio.to_thread(executor.interrupt)
        await asyncio.sleep(0.05)
    assert (await calling).observation.is_running


async def test_one_call_at_a_time(session: Session) -> None:
    """A second one is refused while the first waits, since both would read one output."""
    executor = session.tool.executor
    assert executor is not None
    await session("cat")
    first = asyncio.create_task(session(timeout=1.0))
    await asyncio.sleep(0.1)
    assert "under way" in (await session()).text
    await first


async def test_an_executor_can_be_called_by_a_program(session: Session, tmp_path: Path) -> None:
    """Outside of a session it has a terminal of its own, which keeps its directory as well."""
    executor = session.tool.executor
    assert executor is not None
    (tmp_path / "d").mkdir()
    await executor(TerminalAction(command="cd d; export name=x"))  # type: ignore[misc]
    seen = await executor(TerminalAction(command='pwd; echo "$name"'))  # type: ignore[misc]
    assert seen.output == f"{tmp_path}/d\nx"


# Confinement


async def test_a_proven_read_is_confined_as_bash_confines_it(
    make_session: Callable[..., Session], tmp_path: Path
) -> None:
    """The kernel keeps it from writing, and credentials are hidden from it."""
    require_bubblewrap()
    (tmp_path / ".env").write_text("TOKEN=hunter2\n")
    session = make_session(mode="default", confine="require")
    searched = await session("grep -r TOKEN .")
    assert searched.observation.metadata.confinement == "read"
    assert "hunter2" not in searched.text
    assert searched.observation.metadata.covered_secrets is not None
    assert "`.env` was kept secret from this command" in searched.text


async def test_variables_of_the_keepers_interpreter_reach_the_command_alone(
    make_session: Callable[..., Session], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing is loaded that they name before the command begins."""
    require_bubblewrap()
    (tmp_path / "Loud.pm").write_text("print STDERR 'loaded'; 1;")
    monkeypatch.setenv("PERL5OPT", f"-I{tmp_path} -MLoud")
    session = make_session(mode="explore", confine="require")
    assert (await session("printenv PERL5OPT")).output == f"-I{tmp_path} -MLoud"


async def test_secret_variables_are_empty_for_what_runs_unasked(
    make_session: Callable[..., Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one that an earlier command has exported."""
    monkeypatch.setenv("SERVICE_TOKEN", "swordfish")
    session = make_session(mode="default")
    assert "swordfish" not in (await session("env")).text
    approved = make_session(mode="bypass")
    await approved("export copy=$SERVICE_TOKEN my_token=trout")
    approved.state.permission_context.mode = session.state.permission_context.mode
    seen = await approved("env")
    assert "swordfish" not in seen.text
    assert "trout" not in seen.text


async def test_what_cannot_be_confined_does_not_run(
    make_session: Callable[..., Session], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As with Bash, where confinement is required."""
    monkeypatch.setattr(
        "agentscope_like.sandbox.isolation.confinement.bubblewrap_objection",
        lambda *, native=False: "it is not there",
    )
    session = make_session(confine="require")
    seen = await session("touch made")
    assert "could not be confined" in seen.text
    assert not (tmp_path / "made").exists()


def test_an_action_says_one_thing() -> None:
    """A new beginning stands alone, and a timeout is a time."""
    for arguments in (
        {"reset": True, "command": "ls"},
        {"reset": True, "is_input": True},
        {"command": "ls", "timeout": 0},
        {"command": "ls", "timeout": -1},
        {"command": "ls", "speed": 1},
    ):
        with pytest.raises(ValueError, match=r"reset|timeout|speed"):
            TerminalAction.model_validate(arguments)
    assert TerminalAction(command="C-c").keys == b"\x03"
    assert TerminalAction(command="\n", is_input=True).keys == b"\r"
    assert TerminalAction(command="a\nb\n", is_input=True).keys == b"a\rb\r"
