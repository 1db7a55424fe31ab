"""Judges one simple command: its name, environment, arguments and the commands it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from msgspec.structs import replace

from agentscope_like.shell import catalog
from agentscope_like.shell.analysis import Effect, EffectKind
from agentscope_like.shell.arguments import check_test, read_arguments
from agentscope_like.shell.catalog import Grammar, RoleKind, program_name
from agentscope_like.shell.draft import Draft, WalkScope, shortened
from agentscope_like.shell.state import (
    UNKNOWN_PARAMETERS,
    State,
    absolute,
    merge,
    parameters_after,
    without_parameters,
)
from agentscope_like.shell.syntax import Arithmetic, Literal, SimpleCommand, Word
from agentscope_like.shell.syntax.words import read_let
from agentscope_like.shell.values import Argument, Unknown
from agentscope_like.shell.walk.argument_effects import Actor, path_effects
from agentscope_like.shell.walk.carried_commands import CarriedJudge
from agentscope_like.shell.walk.purposes import purpose_of
from agentscope_like.shell.walk.redirections import (
    assign,
    assigned_value,
    check_environment,
    judge_redirects,
    may_fail,
)

__all__ = ["CommandJudge"]

_MAX_OPTIONAL = 3
_CARRYING = frozenset({RoleKind.COMMAND, RoleKind.CLAUSE, RoleKind.SCRIPT})


class CommandJudge(CarriedJudge):
    """Judges simple commands."""

    def judge_simple(self, command: SimpleCommand, state: State, scope: WalkScope) -> State:
        """Judge `command`, which runs in `state`; return what is known after it."""
        words = command.words
        draft = self.draft(words, command.span, state, scope)
        plain = None if command.assignments or command.redirects else _literals(words)
        if plain:
            draft.argv, draft.arguments = tuple(plain), plain
            return self.judge_arguments(plain, draft, state, scope)
        expander = self.expander(draft, state, scope)
        values: list[Argument] = []
        if command.assignments:
            values = [assigned_value(assignment, expander) for assignment in command.assignments]
        arguments = [*map(expander.argument, words)]
        if words and expander.assigned:
            values = [Unknown() for _ in values]  # bash expands them after the words
        if command.redirects:
            draft.redirects = command.redirects + scope.redirects
            judge_redirects(command.redirects, state, expander, self.command)
        draft.argv = tuple([each if isinstance(each, str) else None for each in arguments])
        draft.arguments = arguments
        if expander.assigned:
            state = state.forget(expander.assigned, directory=False)
        if not words:
            return assign(command.assignments, values, state, draft, scope)
        if command.assignments:
            draft.assignments = command.assignments
            check_environment(command.assignments, values, arguments, draft, scope)
        if isinstance(arguments[0], Unknown) and arguments[0].choices and arguments[0].single:
            after = self._any_of(arguments[0].choices, arguments, draft, state, scope)
        else:
            after = self.judge_arguments(arguments, draft, state, scope)
            if None in draft.argv and (fewer := self._with_fewer(arguments, draft, state, scope)):
                after = merge(after, *fewer)
        if command.redirects and may_fail(command.redirects):
            after = merge(state, after)
        return after

    def _with_fewer(
        self, arguments: Sequence[Argument], draft: Draft, state: State, scope: WalkScope
    ) -> list[State]:
        """Judge a command without the arguments that may expand to nothing."""
        if arguments[0] in catalog.programs_with("condition"):
            return []
        ends: list[State] = []
        for fewer, other in _with_fewer(arguments, draft):
            ends.append(self.judge_arguments(fewer, other, state, replace(scope, lacking=True)))
            effects, doubts = set(draft.effects), set(draft.doubts)
            draft.add(each for each in dict.fromkeys(other.effects) if each not in effects)
            draft.doubts += [each for each in dict.fromkeys(other.doubts) if each not in doubts]
        return ends

    def _any_of(
        self,
        names: Sequence[str],
        arguments: Sequence[Argument],
        draft: Draft,
        state: State,
        scope: WalkScope,
    ) -> State:
        """Judge a command whose program is one of `names`: a part for each of them."""
        draft.is_one_of_several = True
        parts = [draft, *(self.copy(draft, scope) for _ in names[1:])]
        ends: list[State] = []
        for name, part in zip(names, parts, strict=True):
            part.argv = (name, *draft.argv[1:])
            ends.append(self.judge_arguments([name, *arguments[1:]], part, state, scope))
        return merge(*ends)

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
        """Judge the command of `arguments`, whose first names the program.

        Args:
            arguments: The program and its arguments.
            draft: The part that gets the effects and doubts.
            state: The state before.
            scope: The scope of the command.
            external: Whether another program starts it, so that shell builtins are out of reach.
            functions: Whether a function of that name would be called.
        """
        name = arguments[0]
        if not isinstance(name, str):
            draft.doubt(
                "the program's name is computed at run time",
                draft.span_of(0),
                kind=EffectKind.EXECUTE,
            )
            return state
        program = program_name(name)
        if functions and not external and name in scope.defined:
            return self._call(name, draft, state, scope)
        grammar = catalog.lookup(program) if program is not None else None
        draft.program = program
        if program in catalog.programs_with("declares") and draft.words[0].literal is None:
            message = f"`{name}` splits its words differently when its name is computed"
            draft.doubt(message, draft.span_of(0), kind=EffectKind.UNKNOWN)
        if grammar is None or (external and grammar.builtin):
            self._unknown(name, program, draft, state, builtin=grammar is not None)
            return state
        return self._known(grammar, arguments, draft, state, scope, external=external)

    def _call(self, name: str, draft: Draft, state: State, scope: WalkScope) -> State:
        """Judge a call of a function; its body has been judged where it is defined."""
        if name not in state.functions:
            draft.doubt(
                f"`{name}` may call a function or a program",
                draft.span_of(0),
                kind=EffectKind.EXECUTE,
            )
        draft.body = state.functions.get(name)
        known = replace(state, variables={}, parameters=UNKNOWN_PARAMETERS)
        return known.lost() if scope.moves else known

    def _unknown(
        self,
        name: str,
        program: str | None,
        draft: Draft,
        state: State,
        *,
        builtin: bool,
    ) -> None:
        span = draft.span_of(0)
        if builtin:
            what = "is a shell builtin, not a program that can be started here"
        elif program is None:
            what = "is a program outside the system directories"
        else:
            what = "is an unknown program"
        told = purpose_of((program, *draft.argv[1:])) if program else None
        directory = state.directories[0] if state.directories else None
        path = absolute(directory, name) if "/" in name else None
        draft.effects.append(Effect(EffectKind.EXECUTE, name, path, span))
        if program in catalog.programs_with("lister"):
            here = state.directories
            draft.add(path_effects(EffectKind.READ, ".", here, span, ".", recursive=True))
        draft.doubt(told or f"`{shortened(name)}` {what}", span)

    def _known(
        self,
        grammar: Grammar,
        arguments: Sequence[Argument],
        draft: Draft,
        state: State,
        scope: WalkScope,
        *,
        external: bool,
    ) -> State:
        if draft.program in catalog.programs_with("condition"):
            for problem in check_test(arguments, 1):
                draft.doubt(problem.message, draft.span_of(problem.at), kind=EffectKind.UNKNOWN)
            return state
        if draft.program in catalog.programs_with("parameters"):
            state = replace(state, parameters=parameters_after(arguments, state.parameters))
            arguments = without_parameters(arguments)
        if draft.program == "let":
            return self._let(arguments, draft, state, scope)
        reading = read_arguments(grammar, arguments)
        if not (scope.bounded or grammar.endless.isdisjoint(reading.used)):
            draft.doubt(f"`{reading.label}` never ends", draft.span, kind=EffectKind.UNKNOWN)
        depends = reading.grammar.local and not state.directories
        idle = not (reading.items or reading.problems or depends)
        if idle and reading.grammar.name not in catalog.programs_with("returns"):
            return state
        actor = Actor(self, draft, reading, state, scope)
        if scope.lacking:
            reading.problems = [each for each in reading.problems if not each.is_lack]
        actor.act()
        before, state = state, actor.state
        if draft.program == "local" and not scope.in_function:
            state = merge(before, state)  # it is an error there, and sets nothing
        for item in reading.items:
            if item.role.kind in _CARRYING:
                state = self.carry(item, reading, arguments, draft, state, scope, external=external)
        return state

    def _let(
        self, arguments: Sequence[Argument], draft: Draft, state: State, scope: WalkScope
    ) -> State:
        """Judge `let`, each argument of which is evaluated as in `((...))`."""
        for index, argument in enumerate(arguments[1:], 1):
            span = draft.span_of(index)
            text = argument if isinstance(argument, str) else "$"
            found = read_let(text)
            if found is None:
                draft.doubt("this arithmetic cannot be parsed", span, kind=EffectKind.UNKNOWN)
                continue
            expander = self.expander(draft, state, scope)
            expander.evaluate(Arithmetic(text, span, found.names, assigned=found.assigned))
            state = state.forget(expander.assigned, directory=False)
        return state


def _literals(words: Sequence[Word]) -> list[str] | None:
    """Return the texts of words that bash expands to themselves; None if one is no such word."""
    found: list[str] = []
    for word in words:
        first = word.segments[0]
        if len(word.segments) != 1 or not isinstance(first, Literal):
            return None
        found.append(first.text)
    return found


def _with_fewer(
    arguments: Sequence[Argument], draft: Draft
) -> Iterator[tuple[list[Argument], Draft]]:
    """Yield a command without some of the arguments that may expand to nothing, with new parts.

    More than three of them are a doubt instead.
    """
    optional = [
        index
        for index, argument in enumerate(arguments)
        if isinstance(argument, Unknown) and argument.optional
    ]
    if len(optional) > _MAX_OPTIONAL:
        message = "too many arguments may expand to nothing"
        draft.doubt(message, draft.span_of(optional[0]), kind=EffectKind.UNKNOWN)
        return
    for count in range(1, len(optional) + 1):
        for missing in combinations(optional, count):
            kept = [index for index in range(len(arguments)) if index not in missing]
            words = tuple(draft.words[index] for index in kept)
            fewer = [arguments[index] for index in kept]
            other = replace(draft, words=words, arguments=fewer, effects=[], doubts=[])
            other.argv = tuple(draft.argv[index] for index in kept)
            yield fewer, other
