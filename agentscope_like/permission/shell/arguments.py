"""Reads the arguments of a program by its grammar.

The result says what each argument means and what could not be understood. Nothing here knows a
program: `getopt_long`'s clusters, `--flag=value`, abbreviations and `--` are the whole of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from agentscope_like.permission.shell.grammar import Flag, Grammar, Operand, Role, RoleKind
from agentscope_like.permission.shell.values import Argument, Shape, Unknown

__all__ = ["Item", "Problem", "Reading", "read_arguments"]

_DIGITS = re.compile(r"-[0-9]+")
_REST = frozenset({RoleKind.COMMAND, RoleKind.SCRIPT})
_ANY_TEXT = frozenset(
    {RoleKind.TEXT, RoleKind.LIST, RoleKind.READ, RoleKind.WRITE, RoleKind.DELETE}
    | {RoleKind.MOVE, RoleKind.INTO, RoleKind.HOST, RoleKind.RUN, RoleKind.DIRECTORY, RoleKind.CD}
)


class Item(NamedTuple):
    """One argument and what it means; `start` is its place, `end` that of what follows it.

    `flag` is the option that it is the value of, empty for an operand.
    """

    role: Role
    argument: Argument
    start: int
    end: int
    flag: str = ""


class Problem(NamedTuple):
    """Something that is not understood, and the place of the argument."""

    message: str
    at: int


@dataclass(slots=True)
class Reading:
    """What the arguments mean.

    Attributes:
        grammar: The grammar of the innermost sub-command.
        label: The words that name the program and sub-command, for messages.
        items: Option values and operands in order.
        problems: What is not understood.
        used: The options that were given, at all levels.
        recursive: Whether its writes and deletions reach everything below a path.
    """

    grammar: Grammar
    label: str
    items: list[Item] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    recursive: bool = False

    def problem(self, message: str, index: int) -> None:
        """Note that the argument at `index` is not understood."""
        self.problems.append(Problem(message, index))


def read_arguments(grammar: Grammar, arguments: Sequence[Argument], start: int = 1) -> Reading:
    """Read `arguments` from index `start` on by `grammar`, descending into sub-commands."""
    first = arguments[0]
    label = first.rpartition("/")[2] if isinstance(first, str) else grammar.name
    reading = Reading(grammar, label)
    _Reader(grammar, arguments, reading).read(start)
    return reading


class _Reader:
    """Reads one level: the options and operands of one program or sub-command."""

    __slots__ = ("arguments", "grammar", "operands", "reading")

    def __init__(self, grammar: Grammar, arguments: Sequence[Argument], reading: Reading) -> None:
        self.grammar = grammar
        self.arguments = arguments
        self.reading = reading
        self.operands: list[int] = []

    def read(self, index: int) -> None:
        """Read from `index` to the end."""
        grammar, arguments = self.grammar, self.arguments
        if self._asks_about(index):
            return
        if grammar.doubt:
            self.reading.problem(f"`{self.reading.label}` {grammar.doubt}", index - 1)
        if grammar.bundled and index < len(arguments):
            index = self._bundle(index)
        count = len(arguments)
        if grammar.optionless:
            self.operands.extend(range(index, count))
            index = count
        while index < count:
            argument = arguments[index]
            if isinstance(argument, str):
                if argument == "--" and not grammar.single_dash:
                    if grammar.subs:
                        self.reading.problem("a `--` before a sub-command is not understood", index)
                    self.operands.extend(range(index + 1, count))
                    break
                if len(argument) > 1 and argument[0] == "-":
                    index = self._option(argument, index)
                    continue
                if grammar.single_dash and argument in grammar.flags:
                    self.reading.used.add(argument)
                    index += 1
                    continue
            elif argument.option and not grammar.harmless:
                index = self._computed_option(argument, index)
                continue
            if grammar.subs and not self.operands and self._descend(index):
                return
            self.operands.append(index)
            index += 1
            if grammar.options_first or self._starts_rest():
                self.operands.extend(range(index, count))
                break
        self._finish()

    def _asks_about(self, index: int) -> bool:
        """Return whether the only argument is one that prints help or a version."""
        grammar, rest = self.grammar, self.arguments[index:]
        if len(rest) == 2 and rest[0] in grammar.helps:
            rest = rest[1:]
        return len(rest) == 1 and rest[0] in grammar.about

    def _starts_rest(self) -> bool:
        """Return whether the operand just found is where a wrapped command starts."""
        places = self._places()
        last = len(self.operands) - 1
        return last < len(places) and places[last].role.kind in _REST

    def _descend(self, index: int) -> bool:
        name = self.arguments[index]
        sub = self.grammar.subs.get(name) if isinstance(name, str) else None
        if sub is None:
            if self.grammar.operands:
                return False
            shown = f" {name}" if isinstance(name, str) else " <computed>"
            self.reading.problem(
                f"`{self.reading.label}{shown}` is not a sub-command known to be harmless", index
            )
            return True
        self.reading.grammar = sub
        self.reading.label += f" {name}"
        _Reader(sub, self.arguments, self.reading).read(index + 1)
        return True

    def _bundle(self, index: int) -> int:
        """Read the first argument as options without a dash, as tar does."""
        first = self.arguments[index]
        if not isinstance(first, str) or first.startswith("-") or not first:
            return index
        return self._cluster(f"-{first}", index, old=True)

    def _option(self, text: str, index: int) -> int:
        grammar = self.grammar
        if grammar.single_dash:
            return self._long(text, index)
        if text.startswith("--"):
            return self._long(text, index)
        if grammar.number and _DIGITS.fullmatch(text):
            return index + 1
        return self._cluster(text, index)

    def _long(self, text: str, index: int) -> int:
        written, equals, value = text.partition("=")
        name = self._complete(written)
        flag = self.grammar.flags.get(name)
        if flag is None:
            self._unknown(written, index)
            return index + 1
        self.reading.used.add(name)
        if equals:
            if flag.role is None:
                self.reading.problem(f"`{self.reading.label} {written}` takes no value", index)
            else:
                self._value(flag.role, value, index, index + 1, name)
            return index + 1
        if flag.role is None or flag.joined:
            return index + 1
        return self._next_value(flag.role, name, index)

    def _complete(self, written: str) -> str:
        """Return the long option that `written` is, or abbreviates without any doubt."""
        grammar = self.grammar
        if written in grammar.flags:
            return written
        if grammar.single_dash:
            single = written[1:] if written.startswith("--") else written
            return single if single in grammar.flags else written
        if grammar.complete is not None and len(written) > 2:
            found = [name for name in grammar.complete if name.startswith(written)]
            if len(found) == 1:
                return found[0]
        return written

    def _cluster(self, text: str, index: int, *, old: bool = False) -> int:
        flags = self.grammar.flags
        for place in range(1, len(text)):
            name = f"-{text[place]}"
            flag = flags.get(name)
            if flag is None:
                self._unknown(name if len(text) <= 3 else f"{name}` in `{text}", index)
                return index + 1
            self.reading.used.add(name)
            if flag.role is None:
                continue
            rest = text[place + 1 :]
            if old and rest:
                self.reading.problem(f"the options `{text[1:]}` are too tangled to read", index)
                return index + 1
            if rest or flag.joined:
                if rest:
                    self._value(flag.role, rest, index, index + 1, name)
                return index + 1
            return self._next_value(flag.role, name, index)
        return index + 1

    def _next_value(self, role: Role, name: str, index: int) -> int:
        arguments = self.arguments
        if role.kind is RoleKind.CLAUSE:
            return self._clause(role, name, index)
        if role.kind is RoleKind.COMMAND:
            self._value(role, "", index + 1, len(arguments), name)
            return len(arguments)
        if index + 1 >= len(arguments):
            return index + 1
        value = arguments[index + 1]
        if isinstance(value, Unknown) and not value.single and not self.grammar.harmless:
            self.reading.problem(
                f"the value of `{name}` may be none or several arguments", index + 1
            )
        if isinstance(value, str) and self._may_be_option(value):
            self.reading.problem(f"`{value}` may be an option, or the value of `{name}`", index + 1)
        self._value(role, value, index + 1, index + 2, name)
        return index + 2

    def _may_be_option(self, value: str) -> bool:
        """Return whether a value that stands by itself looks like an option."""
        grammar = self.grammar
        if len(value) < 2 or value[0] != "-" or grammar.harmless or grammar.single_dash:
            return False
        return not _DIGITS.fullmatch(value)

    def _clause(self, role: Role, name: str, index: int) -> int:
        """Read the command of `find -exec`, which ends at `;` or at `{} +`."""
        arguments = self.arguments
        for end in range(index + 1, len(arguments)):
            argument = arguments[end]
            if argument == ";" or (argument == "+" and arguments[end - 1] == "{}"):
                self._value(role, "", index + 1, end, name)
                return end + 1
            if isinstance(argument, Unknown) and not argument.single:
                self.reading.problem(f"the end of `{name}` cannot be told", end)
                return len(arguments)
        if self.grammar.feed == "fd":
            self._value(role, "", index + 1, len(arguments), name)
        else:
            self.reading.problem(f"`{name}` has no end", index)
        return len(arguments)

    def _computed_option(self, argument: Unknown, index: int) -> int:
        """Read an argument that bash computes and that may be an option."""
        name, equals, _ = argument.prefix.partition("=")
        flag = self.grammar.flags.get(name) if name.startswith("--") and equals else None
        short = None
        if flag is None and len(argument.prefix) >= 2 and argument.prefix[1] != "-":
            name = argument.prefix[:2]
            short = self.grammar.flags.get(name)
        known = flag or short
        if known and known.role and argument.single:
            value = Unknown(shape=Shape.ANY)
            self.reading.used.add(name)
            if short is None or len(argument.prefix) == 2 or known.role.kind in _ANY_TEXT:
                self._value(known.role, value, index, index + 1, name)
                return index + 1
        self.reading.problem("this computed argument may be an option, or several", index)
        self.operands.append(index)
        return index + 1

    def _value(self, role: Role, value: Argument, index: int, end: int, flag: str) -> None:
        if not _fits(role, value):
            shown = f"`{value}`" if isinstance(value, str) else "a computed text"
            self.reading.problem(
                f"{shown} is not a value of `{self.reading.label} {flag}` known to be harmless",
                index,
            )
        self.reading.items.append(Item(role, value, index, end, flag))

    def _unknown(self, name: str, index: int) -> None:
        self.reading.problem(
            f"`{self.reading.label} {name}` is not a flag known to be harmless", index
        )

    def _places(self) -> tuple[Operand, ...]:
        places = self.grammar.operands
        for when in self.grammar.whens:
            if when.operands is not None and not when.flags.isdisjoint(self.reading.used):
                places = when.operands
        return places

    def _finish(self) -> None:
        grammar, reading = self.grammar, self.reading
        if not (self.operands or grammar.bare or grammar.operands):
            reading.problem(f"`{reading.label}` alone is not known to be harmless", 0)
        if grammar.needs and grammar.needs.isdisjoint(reading.used):
            wanted = " or ".join(f"`{flag}`" for flag in sorted(grammar.needs))
            reading.problem(f"`{reading.label}` without {wanted} may do more than read", 0)
        reading.recursive = reading.recursive or grammar.recursive
        for when in grammar.whens:
            if when.flags.isdisjoint(reading.used):
                continue
            reading.recursive = reading.recursive or when.recursive
            if when.doubt:
                flag = next(iter(when.flags & reading.used))
                reading.problem(f"`{reading.label} {flag}` {when.doubt}", 0)
        self._assign(self._places())

    def _assign(self, places: tuple[Operand, ...]) -> None:
        """Give each operand its place: the fixed ones first and last, the repeated one between."""
        operands, arguments = self.operands, self.arguments
        if not places and not operands:
            return
        count = len(operands)
        required = sum(not place.many and not place.optional for place in places)
        if count < required:
            self.reading.problem(f"`{self.reading.label}` lacks an operand", 0)
        spare = max(0, count - required)
        position = 0
        for place in places:
            if position >= count:
                break
            if place.role.kind in _REST:
                index = operands[position]
                self._value(place.role, arguments[index], index, len(arguments), "")
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
            position += take
        for index in operands[position:]:
            argument = arguments[index]
            shown = f" `{argument}`" if isinstance(argument, str) else ""
            self.reading.problem(
                f"`{self.reading.label}` has an operand{shown} beyond those known to be harmless",
                index,
            )

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
        if isinstance(argument, str):
            role = self._pair(argument) or place.role
            value = argument.partition("=")[2] if role is not place.role else argument
            if not _fits(role, value):
                self.reading.problem(
                    f"`{argument}` is not an operand of `{self.reading.label}` known to be "
                    "harmless",
                    index,
                )
            self.reading.items.append(Item(role, value, index, index + 1))
            return
        if not (self.grammar.harmless or (place.many or argument.single)):
            self.reading.problem("this may become several operands", index)
        if not self.grammar.harmless and not _fits(place.role, argument):
            self.reading.problem(
                f"a computed operand of `{self.reading.label}` is not known to be harmless", index
            )
        self.reading.items.append(Item(place.role, argument, index, index + 1))

    def _pair(self, argument: str) -> Role | None:
        if not self.grammar.pairs:
            return None
        name, equals, _ = argument.partition("=")
        return self.grammar.pairs.get(name) if equals else None


def _fits(role: Role, value: Argument) -> bool:
    """Return whether `value` is one that `role` allows."""
    if role.pattern is not None:
        if isinstance(value, str):
            return role.pattern.fullmatch(value) is not None
        if value.choices:
            return all(role.pattern.fullmatch(choice) for choice in value.choices)
        return role.kind is RoleKind.NUMBER and value.shape is Shape.INTEGER
    return True
