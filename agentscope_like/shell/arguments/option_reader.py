"""Reads the options of a program by its grammar, like `getopt_long`.

It reads clusters of short options, `--flag=value`, unambiguous abbreviations of long options, and
values in the next argument. A separate value that looks like an option is not understood: whether
the program takes it for one depends on its version.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from agentscope_like.shell.arguments.argument_roles import ArgumentReading, Item, fits
from agentscope_like.shell.catalog import Grammar, Role, RoleKind
from agentscope_like.shell.draft import shortened
from agentscope_like.shell.values import Argument, Shape, Unknown

__all__ = ["OptionReader"]

_DIGITS = re.compile(r"-[0-9]+")
_SHORT = 2
"""Length of a short option with its dash."""


class OptionReader(Struct, gc=False):
    """Reads options at one level: of a program or of a sub-command."""

    grammar: Grammar
    arguments: Sequence[Argument]
    reading: ArgumentReading

    def option(self, text: str, index: int) -> int:
        """Read the option `text` at `index`, and return the next index."""
        grammar = self.grammar
        if grammar.single_dash or text.startswith("--"):
            return self._long(text, index)
        if grammar.number and _DIGITS.fullmatch(text):
            return index + 1
        return self._cluster(text, index)

    def bundle(self, index: int) -> int:
        """Read the first argument as options without a dash, as tar does."""
        first = self.arguments[index]
        if not isinstance(first, str) or first.startswith("-"):
            return index
        return self._cluster(f"-{first}", index, old=True)

    def computed_option(self, argument: Unknown, index: int) -> bool:
        """Read an option whose value bash computes (`--name=$x`, `-x$y`); False for others."""
        if self.grammar.single_dash:
            return False
        prefix = argument.prefix
        name, equals, _ = prefix.partition("=")
        exact = bool(equals) and name.startswith("--")
        if not exact:
            name, exact = prefix[:_SHORT], len(prefix) == _SHORT
        flag = self.grammar.flags.get(name)
        if flag is None or flag.role is None or not argument.single:
            return False
        if not exact and flag.role.pattern is not None:
            return False
        self.reading.used.add(name)
        self.value(flag.role, Unknown(names=argument.names), index, index + 1, name)
        return True

    def value(self, role: Role, value: Argument, index: int, end: int, flag: str) -> None:
        """Add the value of `flag`, or the command that an empty `flag` carries, to the reading."""
        if not fits(role, value):
            shown = f"`{shortened(value)}`" if isinstance(value, str) else "a computed text"
            self.reading.problem(
                f"{shown} is not a value of `{self.reading.label} {flag}` known to be harmless",
                index,
            )
        self.reading.items.append(Item(role, value, index, end, flag))

    def _long(self, text: str, index: int) -> int:
        written, equals, value = text.partition("=")
        name = text if text in self.grammar.flags else self._complete(written)
        flag = self.grammar.flags.get(name)
        if flag is None:
            self._unknown(shortened(written), index)
            return index + 1
        self.reading.used.add(name)
        if equals and name != text:
            if flag.role is None:
                self.reading.problem(
                    f"`{self.reading.label} {shortened(written)}` takes no value", index
                )
            else:
                self.value(flag.role, value, index, index + 1, name)
            return index + 1
        if flag.role is None or flag.joined:
            return index + 1
        return self._next_value(flag.role, name, index + flag.named)

    def _complete(self, written: str) -> str:
        """Return the long option that `written` is, or abbreviates unambiguously."""
        grammar = self.grammar
        if written in grammar.flags:
            return written
        if grammar.single_dash:
            single = written[1:] if written.startswith("--") else written
            return single if single in grammar.flags else written
        found = [name for name in grammar.complete or () if name.startswith(written)]
        return found[0] if len(found) == 1 else written

    def _cluster(self, text: str, index: int, *, old: bool = False) -> int:
        flags = self.grammar.flags
        for place in range(1, len(text)):
            name = f"-{text[place]}"
            flag = flags.get(name)
            if flag is None:
                self._unknown(
                    name if len(text) <= _SHORT + 1 else f"{name}` in `{shortened(text)}", index
                )
                return index + 1
            self.reading.used.add(name)
            if flag.role is None:
                continue
            rest = text[place + 1 :]
            if old and rest:
                self.reading.problem(f"the options `{text[1:]}` are too tangled to read", index)
                return index + 1
            if rest:
                self.value(flag.role, rest, index, index + 1, name)
            elif not flag.joined:
                return self._next_value(flag.role, name, index)
            break
        return index + 1

    def _next_value(self, role: Role, name: str, index: int) -> int:
        arguments = self.arguments
        if role.kind is RoleKind.CLAUSE:
            return self._clause(role, name, index)
        if index + 1 >= len(arguments):
            return index + 1
        value = arguments[index + 1]
        if self._is_first_match(role, value, index + 1):
            self.value(role, value, index + 1, index + 2, name)
            return index + 1
        if isinstance(value, Unknown) and (
            self._may_spill(value, name) or self.may_be_missed(role, value, arguments[index + 2 :])
        ):
            self.reading.problem(
                f"the value of `{name}` may be none or several arguments", index + 1
            )
        if (
            isinstance(value, str)
            and name not in self.grammar.verbatim
            and self._may_be_option(value)
        ):
            self.reading.problem(
                f"`{shortened(value)}` may be an option, or the value of `{name}`",
                index + 1,
            )
        self.value(role, value, index + 1, index + 2, name)
        return index + 2

    def _may_spill(self, value: Unknown, name: str) -> bool:
        """Return whether a value may expand to several arguments that could be read differently."""
        if value.single or self.grammar.harmless:
            return False
        return not (self.grammar.flags[name].many and value.shape is Shape.INTEGER)

    def may_be_missed(self, role: Role, value: Unknown, following: Sequence[Argument]) -> bool:
        """Return whether a value may be no argument at all, so that the next one is read for it.

        What is no number fails in the place of one.
        """
        if not (value.optional and following):
            return False
        is_fit = fits(role, following[0])
        is_error = role.kind is RoleKind.NUMBER and isinstance(following[0], str) and not is_fit
        is_free = all(place.role.pattern is None for place in self.grammar.operands)
        return not (is_error or (is_fit and is_free and self.grammar.harmless))

    def _is_first_match(self, role: Role, value: Argument, index: int) -> bool:
        """Return whether a value is the first match of a glob; the others are operands.

        Only at the end of the command: elsewhere the next argument is the value if nothing matches.
        """
        is_glob = isinstance(value, Unknown) and not value.option and value.pattern is not None
        is_last = index == len(self.arguments) - 1
        return role.kind is RoleKind.ARCHIVE and is_glob and is_last

    def _may_be_option(self, value: str) -> bool:
        """Return whether a separate value looks like an option."""
        grammar = self.grammar
        if len(value) < _SHORT or value[0] != "-" or grammar.harmless or grammar.single_dash:
            return False
        return not _DIGITS.fullmatch(value)

    def _clause(self, role: Role, name: str, index: int) -> int:
        """Read the command of `find -exec`, which ends at `;` or at `{} +`."""
        arguments = self.arguments
        for end in range(index + 1, len(arguments)):
            argument = arguments[end]
            if argument == ";" or (argument == "+" and arguments[end - 1] == "{}"):
                self.value(role, "", index + 1, end, name)
                return end + 1
            if isinstance(argument, Unknown) and not argument.single:
                self.reading.problem(f"the end of `{name}` cannot be told", end)
                return len(arguments)
        if self.grammar.feed == "fd":
            self.value(role, "", index + 1, len(arguments), name)
        else:
            self.reading.problem(f"`{name}` has no end", index)
        return len(arguments)

    def _unknown(self, name: str, index: int) -> None:
        self.reading.problem(
            f"`{self.reading.label} {name}` is not a flag known to be harmless", index
        )
