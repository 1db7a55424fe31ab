"""Judges assignments to variables, alone or before a command."""

from __future__ import annotations

from collections.abc import Sequence

from agentscope_like.shell.analysis import EffectKind
from agentscope_like.shell.catalog import programs_with
from agentscope_like.shell.draft import Draft, WalkScope
from agentscope_like.shell.expand import Expander
from agentscope_like.shell.state import State, exported_doubt, own_doubt
from agentscope_like.shell.syntax import Assignment
from agentscope_like.shell.values import Argument, Unknown, element, elements_of, join

__all__ = ["assign", "assigned_value", "check_environment"]


def assigned_value(assignment: Assignment, expander: Expander) -> Argument:
    """Return the value of a variable, or of any element of an array, for later commands."""
    if assignment.elements is None:
        value = expander.text(assignment.value)
    else:
        values = [element(expander.argument(word)) for word in assignment.elements]
        value = join(values) if values else Unknown()
        expander.assign(elements_of(assignment.name), Unknown())
    expander.assign(assignment.name, Unknown() if assignment.append else value)
    return value


def assign(
    assignments: Sequence[Assignment],
    values: Sequence[Argument],
    state: State,
    draft: Draft,
    scope: WalkScope,
) -> State:
    """Judge a command that consists of assignments; return the state after it."""
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
            message = f"`{name}` is read-only, so bash skips the rest of the line"
        if message:
            draft.doubt(message, scope.span(assignment.span), kind=EffectKind.UNKNOWN)
        state = state.assign(name, known)
    return state


def check_environment(
    assignments: Sequence[Assignment],
    values: Sequence[Argument],
    arguments: Sequence[Argument],
    draft: Draft,
    scope: WalkScope,
) -> None:
    """Add doubts about assignments before a command that may change what it does."""
    for assignment, value in zip(assignments, values, strict=True):
        if assignment.name == "IFS" and arguments[0] in programs_with("fills") - scope.defined:
            continue
        message = exported_doubt(assignment.name, value)
        if assignment.append:
            message = message or f"`{assignment.name}+=` adds to an unknown value"
        if message:
            draft.doubt(message, scope.span(assignment.span), kind=EffectKind.UNKNOWN)
