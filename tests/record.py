"""Records what is decided about many commands, and says in words what changed.

The record is `tests/data/commands/decisions.txt`: one command a line, after one letter for each
situation of `RECORDED`. `A` allows, `a` asks, `!` is a safety ASK, `D` denies.

    python -m tests.record             says what changed since the record was written
    python -m tests.record --all       the same, with all commands that changed
    python -m tests.record --write     writes the record anew, for the commands that it holds

Two versions of the package are compared by `--save`, run with the one, and `--against`, run with
the other; both decide in all situations, about the record's commands and those of the corpora:

    python -m tests.record --save FILE [--corpus FOLDER]
    python -m tests.record --against FILE

This file uses only public names of the package, and nothing else of the tests, so that it runs with
any version: `PYTHONPATH=CHECKOUT python tests/record.py --against FILE`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import chdir, contextmanager
from itertools import chain
from pathlib import Path
from typing import Final, Literal, NamedTuple, ParamSpec, TypeVar

from typing_extensions import override

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.tool import Bash

__all__ = [
    "ALL",
    "RECORD",
    "RECORDED",
    "AtOnce",
    "Decider",
    "Decisions",
    "Situation",
    "changes",
    "command_of",
    "corpora",
    "decided",
    "engine_of",
    "letter_of",
    "line_of",
    "read_record",
    "shown",
    "world",
]

P = ParamSpec("P")
T = TypeVar("T")

Decisions = dict[str, str]
"""The letters of each command, one for each situation."""

_DATA = Path(__file__).parent / "data" / "commands"
RECORD: Final = _DATA / "decisions.txt"

_RULES = (
    *("deny Write(secrets/**)", "ask Read(.env)", "deny Read(private/**)", "deny Glob(hidden/**)"),
    *("deny Bash(git push:*)", "ask Bash(make *)"),
)
_TEXTS = {".gitconfig": "", "package.json": "{}\n"}
_FIRST_COMMANDS = 10
_SHOWN_CHARACTERS = 100
_CHUNK = 250
_WORDS = {"A": "allow", "a": "ask", "!": "safety ask", "D": "deny", "E": "error", "-": "absent"}


class Situation(NamedTuple):
    """What a decision depends on besides the command and the files.

    Attributes:
        name: What a person calls it.
        mode: The permission mode.
        rules: The rules, as `deny Bash(git push:*)`.
        confine: What is told the tool about confinement.
    """

    name: str
    mode: str
    rules: tuple[str, ...] = ()
    confine: Literal["auto", "off"] = "off"


RECORDED: Final = (
    *(Situation(mode, mode) for mode in ("default", "explore", "accept_edits", "dont_ask")),
    Situation("bypass with rules", "bypass", _RULES),
    Situation("allowed but for rules", "default", (*_RULES, "allow Bash")),
)
"""The situations of the record, in the order of its letters."""

ALL: Final = (
    *RECORDED,
    Situation("bypass", "bypass"),
    *(Situation(f"{mode.value}, confined", mode.value, (), "auto") for mode in PermissionMode),
)
"""The situations that versions of the package are compared in."""


class Change(NamedTuple):
    """Commands that are decided differently, and how.

    Attributes:
        before: The letter that was.
        after: The letter that is.
        situations: Where the decision changed from the one to the other.
        commands: The commands that it changed for.
    """

    before: str
    after: str
    situations: tuple[str, ...]
    commands: list[str]

    def told(self, most: int | None = _FIRST_COMMANDS) -> str:
        """Return the change in words, with the first commands.

        Args:
            most: How many commands are shown; None for all.
        """
        count = len(self.commands)
        where = ", ".join(self.situations)
        first = (
            f"{count} command{'s' * (count != 1)} {_WORDS[self.before]} -> {_WORDS[self.after]} "
            f"in {where}:"
        )
        lines = [first, *(f"    {shown(each)}" for each in self.commands[:most])]
        if len(lines) <= count:
            lines.append(f"    and {count + 1 - len(lines)} more")
        return "\n".join(lines)


def changes(
    before: Mapping[str, str], after: Mapping[str, str], situations: Sequence[Situation]
) -> list[Change]:
    """Return what changed from some decisions to others, new permissions first.

    Commands that change alike in the same situations are one change.
    """
    names = [situation.name for situation in situations]
    absent = "-" * len(names)
    found: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for command in dict.fromkeys((*before, *after)):
        changed: dict[tuple[str, str], list[str]] = {}
        letters = zip(before.get(command, absent), after.get(command, absent), names, strict=True)
        for old, new, name in letters:
            if old != new:
                changed.setdefault((old, new), []).append(name)
        for (old, new), where in changed.items():
            found.setdefault((old, new, tuple(where)), []).append(command)
    all_changes = [Change(*key, commands) for key, commands in found.items()]
    return sorted(all_changes, key=lambda each: (each.after != "A", -len(each.commands), each))


class Decider:
    """Decides about commands in a workspace.

    Args:
        work: The workspace.
        situations: Where each command is decided about.
    """

    def __init__(self, work: Path, situations: Sequence[Situation]) -> None:
        tools = {
            confine: Bash(cwd=work, confine=confine)
            for confine in {situation.confine for situation in situations}
        }
        self._asked = [(engine_of(each), tools[each.confine]) for each in situations]

    async def decide(self, command: str) -> str:
        """Return the letter of each situation; `E` where deciding raises."""
        return "".join([await _letter(*asked, command) for asked in self._asked])


async def _letter(engine: PermissionEngine, tool: Bash, command: str) -> str:
    try:
        decision = await engine.check_permission(tool, {"command": command})
    except Exception as error:
        sys.stderr.write(f"{shown(command)}: {error!r}\n")
        return "E"
    return letter_of(decision)


def letter_of(decision: PermissionDecision) -> str:
    """Return the letter of a decision."""
    if decision.behavior is PermissionBehavior.ASK:
        return "!" if decision.bypass_immune else "a"
    return "A" if decision.behavior is PermissionBehavior.ALLOW else "D"


def engine_of(situation: Situation) -> PermissionEngine:
    """Return an engine that decides as in a situation."""
    engine = PermissionEngine(PermissionContext(mode=PermissionMode(situation.mode)))
    for text in situation.rules:
        behavior, _, rest = text.partition(" ")
        tool, _, content = rest.removesuffix(")").partition("(")
        engine.add_rule(
            PermissionRule(
                tool_name=tool,
                rule_content=content or None,
                behavior=PermissionBehavior(behavior),
            )
        )
    return engine


@contextmanager
def world() -> Iterator[Path]:
    """Make a project and a home with credentials, and enter them; yields the project's directory.

    They lie deep enough for `../../..` to stay within what is made here, in `/tmp`, and the
    environment holds nothing but the home and the path, so that decisions are the same everywhere.
    """
    saved = dict(os.environ)
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        place = Path(name).resolve() / "a" / "b" / "c" / "d"
        work, home = place / "work", place / "home"
        _fill(work, home, place / "elsewhere")
        os.environ.clear()
        os.environ.update(HOME=str(home), PATH=saved.get("PATH", os.defpath))
        try:
            with chdir(work):
                subprocess.run(["git", "init", "--quiet"], check=True)
                yield work
        finally:
            os.environ.clear()
            os.environ.update(saved)


def _fill(work: Path, home: Path, elsewhere: Path) -> None:
    files = (
        *("a", "b", "f", "x", "a.txt", "b.py", "list", "data.csv", "README.md", "Makefile"),
        *(".env", ".envrc", "server.pem", "package.json", "d/e/f", "src/app.py", "src/a.c"),
        *("tests/test_a.py", "docs/x.txt", "secrets/a", "secrets/b/c", "private/x", "hidden/y"),
        *(".vscode/settings.json", "logs/app.log"),
    )
    own = (
        *(".ssh/id_rsa", ".ssh/config", ".aws/credentials", ".bashrc", ".netrc", ".gitconfig"),
        *("notes.txt", ".config/gh/hosts.yml"),
    )
    for path in chain((work / each for each in files), (home / each for each in own)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_TEXTS.get(path.name, "x\n"))
    elsewhere.mkdir()
    (work / "out").symlink_to(elsewhere)
    (work / "link").symlink_to(".env")
    (work / "way").symlink_to("secrets")


def read_record(file: Path = RECORD) -> Decisions:
    """Return the record."""
    lines = (line.partition(" ") for line in file.read_text("utf-8").splitlines())
    return {command_of(text): letters for letters, _, text in lines}


def _write_record(decisions: Mapping[str, str]) -> None:
    lines = sorted(f"{letters} {line_of(command)}" for command, letters in decisions.items())
    lines.sort(key=lambda line: line.partition(" ")[2])
    RECORD.write_text("\n".join(lines) + "\n", "utf-8")


def line_of(command: str) -> str:
    """Return a command as a line of a record."""
    plain = command.isprintable() and not command.startswith('"')
    return command if plain else json.dumps(command)


def command_of(line: str) -> str:
    """Return the command of a line."""
    return str(json.loads(line)) if line.startswith('"') else line


def shown(command: str) -> str:
    """Return a command as one line of bounded length."""
    line = line_of(command)
    return line if len(line) <= _SHOWN_CHARACTERS else f"{line[:_SHOWN_CHARACTERS]}..."


def corpora(folders: Iterable[Path] = (_DATA,)) -> Iterator[str]:
    """Yield the commands of the JSONL files in some folders; by default of the project's own."""
    for folder in folders:
        for file in sorted(folder.rglob("*.jsonl")):
            for line in file.read_text("utf-8").splitlines():
                record = json.loads(line)
                if isinstance(record, dict) and isinstance(record.get("command"), str):
                    yield record["command"]


