"""What is known of the names of files that commands print, and get as their input."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from agentscope_like.shell.analysis import CommandAnalysis, EffectKind, Part, answered_once
from agentscope_like.shell.draft import shortened
from agentscope_like.shell.facts import lists_only
from agentscope_like.shell.names.known_names import (
    NO_NAMES,
    SPOKEN_NAMES,
    Names,
    any_of,
    put_together,
    unknown_names,
)
from agentscope_like.shell.names.name_cutting import says_otherwise
from agentscope_like.shell.names.name_flow import Input, NameFlow, feeds
from agentscope_like.shell.names.name_sources import Prints, name_source
from agentscope_like.shell.names.part_tree import PartTree
from agentscope_like.shell.names.word_pieces import is_computed, texts
from agentscope_like.shell.syntax import (
    Case,
    Command,
    For,
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
    Word,
)

__all__ = ["PrintedNames", "is_known"]

_PIPES = frozenset({"<(", ">("})
_PRODUCED = frozenset({Prints.PATHS, Prints.NAMES, Prints.MATCHES})
_PASSED_ON = frozenset({Prints.ITS_LINES, Prints.ITS_PIECES, Prints.FIRST_FIELDS})
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
        return self._once("output", id(node), lambda: any_of([*self._outputs(node), NO_NAMES]))

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
        numbers = () if bodies else self._tree.made_of(words)
        yield from map(self._printed_by, numbers)
        if not (bodies or numbers):
            yield unknown_names("files whose names are only known at run time")

    def _printed_by(self, number: int) -> Names:
        """Return what is known of the names that a part prints."""
        part = self._tree.parts[number]
        scripts = [self._flow.texts[word] for word in part.argv if word in self._flow.texts]
        inner = [*map(self._printed_by, self._tree.run_by(number)), *map(self._output, scripts)]
        is_finder = part.is_a("finder")
        if inner and not is_finder:
            return any_of(inner)
        return any_of([*inner, self._printed(number, part)])

    def _printed(self, number: int, part: Part) -> Names:
        prints = name_source(part)
        if prints is None:
            return self._text_of(number, part)
        if prints in _PRODUCED:
            what = f"the files that `{part.program}` names" if prints is Prints.MATCHES else ""
            exact = prints is Prints.PATHS and is_known(part)
            return Names((number,), what, exact=exact, starts_lines=bool(what))
        if prints in _PASSED_ON:
            return self._passed_on(number, prints)
        return self._said_by(number, part) if prints is Prints.ITS_WORDS else _NUMBER

    def _passed_on(self, number: int, prints: Prints) -> Names:
        """Return what is known of the names that a filter prints."""
        names = self._input_of(number)
        if prints is Prints.FIRST_FIELDS:
            what = "" if names.starts_lines else "files whose names are cut from other text"
            return replace(names, unknown=what, exact=False, starts_lines=False)
        is_whole = prints is Prints.ITS_LINES and is_known(self._tree.parts[number])
        return names if is_whole else replace(names, exact=False)

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
        names = replace(any_of([*found, NO_NAMES]), exact=False)
        if len(computed) < len(part.argv) - 1:
            names = replace(names, spoken=True)
        if not names.unknown and says_otherwise(part):
            return replace(names, unknown=f"files whose names `{part.program}` builds")
        return names

    def _input_of(self, number: int) -> Names:
        """Return what is known of the names that a part gets as its input."""
        words = self._tree.parts[self._tree.outermost(number)].words
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
        if isinstance(first, Substitution) and first.opener in _PIPES:
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
