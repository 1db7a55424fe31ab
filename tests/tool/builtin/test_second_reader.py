"""The opt-in second reader: what it withdraws, and what it never allows."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx

from agentscope_like.exception import ConfigurationError
from agentscope_like.permission import PermissionDecision, PermissionEngine
from agentscope_like.shell import analyze
from agentscope_like.shell.syntax import read
from agentscope_like.tool import Bash
from agentscope_like.tool.builtin.second_reader import SecondReader, reader
from agentscope_like.tool.builtin.second_reader.comparison import Opinion, difference
from tests.tool.builtin.bash_kit import context_of

pytestmark = pytest.mark.slow

HANG = "(echo '${'$HOME); ls"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser has time enough on a busy machine."""
    monkeypatch.setattr(reader, "ANSWER_SECONDS", 10.0)


def bash_with(body: str, directory: Path) -> Bash:
    """Return a Bash whose second reader is a process that runs `body` when it has started."""
    bash = Bash(cwd=directory, confine="off")
    code = f"import json, os, sys, time\nprint(flush=True)\ntexts = json.load(sys.stdin)\n{body}"
    bash._second_reader = SecondReader("bashlex", command=(sys.executable, "-I", "-c", code))
    return bash


async def decide(
    bash: Bash, command: str, rules: Sequence[str] = (), mode: str = "default"
) -> PermissionDecision:
    """Return what is decided about a command."""
    engine = PermissionEngine(context_of(rules, mode))
    return await engine.check_permission(bash, {"command": command})


@pytest.mark.parametrize(
    "command",
    [
        "ls -la",
        "ls \\\n  -la \\\n  | head",
        "(ls) | wc; echo {a,b} > /dev/null",
        'for f in *.py; do [ -f "$f" ] && wc -l "$f"; done | sort -n',
        "ls 2>&1 >/dev/null <<< x $(pwd)",
        "f() { ls; }; f",
        "bash -c 'ls | wc'",
    ],
)
async def test_what_it_reads_alike_is_allowed(command: str, tmp_path: Path) -> None:
    """Where bashlex finds the same commands, a proof stays one."""
    bash = Bash(cwd=tmp_path, confine="off", second_reader="bashlex")
    decision = await decide(bash, command)
    assert decision.behavior.value == "allow", decision.message


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("cat a;# rm", "A second reader (bashlex) finds the command `rm`"),
        ("x='$(y)'; ls", "A second reader (bashlex) finds the command `y`"),
        ('ls "${x:-$(pwd)}"', "A second reader (bashlex) misses the command `pwd`"),
        ("[[ -f a ]] && ls", "A second reader (bashlex) cannot read all of it"),
        ("bash -c 'ls;# rm'", "A second reader (bashlex) finds the command `rm`"),
    ],
)
async def test_what_it_reads_otherwise_asks(command: str, message: str, tmp_path: Path) -> None:
    """What is allowed without it is asked about with it, and the question says why."""
    assert (await decide(Bash(cwd=tmp_path, confine="off"), command)).behavior.value == "allow"
    bash = Bash(cwd=tmp_path, confine="off", second_reader="bashlex")
    decision = await decide(bash, command)
    assert decision.behavior.value == "ask"
    assert message in decision.message
    assert not await bash.check_read_only({"command": command})


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        ("ls; rm x", "ls"),
        ("ls", "ls; rm x"),
        ("ls 'a;b' c", "ls 'a; b'c"),
        ("ls > a; pwd", "ls   a; pwd"),
        ("cat <(rm x)", "cat '(rm x'"),
        ("echo $(rm x)", "echo '(rm x)'"),
    ],
)
async def test_a_faulty_reading_is_found(text: str, read_as: str) -> None:
    """Were the strict reader to take a text for another one, the second one would say so."""
    (opinion,) = await SecondReader("bashlex")._ask((text,))
    assert difference(text, read(read_as), opinion) is not None
    assert difference(text, read(text), opinion) is None


def test_the_place_of_a_difference_is_told() -> None:
    """The command or redirection that only one of them finds is named, with its place."""
    text, found = "ls; rm x", Opinion(True, (((0, 2),), ((4, 6), (7, 8))))
    assert difference(text, read(text), found) is None
    message, span = difference(text, read("ls"), found) or ("", None)
    assert (message, span and tuple(span)) == ("finds the command `rm x`", (4, 8))
    message, span = difference("ls > a", read("ls > a"), Opinion(True, (((0, 2),),))) or ("", None)
    assert (message, span and tuple(span)) == ("misses the redirection to `a`", (5, 6))


@pytest.mark.parametrize(
    "body",
    [
        "os._exit(1)",
        "print('nonsense')",
        "print('{}')",
        "print('[]')",
        "print(json.dumps(2 * [{'is_read': True, 'commands': [[[0, 2]]]}]))",
        "os.kill(os.getpid(), 9)",
    ],
)
async def test_one_that_fails_is_a_doubt(body: str, tmp_path: Path) -> None:
    """However it fails, nothing is proven: neither a read nor an edit."""
    bash = bash_with(body, tmp_path)
    assert "gave no answer" in (await decide(bash, "ls")).message
    assert (await decide(bash, "ls")).behavior.value == "ask"
    assert (await decide(bash, "ls", mode="explore")).behavior.value == "deny"
    assert (await decide(bash, "touch a", mode="accept_edits")).behavior.value == "ask"


