"""Records what commands of each kind are read as: what they run, what they touch, what is in doubt.

The record is `tests/data/commands/effects.txt`: a command, and below it, indented, its facts.
`python -m tests.effects_record` writes it anew for the commands that it holds; the difference is to
be read line by line.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from agentscope_like.tool import Bash
from tests.record import world

__all__ = ["EFFECTS", "facts_of", "read_effects"]

Facts = dict[str, list[str]]
"""The facts of each command, in words."""

EFFECTS = Path(__file__).parent / "data" / "commands" / "effects.txt"
_INDENT = "    "


def facts_of(command: str, work: Path) -> list[str]:
    """Return the facts of a command that starts in a workspace, named `.` there."""
    analysis = Bash(cwd=work, confine="off").analysis({"command": command})
    facts = ["reads only"] if analysis.read_only else []
    for part in analysis.parts:
        words = " ".join("?" if word is None else shlex.quote(word) for word in part.argv)
        where = " or ".join(part.directories) or "?"
        if words != command or where != str(work):
            facts.append(f"runs {words}" + f" in {where}" * (where != str(work)))
        for effect in part.effects:
            how = "below " * effect.recursive + "any of " * effect.glob
            facts.append(f"{effect.kind} {how}{effect.path or f'? {effect.target}'}")
    spans = [doubt.span for doubt in analysis.all_doubts]
    facts += [f"doubts {command[span.start : span.end]}" for span in spans]
    return [_named(fact, work) for fact in dict.fromkeys(facts)]


def _named(fact: str, work: Path) -> str:
    named = fact.replace(f"{work}/", "").replace(str(work), ".")
    return named.replace(str(work.parent), "").replace("\n", "\\n").rstrip()


def read_effects() -> Facts:
    """Return the record."""
    record: Facts = {}
    facts: list[str] = []
    for line in EFFECTS.read_text("utf-8").splitlines():
        if line.startswith(_INDENT):
            facts.append(line.removeprefix(_INDENT))
        else:
            facts = record[json.loads(line) if line.startswith('"') else line] = []
    return record


def _lines(record: Mapping[str, list[str]]) -> Iterator[str]:
    for command, facts in record.items():
        plain = command.isprintable() and not command.startswith('"')
        yield command if plain else json.dumps(command)
        yield from (f"{_INDENT}{fact}" for fact in facts)


def _write() -> None:
    with world() as work:
        record = {command: facts_of(command, work) for command in read_effects()}
    EFFECTS.write_text("\n".join(_lines(record)) + "\n", "utf-8")


if __name__ == "__main__":
    _write()
