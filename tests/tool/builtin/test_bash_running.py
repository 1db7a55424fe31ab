"""What `Bash` does when it runs a command, with real shells."""

# ruff: noqa: ASYNC109, ASYNC221, ASYNC240 - setting a scene and looking at it afterwards may block

from __future__ import annotations

import asyncio
import gc
import os
import stat
import subprocess
import time
import uuid
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentscope_like.exception import ConfigurationError, ToolArgumentError
from agentscope_like.message import TextBlock, ToolResultState
from agentscope_like.message.chunk import ToolChunk
from agentscope_like.permission.command import PreparedCommand
from agentscope_like.sandbox.host.process_family import MARK_VARIABLE
from agentscope_like.sandbox.isolation.profile import Confine, editing
from agentscope_like.sandbox.isolation.scope import Scope, ScopeKind
from agentscope_like.tool.builtin.bash.bash_tool import Bash
from agentscope_like.tool.builtin.bash.confiner import Confiner
from agentscope_like.tool.builtin.bash.shell_process import find_bash
from tests.sandbox.kit import require_bubblewrap

PROMISED_OVERRUN = 0.2
MACHINE_SLACK = 0.8


@dataclass(frozen=True)
class Outcome:
    """What one call came to."""

    text: str
    last: ToolChunk
    chunks: int
    seconds: float

    @property
    def state(self) -> ToolResultState:
        """Return how it ended."""
        return self.last.state


def text_of(chunk: ToolChunk) -> str:
    """Return the text of a chunk."""
    return "".join(block.text for block in chunk.content if isinstance(block, TextBlock))


async def run(bash: Bash, command: str, timeout: int = 20_000) -> Outcome:
    """Run the command to its end."""
    started = time.monotonic()
    chunks = [chunk async for chunk in bash.call(command, timeout=timeout)]
    return Outcome(
        "".join(map(text_of, chunks)), chunks[-1], len(chunks), time.monotonic() - started
    )


def marked_processes() -> list[int]:
    """Return the processes that are still running and came of a command of this test."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = Path(f"/proc/{name}/environ").read_bytes()
            state = Path(f"/proc/{name}/stat").read_text().rpartition(") ")[2][0]
        except OSError:
            continue
        if os.environ[MARK_VARIABLE].encode() in environment and state != "Z":
            found.append(int(name))
    return found


async def until_started() -> None:
    """Wait until a command of this test runs, however busy the machine is."""
    for _ in range(1_000):
        if marked_processes():
            return
        await asyncio.sleep(0.01)
    raise TimeoutError("no command of this test has been started in ten seconds")


@pytest.fixture(autouse=True)
def _own_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mark the commands of this test, so that those of others on the machine are not counted."""
    monkeypatch.setenv(MARK_VARIABLE, f"test-{uuid.uuid4().hex}")


class Everything(Confiner):
    """Confines every command, to writing in the directory that it was decided for."""

    async def scope(self, call: PreparedCommand) -> Scope:
        """Return the scope of an edit."""
        return Scope(ScopeKind.EDIT, editing([call.surroundings.root]))


