"""Judges a command without arguments that may expand to nothing, such as an unquoted `$(...)`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from msgspec.structs import replace

from agentscope_like.shell.analysis import EffectKind
from agentscope_like.shell.draft import Draft
from agentscope_like.shell.values import Argument, Unknown

__all__ = ["with_fewer"]

_MAX_OPTIONAL = 3


def with_fewer(
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