async def test_one_that_hangs_is_killed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Some texts make bashlex hang: after 250 ms that is a doubt, and no process is left."""
    monkeypatch.undo()
    before = children()
    bash = Bash(cwd=tmp_path, confine="off", second_reader="bashlex")
    decision = await decide(bash, HANG)
    assert decision.behavior.value == "ask"
    assert "did not answer within 250 ms" in decision.message
    assert children() <= before


async def test_nothing_is_left_when_it_is_cancelled(tmp_path: Path) -> None:
    """A decision that is given up takes the process along."""
    before = children()
    bash = bash_with("time.sleep(60)", tmp_path)
    task = asyncio.create_task(decide(bash, "ls"))
    for _ in range(500):
        if children() - before:
            break
        await asyncio.sleep(0.02)
    assert children() - before
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert children() <= before


async def test_it_is_asked_only_where_it_matters(tmp_path: Path) -> None:
    """Nobody is asked what nothing would come of, and one text is asked about once."""
    asked = tmp_path / "asked"
    body = f"open({str(asked)!r}, 'a').write('.')\nprint('[{{\"is_read\": false}}]')"
    bash = bash_with(body, tmp_path)
    for command in ("make a", "npm test; make b", "echo (("):
        await decide(bash, command)
    assert not asked.exists()
    for _ in range(3):
        await decide(bash, "ls | cat")
    assert asked.read_text() == "."


async def test_rules_count_as_without_it(tmp_path: Path) -> None:
    """Deny and ask rules ask nobody; an allow rule has to speak of every part."""
    bash = bash_with("print('[{\"is_read\": false}]')", tmp_path)
    behaviors = {
        ("deny wc:*",): "deny",
        ("ask wc:*",): "ask",
        ("allow ls:*", "allow wc:*"): "allow",
        ("allow ls:*",): "ask",
    }
    for rules, behavior in behaviors.items():
        assert (await decide(bash, "(ls) | wc", rules)).behavior.value == behavior
    assert (await decide(bash, "(npm test) | wc", ["allow npm test:*"])).behavior.value == "ask"


def test_nothing_is_proven_before_it_is_asked(tmp_path: Path) -> None:
    """A reading that cannot wait for the second reader is no proof."""
    bash = Bash(cwd=tmp_path, second_reader="bashlex")
    assert not bash.analysis({"command": "ls"}).read_only
    assert analyze("ls", directory=str(tmp_path)).read_only
    asyncio.run(bash.check_read_only({"command": "ls"}))
    assert bash.analysis({"command": "ls"}).read_only


async def test_the_event_loop_goes_on(tmp_path: Path) -> None:
    """While it is waited for, other tasks run, and nothing blocks the loop."""
    bash = Bash(cwd=tmp_path, confine="off", second_reader="bashlex")
    await decide(Bash(cwd=tmp_path, confine="off"), "(ls) | wc")
    ticks = 0
    with blockbuster_ctx():
        task = asyncio.create_task(decide(bash, "(ls) | wc"))
        while not task.done():
            await asyncio.sleep(0.005)
            ticks += 1
    assert (await task).behavior.value == "allow"
    assert ticks > 3


async def test_it_knows_nothing_of_us(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its process has neither our environment nor our directory."""
    monkeypatch.setenv("SECRET_TOKEN", "x")
    body = (
        "if os.getcwd() == '/' and 'SECRET_TOKEN' not in os.environ:\n"
        '    print(\'[{"is_read": true, "commands": [[[0, 2]]]}]\')'
    )
    assert (await decide(bash_with(body, tmp_path), "ls")).behavior.value == "allow"


def test_an_unknown_reader_is_refused() -> None:
    """A name that is none is an error that says which there are, and the nearest."""
    with pytest.raises(ConfigurationError, match="did you mean 'bashlex'"):
        Bash(second_reader="bashlax")  # type: ignore[arg-type]


def test_one_that_is_not_installed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install; without a second reader nothing has to be."""
    monkeypatch.setattr(reader, "find_spec", lambda _: None)
    with pytest.raises(ConfigurationError, match=r"pip install 'agentscope_like\[bashlex\]'"):
        Bash(second_reader="bashlex")
    assert Bash().name == "Bash"


def test_no_parser_is_loaded_here(tmp_path: Path) -> None:
    """A decision with a second reader loads no parser into this process."""
    code = (
        "import asyncio, sys\n"
        "from agentscope_like.tool import Bash\n"
        "bash = Bash(second_reader='bashlex')\n"
        "asyncio.run(bash.check_read_only({'command': '(ls) | wc'}))\n"
        "names = ('bashlex', 'tree_sitter', 'tree_sitter_bash')\n"
        "print([name for name in names if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True
    )
    assert done.stdout.strip() == "[]"


def children() -> set[int]:
    """Return the processes that this one has started and that still run."""
    done = subprocess.run(
        ["ps", "-o", "pid=,stat=,args=", "--ppid", str(os.getpid())],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    rows = [line.split(None, 2) for line in done.stdout.splitlines()]
    return {int(pid) for pid, stat, args in rows if "Z" not in stat and "ps -o" not in args}
