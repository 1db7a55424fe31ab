"""Judges assignments to variables, and what redirections read and write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from agentscope_like.shell.analysis import Doubt, Effect, EffectKind
from agentscope_like.shell.catalog import programs_with
from agentscope_like.shell.draft import Draft, WalkScope, shortened
from agentscope_like.shell.expand import Expander, names_in_text, shown_text
from agentscope_like.shell.state import State, exported_doubt, own_doubt
from agentscope_like.shell.syntax import Assignment, Heredoc, Redirect, Substitution, Word
from agentscope_like.shell.values import (
    Argument,
    Unknown,
    element,
    elements_of,
    join,
    unknown_names,
)
from agentscope_like.shell.walk.argument_effects import KEEPING_NOTHING, path_effects
from agentscope_like.shell.walk.endless_files import endless_reads

__all__ = [
    "assigned_value",
    "check_assignments",
    "check_environment",
    "doubt_copied_inputs",
    "judge_redirects",
    "may_fail",
]

_DESCRIPTOR = re.compile(r"[0-9]+-?|-")
_INPUT, _LAST_STANDARD = 0, 2
_OUTPUTS = frozenset({1, 2})
_READING_OUTPUT = "an output opened for reading may be a file, which a program may truncate"
_STANDARD = frozenset({"0", "1", "2", "-"})
_NOWHERE = "/dev/null"
_PIPES = frozenset({"<(", ">("})
_SOCKET = re.compile(r"/dev/(tcp|udp)(/.*)?")


def judge_redirects(
    redirects: Sequence[Redirect], state: State, expander: Expander, command: str
) -> None:
    """Add to the expander's part what `redirects` read and write."""
    for redirect in redirects:
        target = redirect.target
        is_text = isinstance(target, Heredoc) or redirect.operator == "<<<"
        word = target.body if isinstance(target, Heredoc) else target
        if not is_text and (process := _process(word)):
            _, printed = expander.output(process)
            if redirect.feeds:
                expander.draft.source = printed
            continue
        value = expander.text(word) if is_text else expander.argument(word)
        if not is_text:
            _judge(redirect, value, state, expander, command)
        if not redirect.feeds:
            continue
        if is_text:
            expander.hold(value)
            expander.draft.source = names_in_text(word, value)
        else:
            listed = f"the files listed in `{shortened(shown_text(word))}`"
            expander.draft.source = unknown_names(listed)


def _process(word: Word) -> Substitution | None:
    """Return the process that a target stands for, or None where it is a file."""
    first = word.segments[0]
    if isinstance(first, Substitution) and first.opener in _PIPES and len(word.segments) == 1:
        return first
    return None


def doubt_copied_inputs(drafts: Iterable[Draft]) -> None:
    """Add doubts about copies of descriptors to an output that may be open for reading.

    Opening `/dev/stdout` reopens the descriptor's file and truncates it.
    """
    copies: list[tuple[Draft, Redirect]] = []
    is_open = False
    for draft in drafts:
        for redirect in draft.redirects:
            source = _copied(redirect)
            if _descriptor(redirect) > _LAST_STANDARD:
                is_open = is_open or redirect.operator == "<" or source == _INPUT
            elif _descriptor(redirect) in _OUTPUTS and (source or 0) > _LAST_STANDARD:
                copies.append((draft, redirect))
    for draft, redirect in copies if is_open else ():
        draft.doubt(_READING_OUTPUT, draft.place or redirect.span)


def _descriptor(redirect: Redirect) -> int:
    """Return the descriptor that a redirection opens."""
    if redirect.fd is not None:
        return redirect.fd
    return _INPUT if redirect.operator.startswith("<") else 1


def _copied(redirect: Redirect) -> int | None:
    """Return the descriptor that a redirection copies, if it does."""
    name = None if isinstance(redirect.target, Heredoc) else redirect.target.literal
    if redirect.operator not in {">&", "<&"} or name is None:
        return None
    digits = name.rstrip("-")
    return int(digits) if digits else None


def may_fail(redirects: Sequence[Redirect]) -> bool:
    """Return whether bash may skip the command because a redirection fails."""
    for redirect in redirects:
        target, operator = redirect.target, redirect.operator
        if isinstance(target, Heredoc) or operator == "<<<" or _process(target):
            continue
        name = target.literal
        is_standard = operator in {">&", "<&"} and name in _STANDARD
        if not (is_standard or name == _NOWHERE):
            return True
    return False


def _judge(
    redirect: Redirect, target: Argument, state: State, expander: Expander, command: str
) -> None:
    draft, operator = expander.draft, redirect.operator
    span = expander.scope.span(redirect.span)
    source = command[span.start : span.end]
    shown = target if isinstance(target, str) else source
    if _descriptor(redirect) in _OUTPUTS and (operator == "<" or _copied(redirect) == _INPUT):
        draft.doubt(_READING_OUTPUT, span)
    if operator in {">&", "<&"} and isinstance(target, str) and _DESCRIPTOR.fullmatch(target):
        return
    if isinstance(target, str) and _SOCKET.fullmatch(target):
        draft.effects.append(Effect(EffectKind.NETWORK, target, None, span))
        draft.doubt(f"`{shortened(source)}` opens a network connection", span)
        return
    if operator in {"<", "<&"}:
        effects = path_effects(EffectKind.READ, target, state.directories, span, shown)
        draft.effects += effects
        if isinstance(target, Unknown) and _may_connect(target):
            draft.doubt(
                f"`{shortened(source)}` reads a path that is only known at run time, perhaps a "
                "network connection",
                span,
            )
        draft.doubts += endless_reads(effects)
        return
    if target in KEEPING_NOTHING and operator != "<>":
        return
    draft.effects += path_effects(EffectKind.WRITE, target, state.directories, span, shown)
    draft.doubts.append(Doubt(f"`{shortened(source)}` writes a file", span))


def _may_connect(target: Unknown) -> bool:
    """Return whether a computed path may begin with `/dev/`, where bash opens connections."""
    if target.choices:
        return any(choice.startswith("/dev/") for choice in target.choices)
    return target.rooted and "/dev/".startswith(target.prefix[: len("/dev/")])


def assigned_value(assignment: Assignment, expander: Expander) -> Argument:
    """Give a variable its value, and return that; for an array, what any of its elements is."""
    name = assignment.name
    if assignment.elements is None:
        values = [expander.text(assignment.value)]
    else:
        values = [element(expander.argument(word)) for word in assignment.elements]
    for each in values:
        expander.hold(each)
    value = join(values) if values else Unknown()
    if assignment.append:
        before = expander.state.variables.get(name)
        both = isinstance(before, str) and isinstance(value, str) and assignment.elements is None
        value = f"{before}{value}" if both else Unknown()
    if assignment.elements is not None:
        expander.assign(elements_of(name), value)
    expander.assign(name, value)
    return value


def check_assignments(
    assignments: Sequence[Assignment], values: Sequence[Argument], expander: Expander
) -> None:
    """Add doubts about assignments that are a command of their own."""
    for assignment, value in zip(assignments, values, strict=True):
        name = assignment.name
        message = own_doubt(name, value)
        if name in expander.state.fixed:
            message = f"`{name}` is read-only, so bash skips the rest of the line"
        if message:
            span = expander.scope.span(assignment.span)
            expander.draft.doubt(message, span, kind=EffectKind.UNKNOWN)


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
