"""Judges one simple command: its name, environment, arguments and the commands it runs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from agentscope_like.shell import catalog
from agentscope_like.shell.analysis import Effect, EffectKind
from agentscope_like.shell.arguments import (
    ArgumentReading,
    Item,
    check_test,
    ends_in_time,
    fed_arguments,
    read_arguments,
)
from agentscope_like.shell.catalog import Grammar, RoleKind, program_name
from agentscope_like.shell.draft import MAX_DEPTH, Draft, WalkScope, shortened
from agentscope_like.shell.names import handed
from agentscope_like.shell.state import (
    UNKNOWN_PARAMETERS,
    State,
    absolute,
    are_counted,
    known_parameters,
    merge,
    parameters_after,
    without_parameters,
)
from agentscope_like.shell.syntax import Arithmetic, Assignment, Literal, SimpleCommand, Span, Word
from agentscope_like.shell.syntax.words import read_let
from agentscope_like.shell.values import NO_NAMES, Argument, Unknown, names_of
from agentscope_like.shell.walk.argument_effects import Actor, path_effects
from agentscope_like.shell.walk.purposes import purpose_of
from agentscope_like.shell.walk.redirections import (
    assigned_value,
    check_assignments,
    check_environment,
    judge_redirects,
    may_fail,
)
from agentscope_like.shell.walk.walk_base import WalkBase

__all__ = ["CommandJudge"]

_CARRYING = frozenset({RoleKind.COMMAND, RoleKind.CLAUSE, RoleKind.SCRIPT})
_BATCHES = frozenset({"-X", "--exec-batch"})
_LOGIN = frozenset({"-l", "--login"})
_VARIABLE = re.compile(r"\$(?![(?])")
"""The value of a variable; not `$(...)`, and not the status `$?`."""


class CommandJudge(WalkBase):
    """Judges simple commands, and the commands inside them."""

    def judge_simple(self, command: SimpleCommand, state: State, scope: WalkScope) -> State:
        """Judge `command`, which runs in `state`; return what is known after it."""
        words = command.words
        draft = self.draft(words, command.span, state, scope)
        plain = [text for word in words if (text := word.literal) is not None]
        if plain and len(plain) == len(words) and not (command.assignments or command.redirects):
            draft.argv, draft.arguments = tuple(plain), plain
            return self.judge_arguments(plain, draft, state, scope)
        expander = self.expander(draft, state, scope)
        draft.assignments = command.assignments
        values = [assigned_value(assignment, expander) for assignment in command.assignments]
        arguments = [*map(expander.argument, words)]
        if words and expander.assigned:
            values = [Unknown() for _ in values]  # bash expands them after the words
        draft.redirects = command.redirects + scope.redirects
        judge_redirects(command.redirects, state, expander, self.command)
        draft.argv = tuple([each if isinstance(each, str) else None for each in arguments])
        draft.arguments = arguments
        if not words:
            check_assignments(command.assignments, values, expander)
            return expander.state
        state = state.forget(expander.assigned)
        check_environment(command.assignments, values, arguments, draft, scope)
        if isinstance(arguments[0], Unknown) and arguments[0].choices and arguments[0].single:
            after = self._any_of(arguments[0].choices, arguments, draft, state, scope)
        else:
            after = self.judge_arguments(arguments, draft, state, scope)
        if may_fail(command.redirects):
            after = merge(state, after)
        return after

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
        if functions and name in scope.defined:
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
        actor = Actor(self, draft, reading, state, scope)
        actor.act()
        before, state = state, actor.state
        if draft.program == "local" and not scope.in_function:
            state = merge(before, state)  # it is an error there, and sets nothing
        for item in reading.items:
            if item.role.kind in _CARRYING:
                state = self._carry(
                    item, reading, arguments, draft, state, scope, external=external
                )
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
            state = state.forget(expander.assigned)
        return state

    def _carry(
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

        It begins at `item`, or that is the script; `arguments` are those of the wrapper.
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
        posix = draft.program in catalog.programs_with("plain_shell")
        inside = replace(inside, posix=posix, in_function=False)
        named = arguments[item.start + 1 : item.start + 2]
        is_named = are_counted(known_parameters(named))  # else more of them may be parameters
        parameters = known_parameters(arguments[item.start + (2 if is_named else 1) :])
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
        tame = catalog.programs_with("shows_no_variable")
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
