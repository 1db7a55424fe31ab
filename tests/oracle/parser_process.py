"""Parses texts with bashlex or with tree-sitter-bash, in a process that can be killed.

`python -m tests.oracle.parser_process NAME` answers one JSON text a line with one JSON opinion a
line, until its input ends.
"""

from __future__ import annotations

import json
import re
import selectors
import subprocess
import sys
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

__all__ = ["Opinion", "Outcome", "ParserProcess", "main"]

Places: TypeAlias = list[tuple[int, int]]

ANSWER_SECONDS = 2.0
START_SECONDS = 30.0

_ROOT = Path(__file__).parents[2]
_DESCRIPTOR = re.compile(r"[0-9]*-?")
_REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_COMMANDS = frozenset({"command", "declaration_command", "unset_command"})
_ASSIGNMENTS = frozenset({"variable_assignment", "variable_assignments"})


class Outcome(StrEnum):
    """What became of a text in one parser."""

    READ = "read"
    UNSUPPORTED = "unsupported"
    """It says that it does not know some construct."""
    SYNTAX = "syntax"
    """It takes the text for an error."""
    FAILED = "failed"
    SILENT = "silent"
    """It hangs."""


class Opinion(msgspec.Struct, frozen=True):
    """What one parser found.

    Attributes:
        outcome: What became of the text.
        commands: For each simple command the places of its assignments and words, in characters.
        targets: The places of what redirections name.
    """

    outcome: Outcome
    commands: tuple[tuple[tuple[int, int], ...], ...] = ()
    targets: tuple[tuple[int, int], ...] = ()


class ParserProcess:
    """Asks one parser; where it hangs, its process is killed and the next question starts another.

    Args:
        name: `bashlex` or `tree-sitter-bash`.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, text: str) -> Opinion:
        """Return what the parser finds in a text."""
        process = self._running()
        if process.stdin is None:
            raise OSError("the process has no input")
        process.stdin.write(json.dumps(text).encode() + b"\n")
        process.stdin.flush()
        answer = self._line(process, ANSWER_SECONDS)
        if answer is None:
            self.close()
            return Opinion(Outcome.SILENT)
        return msgspec.json.decode(answer, type=Opinion)

    def close(self) -> None:
        """Kill the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            command = [sys.executable, "-m", __name__, self._name]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_ROOT
            )
            if self._line(self._process, START_SECONDS) is None:
                raise OSError(f"{self._name} does not start")
        return self._process

    @staticmethod
    def _line(process: subprocess.Popen[bytes], seconds: float) -> bytes | None:
        """Return the next line, or None where none comes in time."""
        if process.stdout is None:
            raise OSError("the process has no output")
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            return process.stdout.readline() if selector.select(seconds) else None


def main() -> None:
    """Answer questions until there are no more."""
    parse = {"bashlex": _bashlex, "tree-sitter-bash": _tree_sitter}[sys.argv[1]]()
    sys.stdout.write("\n")
    sys.stdout.flush()
    for line in sys.stdin:
        try:
            opinion = parse(json.loads(line))
        except Exception:
            opinion = Opinion(Outcome.FAILED)
        sys.stdout.write(msgspec.json.encode(opinion).decode() + "\n")
        sys.stdout.flush()


def _bashlex() -> Callable[[str], Opinion]:
    from bashlex.errors import ParsingError  # type: ignore[import-untyped]

    from agentscope_like.tool.builtin.second_reader.program import find

    def parse(text: str) -> Opinion:
        try:
            commands, targets = find(text)
        except NotImplementedError:
            return Opinion(Outcome.UNSUPPORTED)
        except ParsingError:
            return Opinion(Outcome.SYNTAX)
        return Opinion(Outcome.READ, tuple(map(tuple, commands)), tuple(targets))

    return parse


def _tree_sitter() -> Callable[[str], Opinion]:
    import tree_sitter
    import tree_sitter_bash

    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))

    def parse(text: str) -> Opinion:
        root = parser.parse(text.encode()).root_node
        if root.has_error:
            return Opinion(Outcome.SYNTAX)
        places = _character_places(text)
        nodes = [
            (is_command, tuple((places[start], places[end]) for start, end in spans))
            for is_command, spans in _tree_sitter_nodes(root)
        ]
        commands = tuple(spans for is_command, spans in nodes if is_command)
        targets = tuple(span for is_command, spans in nodes if not is_command for span in spans)
        return Opinion(Outcome.READ, commands, targets)

    return parse


def _tree_sitter_nodes(root: Any) -> Iterator[tuple[bool, Places]]:
    """Yield the places, in bytes, of commands (true) and of targets of redirections (false)."""
    waiting = [(root, "")]
    while waiting:
        node, inside = waiting.pop()
        kind, children = node.type, node.children
        if kind in _COMMANDS:
            yield True, [_span(child) for child in children if child.type not in _REDIRECTS]
        elif kind == "test_command":
            if children[0].type == "[":
                yield True, [_span(node)]
        elif kind in _ASSIGNMENTS and inside not in _COMMANDS | _ASSIGNMENTS:
            yield True, list(map(_span, children if kind == "variable_assignments" else [node]))
        elif kind in {"file_redirect", "herestring_redirect"}:
            targets = [child for child in children if child.is_named]
            targets = [child for child in targets if child.type != "file_descriptor"]
            yield False, [_span(each) for each in targets if not _is_descriptor(each)]
        waiting += [(child, kind) for child in children]


def _is_descriptor(node: Any) -> bool:
    before = node.prev_sibling
    duplicates = before is not None and before.type in {">&", "<&"}
    return duplicates and _DESCRIPTOR.fullmatch(node.text.decode()) is not None


def _span(node: Any) -> tuple[int, int]:
    return node.start_byte, node.end_byte


def _character_places(text: str) -> dict[int, int]:
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