def _decide_all(
    commands: Iterable[str], situations: Sequence[Situation], processes: int
) -> Decisions:
    distinct = list(dict.fromkeys(commands))
    chunks = [distinct[start : start + _CHUNK] for start in range(0, len(distinct), _CHUNK)]
    tasks = [(chunk, situations) for chunk in chunks]
    decided: Decisions = {}
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes) as pool:
        for number, letters in enumerate(pool.imap(_decide_chunk, tasks)):
            decided.update(letters)
            if sys.stderr.isatty():
                sys.stderr.write(f"\r{number + 1} of {len(tasks)}")
    return decided


def _decide_chunk(task: tuple[Sequence[str], Sequence[Situation]]) -> Decisions:
    return decided(*task)


def decided(commands: Iterable[str], situations: Sequence[Situation]) -> Decisions:
    """Return the letters of some commands, in a world that is made for them."""

    async def decide() -> Decisions:
        asyncio.get_running_loop().set_default_executor(AtOnce())
        decider = Decider(work, situations)
        return {command: await decider.decide(command) for command in commands}

    with world() as work:
        return asyncio.run(decide())


class AtOnce(ThreadPoolExecutor):
    """Runs what is handed to it where it is: a thread takes longer than most decisions."""

    @override
    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        done: Future[T] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done


