"""What is known of the names of files that commands print, and get as their input."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.shell.analysis import CommandAnalysis, EffectKind, Part, answered_once
from agentscope_like.shell.draft import shortened
from agentscope_like.shell.facts import lists_only
from agentscope_like.shell.names.known_names import (
    NO_NAMES,
    SPOKEN_NAMES,
    Names,
    any_of,
    is_computed,
    put_together,
    texts,
    unknown_names,
)
from agentscope_like.shell.names.name_flow import Input, NameFlow, feeds
from agentscope_like.shell.names.name_sources import Prints, name_source
from agentscope_like.shell.names.part_tree import PartTree
from agentscope_like.shell.syntax import (
    Command,
    Function,
    Heredoc,
    Literal,
    Pipeline,
    Redirect,
    Script,
    Segment,
    SimpleCommand,
    Substitution,
    Word,
    children,
)

__all__ = ["PIPES", "PrintedNames", "is_known"]

PIPES = frozenset({"<(", ">("})
"""What process substitutions begin with."""

_NUMBER = Names(exact=False)
_DEEPEST = 24
"""Through how many programs and variables a name is followed."""


class PrintedNames(ABC):
    """Follows names through what the commands of one command line print.

    Args:
        analysis: The whole command line.
    """

    __slots__ = ("_command", "_depth", "_flow", "_known", "_tree")

    def __init__(self, analysis: CommandAnalysis) -> None:
        trees = () if analysis.script is None else ((analysis.command, analysis.script),)
        self._command = analysis.command
        self._flow = NameFlow((*trees, *analysis.inner))
        self._tree = PartTree(analysis.parts)
        self._known: dict[tuple[str, object], Names] = {}
        self._depth = 0

    @abstractmethod
    def _segment(self, segment: Segment) -> Names:
        """Return what is known of the name that a segment of a word becomes."""

    @abstractmethod
    def _argument(self, number: int, index: int) -> Names:
        """Return what is known of a computed argument of a part."""

    def _output(self, node: Script | Command) -> Names:
        """Return what is known of the text that a command, or a script, prints."""
        return self._once("output", id(node), lambda: any_of([*self._outputs(node), NO_NAMES]))

    def _outputs(self, tree: object) -> Iterator[Names]:
        match tree:
            case Word() | Redirect() | Function():
                return
            case tuple():
                for each in tree:
                    yield from self._outputs(each)
            case Pipeline(commands=commands):
                yield self._output(commands[-1])
            case SimpleCommand(words=()):  # `$(< file)`
                yield from (self._fed(each, ()) for each in tree.redirects if feeds(each))
            case SimpleCommand(words=words):
                yield from self._of_command(words)
            case Struct():
                for _, below in children(tree):
                    yield from self._outputs(below)

    def _of_command(self, words: tuple[Word, ...]) -> Iterator[Names]:
        bodies = self._flow.functions.get(words[0].literal or "", [])
        yield from map(self._output, bodies)
        numbers = () if bodies else self._tree.made_of.get(id(words), ())
        yield from map(self._printed_by, numbers)
        if not (bodies or numbers):
            yield unknown_names("files whose names are only known at run time")

    def _printed_by(self, number: int) -> Names:
        """Return what is known of the names that a part prints."""
        part = self._tree.parts[number]
        scripts = [self._flow.texts[word] for word in part.argv if word in self._flow.texts]
        inner = [
            *map(self._printed_by, self._tree.run_by.get(number, ())),
            *map(self._output, scripts),
        ]
        is_finder = part.is_a("finder")
        if inner and not is_finder:
            return any_of(inner)
        return any_of([*inner, self._printed(number, part)])

    def _printed(self, number: int, part: Part) -> Names:
        names = _NUMBER
        match name_source(part):
            case None:
                names = self._text_of(number, part)
            case Prints.PATHS:
                names = Names((number,), exact=is_known(part))
            case Prints.NAMES:
                names = Names((number,), exact=False)
            case Prints.MATCHES:
                what = f"the files that `{part.program}` names"
                names = Names((number,), what, exact=False, starts_lines=True)
            case Prints.ITS_WORDS:
                names = self._said_by(number, part)
            case Prints.NEW_WORDS:
                said = self._said_by(number, part)
                what = f"files whose names `{part.program}` builds"
                names = replace(said, unknown=said.unknown or what)
            case Prints.ITS_LINES if is_known(part):
                names = self._input_of(number)
            case Prints.ITS_LINES | Prints.ITS_PIECES:
                names = replace(self._input_of(number), exact=False)
            case Prints.FIRST_FIELDS:
                fed = self._input_of(number)
                what = "" if fed.starts_lines else "files whose names are cut from other text"
                names = replace(fed, unknown=what, exact=False, starts_lines=False)
        return names

    def _text_of(self, number: int, part: Part) -> Names:
        """Return unknown names for what a part prints, with the producers of its input."""
        name = f"git {part.git_command}" if part.git_command else part.program
        for effect in part.effects:
            if effect.kind is EffectKind.READ and not lists_only(effect, part):
                listed = f"listed in `{shortened(effect.target)}`"
                which = listed if effect.path else f"that `{name}` names"
                return unknown_names(f"the files {which}")
        own = (number,) if part.is_a("shows_names") else ()
        names = self._input_of(number)
        what = f"the files that `{name}` names"
        return replace(names, producers=(*own, *names.producers), unknown=what, exact=False)

    def _said_by(self, number: int, part: Part) -> Names:
        """Return what is known of the words that `echo` and its kin print."""
        computed = [index for index in range(1, len(part.argv)) if part.argv[index] is None]
        found = [self._argument(number, index) for index in computed]
        if len(computed) < len(part.argv) - 1:
            found.append(SPOKEN_NAMES)
        return replace(any_of([*found, NO_NAMES]), exact=False)

    def _input_of(self, number: int) -> Names:
        """Return what is known of the names that a part gets as its input."""
        words = self._tree.words(number)
        return self._once(
            "input", id(words), lambda: self._fed(self._flow.inputs.get(id(words)), words)
        )

    def _fed(self, fed: Input, words: tuple[Word, ...]) -> Names:
        """Return what is known of an input: of that of the script, where it has none itself."""
        if fed is None:
            text = self._flow.nested.get(id(words))
            parts = enumerate(self._tree.parts) if text is not None else ()
            found = [self._input_of(number) for number, part in parts if text in part.argv[1:]]
            return any_of(found) if found else unknown_names("the files that its input names")
        if not isinstance(fed, Redirect):
            return self._output(fed)
        if isinstance(fed.target, Heredoc):
            return self._text(fed.target.body)
        if fed.operator == "<<<":
            return self._text(fed.target)
        first = fed.target.segments[0]
        if isinstance(first, Substitution) and first.opener in PIPES:
            return self._output(first.script)
        return unknown_names(f"the files listed in `{shortened(''.join(texts(fed.target)))}`")

    def _text(self, word: Word) -> Names:
        """Return what is known of the names in a text."""
        if not any(map(is_computed, word.segments)):
            return SPOKEN_NAMES
        alone = _is_line_end(word.segments[1:])
        return self._segment(word.segments[0]) if alone else put_together(NO_NAMES)

    def _once(self, kind: str, key: object, find: Callable[[], Names]) -> Names:
        """Return an answer that is found once; one that depends on itself is not known."""
        known = self._known.get((kind, key))
        if known is None:
            self._known[kind, key] = unknown_names("files whose names depend on each other")
            if self._depth > _DEEPEST:
                return unknown_names("files whose names pass through too many programs")
            self._depth += 1
            known = self._known[kind, key] = find()
            self._depth -= 1
        return known


def _is_line_end(segments: Sequence[Segment]) -> bool:
    return all(isinstance(each, Literal) and each.text == "\n" for each in segments)


@answered_once
def is_known(part: Part) -> bool:
    """Return whether all words of a part are known, and what it reaches."""
    return None not in part.argv and all(effect.path for effect in part.effects)
