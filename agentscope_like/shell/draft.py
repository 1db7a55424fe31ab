"""Drafts of command parts under judgement, and the scope around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from agentscope_like.shell.analysis import Doubt, Effect, EffectKind, Part
from agentscope_like.shell.syntax import (
    Assignment,
    Command,
    Redirect,
    SimpleCommand,
    Span,
    Word,
)
from agentscope_like.shell.values import Argument, Names, Unknown, unknown_names

__all__ = [
    "MAX_DEPTH",
    "MAX_EFFECTS",
    "UNKNOWN_INPUT",
    "BudgetError",
    "Draft",
    "Pipe",
    "Source",
    "WalkScope",
    "shortened",
]

UNKNOWN_INPUT = unknown_names("the files that its input names")

MAX_DEPTH = 20
"""How deep wrappers and scripts in arguments may be nested."""

MAX_EFFECTS = 1000
"""Most effects of one part that are told apart; more, and the command line is not understood."""

_SHOWN = 60
_LOOKED_AT = 500


class BudgetError(Exception):
    """The command line is too large to analyse."""


def shortened(text: str) -> str:
    """Return `text` shortened to one line for a message."""
    line = " ".join(text[:_LOOKED_AT].split())
    is_all = len(line) <= _SHOWN and len(text) <= _LOOKED_AT
    return line if is_all else f"{line[: _SHOWN - 3]}..."


class Pipe(Struct, eq=False, gc=False):
    """Where commands print to: a pipe, a substitution, or wherever a function is called.

    Attributes:
        printers: The parts that print there, and the process substitutions.
    """

    printers: list[Draft | Pipe] = field(default_factory=list)


Source: TypeAlias = Pipe | Names
"""What a standard input comes from, or what is known of the names in it."""


class WalkScope(Struct, frozen=True, gc=False):
    """The surroundings of a command in the tree walk.

    Attributes:
        parent: Index of the part that runs the commands here, or None at the top.
        redirects: Redirections of the compound commands around.
        place: The place of everything here in the command text, when it was read from the text of
            a word (`sh -c '...'`); None where the tree's own spans are those of the command text.
        defined: Names that are functions somewhere in this script.
        arrays: Names that are arrays somewhere in this script.
        moves: Whether this script has a `cd` anywhere.
        depth: How many wrappers and scripts deep this is.
        fed: What is known of the standard input, unless it is redirected.
        source: What the standard input comes from.
        output: What the standard output goes to.
        bounded: Whether a time limit ends the commands here; not background commands.
        posix: Whether a plain `sh` runs the commands here.
        in_function: Whether this is the body of a function.
    """

    parent: int | None = None
    redirects: tuple[Redirect, ...] = ()
    place: Span | None = None
    defined: frozenset[str] = frozenset()
    arrays: frozenset[str] = frozenset()
    moves: bool = False
    depth: int = 0
    fed: Argument = Unknown()
    source: Source = UNKNOWN_INPUT
    output: Pipe = field(default_factory=Pipe)
    bounded: bool = False
    posix: bool = False
    in_function: bool = False

    def span(self, span: Span) -> Span:
        """Return the place of `span` in the command text."""
        return self.place or span

    def inside(self, parent: int | None) -> WalkScope:
        """Return the scope of the commands that the part `parent` carries."""
        return replace(self, parent=parent, redirects=())


class Draft(Struct, gc=False):
    """A part under judgement.

    `arguments` is `argv` with what is known of computed words; `is_one_of_several` means that other
    programs may run instead; `place` and `source` are as in `WalkScope`; `body` is what a called
    function prints to, if that is known.
    """

    argv: tuple[str | None, ...]
    words: tuple[Word, ...]
    span: Span
    index: int | None
    directory: str | None
    directories: tuple[str, ...] = ()
    parent: int | None = None
    program: str | None = None
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    effects: list[Effect] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    arguments: Sequence[Argument] = ()
    is_one_of_several: bool = False
    place: Span | None = None
    source: Source = UNKNOWN_INPUT
    body: Pipe | None = None

    def span_of(self, index: int) -> Span:
        """Return the place of the argument of an index in the command text."""
        if self.place is not None:
            return self.place
        return self.words[index].span if index < len(self.words) else self.span

    def doubt(self, message: str, span: Span, *, kind: EffectKind | None = None) -> None:
        """Note why this is not proven; with `kind`, also the effect that is suspected."""
        self.doubts.append(Doubt(message, span))
        if kind is not None:
            self.effects.append(Effect(kind, "", None, span))

    def add(self, effects: Iterable[Effect]) -> None:
        """Add effects.

        Raises:
            BudgetError: There are more than 1,000.
        """
        self.effects += effects
        if len(self.effects) > MAX_EFFECTS:
            raise BudgetError

    def proves(self, command: Command, scope: WalkScope) -> bool:
        """Return whether this is the part of a simple command whose program does what it says."""
        return (
            isinstance(command, SimpleCommand)
            and bool(command.words)
            and self.words is command.words
            and not (self.doubts or self.is_one_of_several)
            and self.argv[0] not in scope.defined
        )

    def known_input(self, scope: WalkScope) -> Argument:
        """Return what is known of the standard input."""
        redirected = any(each.operator.startswith("<") or each.fd == 0 for each in self.redirects)
        return Unknown() if redirected else scope.fed

    def finish(self) -> Part:
        """Return the part."""
        return Part(
            argv=self.argv,
            words=self.words,
            program=self.program,
            assignments=self.assignments,
            redirects=self.redirects,
            span=self.span,
            directory=self.directory,
            directories=self.directories,
            parent=self.parent,
            effects=tuple(self.effects),
            doubts=tuple(self.doubts),
            computed=self._computed() if None in self.argv else (),
        )

    def _computed(self) -> tuple[Unknown, ...]:
        return tuple(each for each in self.arguments if isinstance(each, Unknown))
