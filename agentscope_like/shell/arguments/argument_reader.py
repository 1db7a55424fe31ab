"""Reads the arguments of a program by its grammar.

The result gives the meaning of each argument, and what was not understood. No program is named
here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import field
from msgspec.structs import replace

from agentscope_like.shell.arguments.argument_roles import ArgumentReading, Item, fits
from agentscope_like.shell.arguments.option_reader import OptionReader
from agentscope_like.shell.catalog import REST, Grammar, Operand, Role, RoleKind, When, lookup
from agentscope_like.shell.draft import shortened
from agentscope_like.shell.values import Argument, Unknown
from agentscope_like.toml_tables import Expression

__all__ = ["read_arguments"]

_CHANGING = frozenset(
    {RoleKind.WRITE, RoleKind.STREAM, RoleKind.DELETE, RoleKind.MOVE, RoleKind.INTO}
)
_READING = frozenset({RoleKind.READ, RoleKind.LIST})
_LANGUAGES = frozenset({RoleKind.SED, RoleKind.AWK, RoleKind.SQLITE})
_SOURCES = frozenset({RoleKind.READ, RoleKind.LINK})
_MODULE = "-m"
_HELP = frozenset({"--help", "-help", "-h"})
_FOLDER = re.compile(r"(?!.*\.\.)\w[^*?\[\\]*", re.DOTALL)
"""A path that limits git to a part of the directory that it runs in."""


def read_arguments(
    grammar: Grammar, arguments: Sequence[Argument], start: int = 1
) -> ArgumentReading:
    """Read `arguments` from index `start` on by `grammar`, descending into sub-commands."""
    if grammar.modules and (module := _read_module(grammar, arguments, start)):
        return module
    reading = ArgumentReading(grammar, grammar.name)
    _LevelReader(grammar, arguments, reading).read(start)
    if grammar.refuses is not None:
        _refuse(grammar.refuses, reading)
    return reading


def _read_module(
    grammar: Grammar, arguments: Sequence[Argument], start: int
) -> ArgumentReading | None:
    """Read `python -m pip list` as `pip list`; None unless it is known to be harmless."""
    texts = [each for each in arguments[start:] if isinstance(each, str)]
    if texts[:1] != [_MODULE] or len(texts) < len(arguments) - start:
        return None
    name = " ".join(texts[1:2])
    inner, known = lookup(name), grammar.modules.get(name)
    if inner is None or known is None or known.fullmatch(" ".join(texts[2:])) is None:
        return None
    reading = read_arguments(inner, arguments, start + 2)
    return None if reading.problems else reading


class _LevelReader(OptionReader, gc=False):
    """Reads one level: the options and operands of one program or sub-command."""

    operands: list[int] = field(default_factory=list)
    spread: int | None = None
    early: frozenset[str] = frozenset()

    def read(self, index: int) -> None:
        """Read from `index` to the end."""
        grammar, arguments = self.grammar, self.arguments
        if arguments[-1] in grammar.about and self._asks_about(index):
            self.reading.is_about = True
            return
        is_idle = bool(grammar.feed) and index >= len(arguments)
        if grammar.doubt and not is_idle:
            self.reading.problem(f"`{self.reading.label}` {grammar.doubt}", index - 1)
        if grammar.bundled and index < len(arguments):
            index = self.bundle(index)
        if grammar.optionless:
            self.operands.extend(range(index, len(arguments)))
            index = len(arguments)
        while index < len(arguments):
            argument = arguments[index]
            plain = isinstance(argument, str) and argument[:1] != "-" and not grammar.single_dash
            if not plain and (after := self._read_option(index)) is not None:
                index = after
                continue
            if grammar.subs and not self.operands and self._descend(index):
                return
            if not self.operands:
                self.early = frozenset(self.reading.used)
            self.operands.append(index)
            index += 1
            if grammar.options_first:
                if _is_optional(argument) and index < len(arguments):
                    self.reading.problem("this argument may be none at all", index - 1)
                self.operands.extend(range(index, len(arguments)))
                break
        self._finish()

    def _read_option(self, index: int) -> int | None:
        """Read the option at `index`, and return the next index; None for an operand."""
        grammar, argument = self.grammar, self.arguments[index]
        if not isinstance(argument, str):
            if argument.option and not (self._is_harmless(argument) or self._is_path(argument)):
                return self._computed(argument, index)
            return None
        if argument == "--" and not grammar.single_dash:
            if grammar.subs:
                self.reading.problem("a `--` before a sub-command is not understood", index)
            behind = range(index + 1, len(self.arguments))
            if grammar.paths is None:
                self.operands.extend(behind)
            else:
                for each in behind:
                    self._operand(grammar.paths, each)
            return len(self.arguments)
        if len(argument) > 1 and argument[0] == "-":
            return self.option(argument, index)
        if grammar.single_dash and argument in grammar.flags:
            return index + 1
        return None

    def _is_harmless(self, argument: Unknown) -> bool:
        """Return whether a computed argument is harmless even if it is an option."""
        option, equals, _ = argument.prefix.partition("=")
        is_checked = bool(equals) and any(
            flag.role is not None and flag.role.pattern is not None and name.startswith(option)
            for name, flag in self.grammar.flags.items()
        )
        return self.grammar.harmless and not is_checked

    def _is_path(self, argument: Unknown) -> bool:
        """Return whether a computed argument cannot be an option, because of how it ends."""
        is_whole = argument.single or argument.pattern is not None
        return self.grammar.whole_options and is_whole and argument.end.endswith("/")

    def _computed(self, argument: Unknown, index: int) -> int:
        """Read an argument that bash computes, and that may be an option."""
        if not self.computed_option(argument, index):
            self.reading.problem("this computed argument may be an option, or several", index)
            self.operands.append(index)
        return index + 1

    def _asks_about(self, index: int) -> bool:
        """Return whether the only argument is one that prints help or a version.

        After a sub-command only help counts: `npm run version` runs a script.
        """
        match self.arguments[index:]:
            case [about]:
                return about in self.grammar.about
            case [str(sub), about] if sub in self.grammar.helps:
                return about in self.grammar.about and (sub.startswith("-") or about in _HELP)
        return False

    def _descend(self, index: int) -> bool:
        argument = self.arguments[index]
        name = argument if isinstance(argument, str) else "<computed>"
        sub = self.grammar.subs.get(name)
        if sub is None:
            if self.grammar.operands:
                return False
            shown = f"`{self.reading.label} {shortened(name)}`"
            self.reading.problem(f"{shown} is not a sub-command known to be harmless", index)
            return True
        self.reading.grammar = sub
        self.reading.label += f" {name}"
        _LevelReader(sub, self.arguments, self.reading).read(index + 1)
        return True

    def _finish(self) -> None:
        grammar, reading = self.grammar, self.reading
        sure = [each for each in self.operands if not _is_optional(self.arguments[each])]
        if not (sure or grammar.bare or grammar.operands):
            reading.problem(f"`{reading.label}` alone is not known to be harmless", 0)
        in_time = self.early if grammar.needs_first and self.operands else reading.used
        if grammar.needs and grammar.needs.isdisjoint(in_time):
            wanted = " or ".join(f"`{flag}`" for flag in sorted(grammar.needs))
            reading.problem(f"`{reading.label}` without {wanted} may do more than read", 0)
        reading.recursive = grammar.recursive
        places, default, moved_late = grammar.operands, grammar.default, False
        reading.unless_piped = grammar.unless_piped
        sources: Role | None = None
        for when in self._given():
            self._heed(when)
            reading.recursive |= when.recursive
            sources = when.sources or sources
            if when.default:
                default, reading.unless_piped = when.default, False
            if when.operands is not None:
                places = when.operands
                moved_late = moved_late or when.flags.isdisjoint(self.early)
        first = len(reading.items)
        self.spread = self._spread(places)
        is_default_alone = bool(default) and len({place.role for place in places}) == 1
        if self.operands or not is_default_alone:
            self._assign(places)
        if default:
            self._take(default, (grammar.paths or places[-1]).role)
        if self.operands and _changes_nothing(places, reading.items[first:]):
            reading.problem(f"`{reading.label}` names nothing here that it would change", 0)
        if moved_late:
            self._read_as_script()
        if sources is not None:
            reading.items[first:] = [_in_role(sources, item) for item in reading.items[first:]]

    def _take(self, default: str, role: Role) -> None:
        """Add the operand that the program takes itself, unless one of its role is given."""
        items = self.reading.items
        given = (item.argument for item in items if item.role == role and not item.flag)
        if all(map(_may_be_no_operand, given)):
            items.append(Item(role, default, 0, 1))

    def _given(self) -> list[When]:
        """Return the changes that the given options make."""
        used = self.reading.used
        return [when for when in self.grammar.whens if not when.flags.isdisjoint(used)]

    def _heed(self, when: When) -> None:
        """Note the objections to a given option."""
        reading = self.reading
        option = f"`{reading.label} {min(when.flags & reading.used)}`"
        if when.needs and when.needs.isdisjoint(reading.used):
            wanted = " or ".join(f"`{other}`" for other in sorted(when.needs))
            reading.problem(f"{option} needs {wanted} beside it", 0)
        if both := when.without & reading.used:
            reading.problem(f"{option} beside `{min(both)}` may mean more", 0)
        if when.doubt:
            reading.problem(f"{option} {when.doubt}", 0)

    def _read_as_script(self) -> None:
        """Also read the first operand as a script, for programs whose options end at an operand.

        BSD and POSIX programs read `sed SCRIPT -e p` so; GNU sed takes `SCRIPT` for a file.
        """
        places = self.grammar.operands
        if self.operands and places and places[0].role.kind in _LANGUAGES:
            self._operand(places[0], self.operands[0])

    def _spread(self, places: tuple[Operand, ...]) -> int | None:
        """Return the index of a glob that is one file to read, followed by names of its members."""
        if len(self.operands) != len(places) - 1:
            return None
        kinds = [(place.role.kind, place.many) for place in places[-2:]]
        if kinds != [(RoleKind.READ, False), (RoleKind.TEXT, True)]:
            return None
        last = self.arguments[self.operands[-1]]
        is_glob = isinstance(last, Unknown) and last.pattern is not None
        return self.operands[-1] if is_glob else None

    def _assign(self, places: tuple[Operand, ...]) -> None:
        """Assign a meaning to each operand: fixed ones first and last, the repeated one between."""
        operands, arguments = self.operands, self.arguments
        count = len(operands)
        required = sum([not (place.many or place.optional) for place in places])
        if count < required:
            runs_input = places[0].role.kind is RoleKind.RUN
            lack = "runs whatever it is given as input" if runs_input else "lacks an operand"
            self.reading.problem(f"`{self.reading.label}` {lack}", 0)
        spare = max(0, count - required)
        position = 0
        for place in places:
            if position >= count:
                break
            if place.role.kind in REST:
                index = operands[position]
                self.value(place.role, arguments[index], index, len(arguments), "")
                return
            take = 1
            if place.role.kind is RoleKind.ASSIGNMENT and places[-1].role.kind is RoleKind.COMMAND:
                take = self._assignments(operands[position:])
                spare -= take
            elif place.many or place.optional:
                take = spare if place.many else min(1, spare)
                spare -= take
            for index in operands[position : position + take]:
                self._operand(place, index)
                if not place.many:
                    self._spill(places, place, index)
            position += take
        if position < count:
            self._refuse_more(operands[position:])

    def _refuse_more(self, operands: Sequence[int]) -> None:
        """Note the operands that the grammar does not have."""
        for index in operands:
            argument = self.arguments[index]
            shown = f"`{shortened(argument)}`" if isinstance(argument, str) else "this argument"
            self.reading.problem(
                f"`{self.reading.label}` with {shown} is not known to be harmless", index
            )

    def _spill(self, places: tuple[Operand, ...], place: Operand, index: int) -> None:
        """Also read an operand as the later ones if it may expand to several, as in `grep $x`."""
        argument = self.arguments[index]
        if isinstance(argument, str) or argument.single or index == self.spread:
            return
        for other in places[places.index(place) + 1 :]:
            if other.role.kind in _READING:
                self.reading.items.append(Item(other.role, argument, index, index + 1))

    def _assignments(self, operands: Sequence[int]) -> int:
        """Return how many of the next operands are `NAME=value` in front of a command."""
        count = 0
        for index in operands:
            argument = self.arguments[index]
            text = argument if isinstance(argument, str) else argument.prefix
            if "=" not in text:
                break
            count += 1
        return count

    def _operand(self, place: Operand, index: int) -> None:
        argument = self.arguments[index]
        if self.grammar.widens is not None and place.role.kind in _READING:
            argument = self._limit(argument, self.grammar.widens)
        if isinstance(argument, str):
            role, value = self._pair(argument) if self.grammar.pairs else None, argument
            if role is None:
                role = place.role
            else:
                value = argument.partition("=")[2]
            if not fits(role, value):
                shown = f"`{shortened(argument)}` is not an operand of `{self.reading.label}`"
                self.reading.problem(f"{shown} known to be harmless", index)
            self.reading.items.append(Item(role, value, index, index + 1))
            return
        if not (self.grammar.harmless or place.many or argument.single or index == self.spread):
            self.reading.problem("this may become several operands", index)
        elif not place.many and self.may_be_missed(place.role, argument, self._behind(index)):
            self.reading.problem("this argument may be none at all", index)
        is_fine = place.many or _begins_well(place.role, argument)
        harmless = self.grammar.harmless and is_fine
        if not harmless and not fits(place.role, argument):
            self.reading.problem(
                f"a computed operand of `{self.reading.label}` is not known to be harmless", index
            )
        self.reading.items.append(Item(place.role, argument, index, index + 1))

    def _behind(self, index: int) -> Sequence[Argument]:
        """Return the operands behind one."""
        return [self.arguments[each] for each in self.operands if each > index]

    def _limit(self, argument: Argument, widens: frozenset[str]) -> Argument:
        """Return the path to which git is limited; that of its directory where it is not."""
        is_folder = isinstance(argument, str) and _FOLDER.fullmatch(argument)
        limits = is_folder and widens.isdisjoint(self.reading.used)
        return argument if limits else self.grammar.default

    def _pair(self, argument: str) -> Role | None:
        name, equals, _ = argument.partition("=")
        return self.grammar.pairs.get(name) if equals else None


def _is_optional(argument: Argument) -> bool:
    """Return whether a word may be no argument at all."""
    return isinstance(argument, Unknown) and argument.optional


def _may_be_no_operand(argument: Argument) -> bool:
    """Return whether an operand may have been taken for an option, or be no argument at all."""
    if isinstance(argument, str):
        return argument.startswith("-")
    known = argument.prefix or argument.pattern
    return known.startswith("-") if known else argument.optional or not argument.single


def _begins_well(role: Role, value: Unknown) -> bool:
    """Return whether the known beginning of a computed argument is one that `role` accepts."""
    if role.pattern is None:
        return True
    return bool(value.prefix.strip()) and role.pattern.fullmatch(value.prefix) is not None


def _refuse(refused: Expression, reading: ArgumentReading) -> None:
    """Note each argument that a program may not treat as a plain name or text."""
    for item in reading.items:
        if any(map(refused.match, _beginnings(item.argument))):
            reading.problem(
                f"`{reading.label}` may take this for more than a file's name", item.start
            )


def _beginnings(argument: Argument) -> Sequence[str]:
    """Return the beginnings that an argument may have, as far as known."""
    if isinstance(argument, str):
        return (argument,)
    known = argument.prefix or argument.pattern or ""
    if argument.option and not (known or argument.choices):
        return ("@",)  # any text
    if known.startswith(("*", "?", "[")):
        return ("@",)  # whatever a file may be called
    return argument.choices or (known,)


def _changes_nothing(places: Sequence[Operand], items: Sequence[Item]) -> bool:
    """Return whether the program needs an operand to change something and has none."""
    for place in places:
        if place.role.kind in _CHANGING and not place.optional:
            return not any(item.role.kind in _CHANGING for item in items)
    return False


def _in_role(role: Role, item: Item) -> Item:
    """Return the operand in another role, if it is a source."""
    return replace(item, role=role) if item.role.kind in _SOURCES else item
