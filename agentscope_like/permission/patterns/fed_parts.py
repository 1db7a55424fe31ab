"""Finds the parts of a command line that read input which another text or command gives them."""

from __future__ import annotations

from collections.abc import Iterator

from agentscope_like.shell import CommandAnalysis, Part
from agentscope_like.shell.syntax import Heredoc, Pipeline, Redirect, Span

__all__ = ["feeding_parts", "input_redirects", "is_fed"]

_INPUT = frozenset({"<", "<>", "<<", "<<-", "<<<", "<&"})
_NOTHING = frozenset({"/dev/null", "-"})


def is_fed(part: Part, analysis: CommandAnalysis) -> bool:
    """Return whether a part may read input that a redirection or a pipe gives it."""
    redirected = next(input_redirects(part, analysis), None) is not None
    return redirected or feeding_parts(part, analysis) is not None


def input_redirects(part: Part, analysis: CommandAnalysis) -> Iterator[Redirect]:
    """Yield the redirections that give a part an input; `< /dev/null` gives none.

    Those of the commands that run it count, and those of `exec`, which hold for all that follows.
    """
    givers = [part]
    while (parent := givers[-1].parent) is not None:
        givers.append(analysis.parts[parent])
    givers += (each for each in analysis.parts if each.is_a("keeps_redirects"))
    for giver in givers:
        for redirect in giver.redirects:
            if redirect.operator in _INPUT and redirect.fd in (None, 0):
                target = redirect.target
                if isinstance(target, Heredoc) or target.literal not in _NOTHING:
                    yield redirect


def feeding_parts(part: Part, analysis: CommandAnalysis) -> list[Part] | None:
    """Return the parts whose output a part may read through a pipe; None where it reads no pipe.

    A pipeline within a script that stands in a word feeds all parts of that script.
    """
    found: list[Part] = []
    is_fed = False
    for pipeline in analysis.nodes:
        if not isinstance(pipeline, Pipeline):
            continue
        for earlier, later in enumerate(pipeline.commands[1:], 1):
            if _span_of(later).holds(part.span):
                is_fed = True
                before = Span(pipeline.span.start, _span_of(pipeline.commands[earlier - 1]).end)
                found += (each for each in analysis.parts if before.holds(each.span))
    if part.parent is not None and _has_inner_pipe(analysis):
        is_fed = True
        found += (each for each in analysis.parts if each is not part)
    return found if is_fed else None


def _span_of(command: object) -> Span:
    span: Span = getattr(command, "span")  # noqa: B009 - every command has one
    return span


def _has_inner_pipe(analysis: CommandAnalysis) -> bool:
    return any(
        isinstance(node, Pipeline) and len(node.commands) > 1
        for _, script in analysis.inner
        for node in script.nodes
    )
