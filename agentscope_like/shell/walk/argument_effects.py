"""Turns the meaning of a program's arguments into effects."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from functools import cache
from glob import escape as glob_escape
from importlib import import_module

from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.shell.analysis import Doubt, Effect, EffectKind
from agentscope_like.shell.arguments import ArgumentReading, Item
from agentscope_like.shell.catalog import RoleKind, programs_with
from agentscope_like.shell.draft import Draft, Pipe, WalkScope, shortened
from agentscope_like.shell.names import names_read
from agentscope_like.shell.state import (
    State,
    absolute,
    after_cd,
    exported_doubt,
    fixes,
    joined,
    own_doubt,
    walked,
)
from agentscope_like.shell.syntax import Span
from agentscope_like.shell.values import (
    NUMBER,
    SPOKEN_NAMES,
    Argument,
    Unknown,
    names_of,
    piece_of,
)
from agentscope_like.shell.walk.endless_files import endless_reads
from agentscope_like.shell.walk.purposes import plainly
from agentscope_like.shell.walk.walk_base import WalkBase

__all__ = ["KEEPING_NOTHING", "Actor", "path_effects"]

KEEPING_NOTHING = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
"""Devices to which writing is harmless: they keep nothing."""

# An enum's members are looked up once: finding one in its class is as slow as a call.
_READ, _CD, _RUN = EffectKind.READ, RoleKind.CD, RoleKind.RUN
_CONTENT = frozenset({RoleKind.READ, RoleKind.ARCHIVE})
_LOOKED_AT = _CONTENT | {RoleKind.LIST}
_KINDS = {
    RoleKind.WRITE: EffectKind.WRITE,
    RoleKind.STREAM: EffectKind.WRITE,
    RoleKind.DELETE: EffectKind.DELETE,
    RoleKind.MOVE: EffectKind.DELETE,
    RoleKind.LINK: EffectKind.WRITE,
    RoleKind.INTO: EffectKind.WRITE,
    RoleKind.DIRECTORY: EffectKind.READ,
    RoleKind.CD: EffectKind.READ,
}
_VERBS = {
    EffectKind.WRITE: "writes",
    EffectKind.DELETE: "removes",
    EffectKind.EXECUTE: "runs",
}
_PLAIN_READ = frozenset({"-r", "-s"})
_LANGUAGES = frozenset({RoleKind.SED, RoleKind.AWK, RoleKind.SQLITE})
_ASSIGNED = frozenset({RoleKind.ASSIGNMENT, RoleKind.LOCAL, RoleKind.VARIABLE})
_SOURCES = frozenset({RoleKind.READ, RoleKind.LIST, RoleKind.MOVE, RoleKind.LINK})
_LINE = rf"(?:[0-9{NUMBER}]+|\$)"
_LINES = rf"{_LINE}(?:,(?:{_LINE}|[+~][0-9{NUMBER}]+))?(?:[pdq=]|\{{[pdq=;]*\}})"
_RECORD = rf"F?NR ?(?:[<>=!]=|[<>]) ?[0-9{NUMBER}]+(?: ?[-+] ?[0-9{NUMBER}]+)*"
_SHOWING = r'\{ ?print(?: ?F?NR ?":? ?" ?\$0| \$0)?(?: ?; ?exit)? ?;? ?\}'
_PRINTING = {
    RoleKind.SED: re.compile(rf"\s*{_LINES}(?:;\s*{_LINES})*;?"),
    RoleKind.AWK: re.compile(rf"\s*{_RECORD}(?: ?(?:&&|\|\||,) ?{_RECORD})* ?(?:{_SHOWING})?\s*"),
}
_VARIABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(=(.*))?", re.DOTALL)


def prints_lines(language: RoleKind, numbered: str) -> bool:
    """Return whether a script only prints or drops lines, whatever its numbers are.

    Args:
        language: What reads the script.
        numbered: The script, with `NUMBER` for each number; empty where more is unknown of it.
    """
    pattern = _PRINTING.get(language)
    return pattern is not None and pattern.fullmatch(numbered) is not None


def path_effects(
    kind: EffectKind,
    argument: Argument,
    directories: Sequence[str],
    span: Span,
    source: str,
    *,
    recursive: bool = False,
) -> list[Effect]:
    """Return the effects of doing `kind` to the path `argument` in each possible directory.

    Args:
        kind: The kind of effect.
        argument: The path.
        directories: Where it may be done; empty where that is unknown.
        span: The argument's span in the command text.
        source: The argument as written.
        recursive: Whether it reaches everything below.
    """
    glob = False
    targets: tuple[str, ...]
    if isinstance(argument, str):
        if len(directories) == 1:  # as nearly always
            place = directories[0]
            way = walked(place, argument)
            path = absolute(place, argument)
            names = SPOKEN_NAMES
            return [Effect(kind, argument, path, span, recursive, walked=way, names=names)]
        targets = (argument,)
    elif argument.choices:
        targets = argument.choices
    elif argument.pattern is not None:
        targets, glob = (argument.pattern,), True
    else:
        unnamed = Effect(
            kind, source, None, span, recursive, end=argument.end, names=argument.names
        )
        return [replace(unnamed, start=start) for start in _starts(argument.prefix, directories)]
    effects: list[Effect] = []
    names = names_of(argument)
    for target in targets:
        shown = source if glob else target
        if not (directories or target.startswith("/")):
            end = f"/{target if glob else glob_escape(target)}" if target else ""
            effects.append(Effect(kind, shown, None, span, recursive, end=end, names=names))
            continue
        starts = (None,) if target.startswith("/") else directories
        effects += [
            Effect(
                kind,
                shown,
                absolute(place, target),
                span,
                recursive,
                glob,
                walked=walked(place, target),
                names=names,
            )
            for place in starts
        ]
    return effects


def _starts(prefix: str, directories: Sequence[str]) -> Sequence[str]:
    """Return what an absolute path may begin with if only its beginning is known.

    After a `~`, that is a user's home.
    """
    folder, slash, name = prefix.rpartition("/")
    if not prefix or prefix.startswith("~") or not (directories or prefix.startswith("/")):
        return ("",)
    places = ("/",) if prefix.startswith("/") else directories
    absolutes = (joined(place, folder or slash) if slash else place for place in places)
    return tuple(dict.fromkeys(f"{(each or '').rstrip('/')}/{name}" for each in absolutes))


@cache
def _script_check(language: RoleKind) -> Callable[[str], str | None]:
    """Return the checker of a script language; its module is loaded on first use."""
    module = import_module(f"agentscope_like.shell.arguments.{language.value}")
    check: Callable[[str], str | None] = getattr(module, f"check_{language.value}")
    return check


class Actor(Struct):
    """Adds the effects of one reading of arguments to a draft, and updates the state.

    Attributes:
        walk: The walk that the part is of.
        draft: The part.
        reading: What its arguments mean.
        state: The state before; afterwards, the state after.
        scope: The scope of the command.
    """

    walk: WalkBase
    draft: Draft
    reading: ArgumentReading
    state: State
    scope: WalkScope

    def act(self) -> None:
        """Add every effect and doubt of the reading, except those of commands that it runs."""
        problems, draft = self.reading.problems, self.draft
        plain = plainly(self.reading, (draft.program, *draft.argv[1:])) if problems else None
        for problem in problems:
            self._suspect(plain or problem.message, draft.span_of(problem.at))
        directories = self.state.directories
        for item in self.reading.items:
            kind = item.role.kind
            if kind in _LOOKED_AT:
                self._look(item, directories)
            elif kind in _KINDS:
                directories = self._path(item, directories)
            elif kind in _LANGUAGES:
                self._check_script(item)
            elif kind is _RUN:
                self._run(item)
            elif kind in _ASSIGNED:
                self._assign(item)
        depends = self.reading.grammar.local and not self.reading.is_about
        if depends and not directories:
            self._suspect(
                f"`{self.reading.label}` depends on the directory, which is only known at run time",
                self.draft.span,
            )
        self._change_directory()

    def _source(self, span: Span) -> str:
        return self.walk.command[span.start : span.end]

    def _suspect(self, message: str, span: Span) -> None:
        self.draft.doubt(message, span, kind=EffectKind.UNKNOWN)

    def _look(self, item: Item, directories: tuple[str, ...]) -> None:
        """Add the effect of a read, unless it takes its input instead."""
        if item.start == 0 and self.reading.unless_piped and isinstance(self.draft.source, Pipe):
            return
        argument, span = item.argument, self.draft.span_of(item.start)
        source = argument if isinstance(argument, str) else self._source(span)
        recursive = self.reading.recursive
        effects = path_effects(_READ, argument, directories, span, source, recursive=recursive)
        self.draft.add(effects)
        if item.role.kind in _CONTENT:
            self.draft.doubts += endless_reads(effects)

    def _path(self, item: Item, directories: tuple[str, ...]) -> tuple[str, ...]:
        """Add a change or a move, and return the directories that the next path is relative to."""
        role, argument = item.role.kind, item.argument
        if role is RoleKind.STREAM and argument in KEEPING_NOTHING:
            return directories
        kind, span = _KINDS[role], self.draft.span_of(item.start)
        source = argument if isinstance(argument, str) else self._source(span)
        is_report = role is RoleKind.WRITE and bool(item.flag)
        recursive = (self.reading.recursive and not is_report) or role is RoleKind.MOVE
        if role is RoleKind.LINK:
            self._look(item, directories)
        effects = path_effects(kind, argument, directories, span, source, recursive=recursive)
        self._write(effects, keeps_name=role is RoleKind.LINK)
        if kind is not _READ:
            self._harm(kind, source, item)
        if role is RoleKind.INTO:
            self._into(item, directories)
        elif role is RoleKind.DIRECTORY:
            return after_cd(directories, argument, self.walk.home, fold=joined)
        return directories

    def _into(self, item: Item, directories: tuple[str, ...]) -> None:
        """Add the writes that happen where the target is a directory: one below it per source."""
        target = item.argument
        span = self.draft.span_of(item.start)
        for source in self.reading.items:
            if source.flag or source.role.kind not in _SOURCES:
                continue
            name = source.argument
            below: Argument = Unknown()
            named_after: str | None = None
            if "--parents" in self.reading.used:
                if isinstance(target, str) and isinstance(name, str):
                    below = f"{target}/{name}"
            elif isinstance(target, str) and isinstance(name, str):
                below = f"{target}/{posixpath.basename(name.rstrip('/'))}"
            elif isinstance(target, str) and isinstance(name, Unknown) and len(directories) == 1:
                base = posixpath.basename((name.pattern or "").rstrip("/"))
                if base not in ("", ".", ".."):
                    folder = glob_escape(target)
                    below = Unknown(pattern=f"{folder}/{base}")
                    named_after = joined(directories[0], name.pattern or "")
            written = below if isinstance(below, str) else self._source(span)
            written_below = path_effects(
                EffectKind.WRITE, below, directories, span, written, recursive=True
            )
            if named_after is not None:
                written_below = [replace(each, named_after=named_after) for each in written_below]
            self._write(written_below)

    def _write(self, effects: Sequence[Effect], *, keeps_name: bool = False) -> None:
        """Add changes, which may keep what was there under the name of a backup.

        What is linked stays under its name.
        """
        backups: list[str] = []
        for item in self.reading.by_kind.get(RoleKind.SUFFIX, ()):
            given = item.argument
            backups += filter(None, (given,) if isinstance(given, str) else given.choices)
        if backups and not keeps_name:
            kept = tuple(backups)
            effects = [
                replace(each, backups=kept) if each.kind is EffectKind.WRITE else each
                for each in effects
            ]
        self.draft.add(effects)

    def _harm(self, kind: EffectKind, target: str, item: Item) -> None:
        """Add a doubt about an effect on an operand, which another command may have added."""
        span = self.draft.span_of(item.start)
        is_written = item.start < len(self.draft.words)
        what = f"`{shortened(target)}`" if is_written else "its arguments"
        self.draft.doubts.append(Doubt(f"`{self.reading.label}` {_VERBS[kind]} {what}", span))

    def _run(self, item: Item) -> None:
        span = self.draft.span_of(item.start)
        source = item.argument if isinstance(item.argument, str) else self._source(span)
        self.draft.effects.append(Effect(EffectKind.EXECUTE, source, None, span))
        self._harm(EffectKind.EXECUTE, source, item)

    def _check_script(self, item: Item) -> None:
        span = self.draft.span_of(item.start)
        if isinstance(item.argument, str):
            message = _script_check(item.role.kind)(item.argument)
        elif prints_lines(item.role.kind, item.argument.numbered):
            message = None
        else:
            message = f"the script of `{self.reading.label}` is only known at run time"
        if message:
            self._suspect(message, span)

    def _assign(self, item: Item) -> None:
        """Follow `export NAME=value`, `read NAME` and their kin."""
        role, argument = item.role.kind, item.argument
        value: Argument
        value = Unknown()
        reads = self.reading.grammar.name == "read" and self.reading.used <= _PLAIN_READ
        if role is RoleKind.VARIABLE and reads:
            value = piece_of(self.draft.known_input(self.scope))
        if role is RoleKind.VARIABLE and self.draft.program in programs_with("fills"):
            value = replace(value, names=names_read(self.draft))
        if isinstance(argument, str):
            text = argument
        else:
            text = argument.prefix if "=" in argument.prefix else ""
        found = _VARIABLE.fullmatch(text)
        if found is None or (role is RoleKind.VARIABLE and found[2]):
            self._suspect("this is not a plain variable name", self.draft.span_of(item.start))
            return
        name = found[1]
        if isinstance(argument, str) and found[2]:
            value = found[3]
        exported = role is RoleKind.ASSIGNMENT
        known = self.state.variables.get(name)
        if exported and not found[2] and known is not None:
            value = known
        message = exported_doubt(name, value) if exported else own_doubt(name, value)
        if found[2] and name in self.scope.arrays and _may_be_list(value):
            message = f"`{name}` may be an array, and bash runs code in its value"
        if message:
            self._suspect(message, self.draft.span_of(item.start))
        if role is not RoleKind.ASSIGNMENT or self.reading.grammar.builtin:
            self.state = self.state.assign(name, value)
            if fixes(self.reading.grammar.name, self.reading.used):
                self.state = self.state.fix({name})

    def _change_directory(self) -> None:
        for item in self.reading.items:
            if item.role.kind is _CD:
                target = item.argument
                if self.reading.grammar.name == "pushd":
                    self.state = self.state.push()
                moved = after_cd(self.state.directories, target, self.walk.home)
                is_physical = "-P" in self.reading.used
                self.state = self.state.move(() if is_physical else moved)
                return
        if self.reading.grammar.name == "popd":
            self.state = self.state.move(self.state.stack or ())
        elif self.reading.grammar.name == "cd":
            self.state = self.state.move(after_cd(self.state.directories, None, self.walk.home))


def _may_be_list(value: Argument) -> bool:
    """Return whether `declare` may parse a value as the elements of an array."""
    return not isinstance(value, str) or value.startswith("(")
