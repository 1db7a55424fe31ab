"""Tells which file names commands print, get as their input, and are handed by `find` or `xargs`.

`find . | xargs cat`, `cat $(git ls-files)`, `while read f; do cat "$f"; done`: such names pass
where each program that prints them is known to print names, and each one behind it to pass them on
(`name_sources.toml`). Every other name is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.shell.analysis import EffectKind, Part
from agentscope_like.shell.draft import Draft, Source, shortened
from agentscope_like.shell.facts import is_redirect, lists_only
from agentscope_like.shell.names.name_sources import Prints, name_source
from agentscope_like.shell.syntax import (
    Command,
    Function,
    Pipeline,
    Redirect,
    Script,
    SimpleCommand,
    Word,
    children,
)
from agentscope_like.shell.values import (
    NO_NAMES,
    UNKNOWN_NAMES,
    Argument,
    Names,
    Unknown,
    Words,
    any_of,
    names_of,
    put_together,
    unknown_names,
)

__all__ = ["PrintedNames"]

_NUMBER = Names(exact=False)
_CUT = "files whose names are cut from other text"
_DELIMITING = re.compile(r"-[a-zA-Z0]*d(.*)|--d[^=]*=?(.*)", re.DOTALL)
_ENDING = re.compile(r"-[a-zA-Z0]*[Ee].*|--eof.*", re.DOTALL)
_DEEPEST = 24
"""Through how many programs a name is followed."""


class PrintedNames:
    """Follows file names through what the commands of one walk print.

    Attributes:
        functions: The bodies of the functions defined so far, by name.
        scripts: The scripts that parts run which were read in their words, by the part's number.
    """

    def __init__(self, drafts: Sequence[Draft]) -> None:
        self.functions: dict[str, list[Command]] = {}
        self.scripts: dict[int | None, list[Script]] = {}
        self._drafts = drafts
        self._known: dict[int, Names] = {}
        self._depth = 0

    def output(self, node: Script | Command) -> Names:
        """Return what is known of the names that a command, or a script, prints."""
        return self._once(node, lambda: any_of([*self._outputs(node), NO_NAMES]))

    def input_of(self, source: Source) -> Names:
        """Return what is known of the names that come from a source of input."""
        return source if isinstance(source, Names) else self.output(source)

    def read_by(self, draft: Draft) -> Names:
        """Return what is known of the names that `read` or `mapfile` takes from its input."""
        names = self.input_of(draft.source)
        return replace(names, unknown=_CUT) if _reads_oddly(draft.finish()) else names

    def handed(
        self, before: Sequence[Argument], after: Sequence[Argument], wrapper: Draft, inner: Draft
    ) -> list[Argument]:
        """Return the arguments of a command with what is known of those that its wrapper adds.

        Args:
            before: The arguments as written.
            after: The same with what the wrapper puts in, and adds behind them.
            wrapper: The part of the wrapper.
            inner: The part of the command.
        """
        if list(before) == list(after):
            return list(after)
        part = wrapper.finish()
        names = self._found_by(wrapper) if part.is_a("finder") else self._fed_to(wrapper, inner)
        stands_for_one = {"{}", *part.values_of(("-I", "-i", "--replace"))}
        known: list[Argument] = []
        for number, value in enumerate(after):
            own = before[number] if number < len(before) else None
            if isinstance(value, Unknown) and not isinstance(own, Unknown):
                is_whole = own is None or own in stands_for_one
                told = names if is_whole else _within(value, names, inner)
                known.append(replace(value, names=told))
            else:
                known.append(value)
        return known

    def _found_by(self, finder: Draft) -> Names:
        """Return what is known of the names that `find` or `fd` hands on."""
        part = finder.finish()
        names = Names((_number(finder),), exact=_is_known(part) and name_source(part) is not None)
        if finder.program == "fd" and name_source(part) is None:
            return replace(names, unknown=f"files whose names `{finder.program}` changes")
        return names

    def _fed_to(self, xargs: Draft, inner: Draft) -> Names:
        """Return what is known of the names that `xargs` takes from its input for its command."""
        part = xargs.finish()
        if lists := [each.target for each in part.effects if not is_redirect(each, part)]:
            return unknown_names(f"the files listed in `{shortened(lists[0])}`")
        names = self.input_of(xargs.source)
        if _cuts_oddly(part, inner.finish()):
            return replace(names, unknown=_CUT, exact=False)
        return names

    def _outputs(self, tree: object) -> Iterator[Names]:
        match tree:
            case Word() | Redirect() | Function():
                return
            case tuple():
                for each in tree:
                    yield from self._outputs(each)
            case Pipeline(commands=commands):
                yield self.output(commands[-1])
            case SimpleCommand(words=()):  # `$(< file)`
                yield from (UNKNOWN_NAMES for each in tree.redirects if each.feeds)
            case SimpleCommand(words=words):
                yield from self._of_command(words)
            case Struct():
                for _, below in children(tree):
                    yield from self._outputs(below)

    def _of_command(self, words: tuple[Word, ...]) -> Iterator[Names]:
        bodies = self.functions.get(words[0].literal or "", [])
        drafts = [draft for draft in self._drafts if draft.words is words]
        for draft in drafts:
            if bodies and draft.program is None:  # as of a call of a function
                yield from map(self.output, bodies)
            else:
                yield self._printed_by(draft)
        if not drafts:
            yield UNKNOWN_NAMES

    def _printed_by(self, draft: Draft) -> Names:
        """Return what is known of the names that a part prints, by itself or by what it runs."""
        own = set(map(id, draft.words))
        inner = [
            self._printed_by(each)
            for each in self._drafts
            if each.parent == draft.index and each.words and id(each.words[0]) in own
        ]
        inner += map(self.output, self.scripts.get(draft.index, ()))
        part = draft.finish()
        if inner and not part.is_a("finder"):
            return any_of(inner)
        return any_of([*inner, self._printed(draft, part)])

    def _printed(self, draft: Draft, part: Part) -> Names:
        names = _NUMBER
        number = _number(draft)
        match name_source(part):
            case None:
                names = self._text_of(draft, part)
            case Prints.PATHS:
                names = Names((number,), exact=_is_known(part))
            case Prints.NAMES:
                names = Names((number,), exact=False)
            case Prints.MATCHES:
                what = f"the files that `{part.program}` names"
                names = Names((number,), what, exact=False, starts_lines=True)
            case Prints.ITS_WORDS:
                names = _said_by(draft)
            case Prints.NEW_WORDS:
                said = _said_by(draft)
                what = f"files whose names `{part.program}` builds"
                names = replace(said, unknown=said.unknown or what)
            case Prints.ITS_LINES if _is_known(part):
                names = self.input_of(draft.source)
            case Prints.ITS_LINES | Prints.ITS_PIECES:
                names = replace(self.input_of(draft.source), exact=False)
            case Prints.FIRST_FIELDS:
                fed = self.input_of(draft.source)
                names = replace(
                    fed, unknown="" if fed.starts_lines else _CUT, exact=False, starts_lines=False
                )
        return names

    def _text_of(self, draft: Draft, part: Part) -> Names:
        """Return unknown names for what a part prints, with the producers of its input."""
        name = f"git {part.git_command}" if part.git_command else part.program
        for effect in part.effects:
            if effect.kind is EffectKind.READ and not lists_only(effect, part):
                listed = f"listed in `{shortened(effect.target)}`"
                which = listed if effect.path else f"that `{name}` names"
                return unknown_names(f"the files {which}")
        own = (_number(draft),) if part.is_a("shows_names") else ()
        names = self.input_of(draft.source)
        what = f"the files that `{name}` names"
        return replace(names, producers=(*own, *names.producers), unknown=what, exact=False)

    def _once(self, node: Script | Command, find: Callable[[], Names]) -> Names:
        """Return an answer that is found once; one that depends on itself is not known."""
        known = self._known.get(id(node))
        if known is None:
            self._known[id(node)] = unknown_names("files whose names depend on each other")
            if self._depth > _DEEPEST:
                return unknown_names("files whose names pass through too many programs")
            self._depth += 1
            known = self._known[id(node)] = find()
            self._depth -= 1
        return known


def _number(draft: Draft) -> int:
    """Return the number that a draft's part is going to have."""
    return 0 if draft.index is None else draft.index


