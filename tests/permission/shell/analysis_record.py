"""The whole analyses of commands, as they are known to be right.

The record is `tests/data/commands/analyses.jsonl`: where each simple command runs and what carries
it, what is known of each computed word, each effect and each doubt with its place, and the rules
that would spare a question. A line changes only together with what a commit means to change:
`python -m tests.permission.shell.analysis_record` writes it anew for the commands that it holds,
and the difference is to be read line by line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import TypedDict

from msgspec import Struct

from agentscope_like.permission.command.suggestions import suggest_patterns
from agentscope_like.shell import CommandAnalysis, Doubt, Part, analyze
from agentscope_like.shell.syntax.tree import Span

__all__ = ["AnalysisRecord", "analysis_records", "told"]

_FILE = Path(__file__).parents[2] / "data" / "commands" / "analyses.jsonl"


class AnalysisRecord(TypedDict):
    """One line.

    Attributes:
        command: The command.
        told: What `told` tells of it.
    """

    command: str
    told: list[str]


def analysis_records() -> list[AnalysisRecord]:
    """Return all lines."""
    return [json.loads(line) for line in _FILE.read_text("utf-8").splitlines()]


def told(command: str) -> list[str]:
    """Return all that an analysis in `/ws` says: its parts, doubts and suggestions."""
    analysis = analyze(command, directory="/ws", home="/home/u")
    lines = [line for part in analysis.parts for line in _part(part, analysis)]
    lines += [_doubt(doubt, analysis) for doubt in analysis.doubts]
    lines += [f"suggests {pattern}" for pattern in suggest_patterns(analysis)]
    return ["reads only", *lines] if analysis.read_only else lines


def _part(part: Part, analysis: CommandAnalysis) -> Iterator[str]:
    argv = " ".join("?" if word is None else repr(word) for word in part.argv)
    carried = "" if part.parent is None else f" for {part.parent}"
    where = " ".join(part.directories) or "?"
    given = "".join(f" {each.name}=" for each in part.assignments)
    given += "".join(f" {each.operator}" for each in part.redirects)
    yield f"{part.program}: {argv} in {where}{carried}{given}{_at(part.span, analysis)}"
    for word in part.computed:
        yield f"computed:{_fields(word, leaving_out=())}"
    for each in part.effects:
        how = "below " * each.recursive + "any of " * each.glob
        more = _fields(each, leaving_out=("recursive", "glob"))
        yield f"{each.kind} {how}{each.target!r} {each.path}{more}{_at(each.span, analysis)}"
    for doubt in part.doubts:
        yield _doubt(doubt, analysis)


def _fields(told: Struct, *, leaving_out: tuple[str, ...]) -> str:
    """Return the fields that are not as they are where nothing is said of them."""
    defaults = told.__struct_defaults__
    names = told.__struct_fields__[-len(defaults) :]
    return "".join(
        f" {name}={value.name if isinstance(value, Enum) else repr(value)}"
        for name, default in zip(names, defaults, strict=True)
        if name not in leaving_out and (value := getattr(told, name)) != default
    )


def _doubt(doubt: Doubt, analysis: CommandAnalysis) -> str:
    return f"doubt: {doubt.message}{_at(doubt.span, analysis)}"


def _at(span: Span, analysis: CommandAnalysis) -> str:
    whole = (span.start, span.end) == (0, len(analysis.command))
    return "" if whole else f" @{span.start}-{span.end}"


def _record() -> None:
    lines = [
        json.dumps({"command": command, "told": told(command)}, ensure_ascii=False)
        for command in (record["command"] for record in analysis_records())
    ]
    _FILE.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    _record()
