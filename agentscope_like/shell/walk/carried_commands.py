"""Judges commands inside commands: what a wrapper runs, or the script in an argument."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence

from msgspec.structs import replace

from agentscope_like.shell.analysis import EffectKind
from agentscope_like.shell.arguments import ArgumentReading, Item, ends_in_time, fed_arguments
from agentscope_like.shell.catalog import RoleKind, programs_with
from agentscope_like.shell.draft import MAX_DEPTH, Draft, WalkScope
from agentscope_like.shell.names import handed
from agentscope_like.shell.state import State, known_parameters
from agentscope_like.shell.syntax import Assignment, Literal, Span, Word
from agentscope_like.shell.values import NO_NAMES, Argument, Unknown, names_of
from agentscope_like.shell.walk.walk_base import WalkBase

__all__ = ["CarriedJudge"]

_BATCHES = frozenset({"-X", "--exec-batch"})
_LOGIN = frozenset({"-l", "--login"})
_VARIABLE = re.compile(r"\$(?![(?])")
"""The value of a variable; not `$(...)`, and not the status `$?`."""


class CarriedJudge(WalkBase):
    """Judges commands inside commands."""

    @abstractmethod
    def judge_arguments(
        self,
        arguments: Sequence[Argument],
        draft: Draft,
        state: State,
        scope: WalkScope,
        *,
        external: bool = False,
        functions: bool = True,
    ) -> State:
        """Judge a command, given its arguments; return the state after it."""

    def carry(
        self,
        item: Item,
        reading: ArgumentReading,
        arguments: Sequence[Argument],
        draft: Draft,
        state: State,
        scope: WalkScope,
        *,
        external: bool,
    ) -> State:
        """Judge the command that a wrapper runs, as a part below the wrapper's.

        Args:
            item: The argument that begins the command, or is the script.
            reading: The meaning of the wrapper's arguments.
            arguments: The wrapper and its arguments.
            draft: The wrapper's part.
            state: The state before.
            scope: The scope of the wrapper.
            external: Whether another program starts the wrapper.

        Returns:
            The state after it.
        """
        grammar = reading.grammar
        inside = replace(
            scope.inside(draft.index),
            depth=scope.depth + 1,
            fed=Unknown(),
            source=draft.source,
            bounded=scope.bounded or ends_in_time(reading),
        )
        if inside.depth > MAX_DEPTH:
            draft.doubt("wrappers are nested too deeply", draft.span, kind=EffectKind.EXECUTE)
            return state
        if item.role.kind is RoleKind.SCRIPT:
            return self._carried_script(item, reading, arguments, draft, state, scope)
        if item.end <= item.start:
            return state
        fed = draft.known_input(scope)
        carried = fed_arguments(
            grammar.feed,
            reading,
            arguments[item.start : item.end],
            fed,
            batch=item.flag in _BATCHES or arguments[item.end : item.end + 1] == ["+"],
        )
        words = draft.words[item.start : item.end]
        span = draft.span_of(item.start)
        if words and scope.place is None:
            span = Span(words[0].span.start, words[-1].span.end)
        moves = RoleKind.DIRECTORY in reading.by_kind or item.flag == "-execdir"
        start = state.lost() if moves else state
        inner = self.draft(words, span, start, inside)
        carried = handed(arguments[item.start : item.end], carried, draft, inner)
        inner.argv = tuple(each if isinstance(each, str) else None for each in carried)
        inner.arguments = carried
        inner.redirects = draft.redirects
        inner.assignments = draft.assignments + tuple(_assignments(reading, draft))
        in_shell = grammar.feed == "shell"
        after = self.judge_arguments(
            carried, inner, start, inside, external=external or not in_shell, functions=False
        )
        return after if in_shell else state

    def _carried_script(
        self,
        item: Item,
        reading: ArgumentReading,
        arguments: Sequence[Argument],
        draft: Draft,
        state: State,
        scope: WalkScope,
    ) -> State:
        """Judge the script that a shell or `eval` is given as an argument."""
        text: Argument = item.argument
        same_shell = reading.grammar.feed == "eval"
        span = draft.span_of(item.start)
        if same_shell:
            rest = arguments[item.start :]
            literal = [each for each in rest if isinstance(each, str)]
            text = " ".join(literal) if len(literal) == len(rest) else Unknown()
        if not isinstance(text, str):
            draft.doubt("the script is only known at run time", span, kind=EffectKind.EXECUTE)
            return state
        inside = replace(
            scope.inside(draft.index),
            place=span,
            depth=scope.depth + 1,
            fed=Unknown(),
            source=draft.source,
        )
        if same_shell:
            return self.text(text, state, inside, draft)
        posix = draft.program in programs_with("plain_shell")
        inside = replace(inside, posix=posix, in_function=False)
        parameters = known_parameters(arguments[item.start + 2 :])
        named = arguments[item.start + 1 : item.start + 2]
        name = Unknown(names=names_of(named[0]) if named else NO_NAMES)
        fresh = State(state.directories, {"0": name}, parameters=parameters)
        first = len(self.drafts)
        self.text(text, fresh, replace(inside, defined=frozenset(), moves=False), draft)
        if not reading.used.isdisjoint(_LOGIN) and (
            reason := self._profile_objection(text, self.drafts[first:], state)
        ):
            draft.doubt(f"a login shell runs profiles first, {reason}", span)
        return state

    def _profile_objection(self, text: str, inside: Sequence[Draft], state: State) -> str | None:
        """Return why profiles matter to the script of a login shell, or None.

        What the user's profiles define is the user's own. But they may set the secrets again that
        a command without approval is started without, and they are looked for at home.
        """
        home = self.home
        places = [each.rstrip("/") + "/" for each in state.directories]
        if home is None or not places or any(f"{home}/".startswith(each) for each in places):
            return "which may be the project's own"
        tame = programs_with("shows_no_variable")
        if _VARIABLE.search(text) or not all(each.program in tame for each in inside):
            return "which may set secrets that this would show"
        return None


def _assignments(reading: ArgumentReading, draft: Draft) -> list[Assignment]:
    """Return what `env NAME=value` sets for the command that it runs."""
    found: list[Assignment] = []
    for item in reading.by_kind.get(RoleKind.ASSIGNMENT, ()):
        if isinstance(item.argument, str):
            name, _, value = item.argument.partition("=")
            span = draft.span_of(item.start)
            word = Word((Literal(value, span, True),), span)
            found.append(Assignment(name, word, span))
    return found
