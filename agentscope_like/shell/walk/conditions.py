"""Judges `[[ ... ]]` and `(( ... ))`, which bash evaluates itself."""

from __future__ import annotations

from agentscope_like.shell.analysis import EffectKind
from agentscope_like.shell.arguments import check_condition
from agentscope_like.shell.draft import WalkScope
from agentscope_like.shell.expand import Expander
from agentscope_like.shell.state import State, merge
from agentscope_like.shell.syntax import ArithmeticCommand, Literal, Redirect, Span, Test, Word
from agentscope_like.shell.walk.redirections import judge_redirects, may_fail
from agentscope_like.shell.walk.walk_protocol import Walking

__all__ = ["judge_arithmetic", "judge_test"]

_TEST = "[["
_ARITHMETIC = "(("


def judge_arithmetic(
    command: ArithmeticCommand, walk: Walking, state: State, scope: WalkScope
) -> State:
    """Judge `((expression))`; return the state after it."""
    start = command.span.start
    span = Span(start, start + len(_ARITHMETIC))
    name = Word((Literal(_ARITHMETIC, span),), span)
    draft = walk.draft((name,), command.span, state, scope)
    draft.argv = (_ARITHMETIC,)
    draft.program = _ARITHMETIC
    expander = Expander(walk, state, draft, scope, home=walk.home)
    expander.evaluate(command.expression)
    if command.redirects:
        draft.redirects = command.redirects + scope.redirects
        judge_redirects(command.redirects, state, draft, expander, scope, walk.command)
    after = state.forget(expander.assigned, directory=False)
    return merge(state, after) if may_fail(command.redirects) else after


def judge_test(command: Test, walk: Walking, state: State, scope: WalkScope) -> State:
    """Judge `[[ ... ]]`; return what is known after it."""
    start = command.span.start
    span = Span(start, start + len(_TEST))
    name = Word((Literal(_TEST, span),), span)
    draft = walk.draft((name, *command.words), command.span, state, scope)
    expander = Expander(walk, state, draft, scope, home=walk.home)
    words = [expander.text(word) for word in command.words]
    draft.argv = (_TEST, *(word if isinstance(word, str) else None for word in words))
    draft.program = _TEST
    for problem in check_condition(words):
        span = scope.span(command.words[problem.at].span)
        draft.doubt(problem.message, span, kind=EffectKind.UNKNOWN)
    redirects: tuple[Redirect, ...] = command.redirects
    if redirects:
        draft.redirects = redirects + scope.redirects
        judge_redirects(redirects, state, draft, expander, scope, walk.command)
    return state.forget(expander.assigned, directory=False)
