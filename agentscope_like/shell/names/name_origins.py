"""Traces the names of files that a command reads, but that are not in its text.

`find . | xargs cat`, `cat $(git ls-files)`, `while read f; do cat "$f"; done`: such names pass
where each program that prints them is known to print names, and each one behind it to pass them on
(`name_sources.toml`). Every other name is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.shell.analysis import (
    CommandAnalysis,
    Doubt,
    Effect,
    EffectKind,
    Part,
    answered_once,
)
from agentscope_like.shell.catalog import programs_with
from agentscope_like.shell.draft import shortened
from agentscope_like.shell.facts import is_redirect, lists_only, shows_unseen_files
from agentscope_like.shell.names.name_cutting import (
    cuts_oddly,
    ends_early,
    reads_oddly,
    says_otherwise,
)
from agentscope_like.shell.names.name_flow import Input, NameFlow, ReadBy, Value, feeds
from agentscope_like.shell.names.name_sources import Prints, name_source, plain_name
from agentscope_like.shell.syntax import (
    Arithmetic,
    Case,
    Command,
    For,
    Function,
    Glob,
    Group,
    Heredoc,
    If,
    Literal,
    Loop,
    Pipeline,
    Redirect,
    Script,
    Segment,
    SimpleCommand,
    Substitution,
    Tilde,
    Variable,
    Word,
)
from agentscope_like.shell.syntax.words import covered

__all__ = ["Names", "Origins", "doubted_names", "unnamed_reads"]

_READ = EffectKind.READ
_PIPES = frozenset({"<(", ">("})
_BRACES = frozenset({"{}"})
_PIECES_BY_FD = frozenset({"{/}", "{//}"})
_DEEPEST = 24
"""Through how many programs and variables a name is followed."""

_VARIABLE = "`$"
"""What begins with it, where a variable is all that is not known."""

_PROCESS = "/dev/fd/"
"""What the name of a process substitution begins with."""

"""Programs that open a network connection where a file's name asks for one, as `/inet/tcp/...`."""

_PRODUCED = frozenset({Prints.PATHS, Prints.NAMES, Prints.MATCHES})
_PASSED_ON = frozenset({Prints.ITS_LINES, Prints.ITS_PIECES, Prints.FIRST_FIELDS})
_NUMBERS = frozenset("#?$!") | {"RANDOM", "LINENO", "SECONDS", "UID", "EUID", "PPID", "BASHPID"}
_PLACES = frozenset({"HOME", "PWD"})
"""Variables of a known text in front of a name."""

_DEFAULTS = frozenset({":-", "-", ":=", "="})
_ALTERNATIVES = frozenset({":+", "+"})
_PLAIN = _DEFAULTS | {None, ":?", "?"}
_PIECES_OF_PATHS = frozenset({("##", "*/"), ("%", "/*"), ("#", "./")})


class Names(Struct, frozen=True):
    """What is known of a set of file names.

    Attributes:
        producers: Which parts print them, by their number.
        unknown: What is read that nobody knows, to be told; empty where each name is accounted for.
        spoken: Whether words of the command are among them.
        exact: Whether they are no more than what the producers print, as it is.
        matches: Whether they stand in lines behind the names, parted by a colon.
    """

    producers: tuple[int, ...] = ()
    unknown: str = ""
    spoken: bool = False
    exact: bool = True
    matches: bool = False

    @property
    def is_harmless(self) -> bool:
        """Whether there are none: what stands there is a number, or nothing."""
        return not (self.producers or self.unknown or self.spoken)


_NONE = Names()
_NUMBER = Names(exact=False)
_SPOKEN = Names(spoken=True, exact=False)


def _unknown(what: str) -> Names:
    return Names(unknown=what, exact=False)


def _any_of(found: Iterable[Names]) -> Names:
    """Return what is known of names that are among any of several."""
    known = list(dict.fromkeys(found))
    if len(known) == 1:
        return known[0]
    return Names(
        producers=tuple(dict.fromkeys(number for each in known for number in each.producers)),
        unknown=next((each.unknown for each in known if each.unknown), ""),
        spoken=any(each.spoken for each in known),
        exact=all(each.exact for each in known),
        matches=all(each.matches for each in known if not each.is_harmless),
    )


def unnamed_reads(part: Part) -> list[Effect]:
    """Return the reads of a part whose file names are not in the command's text.

    A name that stands there is known, though its directory may not be.

    Args:
        part: The part.
    """
    written = {
        word.span
        for word, text in zip(part.words[1:], part.argv[1:], strict=False)
        if text is not None
    }
    return [
        effect
        for effect in part.effects
        if effect.kind is _READ and effect.path is None and effect.span not in written
    ]


