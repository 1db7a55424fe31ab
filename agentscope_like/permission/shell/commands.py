"""Judges one simple command: its name, its environment, its arguments, what it carries."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from agentscope_like.permission.shell import catalog
from agentscope_like.permission.shell.analysis import Effect, EffectKind
from agentscope_like.permission.shell.arguments import read_arguments
from agentscope_like.permission.shell.arithmetic import read_let
from agentscope_like.permission.shell.directories import absolute
from agentscope_like.permission.shell.effects import Actor
from agentscope_like.permission.shell.environment import exported_doubt, own_doubt
from agentscope_like.permission.shell.expander import Expander, Substituter
from agentscope_like.permission.shell.grammar import Grammar, RoleKind
from agentscope_like.permission.shell.mutations import DECLARING
from agentscope_like.permission.shell.outputs import judge_redirects, may_fail
from agentscope_like.permission.shell.parts import MAX_DEPTH, Draft, Scope, shortened
from agentscope_like.permission.shell.positional import (
    known_parameters,
    parameters_after,
    without_parameters,
)
from agentscope_like.permission.shell.predicates import check_test
from agentscope_like.permission.shell.reading import Item, Reading
from agentscope_like.permission.shell.state import State, merge
from agentscope_like.permission.shell.tree import (
    Arithmetic,
    Assignment,
    Literal,
    SimpleCommand,
    Span,
    Word,
)
from agentscope_like.permission.shell.values import (
    Argument,
    Output,
    Unknown,
    element,
    elements_of,
    join,
)
from agentscope_like.permission.shell.wrappers import ends_in_time, fed_arguments

if TYPE_CHECKING:
    from agentscope_like.permission.shell.tree import Script

__all__ = ["CommandJudge", "Walking", "program_name"]

_SYSTEM_DIRECTORIES = frozenset(
    {
        "/bin",
        "/opt/homebrew/bin",
        "/sbin",
        "/usr/bin",
        "/usr/local/bin",
        "/usr/local/sbin",
        "/usr/sbin",
    }
)
_CARRYING = frozenset({RoleKind.COMMAND, RoleKind.CLAUSE, RoleKind.SCRIPT})
_PARAMETER_COMMANDS = frozenset({"set", "shift"})
_BATCHES = frozenset({"-X", "--exec-batch"})
_MOVING = frozenset({"cd", "popd"})
_PLAIN_SHELLS = frozenset({"sh", "dash"})
_SPLITTING = frozenset({"read", "mapfile"})
_MAX_OPTIONAL = 3
_CONDITIONS = frozenset({"test", "["})


def program_name(name: str) -> str | None:
    """Return the bare name of a program; None for a path outside the system directories."""
    if "/" not in name:
        return name
    directory, _, base = name.rpartition("/")
    return base if base and directory in _SYSTEM_DIRECTORIES else None


class Walking(Substituter, Protocol):
    """What the judge of a command needs of the walk that it is part of."""

    command: str
    home: str | None

    def draft(self, words: tuple[Word, ...], span: Span, state: State, scope: Scope) -> Draft:
        """Begin a new part."""

    def copy(self, draft: Draft) -> Draft:
        """Begin a new part that is like another one so far."""

    def script(self, script: Script, state: State, scope: Scope) -> State:
        """Judge a script that runs in the same shell."""

    def text(self, text: str, state: State, scope: Scope, draft: Draft) -> State:
        """Read and judge a script that stands as text in a word of `draft`."""


class CommandJudge:
    """Judges simple commands for one walk."""

    __slots__ = ("_walk",)

    def __init__(self, walk: Walking) -> None:
        self._walk = walk

    def judge(self, command: SimpleCommand, state: State, scope: Scope) -> tuple[State, Draft]:
        """Judge `command`, which runs in `state`; return what is known after it, and its part."""
        words = command.words
        draft = self._walk.draft(words, command.span, state, scope)
        expander = Expander(self._walk, state, draft, scope, home=self._walk.home)
        values = [_assigned(assignment, expander) for assignment in command.assignments]
        arguments = [expander.argument(word) for word in words]
        if words and expander.assigned:
            values = [Unknown() for _ in values]  # bash expands them after the words
        if command.redirects:
            draft.redirects = command.redirects + scope.redirects
            judge_redirects(command.redirects, state, draft, expander, scope, self._walk.command)
        draft.argv = tuple([each if isinstance(each, str) else None for each in arguments])
        draft.arguments = arguments
        if expander.assigned:
            state = state.forget(expander.assigned, directory=False)
        if not words:
            return self._assign(command.assignments, values, state, draft, scope), draft
        if command.assignments:
            draft.assignments = command.assignments
            self._check_environment(command.assignments, values, arguments, draft, scope)
        if isinstance(arguments[0], Unknown) and arguments[0].choices and arguments[0].single:
            after = self._any_of(arguments[0].choices, arguments, draft, state, scope)
        else:
            after = self.run(arguments, draft, state, scope)
            fewer = self._with_fewer(arguments, draft, state, scope)
            after = merge(after, *fewer) if fewer else after
        return merge(state, after) if may_fail(command.redirects) else after, draft

    def _with_fewer(
        self, arguments: Sequence[Argument], draft: Draft, state: State, scope: Scope
    ) -> list[State]:
        """Judge a command without the arguments that may turn out to be none, as `$(...)` may."""
        optional = [
            index
            for index, argument in enumerate(arguments)
            if isinstance(argument, Unknown) and argument.optional
        ]
        if not optional or arguments[0] in _CONDITIONS:
            return []
        if len(optional) > _MAX_OPTIONAL:
            message = "so many arguments that may turn out to be none are not understood"
            draft.doubt(message, draft.span_of(optional[0]), kind=EffectKind.UNKNOWN)
            return []
        ends: list[State] = []
        for count in range(1, len(optional) + 1):
            for missing in combinations(optional, count):
                kept = [index for index in range(len(arguments)) if index not in missing]
                fewer = [arguments[index] for index in kept]
                words = tuple(draft.words[index] for index in kept)
                other = replace(draft, words=words, arguments=fewer, effects=[], doubts=[])
                other.argv = tuple(draft.argv[index] for index in kept)
                ends.append(self.run(fewer, other, state, replace(scope, lacking=True)))
                draft.add(each for each in other.effects if each not in draft.effects)
                draft.doubts += [each for each in other.doubts if each not in draft.doubts]
        return ends

    def _any_of(
        self,
        names: Sequence[str],
        arguments: Sequence[Argument],
        draft: Draft,
        state: State,
        scope: Scope,
    ) -> State:
        """Judge a command whose program is one of `names`: a part for each of them."""
        draft.is_one_of_several = True
        parts = [draft, *(self._walk.copy(draft) for _ in names[1:])]
        ends: list[State] = []
        for name, part in zip(names, parts, strict=True):
            part.argv = (name, *draft.argv[1:])
            ends.append(self.run([name, *arguments[1:]], part, state, scope))
        return merge(*ends)

    def _assign(
        self,
        assignments: Sequence[Assignment],
        values: Sequence[Argument],
        state: State,
        draft: Draft,
        scope: Scope,
    ) -> State:
        draft.assignments = tuple(assignments)
        for assignment, value in zip(assignments, values, strict=True):
            name = assignment.name
            known = value
            if assignment.elements is not None:
                known = Unknown() if assignment.append else value
                state = state.assign(elements_of(name), known)
            elif assignment.append:
                before = state.variables.get(name)
                both = isinstance(before, str) and isinstance(value, str)
                known = f"{before}{value}" if both else Unknown()
            message = own_doubt(name, known)
            if name in state.fixed:
                message = f"`{name}` is read-only, for which bash leaves out the rest of the line"
            if message:
                draft.doubt(message, scope.span(assignment.span), kind=EffectKind.UNKNOWN)
            state = state.assign(name, known)
        return state

    def _check_environment(
        self,
        assignments: Sequence[Assignment],
        values: Sequence[Argument],
        arguments: Sequence[Argument],
        draft: Draft,
        scope: Scope,
    ) -> None:
        for assignment, value in zip(assignments, values, strict=True):
            if assignment.name == "IFS" and arguments[0] in _SPLITTING - scope.defined:
                continue
            message = exported_doubt(assignment.name, value)
            if assignment.append:
                message = message or f"`{assignment.name}+=` adds to a value that is not known"
            if message:
                draft.doubt(message, scope.span(assignment.span), kind=EffectKind.UNKNOWN)

    def run(
        self,
        arguments: Sequence[Argument],
        draft: Draft,
        state: State,
        scope: Scope,
        *,
        external: bool = False,
        functions: bool = True,
    ) -> State:
        """Judge the command of `arguments`, whose first names the program.

        Args:
            arguments: The program and its arguments.
            draft: The part that gets the effects and doubts.
            state: What is known before.
            scope: What surrounds the command.
            external: Whether another program starts it, so that shell builtins are out of reach.
            functions: Whether a function of that name would be called.
        """
        name = arguments[0]
        if not isinstance(name, str):
            draft.doubt(
                "which program this runs is computed",
                draft.span_of(0),
                kind=EffectKind.EXECUTE,
            )
            return state
        program = program_name(name)
        if functions and not external and name in scope.defined:
            return self._call(name, draft, state, scope)
        grammar = catalog.lookup(program) if program is not None else None
        draft.program = program
        if program in DECLARING and draft.words[0].literal is None:
            message = f"`{name}` splits its words otherwise where its name is computed"
            draft.doubt(message, draft.span_of(0), kind=EffectKind.UNKNOWN)
        if grammar is None or (external and grammar.builtin):
            self._unknown(name, program, draft, state, builtin=grammar is not None)
            return state
        return self._known(grammar, arguments, draft, state, scope, external=external)

    def _call(self, name: str, draft: Draft, state: State, scope: Scope) -> State:
        """Judge a call of a function; its body has been judged where it is defined."""
        if name not in state.functions:
            draft.doubt(
                f"`{name}` may be the function of that name, or not",
                draft.span_of(0),
                kind=EffectKind.EXECUTE,
            )
        known = replace(state, variables={}, parameters=None)
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
            what = "is a command of the shell, not a program that can be started here"
        elif program is None:
            what = "is a program outside the system's directories"
        else:
            what = "is not a program known to be harmless"
        directory = state.directories[0] if state.directories else None
        path = absolute(directory, name) if "/" in name else None
        draft.effects.append(Effect(EffectKind.EXECUTE, name, path, span))
        draft.doubt(f"`{shortened(name)}` {what}", span)

    def _known(
        self,
        grammar: Grammar,
        arguments: Sequence[Argument],
        draft: Draft,
        state: State,
        scope: Scope,
        *,
        external: bool,
    ) -> State:
        if draft.program in _CONDITIONS:
            for problem in check_test(arguments, 1):
                draft.doubt(problem.message, draft.span_of(problem.at), kind=EffectKind.UNKNOWN)
            return state
        if draft.program in _PARAMETER_COMMANDS:
            state = replace(state, parameters=parameters_after(arguments, state.parameters))
            arguments = without_parameters(arguments)
        if draft.program == "let":
            return self._let(arguments, draft, state, scope)
        reading = read_arguments(grammar, arguments)
        if not (scope.bounded or grammar.endless.isdisjoint(reading.used)):
            draft.doubt(f"`{reading.label}` goes on for ever", draft.span, kind=EffectKind.UNKNOWN)
        idle = not (reading.items or reading.problems or reading.grammar.local)
        if idle and reading.grammar.name not in _MOVING:
            return state
        actor = Actor(
            draft=draft,
            reading=reading,
            state=state,
            home=self._walk.home,
            fed=_known_input(draft, scope),
            command=self._walk.command,
        )
        if scope.lacking:
            reading.problems = [each for each in reading.problems if not each.is_lack]
        actor.act()
        before, state = state, actor.state
        if draft.program == "local" and not scope.in_function:
            state = merge(before, state)  # it is an error there, and sets nothing
        for item in reading.items:
            if item.role.kind in _CARRYING:
                state = self._carry(item, reading, arguments, draft, state, scope, external)
        return state

    def _let(
        self, arguments: Sequence[Argument], draft: Draft, state: State, scope: Scope
    ) -> State:
        """Judge `let`, each argument of which is evaluated as in `((...))`."""
        for index, argument in enumerate(arguments[1:], 1):
            span = draft.span_of(index)
            text = argument if isinstance(argument, str) else "$"
            found = read_let(text)
            if found is None:
                draft.doubt("this arithmetic is not understood", span, kind=EffectKind.UNKNOWN)
                continue
            expander = Expander(self._walk, state, draft, scope, home=self._walk.home)
            expander.evaluate(Arithmetic(text, span, found.names, assigned=found.assigned))
            state = state.forget(expander.assigned, directory=False)
        return state

    def _carry(
        self,
        item: Item,
        reading: Reading,
        arguments: Sequence[Argument],
        draft: Draft,
        state: State,
        scope: Scope,
        external: bool,
    ) -> State:
        """Judge the command that a wrapper runs, as a part below the wrapper's."""
        grammar = reading.grammar
        inside = replace(
            scope.inside(draft.index),
            depth=scope.depth + 1,
            fed=Output(),
            bounded=scope.bounded or ends_in_time(reading),
        )
        if inside.depth > MAX_DEPTH:
            draft.doubt(
                "wrappers are nested too deeply to be read", draft.span, kind=EffectKind.EXECUTE
            )
            return state
        if item.role.kind is RoleKind.SCRIPT:
            return self._script(item, reading, arguments, draft, state, scope)
        if item.end <= item.start:
            return state
        fed = _known_input(draft, scope)
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
        directory = any(each.role.kind is RoleKind.DIRECTORY for each in reading.items)
        start = state.lost() if directory or item.flag == "-execdir" else state
        inner = self._walk.draft(words, span, start, inside)
        inner.argv = tuple(each if isinstance(each, str) else None for each in carried)
        inner.arguments = carried
        inner.redirects = draft.redirects
        inner.assignments = draft.assignments + tuple(self._assignments(reading, draft))
        in_shell = grammar.feed == "shell"
        after = self.run(
            carried, inner, start, inside, external=external or not in_shell, functions=False
        )
        return after if in_shell else state

    def _assignments(self, reading: Reading, draft: Draft) -> list[Assignment]:
        """Return what `env NAME=value` sets for the command that it runs."""
        found: list[Assignment] = []
        for item in reading.items:
            if item.role.kind is RoleKind.ASSIGNMENT and isinstance(item.argument, str):
                name, _, value = item.argument.partition("=")
                span = draft.span_of(item.start)
                word = Word((Literal(value, span, True),), span)
                found.append(Assignment(name, word, span))
        return found

    def _script(
        self,
        item: Item,
        reading: Reading,
        arguments: Sequence[Argument],
        draft: Draft,
        state: State,
        scope: Scope,
    ) -> State:
        text: Argument = item.argument
        same_shell = reading.grammar.feed == "eval"
        span = draft.span_of(item.start)
        if same_shell:
            rest = arguments[item.start :]
            literal = [each for each in rest if isinstance(each, str)]
            text = " ".join(literal) if len(literal) == len(rest) else Unknown()
        if not isinstance(text, str):
            draft.doubt("the script is computed, and cannot be read", span, kind=EffectKind.EXECUTE)
            return state
        inside = replace(scope.inside(draft.index), place=span, depth=scope.depth + 1, fed=Output())
        if same_shell:
            return self._walk.text(text, state, inside, draft)
        posix = draft.program in _PLAIN_SHELLS
        inside = replace(inside, posix=posix, in_function=False)
        parameters = known_parameters(arguments[item.start + 2 :])
        fresh = State(directories=state.directories, variables={}, parameters=parameters)
        self._walk.text(text, fresh, replace(inside, defined=frozenset(), moves=False), draft)
        return state


def _known_input(draft: Draft, scope: Scope) -> Output:
    """Return what is known of the standard input of a command."""
    if not draft.redirects or scope.fed == Output():
        return scope.fed
    redirected = any(each.operator.startswith("<") or each.fd == 0 for each in draft.redirects)
    return Output() if redirected else scope.fed


def _assigned(assignment: Assignment, expander: Expander) -> Argument:
    """Return what a variable gets, or any element of an array; what follows may go by it."""
    if assignment.elements is None:
        value = expander.text(assignment.value)
    else:
        values = [element(expander.argument(word)) for word in assignment.elements]
        value = join(values) if values else Unknown()
        expander.assign(elements_of(assignment.name), Unknown())
    expander.assign(assignment.name, Unknown() if assignment.append else value)
    return value