@pytest.fixture(params=["off", "confined"])
def bash(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bash:
    """Return a Bash in an empty directory, on the host and with all of its commands confined."""
    if request.param == "off":
        return Bash(cwd=tmp_path, confine="off")
    require_bubblewrap()
    monkeypatch.setattr("agentscope_like.tool.builtin.bash.bash_tool.Confiner", Everything)
    return Bash(cwd=tmp_path)


# Output


async def test_both_streams_come_in_their_order(bash: Bash) -> None:
    """Standard output and standard error are one text, in the order in which they were written."""
    outcome = await run(bash, "echo one; echo two >&2; echo three")
    assert outcome.text == "one\ntwo\nthree\n"
    assert outcome.state is ToolResultState.SUCCESS
    assert outcome.last.is_last


async def test_output_comes_while_the_command_runs(bash: Bash) -> None:
    """What a command says is handed on before the command ends."""
    async with aclosing(bash.call("echo early; sleep 30")) as stream:
        first = await asyncio.wait_for(anext(stream), timeout=5)
    assert text_of(first) == "early\n"
    assert first.state is ToolResultState.RUNNING


async def test_chunks_of_one_call_are_one_block(bash: Bash) -> None:
    """All text of a call carries the same block id, so that a reader can join it."""
    chunks = [chunk async for chunk in bash.call("echo a; sleep 0.05; echo b")]
    assert len({block.id for chunk in chunks for block in chunk.content}) == 1


async def test_a_character_is_never_split(bash: Bash) -> None:
    """Bytes of one character that come apart are one character in the text."""
    outcome = await run(bash, r"printf '\xe2\x82'; sleep 0.05; printf '\xac'")
    assert outcome.text == "€"


async def test_bytes_that_are_no_text_are_replaced(bash: Bash) -> None:
    """Invalid UTF-8 becomes replacement characters, at the end of the output as well."""
    outcome = await run(bash, r"printf 'a\xff\xfeb\xe2'")
    assert outcome.text == "a\ufffd\ufffdb\ufffd"


async def test_a_silent_command_says_so(bash: Bash) -> None:
    """A command without output is not an empty result."""
    assert (await run(bash, "true")).text == "The command ended without any output."


async def test_output_at_the_cap_is_whole(bash: Bash) -> None:
    """30,000 characters are shown as they are, and no file is made."""
    outcome = await run(bash, "head -c 30000 /dev/zero | tr '\\0' x")
    assert outcome.text == "x" * 30_000
    assert outcome.last.metadata["output_file"] is None


async def test_output_over_the_cap_is_cut_and_kept(bash: Bash) -> None:
    """Of longer output the head and the tail are shown, and the whole is in a private file."""
    outcome = await run(bash, "seq 1 20000")
    path = Path(outcome.last.metadata["output_file"])
    whole = "".join(f"{number}\n" for number in range(1, 20_001))
    assert path.read_text() == whole
    assert outcome.text.startswith(whole[:20_000])
    assert outcome.text.endswith(whole[-10_000:])
    assert str(path) in outcome.text
    assert f"{len(whole) - 30_000:,} characters" in outcome.text
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_hundred_megabytes_are_taken(bash: Bash) -> None:
    """Output without measure neither fills the memory nor the result."""
    outcome = await run(bash, "head -c 100000000 /dev/zero | tr '\\0' x")
    assert len(outcome.text) < 31_000
    assert os.path.getsize(outcome.last.metadata["output_file"]) == 100_000_000


async def test_a_slow_reader_loses_nothing(bash: Bash) -> None:
    """What the pipe holds when the shell has long ended is still read."""
    text = ""
    async with aclosing(bash.call("echo first; sleep 0.05; seq 1 5000")) as stream:
        async for chunk in stream:
            text += text_of(chunk)
            await asyncio.sleep(0.2)
    assert text == "first\n" + "".join(f"{number}\n" for number in range(1, 5001))


# How it ends


@pytest.mark.parametrize(
    ("command", "status"),
    [("exit 3", 3), ("false", 1), ("nonexistent-program", 127), ("kill -9 $$", 137), ("echo '", 2)],
)
async def test_a_status_other_than_0_is_an_error_that_says_it(
    bash: Bash, command: str, status: int
) -> None:
    """The model sees the exit status of a command that failed."""
    outcome = await run(bash, command)
    assert outcome.state is ToolResultState.ERROR
    assert outcome.text.endswith(f"[exit status {status}]")
    assert outcome.last.metadata["exit_code"] == status


async def test_metadata_says_how_it_went(bash: Bash, tmp_path: Path) -> None:
    """Programs find the status, the time and the directory without reading the text."""
    metadata = (await run(bash, "sleep 0.1")).last.metadata
    assert metadata["exit_code"] == 0
    assert metadata["timed_out"] is False
    assert metadata["directory"] == str(tmp_path.resolve())
    assert 0.1 <= metadata["duration"] < 5


async def test_nothing_is_read_from_the_terminal(bash: Bash) -> None:
    """Standard input is empty, so that a question gets no answer instead of waiting."""
    assert (await run(bash, "cat; read x || echo none")).text == "none\n"


# The environment


async def test_what_the_environment_would_add_to_a_command_is_gone(
    bash: Bash, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No start-up file, exported function or shell option of the environment reaches bash."""
    script = tmp_path / "start.sh"
    script.write_text("echo STARTED\n")
    for name, value in {
        "BASH_ENV": str(script),
        "ENV": str(script),
        "BASH_FUNC_ls%%": "() { echo FUNCTION; }",
        "SHELLOPTS": "xtrace",
        "PS4": "$(echo PS4 >&2)",
        "CDPATH": "/",
        "IFS": "s",
        "LD_PRELOAD": "/nonexistent.so",
        "GLOBIGNORE": "*",
    }.items():
        monkeypatch.setenv(name, value)
    outcome = await run(bash, "ls; echo ${CDPATH-none} ${LD_PRELOAD-none} ${BASH_ENV-none}")
    assert outcome.text == "start.sh\nnone none none\n"


async def test_the_rest_of_the_environment_stays(
    bash: Bash, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Variables that programs need are passed on."""
    monkeypatch.setenv("MY_SETTING", "abc")
    assert (await run(bash, "echo $MY_SETTING $HOME")).text == f"abc {os.environ['HOME']}\n"


async def test_what_runs_unasked_fetches_no_toolchain(
    bash: Bash, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Go and Rust answer as they are installed; what a person agreed to has the user's settings."""
    monkeypatch.setenv("GOTOOLCHAIN", "auto")
    assert (await run(bash, "echo $GOTOOLCHAIN $RUSTUP_AUTO_INSTALL")).text == "local 0\n"
    assert "pre-command-run" in (await run(bash, "echo $COMPOSER_SKIP_SCRIPTS")).text
    assert (await run(bash, "echo $GOTOOLCHAIN > f; cat f")).text == "auto\n"


async def test_relative_places_are_not_searched_for_programs(
    bash: Bash, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program in the working directory does not stand in for one of the system."""
    fake = tmp_path / "ls"
    fake.write_text("#!/bin/sh\necho FAKE\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f".::bin:{os.environ['PATH']}")
    assert (await run(bash, "ls")).text == "ls\n"


async def test_bash_is_the_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `bash` that PATH finds first is not the one that runs."""
    fake = tmp_path / "bash"
    fake.write_text("#!/bin/sh\necho FAKE\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert (await run(Bash(), "echo real")).text == "real\n"


# The directory


async def test_the_directory_is_kept(bash: Bash, tmp_path: Path) -> None:
    """The next command starts where the last one ended, and the decision rests on it."""
    (tmp_path / "inner").mkdir()
    before = bash.decision_basis({"command": "pwd"})
    await run(bash, "cd inner")
    assert (await run(bash, "pwd")).text == f"{tmp_path}/inner\n"
    assert bash.cwd == f"{tmp_path}/inner"
    assert bash.decision_basis({"command": "pwd"}) != before


@pytest.mark.parametrize(
    ("command", "ends_in"),
    [
        ("cd a/b; exit 4", "a/b"),
        ("cd a || true; set -e; false", "a"),
        ("(cd a)", "."),
        ("cd a & wait", "."),
        ("cd 'odd name $x'", "odd name $x"),
        ("cd link", "a"),
        ("cd nowhere", "."),
        ("cd a; kill -9 $$", "."),
        ("cd a; exec true", "."),
        ("cd a; trap 'echo bye' EXIT", "."),
        ("cd gone && rmdir ../gone", "."),
        ("cd a; set -x; cd b", "a/b"),
        ("pwd() { echo /; }; builtin() { echo /; }; cd a", "."),
        ("cd a; echo /etc >&9", "a"),
    ],
)
async def test_where_a_command_ends(bash: Bash, tmp_path: Path, command: str, ends_in: str) -> None:
    """The directory is the shell's own last one; where it cannot say, or it is gone, it stays."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "odd name $x").mkdir()
    (tmp_path / "gone").mkdir()
    (tmp_path / "link").symlink_to("a")
    await run(bash, command)
    if "builtin()" in command:
        assert bash.cwd in (str(tmp_path), "/")
    else:
        assert bash.cwd == os.path.normpath(tmp_path / ends_in)


@pytest.mark.parametrize("confine", ["off", "require"])
async def test_a_directory_behind_a_symlink_is_the_one_that_was_decided_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, confine: Confine
) -> None:
    """`..` counts from the name of the directory, in the shell as in the decision about it."""
    if confine == "require":
        require_bubblewrap()
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real/inner")
    monkeypatch.setenv("PWD", "/")
    bash = Bash(cwd=tmp_path / "link", confine=confine)
    assert (await run(bash, "echo $PWD; cd ..; pwd")).text == f"{tmp_path}/link\n{tmp_path}\n"


async def test_a_directory_that_was_removed_is_told(tmp_path: Path) -> None:
    """A command is not run elsewhere than it was decided for; the next one has a place again."""
    (tmp_path / "inner").mkdir()
    bash = Bash(cwd=tmp_path)
    await run(bash, "cd inner")
    (tmp_path / "inner").rmdir()
    outcome = await run(bash, "touch made")
    assert outcome.state is ToolResultState.ERROR
    assert "call again" in outcome.text
    assert not (tmp_path / "made").exists()
    assert (await run(bash, "pwd")).text == f"{tmp_path}\n"


async def test_a_directory_that_never_was_is_told(tmp_path: Path) -> None:
    """A Bash for a missing directory is refused; one whose directory goes says what is wrong."""
    with pytest.raises(ConfigurationError, match=r"nowhere.*no such directory"):
        Bash(cwd=tmp_path / "nowhere")
    (tmp_path / "brief").mkdir()
    bash = Bash(cwd=tmp_path / "brief")
    (tmp_path / "brief").rmdir()
    outcome = await run(bash, "echo ran")
    assert outcome.state is ToolResultState.ERROR
    assert "does not exist" in outcome.text
    assert "ran" not in outcome.text.split()


# What runs is what was decided

COMMANDS = [
    "echo hi",
    "# only a comment",
    "",
    "\n\n",
    "exit 3",
    "exec ls -d /",
    "set -e; false; echo no",
    "set -u; echo $nope; echo no",
    "echo 'unterminated",
    "echo a\necho )\necho b",
    "cat <<E\nx $((1+1))\nE",
    "cat <<'E'\nx $((1+1))\nE",
    "cat <<E\nnever closed",
    "set -x; cd /; :",
    "trap 'echo bye' EXIT; cd /",
    "kill -9 $$",
    "kill -TERM $$",
    "cd /usr; (cd /; exit 4)",
    "true | exit 5",
    "return 3",
    "f() { cd /usr; }; f; type f",
    'echo $0 $# "$*" $- $LINENO $SHLVL $BASH_SUBSHELL $BASH_EXECUTION_STRING',
    "sleep 0.01 & wait; echo $?",
    "shopt -s extglob\nls -d /us?(r)",
    "shopt expand_aliases; alias x=ls\nx",
    "bash -c 'echo ${BASH_ENV-none}; trap'",
    "${x!}",
    "echo ${x:?bad}; echo after",
    "echo $(cd /; pwd) `pwd -P`",
    "readonly x=1; x=2; echo after",
    "exit 300",
    "[ ",
    "echo {a,b}{1..3} ~root/x",
    'echo "$BASH_VERSION" | cut -c1',
    "declare -p BASH_ENV",
    "for i in 1 2; do echo $i; done | cat -n",
    "-c 'echo dash'",
    "--version",
]


@pytest.mark.parametrize("command", COMMANDS)
async def test_a_command_means_what_it_means_to_bash(
    bash: Bash, tmp_path: Path, command: str
) -> None:
    """Output and status equal those of `bash --norc --noprofile -c -- COMMAND` on its own."""
    alone = subprocess.run(
        [find_bash() or "", "--norc", "--noprofile", "-c", "--", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=tmp_path,
        check=False,
    )
    outcome = await run(bash, command)
    code = alone.returncode if alone.returncode >= 0 else 128 - alone.returncode
    assert outcome.last.metadata["exit_code"] == code
    said = outcome.text.removesuffix(f"[exit status {code}]")
    if not alone.stdout and code == 0:
        said = ""
    assert said.rstrip("\n") == alone.stdout.decode().rstrip("\n")


@pytest.mark.parametrize("command", ["echo a\0b", "echo \ud800", "echo " + "x" * 140_000])
async def test_a_command_that_no_process_can_be_given_is_refused(bash: Bash, command: str) -> None:
    """The model is told what is wrong with the text itself."""
    with pytest.raises(ToolArgumentError):
        await run(bash, command)


# Time, cancellation, background


@pytest.mark.parametrize(
    "command",
    [
        "sleep 60",
        "trap '' TERM; sleep 60; sleep 60",
        "yes",
        "sleep 60 & sleep 60 & wait",
        "exec >&- 2>&-; sleep 60",
        "(trap '' TERM; kill -STOP $BASHPID)",
        "setsid sh -c 'trap \"\" TERM; sleep 60; sleep 60' & sleep 60",
        "set -m; sleep 60 & wait",
    ],
)
async def test_a_timeout_ends_everything_in_time(bash: Bash, command: str) -> None:
    """A command is over 200 ms after its time at the latest, and nothing of it is left."""
    outcome = await run(bash, command, timeout=300)
    assert outcome.seconds < 0.3 + PROMISED_OVERRUN + MACHINE_SLACK
    assert outcome.state is ToolResultState.ERROR
    assert "timeout of 300 ms" in outcome.text
    assert outcome.last.metadata["timed_out"] is True
    assert outcome.last.metadata["exit_code"] is None
    assert marked_processes() == []


async def test_a_timeout_keeps_what_was_said(bash: Bash) -> None:
    """The output up to the timeout is part of the result."""
    assert (await run(bash, "echo before; sleep 60", timeout=300)).text.startswith("before\n")


async def test_a_timeout_holds_for_a_reader_that_has_stopped(bash: Bash, tmp_path: Path) -> None:
    """A command does not live longer because nobody asks for its output."""
    async with aclosing(bash.call("echo x; sleep 0.6; touch late", timeout=200)) as stream:
        await anext(stream)
        await asyncio.sleep(1)
        assert not (tmp_path / "late").exists()
        assert marked_processes() == []


@pytest.mark.parametrize(
    "command", ["sleep 60 &", "sleep 60 >/dev/null 2>&1 &", "yes &", "set -m; sleep 60 &"]
)
async def test_background_processes_end_with_the_call(bash: Bash, command: str) -> None:
    """What stays behind in the background neither holds the call up nor outlives it."""
    outcome = await run(bash, f"echo started; {command}")
    assert outcome.seconds < 2
    assert outcome.text.startswith("started\n") or "yes" in command
    assert "background were ended" in outcome.text
    assert outcome.state is ToolResultState.SUCCESS
    assert marked_processes() == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("true", "true"),
        ("true", "for i in {1..300}; do (true); done"),
        ("for i in {1..300}; do (true); done", "true"),
        ("sleep 0.7", "true"),
        ("true", "sleep 0.7"),
    ],
)
async def test_a_background_process_is_found_among_many(
    bash: Bash, before: str, after: str
) -> None:
    """One that holds no output is ended, however many others came and whenever it began."""
    outcome = await run(bash, f"{before}; sleep 60 >/dev/null 2>&1 & {after}")
    assert "background were ended" in outcome.text
    assert marked_processes() == []


async def test_a_background_process_that_was_waited_for_is_not_mentioned(bash: Bash) -> None:
    """A command that ends its own background work is like any other."""
    assert (await run(bash, "(sleep 0.05; echo done) & wait")).text == "done\n"


async def test_a_background_process_may_end_by_itself(bash: Bash, tmp_path: Path) -> None:
    """What needs a moment longer than the shell is not torn from its work."""
    outcome = await run(bash, "(sleep 0.03; echo done > late) >/dev/null 2>&1 & echo now")
    assert outcome.text == "now\n"
    assert (tmp_path / "late").read_text() == "done\n"


@pytest.mark.parametrize(
    "command",
    ["sleep 60", "trap '' TERM; sleep 60; sleep 60", "echo x; setsid sleep 60 & sleep 60"],
)
async def test_cancelling_leaves_no_process(bash: Bash, command: str) -> None:
    """A cancelled call ends its processes before the cancellation is passed on."""
    task = asyncio.create_task(run(bash, command))
    await until_started()
    await asyncio.sleep(0.2)
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - started < PROMISED_OVERRUN + MACHINE_SLACK
    assert marked_processes() == []


async def test_cancelling_twice_leaves_no_process(bash: Bash) -> None:
    """Impatience does not save a process from being ended."""
    task = asyncio.create_task(run(bash, "trap '' TERM; sleep 60; sleep 60"))
    await asyncio.sleep(0.2)
    task.cancel()
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert marked_processes() == []


async def test_closing_the_stream_leaves_no_process(bash: Bash) -> None:
    """A reader that goes away takes the command with it."""
    stream = bash.call("echo x; sleep 60")
    await anext(stream)
    assert marked_processes()
    await stream.aclose()
    assert marked_processes() == []


async def test_no_descriptor_is_left_open(bash: Bash) -> None:
    """Each call closes what it opened, however it ends."""
    await run(bash, "true")
    gc.collect()  # tools of other tests have descriptors, too
    before = len(os.listdir("/proc/self/fd"))
    for command in ("true", "seq 1 20000", "sleep 60 &", "nonexistent-program"):
        await run(bash, command)
    await run(bash, "sleep 60", timeout=50)
    stream = bash.call("echo x; sleep 60")
    await anext(stream)
    await stream.aclose()
    assert len(os.listdir("/proc/self/fd")) == before


async def test_files_of_long_output_go_with_the_tool() -> None:
    """The directory of kept output is removed when the tool is."""
    bash = Bash()
    path = Path((await run(bash, "seq 1 20000")).last.metadata["output_file"])
    assert path.exists()
    del bash
    for _ in range(100):
        if not path.parent.exists():
            break
        await asyncio.sleep(0.01)
    assert not path.parent.exists()
