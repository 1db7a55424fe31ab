"""The syntax tree of a command line, as immutable records."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TypeAlias

from msgspec import Struct, field

from agentscope_like.lazy_property import lazy_property

__all__ = [
    "Arithmetic",
    "ArithmeticCommand",
    "ArithmeticFor",
    "Assignment",
    "Case",
    "CaseArm",
    "Command",
    "Doubt",
    "For",
    "Function",
    "Glob",
    "Group",
    "Heredoc",
    "If",
    "Literal",
    "Loop",
    "Pipeline",
    "Redirect",
    "Script",
    "Segment",
    "SimpleCommand",
    "Span",
    "Statement",
    "Substitution",
    "Test",
    "Tilde",
    "Variable",
    "Word",
    "nodes",
]


class Span(Struct, frozen=True, order=True, gc=False):
    """A half-open range of character offsets in the command text; unpacks into the two."""

    start: int
    end: int

    def __iter__(self) -> Iterator[int]:
        yield self.start
        yield self.end

    def holds(self, other: Span) -> bool:
        """Return whether all of another range lies within this one."""
        return self.start <= other.start and other.end <= self.end


class Literal(Struct, frozen=True, gc=False):
    """Literal characters, with quotes and escapes removed."""

    text: str
    span: Span
    quoted: bool = False


class Variable(Struct, frozen=True, gc=False):
    """A parameter expansion: `$name`, `${name}`, or `${name OPERATOR argument}`.

    `name` may also be a special parameter (`?`, `#`, `1`, `@`). `operator` is None for a plain
    expansion, else one of `:-`, `-`, `:=`, `=`, `:?`, `?`, `:+`, `+`, `#`, `##`, `%`, `%%`, `/`,
    `//`, `^`, `^^`, `,`, `,,`, `@` and a letter but for P (which runs what it finds), `length`
    (`${#name}`), `indirect` (`${!name}`) and `:` (a substring by literal numbers).
    `:=` and `=` assign to the variable.
    """

    name: str
    span: Span
    quoted: bool = False
    operator: str | None = None
    argument: Word | None = None


class Substitution(Struct, frozen=True, gc=False):
    """Output of a script: `$(...)`, backticks, or a process substitution `<(...)`, `>(...)`."""

    script: Script
    span: Span
    opener: str
    quoted: bool = False


class Arithmetic(Struct, frozen=True, gc=False):
    """`$((...))`, or what `((...))` holds, over literals, simple names and substitutions.

    `names` are the variables it reads, `assigned` those that it sets to a number.
    """

    text: str
    span: Span
    names: tuple[str, ...] = ()
    quoted: bool = False
    assigned: tuple[str, ...] = ()
    substitutions: tuple[Substitution, ...] = ()


class Glob(Struct, frozen=True, gc=False):
    """An unquoted pattern character run: `*`, `?` or a bracket expression.

    A bracket expression that holds quotes or variables is marked at its `[` alone.
    """

    text: str
    span: Span


class Tilde(Struct, frozen=True, gc=False):
    """A leading `~` or `~user` that bash replaces by a home directory."""

    user: str
    span: Span


Segment: TypeAlias = Literal | Variable | Substitution | Arithmetic | Glob | Tilde


class Word(Struct, frozen=True, gc=False):
    """One word after quote removal and brace expansion, before the expansions of run time.

    A quoted literal without text is the empty string; the reader never makes a word with no segment
    at all. With an unquoted variable, substitution or glob, a word may become several arguments or
    none.
    """

    segments: tuple[Segment, ...]
    span: Span

    @property
    def literal(self) -> str | None:
        """Return the exact argument the program receives, or None where bash computes any of it."""
        if len(self.segments) == 1:
            only = self.segments[0]
            return only.text if isinstance(only, Literal) else None
        parts: list[str] = []
        for segment in self.segments:
            if not isinstance(segment, Literal):
                return None
            parts.append(segment.text)
        return "".join(parts)


class Assignment(Struct, frozen=True, gc=False):
    """`name=value` or `name+=value` before a command or on its own.

    `elements` are the words of `name=(...)`, which stands on its own; None for a plain value.
    """

    name: str
    value: Word
    span: Span
    append: bool = False
    elements: tuple[Word, ...] | None = None


class Heredoc(Struct, frozen=True, gc=False):
    """The body of `<<END`; `body` is a single literal when the delimiter was quoted."""

    body: Word
    quoted: bool


class Redirect(Struct, frozen=True, gc=False):
    """`[fd]OPERATOR target`; `fd` is None where the operator's default applies.

    Operators: `<`, `>`, `>>`, `>|`, `<>`, `>&`, `<&`, `&>`, `&>>`, `<<`, `<<-`, `<<<`. The target
    of `>&` and `<&` always is a literal descriptor or `-`; `>&file` is read as `&>`.
    """

    operator: str
    target: Word | Heredoc
    span: Span
    fd: int | None = None

    @property
    def word(self) -> Word:
        """Return the word that it names, or the text of its here-document."""
        return self.target.body if isinstance(self.target, Heredoc) else self.target

    @property
    def feeds(self) -> bool:
        """Return whether it replaces the standard input."""
        return self.fd in {None, 0} and self.operator.startswith("<")


class SimpleCommand(Struct, frozen=True, gc=False):
    """Assignments, words and redirections; `words` is empty for a bare one of the others."""

    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]
    span: Span


class Pipeline(Struct, frozen=True, gc=False):
    """`a | b |& c`, optionally negated by `!` or timed by `time`.

    `|&` is read as `|` and `2>&1` after the redirections of the command before it.
    """

    commands: tuple[Command, ...]
    span: Span
    negated: bool = False
    timed: bool = False


class Group(Struct, frozen=True, gc=False):
    """`{ ...; }`, or `( ... )` where `subshell` is true."""

    body: Script
    subshell: bool
    redirects: tuple[Redirect, ...]
    span: Span


class For(Struct, frozen=True, gc=False):
    """`for name in words; do body; done`; `words` is None for the positional parameters."""

    name: str
    words: tuple[Word, ...] | None
    body: Script
    redirects: tuple[Redirect, ...]
    span: Span


class Loop(Struct, frozen=True, gc=False):
    """`while condition; do body; done`, or `until` where `until` is true."""

    condition: Script
    body: Script
    until: bool
    redirects: tuple[Redirect, ...]
    span: Span


class If(Struct, frozen=True, gc=False):
    """`if`/`elif` branches as (condition, body) pairs, and the `else` body or None."""

    branches: tuple[tuple[Script, Script], ...]
    otherwise: Script | None
    redirects: tuple[Redirect, ...]
    span: Span


class CaseArm(Struct, frozen=True, gc=False):
    """One `pattern | pattern) body` of a `case`.

    Attributes:
        patterns: The patterns.
        body: What runs where one of them matches.
        falls: Whether later arms may run after it (`;&`, `;;&`).
    """

    patterns: tuple[Word, ...]
    body: Script
    falls: bool = False


class Case(Struct, frozen=True, gc=False):
    """`case subject in arms esac`."""

    subject: Word
    arms: tuple[CaseArm, ...]
    redirects: tuple[Redirect, ...]
    span: Span


class Test(Struct, frozen=True, gc=False):
    """`[[ ... ]]` as its words and operators in order; operators are plain literals."""

    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]
    span: Span


class ArithmeticCommand(Struct, frozen=True, gc=False):
    """`((...))`."""

    expression: Arithmetic
    redirects: tuple[Redirect, ...]
    span: Span


class ArithmeticFor(Struct, frozen=True, gc=False):
    """`for ((start; test; step)); do body; done`; an empty `start` or `step` is None."""

    start: Arithmetic | None
    test: Arithmetic
    step: Arithmetic | None
    body: Script
    redirects: tuple[Redirect, ...]
    span: Span


class Function(Struct, frozen=True, gc=False):
    """`name() body`."""

    name: str
    body: Command
    span: Span


Command: TypeAlias = (
    SimpleCommand
    | Pipeline
    | Group
    | For
    | ArithmeticFor
    | Loop
    | If
    | Case
    | Test
    | ArithmeticCommand
    | Function
)

_Connector: TypeAlias = str
"""What follows a statement: `&&`, `||`, `;`, `&`, a newline, or the empty string at the end."""


class Statement(Struct, frozen=True, gc=False):
    """A command and the connector that follows it."""

    command: Command
    connector: _Connector


class Script(Struct, frozen=True, dict=True):
    """Statements in the order in which bash reads them."""

    statements: tuple[Statement, ...]
    span: Span
    comments: tuple[Span, ...] = field(default=())

    @lazy_property
    def nodes(self) -> tuple[Struct, ...]:
        """All nodes below it, in the order of the text."""
        return tuple(nodes(self.statements))


_NO_NODES = frozenset({"str", "str | None", "bool", "int | None", "Span", "Connector"})
"""How fields are annotated that hold no nodes."""


def nodes(tree: object) -> Iterator[Struct]:
    """Yield a node of a tree and all that is below it, in the order of the text."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if type(node) is tuple:
            pending += node[::-1]
        elif isinstance(node, Struct):
            yield node
            for name in _fields_below(type(node)):
                pending.append(getattr(node, name))


@cache
def _fields_below(kind: type[Struct]) -> tuple[str, ...]:
    """Return the fields of a kind of node that may hold nodes, the last first."""
    fields = reversed(kind.__struct_fields__)
    return tuple(name for name in fields if kind.__annotations__.get(name) not in _NO_NODES)


class Doubt(Struct, frozen=True, gc=False):
    """Why a part is not proven to be read-only: a sentence for a person, and its span."""

    message: str
    span: Span