def doubted_names(analysis: CommandAnalysis) -> Iterator[tuple[int, Doubt]]:
    """Yield the number of each part that shows files of unknown names, and the doubt.

    Args:
        analysis: The command, as it was read.
    """
    origins: Origins | None = None
    for number, part in enumerate(analysis.parts):
        effects = unnamed_reads(part) if shows_unseen_files(part) else ()
        if effects:
            origins = origins or Origins(analysis)
            names = _any_of(origins.of(effect, part) for effect in effects)
            if message := _told(names, part):
                yield number, Doubt(message, part.span)


def _told(names: Names, part: Part) -> str | None:
    program = part.program or "<"
    if names.unknown.startswith(_VARIABLE):
        return f"{names.unknown} is only known at run time, so it cannot be checked for secrets"
    if names.unknown:
        return f"`{program}` shows {names.unknown}; one of them may be secret"
    if names.spoken and program in programs_with("connects"):
        return f"`{program}` opens file names only known at run time, perhaps as connections"
    return None


class Origins:
    """Traces the file names that the parts of one command get at run time.

    Args:
        analysis: The whole command.
    """

    __slots__ = (
        "_analysis",
        "_carried",
        "_children",
        "_depth",
        "_flow",
        "_known",
        "_numbers",
        "_parts",
    )

    def __init__(self, analysis: CommandAnalysis) -> None:
        self._analysis = analysis
        trees = () if analysis.script is None else ((analysis.command, analysis.script),)
        self._flow = NameFlow((*trees, *analysis.inner))
        self._parts: dict[int, list[int]] = {}
        self._children: dict[int, list[int]] = {}
        self._carried: set[int] = set()
        self._numbers = {id(part): number for number, part in enumerate(analysis.parts)}
        self._known: dict[tuple[str, object], Names] = {}
        self._depth = 0
        self._index()

    def _index(self) -> None:
        words_of: dict[int, set[int]] = {}
        for number, part in enumerate(self._analysis.parts):
            if part.words:
                self._parts.setdefault(id(part.words), []).append(number)
            if part.parent is not None and part.words:
                parent = self._analysis.parts[part.parent]
                words = words_of.setdefault(part.parent, set(map(id, parent.words)))
                if id(part.words[0]) in words:
                    self._children.setdefault(part.parent, []).append(number)
                    self._carried.add(number)

    def of(self, effect: Effect, part: Part) -> Names:
        """Return what is known of the names that an effect without a path has.

        Args:
            effect: The effect.
            part: The part that has it.
        """
        if effect.start.startswith(_PROCESS):
            return _NONE
        number = self._numbers[id(part)]
        is_nested = self._is_nested(number)
        if is_nested and effect.target in part.argv[1:]:
            return _SPOKEN
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
        return _any_of(found) if found else _unknown("files whose names are only known at run time")

    def feeders(self, effect: Effect, part: Part) -> tuple[Part, ...] | None:
        """Return the parts in whose places all lies that an effect without a path acts on.

        Args:
            effect: The effect.
            part: The part that has it.

        Returns:
            The parts; none for a process substitution, which is no file; None where nobody can say.
        """
        inner = part.sole_segments.get(effect.span)
        if isinstance(inner, Substitution) and inner.opener in _PIPES:
            return ()
        names = self.of(effect, part)
        producers = [self._analysis.parts[number] for number in names.producers]
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
        return [self._analysis.parts[number] for number in self.of(effect, part).producers]

    def _is_nested(self, number: int) -> bool:
        """Return whether a part stands in the text of a script, where places say nothing."""
        words = self._analysis.parts[self._outermost(number)].words
        return id(words) in self._flow.nested

    def _outermost(self, number: int) -> int:
        """Return the part that stands in the tree, of which a carried one has some words."""
        while number in self._carried:
            number = self._analysis.parts[number].parent or 0
        return number

    # Words

    def _argument(self, number: int, index: int, effect: Effect | None = None) -> Names:
        """Return what is known of a computed argument of a part."""
        part = self._analysis.parts[number]
        word = part.words[index] if index < len(part.words) else None
        names = _NONE if word is not None and word.literal is None else self._handed_to(number)
        if word is None:
            return names
        if word.literal is None:
            return self._word(word)
        if word.literal in self._placeholders(number):
            return names if effect is not None else replace(names, exact=False)
        if word.literal in _PIECES_BY_FD:
            return replace(names, exact=False)
        is_there = effect is not None and effect.target == word.literal
        if is_there and effect is not None and effect.end:
            return replace(names, spoken=True, exact=False)  # its known end is looked at
        follows = is_there and effect is not None and effect.start.endswith("/")
        return _together(names) if names.spoken or not follows else replace(names, exact=False)

    def _placeholders(self, number: int) -> frozenset[str]:
        """Return what stands for a name, as it is, among the words that are handed to a part."""
        parent = self._analysis.parts[number].parent
        xargs = None if parent is None else self._analysis.parts[parent]
        return _BRACES if xargs is None else _BRACES | xargs.values_of(("-I", "-i", "--replace"))

    def _handed_to(self, number: int) -> Names:
        """Return what is known of the names that `find` or `xargs` hands to a part."""
        parts = self._analysis.parts
        while number in self._carried:
            number = parts[number].parent or 0
            carrier = parts[number]
            program = plain_name(carrier.program or "")
            if program in programs_with("finder"):
                return self._found_by(number)
            if program == "xargs":
                return self._from_input(number)
        return _unknown("files whose names are only known at run time")

    def _found_by(self, number: int) -> Names:
        finder = self._analysis.parts[number]
        names = Names((number,), exact=_is_known(finder) and name_source(finder) is not None)
        if plain_name(finder.program or "") == "fd" and name_source(finder) is None:
            return replace(names, unknown=f"files whose names `{finder.program}` changes")
        return names

    def _from_input(self, number: int) -> Names:
        """Return what is known of the names that `xargs` takes from its input."""
        xargs = self._analysis.parts[number]
        if lists := [each.target for each in xargs.effects if not is_redirect(each, xargs)]:
            return _unknown(f"the files listed in `{shortened(lists[0])}`")
        names = self._input_of(number)
        if cuts_oddly(xargs):
            return replace(names, unknown="files whose names are cut from other text", exact=False)
        return replace(names, exact=names.exact and not ends_early(xargs))

    def _word(self, word: Word) -> Names:
        """Return what is known of the name that a word becomes."""
        before, last = _cut_at_name(word)
        if len(last) == 1 and _is_computed(last[0]):
            return self._behind(before, self._segment(last[0]))
        names = _any_of([*map(self._segment, filter(_is_computed, (*before, *last))), _NONE])
        is_told = names.unknown and not names.unknown.startswith(_VARIABLE)
        ends_so = not last or (not _is_computed(last[-1]) and not isinstance(last[-1], Glob))
        if names.is_harmless or not any(map(_is_computed, last)):
            return replace(
                names, unknown=names.unknown if is_told else "", spoken=True, exact=False
            )
        if ends_so and not is_told:  # its known end is looked at
            return replace(names, unknown="", spoken=True, exact=False)
        return _together(names)

    def _behind(self, before: Sequence[Segment], names: Names) -> Names:
        """Return what is known of names behind a directory."""
        if not before:
            return names
        directories = [self._segment(each) for each in before if _is_computed(each)]
        every = replace(_any_of([names, *directories]), exact=False)
        is_listed = not names.spoken and not any(each.spoken for each in directories)
        return every if is_listed or every.unknown else _together(every)

    def _segment(self, segment: Segment) -> Names:
        match segment:
            case Arithmetic():
                return _NONE
            case Substitution(script=script, opener=opener):
                return _NONE if opener in _PIPES else self._output(script)
            case Variable():
                return self._variable(segment)
            case _:
                return _SPOKEN

    def _variable(self, variable: Variable) -> Names:
        operator, argument = variable.operator, variable.argument
        if operator == "length" or (variable.name in _NUMBERS and operator is None):
            return _NONE
        given = _NONE if argument is None else self._word(argument)
        if operator in _ALTERNATIVES:
            return given
        base = replace(self._base(variable), exact=False)
        if operator in _DEFAULTS:
            return _any_of([base, given])
        if operator in _PLAIN or base.is_harmless:
            return base
        text = None if argument is None else "".join(_texts(argument))
        if (operator, text) in _PIECES_OF_PATHS and not base.spoken:
            return base
        return replace(base, unknown=base.unknown or f"{_VARIABLE}{variable.name}`")

    def _base(self, variable: Variable) -> Names:
        """Return what is known of what a variable or parameter holds."""
        name = variable.name.partition("[")[0]
        if name in {"@", "*"} or name.isdecimal():
            return self._parameter(variable)
        if id(variable) not in self._flow.owners or id(variable) in self._flow.inherited:
            return _unknown(f"{_VARIABLE}{name}`")
        values = self._flow.values.get(name, ())
        return self._once("variable", name, lambda: _any_of([*map(self._value, values), _NONE]))

    def _value(self, value: Value) -> Names:
        if isinstance(value, ReadBy):
            return self._read_by(value.command)
        return self._word(value)

    def _read_by(self, command: SimpleCommand) -> Names:
        """Return what is known of the names that `read` or `mapfile` takes from its input."""
        numbers = self._parts.get(id(command.words), [])
        names = _any_of(
            [*map(self._input_of, numbers)] or [_unknown("files whose names are read from input")]
        )
        if any(reads_oddly(self._analysis.parts[number]) for number in numbers):
            return replace(names, unknown="files whose names are cut from other text")
        return names

    def _parameter(self, variable: Variable) -> Names:
        """Return what is known of `$1` or `$@` in a function or a script."""
        owner = self._flow.owners.get(id(variable))
        if owner is None or (owner == self._analysis.command and "set" not in self._flow.calls):
            return _unknown(f"{_VARIABLE}{variable.name}`")
        key = id(owner) if isinstance(owner, Function) else owner
        return self._once("parameters", key, lambda: _any_of([*self._given_to(owner), _NONE]))

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
        for number, part in enumerate(self._analysis.parts):
            if text in part.argv:
                for index in range(part.argv.index(text) + 1, len(part.argv)):
                    known = part.argv[index] is not None
                    yield _SPOKEN if known else self._argument(number, index)

    # What commands print

    def _output(self, node: Script | Command) -> Names:
        return self._once("output", id(node), lambda: _any_of([*self._outputs(node), _NONE]))

    def _outputs(self, node: Script | Command) -> Iterator[Names]:
        """Yield what is known of each text that a command, or a script, may print."""
        match node:
            case Script(statements=statements):
                yield from (self._output(each.command) for each in statements)
            case Pipeline(commands=commands):
                yield self._output(commands[-1])
            case SimpleCommand(words=words):
                yield from self._of_command(words)
                if not words:  # `$(< file)`
                    yield from (self._fed(each, words) for each in node.redirects if feeds(each))
            case Group(body=body) | For(body=body):
                yield self._output(body)
            case Loop(condition=condition, body=body):
                yield from map(self._output, (condition, body))
            case If(branches=branches, otherwise=otherwise):
                for scripts in (*branches, (otherwise,)):
                    yield from map(self._output, filter(None, scripts))
            case Case(arms=arms):
                yield from (self._output(arm.body) for arm in arms)

    def _of_command(self, words: tuple[Word, ...]) -> Iterator[Names]:
        if not words:
            return
        bodies = self._flow.functions.get(words[0].literal or "", [])
        yield from map(self._output, bodies)
        numbers = () if bodies else self._parts.get(id(words), ())
        yield from map(self._printed_by, numbers)
        if not (bodies or numbers):
            yield _unknown("files whose names are only known at run time")

    def _printed_by(self, number: int) -> Names:
        """Return what is known of the names that a part prints."""
        part = self._analysis.parts[number]
        scripts = [self._flow.texts[word] for word in part.argv if word in self._flow.texts]
        inner = [
            *map(self._printed_by, self._children.get(number, ())),
            *map(self._output, scripts),
        ]
        is_finder = part.is_a("finder")
        if inner and not is_finder:
            return _any_of(inner)
        return _any_of([*inner, self._printed(number, part)])

    def _printed(self, number: int, part: Part) -> Names:
        prints = name_source(part)
        if prints is None:
            return self._text_of(number, part)
        if prints in _PRODUCED:
            what = f"the files that `{part.program}` names" if prints is Prints.MATCHES else ""
            exact = prints is Prints.PATHS and _is_known(part)
            return Names((number,), what, exact=exact, matches=bool(what))
        if prints in _PASSED_ON:
            return self._passed_on(number, prints)
        return self._said_by(number, part) if prints is Prints.ITS_WORDS else _NUMBER

    def _passed_on(self, number: int, prints: Prints) -> Names:
        """Return what is known of the names that a filter prints."""
        names = self._input_of(number)
        if prints is Prints.FIRST_FIELDS:
            what = "" if names.matches else "files whose names are cut from other text"
            return replace(names, unknown=what, exact=False, matches=False)
        is_whole = prints is Prints.ITS_LINES and _is_known(self._analysis.parts[number])
        return names if is_whole else replace(names, exact=False)

    def _text_of(self, number: int, part: Part) -> Names:
        """Return that nobody knows what a part prints, and from whose names it makes that."""
        name = f"git {part.git_command}" if part.git_command else part.program
        for effect in part.effects:
            if effect.kind is _READ and not lists_only(effect, part):
                listed = f"listed in `{shortened(effect.target)}`"
                return _unknown(f"the files {listed if effect.path else f'that `{name}` names'}")
        own = (number,) if part.is_a("shows_names") else ()
        names = self._input_of(number)
        what = f"the files that `{name}` names"
        return replace(names, producers=(*own, *names.producers), unknown=what, exact=False)

    def _said_by(self, number: int, part: Part) -> Names:
        """Return what is known of the words that `echo` and its kin print."""
        computed = [index for index in range(1, len(part.argv)) if part.argv[index] is None]
        found = [self._argument(number, index) for index in computed]
        names = replace(_any_of([*found, _NONE]), exact=False)
        if len(computed) < len(part.argv) - 1:
            names = replace(names, spoken=True)
        if not names.unknown and says_otherwise(part):
            return replace(names, unknown=f"files whose names `{part.program}` builds")
        return names

    def _input_of(self, number: int) -> Names:
        """Return what is known of the names that a part gets as its input."""
        words = self._analysis.parts[self._outermost(number)].words
        return self._once(
            "input", id(words), lambda: self._fed(self._flow.inputs.get(id(words)), words)
        )

    def _fed(self, fed: Input, words: tuple[Word, ...]) -> Names:
        """Return what is known of an input: of that of the script, where it has none itself."""
        if fed is None:
            text = self._flow.nested.get(id(words))
            parts = enumerate(self._analysis.parts) if text is not None else ()
            found = [self._input_of(number) for number, part in parts if text in part.argv[1:]]
            return _any_of(found) if found else _unknown("the files that its input names")
        if not isinstance(fed, Redirect):
            return self._output(fed)
        if isinstance(fed.target, Heredoc):
            return self._text(fed.target.body)
        if fed.operator == "<<<":
            return self._text(fed.target)
        first = fed.target.segments[0]
        if isinstance(first, Substitution) and first.opener in _PIPES:
            return self._output(first.script)
        return _unknown(f"the files listed in `{shortened(''.join(_texts(fed.target)))}`")

    def _text(self, word: Word) -> Names:
        """Return what is known of the names in a text."""
        if not any(map(_is_computed, word.segments)):
            return _SPOKEN
        alone = _is_line_end(word.segments[1:])
        return self._segment(word.segments[0]) if alone else _together(_NONE)

    def _once(self, kind: str, key: object, find: Callable[[], Names]) -> Names:
        """Return an answer that is found once; one that depends on itself is not known."""
        known = self._known.get((kind, key))
        if known is None:
            self._known[kind, key] = _unknown("files whose names depend on each other")
            if self._depth > _DEEPEST:
                return _unknown("files whose names pass through too many programs")
            self._depth += 1
            known = self._known[kind, key] = find()
            self._depth -= 1
        return known


