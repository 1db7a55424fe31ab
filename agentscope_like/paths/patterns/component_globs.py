"""Matches the names of a path against the components of a pattern.

wcmatch compiles the components that are globs; `**` is walked here, because in one regular
expression three of them take seconds on a path of 500 directories.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from agentscope_like.paths.case_folding import compose, fold
from agentscope_like.sized_cache import cached_by_size

__all__ = ["Component", "Shape", "fits", "fixed_ends", "may_hold"]

_FIXED_ENDS = re.compile(r"([^*?\[\\]*).*?([^*?\[\]\\]*)", re.DOTALL)

Shape: TypeAlias = Literal["name", "glob", "any", "deep"]
"""What one component of a tail matches: a name, a glob, any one name, any number of names."""


class Component(NamedTuple):
    """One component; `text` is the name without escapes, or the glob as written."""

    shape: Shape
    text: str


def fits(names: Sequence[str], tail: Sequence[Component], *, strict: bool) -> bool:
    """Return whether all names match all components.

    `**` takes as few names as it can. Only the last `**` is retried with more names, since it can
    take anything that an earlier one could. So the time is bounded by the product of the lengths.
    """
    at = here = back_at = 0
    back = -1
    while at < len(names):
        if here < len(tail):
            component = tail[here]
            if component.shape == "deep":
                back, back_at = here, at
                here += 1
                continue
            if _fits_one(names[at], component, strict=strict):
                at += 1
                here += 1
                continue
        if back < 0:
            return False
        back_at += 1
        at, here = back_at, back + 1
    return all(component.shape == "deep" for component in tail[here:])


def may_hold(names: Sequence[str], tail: Sequence[Component], *, strict: bool) -> bool:
    """Return whether a path that begins with these names can match all components."""
    for depth, name in enumerate(names):
        if depth >= len(tail):
            return False
        if tail[depth].shape == "deep":
            return True
        if not _fits_one(name, tail[depth], strict=strict):
            return False
    return len(tail) > len(names)


def _fits_one(name: str, component: Component, *, strict: bool) -> bool:
    shape, text = component
    if shape == "any":
        return True
    if shape == "name":
        return name == text if strict else fold(name) == fold(text)
    if _matcher(text, ignore_case=False)(name) is not None:
        return True
    # Ignoring case makes `[!a]` match less, so the exact reading counts for a loose one as well.
    return not strict and _matcher(compose(text), ignore_case=True)(compose(name)) is not None


@cached_by_size(1_000_000)
def _matcher(text: str, *, ignore_case: bool) -> Callable[[str], object]:
    from wcmatch import glob  # takes 20 ms to import

    flags = glob.DOTGLOB | glob.FORCEUNIX | (glob.IGNORECASE if ignore_case else 0)
    matching, _ = glob.translate(text, flags=flags)
    return re.compile(matching[0]).fullmatch


def fixed_ends(glob: str) -> tuple[str, str]:
    """Return how every name that a one-name glob matches must begin, and how it must end."""
    found = _FIXED_ENDS.fullmatch(glob)
    return (found[1], found[2]) if found else ("", "")
