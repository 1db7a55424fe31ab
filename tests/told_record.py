"""Records all that is told of many commands: facts, doubts, decisions, messages and suggestions.

The commands are those of `tests.record`, those of the corpora, ones made of both by small changes,
those that tests try, and ones made of the words in the tables of the package. The record
`tests/data/commands/told.txt` holds a digest for each few of them: it notices every change, and
says in which commands; what changed is said by a comparison of two versions.

    python -m tests.told_record --write            writes the record anew
    python -m tests.told_record --save FILE        saves all that one version tells
    python -m tests.told_record --against FILE     says how this version differs from it
    python -m tests.told_record --since REVISION   the same, against a commit
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from io import BytesIO
from itertools import filterfalse
from pathlib import Path
from typing import Final, NamedTuple

import agentscope_like
from agentscope_like.permission import PermissionDecision
from agentscope_like.tool import Bash
from tests.effects_record import facts_of, read_effects
from tests.record import (
    RECORDED,
    AtOnce,
    Situation,
    corpora,
    engine_of,
    letter_of,
    read_record,
    shown,
    world,
)
from tests.table_commands import read_table_commands, table_situation
from tests.tried_commands import read_tried
from tests.varied_commands import read_varied

__all__ = ["SHARES", "TOLD", "Told", "digests", "read_digests", "told_of_share"]

TOLD: Final = Path(__file__).parent / "data" / "commands" / "told.txt"
SHARES: Final = 48
"""How many parts the record is checked in."""

_GROUPS: Final = 4096
_FEW: Final = (RECORDED[0], RECORDED[2], RECORDED[5])
"""The situations that commands of no record are decided in."""

_PASSING: Final = re.compile(r"/dev(?:/fd)?(?![\w/-])|/tmp(?![\w-])")
"""Names that lead to whatever devices, open and temporary files there are at the time."""

_SHOWN_COMMANDS: Final = 5
_SHOWN_CHANGES: Final = 40
_CHUNK: Final = 250


class Told(NamedTuple):
    """What is told of one command.

    Attributes:
        letters: The decisions of `tests.record`, one letter for each situation.
        lines: All else, in words.
    """

    letters: str
    lines: list[str]


class _Teller:
    """Tells of commands in a `world`, whose own place is left out of the words."""

    def __init__(self, work: Path, situations: Sequence[Situation]) -> None:
        self._work = work
        self._outside = work.parents[4]
        self._tool = Bash(cwd=work, confine="off")
        self._asked = [(situation, engine_of(situation)) for situation in situations]
        self._listed = _listed()

    async def told(self, command: str) -> Told:
        """Return what is told of a command; `E` and the error where that raises one.

        No words are told where directories outside the world were listed: they differ between
        machines.
        """
        self._listed.clear()
        try:
            told = await self._told(command)
        except Exception as error:
            return Told("E", [f"raises {type(error).__name__}"])
        if all(Path(each).is_relative_to(self._outside) for each in self._listed):
            return told
        return Told(told.letters, ["depends on the machine"])

    async def _told(self, command: str) -> Told:
        lines = facts_of(command, self._work)
        analysis = self._tool.analysis({"command": command})
        lines += [f"because {doubt.message}" for doubt in analysis.all_doubts]
        letters = ""
        for situation, engine in self._asked:
            decision = await engine.check_permission(self._tool, {"command": command})
            letters += letter_of(decision)
            lines += [f"{situation.name}: {each}" for each in _words(decision, situation)]
        placeless = map(self._placeless, lines)
        return Told(letters, [line for line in placeless if self._outside.name not in line])

    def _placeless(self, line: str) -> str:
        work, outside = str(self._work), str(self._outside)
        return line.replace(f"{work}/", "").replace(work, ".").replace(outside, "")


@cache
def _listed() -> set[str]:
    """Return a set that each directory is added to which is listed from now on.

    Directories of the package are left out: its tables are loaded at first use. So are those that
    are listed by a descriptor: a temporary directory of another test is, which is removed when
    nothing refers to it any more.
    """
    listed: set[str] = set()
    package = str(Path(agentscope_like.__file__).parent)

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event != "os.scandir" or isinstance(arguments[0], int):
            return
        if not str(arguments[0]).startswith(package):
            listed.add(str(arguments[0]))

    sys.addaudithook(note)
    return listed


def _words(decision: PermissionDecision, situation: Situation) -> Iterator[str]:
    row = "no row" if decision.row is None else f"row {decision.row.label}"
    where = "" if decision.place is None else " at {}-{}".format(*decision.place)
    yield f"{decision.behavior.value}, {row}{where}: {decision.message}"
    if decision.decision_reason is not None:
        yield f"as {decision.decision_reason}"
    if decision.rule is not None:
        yield f"by {decision.rule}"
    if situation.mode == "default":
        yield from (f"offers {rule}" for rule in decision.suggested_rules or ())


class _Group(NamedTuple):
    """Commands that are decided in the same situations."""

    situations: tuple[Situation, ...]
    commands: tuple[str, ...]


@cache
def _all_commands() -> tuple[_Group, ...]:
    """Return the commands of the decisions on record, those of the tables, and all others."""
    recorded = dict.fromkeys(read_record())
    others = dict.fromkeys([*read_effects(), *corpora(), *read_varied(), *read_tried()])
    of_tables = dict.fromkeys(read_table_commands())
    return (
        _Group(RECORDED, tuple(recorded)),
        _Group(_FEW, tuple(each for each in others if each not in recorded)),
        _Group(
            (RECORDED[5], table_situation()),
            tuple(each for each in of_tables if each not in recorded and each not in others),
        ),
    )


def _group(command: str) -> int:
    return int(sha256(command.encode()).hexdigest()[:8], 16) % _GROUPS


def told_of_share(share: int) -> dict[str, Told]:
    """Return what is told of a share of the commands."""
    told: dict[str, Told] = {}
    for situations, commands in _all_commands():
        chosen = [command for command in commands if _group(command) % SHARES == share]
        told |= _all_told(_Group(situations, tuple(chosen)))
    return told


def _all_told(group: _Group) -> dict[str, Told]:
    """Return what is told of some commands, in a world that is made for them."""

    async def tell() -> dict[str, Told]:
        asyncio.get_running_loop().set_default_executor(AtOnce())
        teller = _Teller(work, group.situations)
        return {command: await teller.told(command) for command in group.commands}

    with world() as work:
        return asyncio.run(tell())


def digests(told: Mapping[str, Told]) -> dict[str, str]:
    """Return a digest for each group of commands."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for command in sorted(filterfalse(_PASSING.search, told)):
        groups[f"{_group(command):04d}"] += [command, *told[command].lines]
    return {
        group: sha256("\0".join(lines).encode("utf-8", "surrogateescape")).hexdigest()[:12]
        for group, lines in groups.items()
    }