def _tell(found: Sequence[Change], *, shows_all: bool) -> int:
    for change in found:
        print(change.told(None if shows_all else _FIRST_COMMANDS))  # noqa: T201 - the program's output
    if not found:
        print("Nothing changed.")  # noqa: T201
    return 1 if found else 0


def _save(file: Path, folders: Sequence[Path], processes: int) -> int:
    commands = chain(read_record(), corpora(folders))
    decisions = _decide_all(commands, ALL, processes)
    names = [situation.name for situation in ALL]
    saved = {"situations": names, "decisions": decisions}
    file.write_text(json.dumps(saved, ensure_ascii=False, indent=0), "utf-8")
    return 0


def _against(file: Path, processes: int, *, shows_all: bool) -> int:
    saved = json.loads(file.read_text("utf-8"))
    by_name = {situation.name: situation for situation in ALL}
    situations = [by_name[name] for name in saved["situations"]]
    before: Decisions = saved["decisions"]
    return _tell(
        changes(before, _decide_all(before, situations, processes), situations),
        shows_all=shows_all,
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.record", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--all", action="store_true", help="show all commands that changed")
    parser.add_argument("--write", action="store_true", help="write the record anew")
    parser.add_argument("--save", type=Path, metavar="FILE", help="save all decisions")
    parser.add_argument("--against", type=Path, metavar="FILE", help="compare with saved ones")
    parser.add_argument(
        *("--corpus", "--corpora"),
        type=Path,
        action="append",
        default=[],
        metavar="FOLDER",
        help="save the decisions about the commands of its JSONL files, too",
    )
    parser.add_argument("--processes", type=int, default=2, help="how many decide at once")
    return parser.parse_args()


def _main() -> int:
    given = _arguments()
    if given.save is not None:
        return _save(given.save, [_DATA, *given.corpus], given.processes)
    if given.against is not None:
        return _against(given.against, given.processes, shows_all=given.all)
    before = read_record()
    after = _decide_all(before, RECORDED, given.processes)
    if given.write:
        _write_record(after)
    return _tell(changes(before, after, RECORDED), shows_all=given.all)


if __name__ == "__main__":
    sys.exit(_main())
