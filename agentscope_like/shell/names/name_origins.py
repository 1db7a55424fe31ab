"""Traces the names of files that a command reads, but that are not in its text.

`find . | xargs cat`, `cat $(git ls-files)`, `while read f; do cat "$f"; done`: such names pass
where each program that prints them is known to print names, and each one behind it to pass them on
(`name_sources.toml`). Every other name is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from agentscope_like.shell.analysis import CommandAnalysis, Effect, Part
from agentscope_like.shell.draft import shortened
from agentscope_like.shell.facts import is_redirect
from agentscope_like.shell.names.known_names import (
    NO_NAMES,
    SPOKEN_NAMES,
    VARIABLE,
    Names,
    any_of,
    cut_at_name,
    is_computed,
    put_together,
    texts,
    unknown_names,
)
from agentscope_like.shell.names.name_cutting import cuts_oddly, reads_oddly
from agentscope_like.shell.names.name_flow import ReadBy, Value
from agentscope_like.shell.names.name_sources import name_source, plain_name
from agentscope_like.shell.names.printed_names import PIPES, PrintedNames, is_known
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

__all__ = ["Origins"]

_ONLY_AT_RUN_TIME = "files whose names are only known at run time"

_BRACES = frozenset({"{}"})

_PROCESS = "/dev/fd/"
"""What the name of a process substitution begins with."""

_NUMBERS = frozenset("#?$!") | {"RANDOM", "LINENO", "SECONDS", "UID", "EUID", "PPID", "BASHPID"}
_DEFAULTS = frozenset({":-", "-", ":=", "="})
_ALTERNATIVES = frozenset({":+", "+"})
_PLAIN = _DEFAULTS | {None, ":?", "?"}
_PIECES_OF_PATHS = frozenset({("##", "*/"), ("%", "/*"), ("#", "./")})


class Origins(PrintedNames):
    """Finds where the names come from that the parts of one command are told of.

    Args:
        analysis: The whole command.
    """

    __slots__ = ("_numbers",)

    def __init__(self, analysis: CommandAnalysis) -> None:
        super().__init__(analysis)
        self._numbers = {id(part): number for number, part in enumerate(analysis.parts)}

    @property
    def held(self) -> Sequence[Word]:
        """The words that variables may hold, and the texts of here-documents and here-strings."""
        return self._flow.held

    def of(self, effect: Effect, part: Part) -> Names:
        """Return what is known of the names that an effect without a path has.

        Args:
            effect: The effect.
            part: The part that has it.
        """
        if effect.start.startswith(_PROCESS):
            return NO_NAMES
        number = self._numbers[id(part)]
        is_nested = self._is_nested(number)
        if is_nested and effect.target in part.argv[1:]:
            return SPOKEN_NAMES
        words = [
            each.target
            for each in part.redirects
            if isinstance(each.target, Word) and (is_nested or each.span == effect.span)
        ]
        arguments = [
            index
            for index in range(1, len(part.argv))
            if part.argv[index] is None and (is_nested or _stands_at(effect, part, index))
        ]
        found = [self._argument(number, index, effect) for index in arguments]
        found += map(self._word, words)
        return any_of(found) if found else unknown_names(_ONLY_AT_RUN_TIME)

    def feeders(self, effect: Effect, part: Part) -> tuple[Part, ...] | None:
        """Return the parts in whose places all lies that an effect without a path acts on.

        Args:
            effect: The effect.
            part: The part that has it.

        Returns:
            The parts; none for a process substitution, which is no file; None where nobody can say.
        """
        inner = part.sole_segments.get(effect.span)
        if isinstance(inner, Substitution) and inner.opener in PIPES:
            return ()
        names = self.of(effect, part)
        producers = [self._tree.parts[number] for number in names.producers]
        if names.unknown or names.spoken or not names.exact:
            return None
        if any(each.directories != part.directories for each in producers):
            return None
        return tuple(producers) or None

    def listed(self, effect: Effect, part: Part) -> list[Part]:
        """Return the parts that print the names of what an effect without a path reads.

        Args:
            effect: The effect.
            part: The part that has it.
        """
        return [self._tree.parts[number] for number in self.of(effect, part).producers]

    def _is_nested(self, number: int) -> bool:
        """Return whether a part stands in the text of a script, where places say nothing."""
        return id(self._tree.words(number)) in self._flow.nested

    def _argument(self, number: int, index: int, effect: Effect | None = None) -> Names:
        """Return what is known of a computed argument of a part."""
        part = self._tree.parts[number]
        word = part.words[index] if index < len(part.words) else None
        names = NO_NAMES if word is not None and word.literal is None else self._handed_to(number)
        if word is None:
            return names
        if word.literal is None:
            return self._word(word)
        if word.literal in self._placeholders(number):
            return names if effect is not None else replace(names, exact=False)
        told = effect if effect is not None and effect.target == word.literal else None
        if told is not None and told.end:
            return replace(names, spoken=True, exact=False)  # its known end is looked at
        follows = told is not None and told.start.endswith("/")
        return put_together(names) if names.spoken or not follows else replace(names, exact=False)

    def _placeholders(self, number: int) -> frozenset[str]:
        """Return what stands for a name, as it is, among the words that are handed to a part."""
        parent = self._tree.parts[number].parent
        xargs = None if parent is None else self._tree.parts[parent]
        return _BRACES if xargs is None else _BRACES | xargs.values_of(("-I", "-i", "--replace"))

    def _handed_to(self, number: int) -> Names:
        """Return what is known of the names that `find` or `xargs` hands to a part."""
        while (runner := self._tree.runner.get(number)) is not None:
            if self._tree.parts[runner].is_a("finder"):
                return self._found_by(runner)
            if plain_name(self._tree.parts[runner].program or "") == "xargs":
                return self._from_input(runner, number)
            number = runner
        return unknown_names(_ONLY_AT_RUN_TIME)

    def _found_by(self, number: int) -> Names:
        finder = self._tree.parts[number]
        names = Names((number,), exact=is_known(finder) and name_source(finder) is not None)
        if plain_name(finder.program or "") == "fd" and name_source(finder) is None:
            return replace(names, unknown=f"files whose names `{finder.program}` changes")
        return names

    def _from_input(self, number: int, child: int) -> Names:
        """Return what is known of the names that `xargs` takes from its input for its command."""
        xargs = self._tree.parts[number]
        if lists := [each.target for each in xargs.effects if not is_redirect(each, xargs)]:
            return unknown_names(f"the files listed in `{shortened(lists[0])}`")
        names = self._input_of(number)
        if cuts_oddly(xargs, self._tree.parts[child]):
            return replace(names, unknown="files whose names are cut from other text", exact=False)
        return names

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
                return NO_NAMES if opener in PIPES else self._output(script)
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
        numbers = self._tree.made_of.get(id(command.words), ())
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


def _stands_at(effect: Effect, part: Part, index: int) -> bool:
    """Return whether an argument is that of an effect; what is added to a command has its place."""
    if index < len(part.words):
        return effect.span == part.words[index].span
    return effect.span == part.span
