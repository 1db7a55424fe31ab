"""Judges compound commands: the possible control flow through groups, loops and branches."""

from __future__ import annotations

from typing import TypeAlias

from msgspec.structs import replace

from agentscope_like.shell.analysis import Doubt, EffectKind
from agentscope_like.shell.arguments import check_condition
from agentscope_like.shell.draft import UNKNOWN_INPUT, Draft, WalkScope
from agentscope_like.shell.expand import Expander, keeps_input
from agentscope_like.shell.state import (
    State,
    merge,
    mutations,
    own_doubt,
    widened,
)
from agentscope_like.shell.syntax import (
    Arithmetic,
    ArithmeticCommand,
    ArithmeticFor,
    Case,
    For,
    Group,
    If,
    Literal,
    Loop,
    Span,
    Test,
    Word,
)
from agentscope_like.shell.values import NO_NAMES, Argument, Shape, Unknown, element, join
from agentscope_like.shell.walk.command_judge import CommandJudge
from agentscope_like.shell.walk.redirections import judge_redirects, may_fail

__all__ = ["CompoundJudge"]

Compound: TypeAlias = Group | For | ArithmeticFor | Loop | If | Case


class CompoundJudge(CommandJudge):
    """Judges compound commands."""

    def judge_compound(self, command: Compound, state: State, scope: WalkScope) -> State:
        """Judge `command` with its redirections; return what is known after it."""
        first = len(self.drafts)
        holder: Draft | None = None
        inner = scope
        if command.redirects:
            expander = self._detached(command.span, state, scope)
            holder = expander.draft
            holder.source = scope.source
            judge_redirects(command.redirects, state, expander, self.command)
            redirects = command.redirects + scope.redirects
            source = holder.source if keeps_input(command) else UNKNOWN_INPUT
            inner = replace(scope, redirects=redirects, source=source)
            state = state.forget(expander.assigned)
        after = self._body(command, state, inner)
        if may_fail(command.redirects):
            after = merge(state, after)
        if holder is not None:
            if len(self.drafts) == first:
                self.draft((), command.span, state, inner)
            carrier = self.drafts[first]
            carrier.effects += holder.effects
            carrier.doubts += holder.doubts
        return after

    def _body(self, command: Compound, state: State, scope: WalkScope) -> State:
        match command:
            case Group(body=body, subshell=subshell):
                after = self.script(body, state, scope)
                return state if subshell else after
            case For():
                return self._for(command, state, scope)
            case ArithmeticFor():
                return self._counting_loop(command, state, scope)
            case Loop(condition=condition, body=body):
                found = mutations(condition, body, outlasting=True)
                start = widened(state, found, scope)
                between = self.script(condition, start, scope)
                return merge(between, self.script(body, between, scope))
            case If():
                return self._if(command, state, scope)
            case Case():
                return self._case(command, state, scope)

    def _for(self, command: For, state: State, scope: WalkScope) -> State:
        found = mutations(command.body, outlasting=True)
        value, state = self._loop_value(command, state, scope)
        problem = own_doubt(command.name, Unknown())
        if problem:
            self.doubts.append(Doubt(problem, scope.span(command.span)))
        start = widened(state, found, scope)
        after = self.script(command.body, start.assign(command.name, value), scope)
        return merge(start.forget({command.name: Shape.ANY}), after)

    def _counting_loop(self, command: ArithmeticFor, state: State, scope: WalkScope) -> State:
        found = mutations(command.body, outlasting=True)
        for head in (command.test, command.step):
            for name in () if head is None else head.assigned:
                found.assign(name, Shape.INTEGER)
        begun = self._evaluate(command.start, command.span, state, scope)
        start = widened(begun, found, scope)
        start = self._evaluate(command.test, command.span, start, scope)
        after = self.script(command.body, start, scope)
        after = self._evaluate(command.step, command.span, after, scope)
        return merge(start, after)

    def _evaluate(
        self, head: Arithmetic | None, span: Span, state: State, scope: WalkScope
    ) -> State:
        """Judge one part of the head of a counting loop."""
        if head is None:
            return state
        expander = self._detached(span, state, scope)
        expander.evaluate(head)
        return self._after(expander, state)

    def _loop_value(self, command: For, state: State, scope: WalkScope) -> tuple[Argument, State]:
        """Return what the variable of a `for` holds in its body, and the state after its words."""
        values = [*state.parameters]
        if command.words is not None:
            expander = self._detached(command.span, state, scope)
            values = [expander.argument(word) for word in command.words]
            for value in values:
                expander.hold(value)
            state = self._after(expander, state)
        return (join([*map(element, values)]) if values else Unknown(names=NO_NAMES)), state

    def _detached(self, span: Span, state: State, scope: WalkScope) -> Expander:
        draft = Draft((), (), scope.span(span), scope.parent, None, parent=scope.parent)
        return self.expander(draft, state, scope)

    def _after(self, expander: Expander, state: State) -> State:
        """Keep the doubts of an expander, and return the state after its assignments."""
        self.doubts += expander.draft.doubts
        return state.forget(expander.assigned)

    def _if(self, command: If, state: State, scope: WalkScope) -> State:
        ends: list[State] = []
        for condition, body in command.branches:
            state = self.script(condition, state, scope)
            ends.append(self.script(body, state, scope))
        if command.otherwise is not None:
            state = self.script(command.otherwise, state, scope)
        return merge(state, *ends)

    def _case(self, command: Case, state: State, scope: WalkScope) -> State:
        expander = self._detached(command.span, state, scope)
        expander.text(command.subject)
        for arm in command.arms:
            for pattern in arm.patterns:
                expander.text(pattern)
        state = self._after(expander, state)
        ends: list[State] = []
        start = state
        for arm in command.arms:
            ends.append(self.script(arm.body, start, scope))
            start = merge(state, start, ends[-1]) if arm.falls else start
        return merge(state, *ends)

    def judge_evaluation(
        self, command: Test | ArithmeticCommand, state: State, scope: WalkScope
    ) -> State:
        """Judge `[[ ... ]]` or `((...))`, a part of that name; return what is known after it."""
        program = "[[" if isinstance(command, Test) else "(("
        start = command.span.start
        span = Span(start, start + len(program))
        words = command.words if isinstance(command, Test) else ()
        name = Word((Literal(program, span),), span)
        draft = self.draft((name, *words), command.span, state, scope)
        draft.program = program
        expander = self.expander(draft, state, scope)
        operands = [expander.text(word) for word in words]
        draft.argv = (program, *(each if isinstance(each, str) else None for each in operands))
        if isinstance(command, ArithmeticCommand):
            expander.evaluate(command.expression)
        for problem in check_condition(operands):
            place = scope.span(words[problem.at].span)
            draft.doubt(problem.message, place, kind=EffectKind.UNKNOWN)
        if command.redirects:
            draft.redirects = command.redirects + scope.redirects
            judge_redirects(command.redirects, state, expander, self.command)
        after = state.forget(expander.assigned)
        return merge(state, after) if may_fail(command.redirects) else after