def _stands_at(effect: Effect, part: Part, index: int) -> bool:
    """Return whether an argument is that of an effect; what is added to a command has its place."""
    if index < len(part.words):
        return effect.span == part.words[index].span
    return effect.span == part.span


def _together(names: Names) -> Names:
    what = "files whose names are built at run time"
    return replace(names, unknown=names.unknown or what, exact=False)


def _cut_at_name(word: Word) -> tuple[Sequence[Segment], list[Segment]]:
    """Return the segments of the directory that a word begins with, and of the name behind it."""
    segments = list(covered(word.segments))
    for number in range(len(segments) - 1, -1, -1):
        segment = segments[number]
        if isinstance(segment, Literal | Glob) and "/" in segment.text:
            name = segment.text.rpartition("/")[2]
            begun = [replace(segment, text=name)] if name else []
            return segments[: number + 1], [*begun, *segments[number + 1 :]]
    return (), segments


def _is_computed(segment: Segment) -> bool:
    if isinstance(segment, Variable):
        return segment.name not in _PLACES or segment.operator is not None
    return not isinstance(segment, Literal | Glob | Tilde)


def _texts(word: Word) -> Iterator[str]:
    """Yield the text of each segment of a word, as far as it stands there."""
    for segment in word.segments:
        if isinstance(segment, Variable):
            yield f"${segment.name}"
        else:
            yield segment.text if isinstance(segment, Literal | Glob) else "..."


def _is_line_end(segments: Sequence[Segment]) -> bool:
    return all(isinstance(each, Literal) and each.text == "\n" for each in segments)


@answered_once
def _is_known(part: Part) -> bool:
    """Return whether all words of a part are known, and what it reaches."""
    return None not in part.argv and all(effect.path for effect in part.effects)
