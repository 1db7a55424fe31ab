"""Names of secrets that a pattern may stand for: `.e*` for `.env`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import translate
from functools import lru_cache

from agentscope_like.paths.sensitive import paths_asked_to_read

__all__ = ["is_pattern", "literal_folder", "names_of_secrets", "stands_for_places"]

_MAGIC = re.compile(r"[*?\[\\]")
_ANYTHING = re.compile(r"[*?]*")
_ENDING = re.compile(r"\*+(?:\.[\w*?\[\]-]+)+")
"""A pattern of what names end with: `*.py`."""

_CLASS = re.compile(r"\[\[:\^?\w+:\]\]")
_ANY_STEM = "x"
_DOTENV = ".env"


def is_pattern(text: str) -> bool:
    """Return whether a text has a letter that stands for others."""
    return _MAGIC.search(text) is not None


def stands_for_places(pattern: str) -> bool:
    """Return whether a pattern is more than what names end with, or than anything at all."""
    last = pattern.rpartition("/")[2]
    is_ending = _ENDING.fullmatch(last) or _ANYTHING.fullmatch(last)
    return not is_ending or not _ANYTHING.fullmatch(pattern.rpartition("/")[0])


def literal_folder(pattern: str) -> str:
    """Return the directory in which all lies that a pattern matches, as far as that is known."""
    magic = _MAGIC.search(pattern)
    return pattern[: magic.start()].rpartition("/")[0] if magic else pattern


@lru_cache(maxsize=256)
def names_of_secrets(pattern: str) -> tuple[str, ...]:
    """Return names of secrets that a pattern matches, where it is more than a place or an ending.

    `*` stands for anything, a slash too. `src/*` and `*.json` stand for no secret more than no
    pattern at all does; `.e*`, `*.pem` and `secret*` do.

    Args:
        pattern: As git takes one, or a search that is told which files to read.
    """
    plain = _CLASS.sub("?", pattern.casefold()).replace("\\", "").replace("[^", "[!")
    names = plain.split("/")
    found = [plain.strip("*"), names[-1].strip("*")]
    for count in range(1, min(len(names), _deepest()) + 1):
        found += _matched("/".join(names[-count:]))
    return tuple(dict.fromkeys(filter(None, found)))


def _matched(pattern: str) -> Iterator[str]:
    """Yield the secrets that a pattern matches from its first name to its last."""
    if _ANYTHING.fullmatch(pattern):
        return
    is_ending = _ENDING.fullmatch(pattern) is not None
    matches = re.compile(translate(pattern)).fullmatch
    for sample in _samples():
        if is_ending and not (sample.startswith(_ANY_STEM) or sample == _DOTENV):
            continue
        if pattern.startswith("*"):
            if "/" not in sample and matches(sample):
                yield sample
        elif any(map(matches, _upwards(sample))):
            yield sample


def _upwards(path: str) -> Iterator[str]:
    """Yield a path and the directories above it."""
    while path:
        yield path
        path = path.rpartition("/")[0]


@lru_cache(maxsize=1)
def _samples() -> tuple[str, ...]:
    """Return a name of each kind of secret that may be in any directory."""
    found: dict[str, None] = {}
    for entry in paths_asked_to_read():
        for path in entry.paths:
            if not path.startswith(("/", "~")):
                found[path.casefold().replace("**", _ANY_STEM).replace("*", _ANY_STEM)] = None
    return tuple(found)


@lru_cache(maxsize=1)
def _deepest() -> int:
    return max(sample.count("/") + 1 for sample in _samples())
