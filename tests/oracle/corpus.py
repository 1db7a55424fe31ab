"""The project's own commands: harmful ones by technique, everyday reads by what they are about.

`tests/data/commands/harmful/TECHNIQUE.jsonl` and `everyday/TAG.jsonl` hold one JSON object a line,
with the text of one command. `asked.jsonl` holds the everyday reads that are known to be asked
about, as texts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

__all__ = ["Sample", "everyday", "harmful", "known_to_be_asked"]

_COMMANDS = Path(__file__).parent.parent / "data" / "commands"


class Sample(NamedTuple):
    """A command and its kind: a technique or a tag."""

    command: str
    kind: str


def everyday() -> list[Sample]:
    """Return commands that only read, and that nobody wants to be asked about."""
    return _samples("everyday")


def harmful() -> list[Sample]:
    """Return commands that may never run without a question."""
    return _samples("harmful")


def known_to_be_asked() -> set[str]:
    """Return the everyday reads that are not proven yet."""
    lines = (_COMMANDS / "asked.jsonl").read_text("utf-8").splitlines()
    return {json.loads(line) for line in lines}


def _samples(folder: str) -> list[Sample]:
    return [
        Sample(json.loads(line)["command"], file.stem)
        for file in sorted((_COMMANDS / folder).glob("*.jsonl"))
        for line in file.read_text("utf-8").splitlines()
    ]
