"""The grammar of one program: its arguments and their meaning.

A grammar lists what is *known*. An option or operand that is not listed is unknown, whatever it
does. `catalog/README.md` describes each field as the catalog writes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from agentscope_like.lazy_property import lazy_property
from agentscope_like.shell.values import Unknown
from agentscope_like.toml_tables import Expression, WordSet

__all__ = [
    "REST",
    "AsWritten",
    "Flag",
    "Grammar",
    "Operand",
    "Role",
    "RoleKind",
    "When",
]


class RoleKind(StrEnum):
    """What an argument means to its program."""

    TEXT = "text"
    """Any text: a pattern, a format, a name in a database."""
    NUMBER = "number"
    """Digits, with at most a sign, a point and a unit."""
    NAME = "name"
    """A text that the expression after the colon matches, or one computed that is no option."""
    MATCHING = "matching"
    """A text that the expression after the colon matches."""
    SUFFIX = "suffix"
    """What is added to the name of a file that is written, to keep what was in it."""
    ONE_OF = "one of"
    """One of the words after the colon."""
    LIST = "list"
    """A path whose name or metadata is read."""
    READ = "read"
    """A path whose content is read."""
    ARCHIVE = "archive"
    """A path whose content is read; a colon before its first slash ends the name of a host."""
    WRITE = "write"
    """A path that is created or changed."""
    STREAM = "stream"
    """A path that output is written to; `/dev/null`, `/dev/stdout` and `/dev/stderr` keep none."""
    DELETE = "delete"
    """A path that is removed."""
    MOVE = "move"
    """A path that is read here and removed once written elsewhere."""
    LINK = "link"
    """A path that gets another name, by which it is read and written from then on."""
    INTO = "into"
    """A file to write, or a directory to write the other operands into."""
    RUN = "run"
    """A program that is executed."""
    DIRECTORY = "directory"
    """A directory that the program changes to before it reads its other arguments."""
    CD = "cd"
    """The directory that the shell itself changes to."""
    COMMAND = "command"
    """A command: this argument and all that follow."""
    CLAUSE = "clause"
    """A command that ends at `;` or `+`."""
    SCRIPT = "script"
    """A text for the shell to run; what follows are its parameters."""
    ASSIGNMENT = "assignment"
    """`NAME=value` in front of a wrapped command, or a bare `NAME` of `export` and its kin."""
    LOCAL = "local"
    """`NAME` or `NAME=value`, for the shell alone."""
    VARIABLE = "variable"
    """The name of a variable that gets an unknown value."""
    PLACEHOLDER = "placeholder"
    """The text that a wrapper replaces in its command by what it reads."""
    TEMPLATE = "template"
    """A Go template, which ends as soon as its data does."""
    SED = "sed"
    """A script of sed."""
    AWK = "awk"
    """A program of awk."""
    SQLITE = "sqlite"
    """A statement or dot-command of sqlite3."""


REST = frozenset({RoleKind.COMMAND, RoleKind.SCRIPT})
"""What an operand means that takes all the others with it."""


class Role(Struct, frozen=True):
    """The meaning of one argument, which must fully match `pattern`."""

    kind: RoleKind
    pattern: re.Pattern[str] | None = None


class Operand(Struct, frozen=True):
    """One operand; `many` takes any number, `optional` none or one."""

    role: Role
    many: bool = False
    optional: bool = False


class Flag(Struct, frozen=True):
    """An option; `role` is what its value means.

    `joined` tells that `=` has to join the value, `named` that a name comes before it, `many` that
    it may be no number, or several.
    """

    role: Role | None = None
    joined: bool = False
    named: bool = False
    many: bool = False


class When(Struct, frozen=True):
    """What changes if one of `flags` is given.

    `needs` are options of which one must be given as well, `without` those of which none may;
    `sources` is the role of operands that would be read or linked, if it changes; `default` is the
    operand that is taken where none is given.
    """

    flags: frozenset[str]
    operands: tuple[Operand, ...] | None = None
    recursive: bool = False
    sources: Role | None = None
    needs: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    doubt: str = ""
    default: str = ""
    output: Unknown | None = None


class AsWritten(Struct, frozen=True):
    """What a grammar has as the catalog writes it; `catalog/README.md` explains each key."""

    source: str = ""
    default: str = ""
    unless_piped: bool = False
    widens: WordSet | None = None
    about: WordSet = WordSet()
    helps: WordSet = WordSet()
    needs: WordSet = WordSet()
    needs_first: bool = False
    harmless: bool = False
    options_first: bool = False
    optionless: bool = False
    number: bool = False
    recursive: bool = False
    local: bool = False
    output_flags: WordSet = WordSet()
    output_operands: int = 0
    output_selected: bool = False
    output_needs: WordSet = WordSet()
    verbatim: WordSet = WordSet()
    feed: str = ""
    doubt: str = ""
    refuses: Expression | None = None
    output_format: Expression | None = None
    modules: Mapping[str, Expression] = {}
    builtin: bool = False
    whole_options: bool = False
    endless: WordSet = WordSet()
    bounds: WordSet | None = None


class Grammar(AsWritten, frozen=True, dict=True, kw_only=True):
    """The grammar of one program or sub-command."""

    name: str
    flags: Mapping[str, Flag] = field(default_factory=dict)
    complete: tuple[str, ...] | None = None
    operands: tuple[Operand, ...] = ()
    paths: Operand | None = None
    whens: tuple[When, ...] = ()
    subs: Mapping[str, Grammar] = field(default_factory=dict)
    bare: bool = True
    single_dash: bool = False
    bundled: bool = False
    output: Unknown = Unknown()
    output_values: tuple[tuple[Expression, Unknown], ...] = ()
    pairs: Mapping[str, Role] = field(default_factory=dict)

    @lazy_property
    def tells_only_help(self) -> bool:
        """Whether only its options for help and version are known."""
        known = (self.flags, self.operands, self.subs, self.whens, self.needs, self.doubt)
        return not (self.bare or any(known))

    @lazy_property
    def changing_flags(self) -> frozenset[str]:
        """The options that change what others mean."""
        return frozenset().union(*(when.flags for when in self.whens))