def _said_by(draft: Draft) -> Names:
    """Return what is known of the words that `echo` and its kin print."""
    return replace(any_of([*map(names_of, draft.arguments[1:]), NO_NAMES]), exact=False)


def _within(value: Unknown, names: Names, inner: Draft) -> Names:
    """Return what is known of names that stand behind or before other text of a word."""
    if value.suffix:
        return replace(names, spoken=True, exact=False)  # its known end is looked at
    is_placed = value.prefix.startswith("/") or bool(inner.directories)
    if names.spoken or not (is_placed and value.prefix.endswith("/")):
        return put_together(names)
    return replace(names, exact=False)


def _is_known(part: Part) -> bool:
    """Return whether all words of a part are known, and what it reaches."""
    return None not in part.argv and all(effect.path for effect in part.effects)


def _cuts_oddly(xargs: Part, command: Part) -> bool:
    """Return whether `xargs` is told where names or its input end: not at blanks or line ends.

    Whatever stands behind the first word of what it runs is no option of it.
    """
    places = [id(word) for word in xargs.words]
    own = xargs.argv[1 : places.index(id(command.words[0]))]
    ends = any(word is not None and _ENDING.match(word) for word in own)
    return ends or _delimits(own, {"\\n", "\n"})


def _reads_oddly(part: Part) -> bool:
    """Return whether `read` or `mapfile` splits elsewhere than at blanks or line ends."""
    if part.program == "read" and part.has_flag("nNi"):
        return True
    for assignment in part.assignments:
        separators = assignment.value.literal
        if assignment.name == "IFS" and (separators is None or separators.strip()):
            return True
    return _delimits(part.argv[1:], {"", "\n"})


def _delimits(words: Words, harmless: Set[str]) -> bool:
    """Return whether an option names a delimiter that is not harmless."""
    for word, following in pairwise([*words, ""]):
        found = None if word is None else _DELIMITING.match(word)
        if found is not None and (found[1] or found[2] or following) not in harmless:
            return True
    return False
