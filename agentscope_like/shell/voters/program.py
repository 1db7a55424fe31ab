"""The process of the other parsers: one JSON question a line in, one JSON answer a line out.

A program of its own, run by path in an isolated Python; nothing of the project imports it and it
imports nothing of the project. bashlex (GPLv3+) is loaded here and nowhere else.

It ends when its input ends, and a parser that hangs ends it too, whether or not anybody still
waits: each question has an alarm of its own.
"""

from __future__ import annotations

import contextlib
import json
import re
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

__all__ = ["main"]

_Places: TypeAlias = list[tuple[int, int]]
_Opinion: TypeAlias = dict[str, Any]
_Parser: TypeAlias = Callable[[str], _Opinion]

MAXIMUM_QUESTION = 1 << 18
ALARM_SECONDS = 2.0
PROCESSOR_SECONDS = 2
MEMORY_BYTES = 1 << 29

_DESCRIPTOR = re.compile(r"[0-9]*-?")
_REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_COMMANDS = frozenset({"command", "declaration_command", "unset_command"})
_ASSIGNMENTS = frozenset({"variable_assignment", "variable_assignments"})
_NO_TARGETS = frozenset({"<<", "<<-"})


def main() -> None:
    """Answer questions until there are no more."""
    parsers = {"bashlex": bashlex_parser(), "tree_sitter": tree_sitter_parser()}
    limit()
    write({"ready": True})
    while question := sys.stdin.buffer.readline(MAXIMUM_QUESTION):
        number, text = json.loads(question)
        lower(resource.RLIMIT_CPU, int(time.process_time()) + PROCESSOR_SECONDS)
        signal.setitimer(signal.ITIMER_REAL, ALARM_SECONDS)
        answer = {name: opinion(parser, text) for name, parser in parsers.items()}
        signal.setitimer(signal.ITIMER_REAL, 0)
        write({"number": number, **answer})


def limit() -> None:
    """Give up whatever parsing does not need."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    lower(resource.RLIMIT_AS, MEMORY_BYTES)
    for kind in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC):
        lower(kind, 0)


def lower(kind: int, most: int) -> None:
    """Set a limit on this process, as far as the system lets it."""
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))


def write(message: dict[str, Any]) -> None:
    """Write one line."""
    sys.stdout.buffer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
    sys.stdout.buffer.flush()


def opinion(parser: _Parser | None, text: str) -> _Opinion:
    """Return what one parser found in a text."""
    if parser is None:
        return {"outcome": "absent"}
    try:
        return parser(text)
    except Exception:
        return {"outcome": "failed"}


def bashlex_parser() -> _Parser | None:
    """Return bashlex, or None where it is not installed."""
    try:
        import bashlex  # type: ignore[import-untyped]
        from bashlex.errors import ParsingError  # type: ignore[import-untyped]
    except ImportError:
        return None

    def parse(text: str) -> _Opinion:
        try:
            trees = bashlex.parse(text)
        except NotImplementedError:
            return {"outcome": "unsupported"}
        except ParsingError:
            return {"outcome": "syntax"}
        return read(list(bashlex_nodes(trees)))

    return parse


def read(nodes: list[tuple[bool, _Places]]) -> _Opinion:
    """Return the opinion that a text holds these commands and targets of redirections."""
    return {
        "outcome": "read",
        "commands": [places for is_command, places in nodes if is_command],
        "targets": [place for is_command, places in nodes if not is_command for place in places],
    }


def bashlex_nodes(nodes: list[Any]) -> Iterator[tuple[bool, _Places]]:
    """Yield the places of commands (true) and of the targets of redirections (false)."""
    waiting = list(nodes)
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


def tree_sitter_parser() -> _Parser | None:
    """Return tree-sitter-bash, or None where it is not installed."""
    try:
        import tree_sitter
        import tree_sitter_bash
    except ImportError:
        return None
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))

    def parse(text: str) -> _Opinion:
        source = text.encode()
        root = parser.parse(source).root_node
        if root.has_error:
            return {"outcome": "syntax"}
        nodes = list(tree_sitter_nodes(root))
        if len(source) != len(text):
            places = character_places(text)
            nodes = [(kind, [(places[a], places[b]) for a, b in spans]) for kind, spans in nodes]
        return read(nodes)

    return parse


def tree_sitter_nodes(root: Any) -> Iterator[tuple[bool, _Places]]:
    """Yield the places, in bytes, of commands (true) and of targets of redirections (false)."""
    waiting = [(root, "")]
    while waiting:
        node, inside = waiting.pop()
        kind, children = node.type, node.children
        if kind in _COMMANDS:
            yield True, [span(child) for child in children if child.type not in _REDIRECTS]
        elif kind == "test_command":
            if children[0].type == "[":
                yield True, [span(node)]
        elif kind in _ASSIGNMENTS and inside not in _COMMANDS | _ASSIGNMENTS:
            yield True, list(map(span, children if kind == "variable_assignments" else [node]))
        elif kind in {"file_redirect", "herestring_redirect"}:
            targets = [child for child in children if child.is_named]
            targets = [child for child in targets if child.type != "file_descriptor"]
            yield False, [span(each) for each in targets if not _is_descriptor(each)]
        waiting += [(child, kind) for child in children]


def _is_descriptor(node: Any) -> bool:
    before = node.prev_sibling
    duplicates = before is not None and before.type in {">&", "<&"}
    return duplicates and _DESCRIPTOR.fullmatch(node.text.decode()) is not None


def span(node: Any) -> tuple[int, int]:
    """Return a node's place."""
    return node.start_byte, node.end_byte


def character_places(text: str) -> dict[int, int]:
    """Return which character stands at which byte."""
    places: dict[int, int] = {}
    byte = 0
    for place, character in enumerate(text):
        places[byte] = place
        byte += len(character.encode())
    places[byte] = len(text)
    return places


if __name__ == "__main__":
    main()
