"""The process of the second reader: reads a JSON list of texts, writes what bashlex finds.

A program of its own, run by path in an isolated Python; nothing of the project imports it and it
imports nothing of the project. bashlex (GPLv3+) is loaded here and nowhere else. An alarm ends it
if bashlex hangs.
"""

from __future__ import annotations

import contextlib
import json
import re
import resource
import signal
import sys
from collections.abc import Iterator
from typing import Any, TypeAlias

__all__ = ["find", "main"]

_Places: TypeAlias = list[tuple[int, int]]

ALARM_SECONDS = 15
MEMORY_BYTES = 1 << 29

_DESCRIPTOR = re.compile(r"[0-9]*-?")
_NO_TARGETS = frozenset({"<<", "<<-"})


def main() -> None:
    """Say that the parser is loaded, then answer one question."""
    signal.alarm(ALARM_SECONDS)
    import bashlex  # type: ignore[import-untyped]  # noqa: F401 - loading it takes the longest

    limit()
    sys.stdout.write("\n")
    sys.stdout.flush()
    texts = json.load(sys.stdin.buffer)
    json.dump([opinion(text) for text in texts], sys.stdout)


def limit() -> None:
    """Give up whatever parsing does not need."""
    limits = {resource.RLIMIT_AS: MEMORY_BYTES, resource.RLIMIT_CPU: ALARM_SECONDS}
    limits |= dict.fromkeys((resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC), 0)
    for kind, most in limits.items():
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))


def opinion(text: str) -> dict[str, Any]:
    """Return what bashlex finds in a text; where it fails, it has not read it."""
    try:
        commands, targets = find(text)
    except Exception:
        return {"is_read": False}
    return {"is_read": True, "commands": commands, "targets": targets}


def find(text: str) -> tuple[list[_Places], _Places]:
    """Return the places of each command's words, and of the targets of redirections.

    Raises:
        Exception: bashlex takes the text for an error, does not know a construct, or fails.
    """
    import bashlex

    nodes = list(_nodes(bashlex.parse(text)))
    commands = [places for is_command, places in nodes if is_command]
    return commands, [place for is_command, places in nodes if not is_command for place in places]


def _nodes(trees: list[Any]) -> Iterator[tuple[bool, _Places]]:
    """Yield the places of commands (true) and of the targets of redirections (false)."""
    waiting = list(trees)
    while waiting:
        node = waiting.pop()
        if node.kind == "command":
            words = [part.pos for part in node.parts if part.kind in {"word", "assignment"}]
            yield True, words
        elif node.kind == "redirect" and hasattr(node.output, "pos"):
            if node.type not in _NO_TARGETS and not _DESCRIPTOR.fullmatch(node.output.word):
                yield False, [node.output.pos]
            waiting.append(node.output)
        for name in ("parts", "list", "redirects"):
            waiting += getattr(node, name, ())
        if hasattr(node, "command"):
            waiting.append(node.command)


if __name__ == "__main__":
    main()
