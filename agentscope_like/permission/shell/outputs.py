"""What the redirections of a command read and write."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentscope_like.permission.shell.analysis import Doubt, Effect, EffectKind
from agentscope_like.permission.shell.effects import KEEPING_NOTHING, path_effects, read_doubt
from agentscope_like.permission.shell.expander import Expander
from agentscope_like.permission.shell.parts import Draft, Scope, shortened
from agentscope_like.permission.shell.state import State
from agentscope_like.permission.shell.tree import Heredoc, Redirect, Substitution
from agentscope_like.permission.shell.values import Unknown

__all__ = ["judge_redirects"]

_DESCRIPTOR = re.compile(r"[0-9]+-?|-")
_SOCKET = re.compile(r"/dev/(tcp|udp)(/.*)?")


def judge_redirects(
    redirects: Sequence[Redirect],
    state: State,
    draft: Draft,
    expander: Expander,
    scope: Scope,
    command: str,
) -> None:
    """Add to `draft` what `redirects` read and write.

    Args:
        redirects: The redirections.
        state: What is known where they are made.
        draft: The part that gets the effects and doubts.
        expander: Expands their targets.
        scope: What surrounds the command.
        command: The command text.
    """
    for redirect in redirects:
        if isinstance(redirect.target, Heredoc):
            expander.text(redirect.target.body)
        elif redirect.operator == "<<<":
            expander.text(redirect.target)
        else:
            _judge(redirect, state, draft, expander, scope, command)


def _judge(
    redirect: Redirect, state: State, draft: Draft, expander: Expander, scope: Scope, command: str
) -> None:
    word, operator = redirect.target, redirect.operator
    if isinstance(word, Heredoc):
        return
    target = expander.argument(word)
    first = word.segments[0]
    if isinstance(first, Substitution) and first.opener in {"<(", ">("} and len(word.segments) == 1:
        return
    span = scope.span(redirect.span)
    source = command[span.start : span.end]
    shown = target if isinstance(target, str) else source
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
                f"`{shortened(source)}` reads a path that is not known, perhaps a connection", span
            )
        draft.doubts += [
            Doubt(message, span) for effect in effects if (message := read_doubt(effect))
        ]
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