def read_digests() -> dict[str, str]:
    """Return the record."""
    return dict(line.split(" ") for line in TOLD.read_text("utf-8").splitlines())


def _write(told: Mapping[str, Told]) -> None:
    lines = [f"{group} {digest}\n" for group, digest in sorted(digests(told).items())]
    TOLD.write_text("".join(lines), "utf-8")


def _tell_all(processes: int) -> dict[str, Told]:
    tasks = [
        _Group(situations, commands[start : start + _CHUNK])
        for situations, commands in _all_commands()
        for start in range(0, len(commands), _CHUNK)
    ]
    told: dict[str, Told] = {}
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for found in pool.imap(_all_told, tasks):
            told.update(found)
    return told


def changes_told(before: Mapping[str, Sequence[str]], after: Mapping[str, Told]) -> list[str]:
    """Return in words what is told otherwise; commands that change alike are told together."""
    alike: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for command, told in after.items():
        was = before.get(command)
        if was is None or list(was) == told.lines:
            continue
        lost = (f"- {line}" for line in was if line not in told.lines)
        gained = (f"+ {line}" for line in told.lines if line not in was)
        alike[(*lost, *gained) or ("in another order",)].append(command)
    return [
        "\n    ".join([*_heading(commands), *lines])
        for lines, commands in sorted(alike.items(), key=lambda each: -len(each[1]))
    ]


def _heading(commands: Sequence[str]) -> Iterator[str]:
    yield f"{len(commands)} command{'s' * (len(commands) != 1)}:"
    yield from (shown(command) for command in commands[:_SHOWN_COMMANDS])


def _since(revision: str, processes: int) -> dict[str, list[str]]:
    """Return what the package of a revision tells about the commands of this version."""
    root = Path(__file__).parents[1]
    archive = ["git", "-C", str(root), "archive", revision, "agentscope_like"]
    packed = subprocess.run(archive, check=True, capture_output=True).stdout
    with tempfile.TemporaryDirectory() as name:
        with tarfile.open(fileobj=BytesIO(packed)) as package:
            package.extractall(name, filter="data")
        environment = {**os.environ, "PYTHONPATH": f"{name}{os.pathsep}{root}"}
        saved = f"{name}/told.json"
        command = [sys.executable, "-P", __file__, "--save", saved, f"--processes={processes}"]
        subprocess.run(command, check=True, cwd=name, env=environment)
        return _read_saved(Path(saved))


def _read_saved(file: Path) -> dict[str, list[str]]:
    saved: dict[str, list[str]] = json.loads(file.read_text("utf-8"))
    return saved


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.told_record", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true", help="write the record anew")
    what.add_argument("--save", type=Path, metavar="FILE", help="save all that is told")
    what.add_argument("--against", type=Path, metavar="FILE", help="compare with what was saved")
    what.add_argument("--since", metavar="REVISION", help="compare with a commit")
    parser.add_argument("--processes", type=int, default=2, help="how many tell at once")
    return parser.parse_args()


def _main() -> int:
    given = _arguments()
    if given.since is not None:
        before = _since(given.since, given.processes)
    elif given.against is not None:
        before = _read_saved(given.against)
    else:
        before = None
    told = _tell_all(given.processes)
    if given.write:
        _write(told)
    elif given.save is not None:
        lines = {command: each.lines for command, each in told.items()}
        given.save.write_text(json.dumps(lines, indent=0), "utf-8")
    if before is None:
        return 0
    found = changes_told(before, told)
    print("\n".join(found[:_SHOWN_CHANGES]) or "Nothing changed.")  # noqa: T201 - the program's output
    if len(found) > _SHOWN_CHANGES:
        print(f"and {len(found) - _SHOWN_CHANGES} other changes")  # noqa: T201
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(_main())
