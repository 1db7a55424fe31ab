"""What is known of the names of files that words and variables become."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from agentscope_like.shell.names.known_names import (
    NO_NAMES,
    SPOKEN_NAMES,
    VARIABLE,
    Names,
    any_of,
    put_together,
    unknown_names,
)
from agentscope_like.shell.names.name_cutting import reads_oddly
from agentscope_like.shell.names.name_flow import ReadBy, Value
from agentscope_like.shell.names.printed_names import PrintedNames
from agentscope_like.shell.names.word_pieces import cut_at_name, is_computed, texts
from agentscope_like.shell.syntax import (
    Arithmetic,
    Function,
    Glob,
    Segment,
    SimpleCommand,
    Substitution,
    Variable,
    Word,
)

__all__ = ["WordNames"]

_PIPES = frozenset({"<(", ">("})
_NUMBERS = frozenset("#?$!") | {"RANDOM", "LINENO", "SECONDS", "UID", "EUID", "PPID", "BASHPID"}
_DEFAULTS = frozenset({":-", "-", ":=", "="})
_ALTERNATIVES = frozenset({":+", "+"})
_PLAIN = _DEFAULTS | {None, ":?", "?"}
_PIECES_OF_PATHS = frozenset({("##", "*/"), ("%", "/*"), ("#", "./")})


class WordNames(PrintedNames):
    """Follows names through the words and variables of one command line."""

    __slots__ = ()

    def _word(self, word: Word) -> Names:
        """Return what is known of the name that a word becomes."""
        before, last = cut_at_name(word)
        if len(last) == 1 and is_computed(last[0]):
            return self._behind(before, self._segment(last[0]))
        names = any_of([*map(self._segment, filter(is_computed, (*before, *last))), NO_NAMES])
        is_told = names.unknown and not names.unknown.startswith(VARIABLE)
        ends_so = not last or (not is_computed(last[-1]) and not isinstance(last[-1], Glob))
        if names.is_harmless or not any(map(is_computed, last)):
            return replace(
                names, unknown=names.unknown if is_told else "", spoken=True, exact=False
            )
        if ends_so and not is_told:  # its known end is looked at
            return replace(names, unknown="", spoken=True, exact=False)
        return put_together(names)

    def _behind(self, before: Sequence[Segment], names: Names) -> Names:
        """Return what is known of names behind a directory."""
        if not before:
            return names
        directories = [self._segment(each) for each in before if is_computed(each)]
        every = replace(any_of([names, *directories]), exact=False)
        return put_together(every) if every.spoken else every

    def _segment(self, segment: Segment) -> Names:
        match segment:
            case Arithmetic():
                return NO_NAMES
            case Substitution(script=script, opener=opener):
                return NO_NAMES if opener in _PIPES else self._output(script)
            case Variable():
                return self._variable(segment)
            case _:
                return SPOKEN_NAMES

    def _variable(self, variable: Variable) -> Names:
        operator, argument = variable.operator, variable.argument
        if operator == "length" or (variable.name in _NUMBERS and operator is None):
            return NO_NAMES
        given = NO_NAMES if argument is None else self._word(argument)
        if operator in _ALTERNATIVES:
            return given
        base = replace(self._base(variable), exact=False)
        if operator in _DEFAULTS:
            return any_of([base, given])
        if operator in _PLAIN or base.is_harmless:
            return base
        text = None if argument is None else "".join(texts(argument))
        if (operator, text) in _PIECES_OF_PATHS and not base.spoken:
            return base
        return replace(base, unknown=base.unknown or f"{VARIABLE}{variable.name}`")

    def _base(self, variable: Variable) -> Names:
        """Return what is known of what a variable or parameter holds."""
        name = variable.name.partition("[")[0]
        if name in {"@", "*"} or name.isdecimal():
            return self._parameter(variable)
        if id(variable) not in self._flow.owners or id(variable) in self._flow.inherited:
            return unknown_names(f"{VARIABLE}{name}`")
        values = self._flow.values.get(name, ())
        return self._once("variable", name, lambda: any_of([*map(self._value, values), NO_NAMES]))

    def _value(self, value: Value) -> Names:
        if isinstance(value, ReadBy):
            return self._read_by(value.command)
        return self._word(value)

    def _read_by(self, command: SimpleCommand) -> Names:
        """Return what is known of the names that `read` or `mapfile` takes from its input."""
        numbers = self._tree.made_of(command.words)
        inputs = [*map(self._input_of, numbers)]
        names = any_of(inputs or [unknown_names("files whose names are read from input")])
        if any(reads_oddly(self._tree.parts[number]) for number in numbers):
            return replace(names, unknown="files whose names are cut from other text")
        return names

    def _parameter(self, variable: Variable) -> Names:
        """Return what is known of `$1` or `$@` in a function or a script."""
        owner = self._flow.owners.get(id(variable))
        if owner is None or (owner == self._command and "set" not in self._flow.calls):
            return unknown_names(f"{VARIABLE}{variable.name}`")
        key = id(owner) if isinstance(owner, Function) else owner
        return self._once("parameters", key, lambda: any_of([*self._given_to(owner), NO_NAMES]))

    def _given_to(self, owner: str | Function) -> Iterator[Names]:
        """Yield what is known of each parameter of a function, or of the text of a script."""
        names = {"set", owner.name} if isinstance(owner, Function) else {"set"}
        for name in names:
            for call in self._flow.calls.get(name, ()):
                yield from map(self._word, call)
        if not isinstance(owner, Function):
            yield from self._behind_script(owner)

    def _behind_script(self, text: str) -> Iterator[Names]:
        """Yield what is known of each argument of a script, where it is run."""
        for number, part in enumerate(self._tree.parts):
            if text in part.argv:
                for index in range(part.argv.index(text) + 1, len(part.argv)):
                    known = part.argv[index] is not None
                    yield SPOKEN_NAMES if known else self._argument(number, index)
