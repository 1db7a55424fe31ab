"""What the patterns of a command match now, looking at no more than a bounded number of files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import translate
from functools import lru_cache

__all__ = ["TooManyFilesError", "expand"]

MAX_ENTRIES = 4_000
"""How many directory entries are looked at for one pattern."""

_MAGIC = re.compile(r"[*?\[]")


class TooManyFilesError(Exception):
    """A pattern reaches more files than are looked at."""


def expand(pattern: str, *, limit: int) -> list[str]:
    """Return the paths that an absolute pattern matches, as bash matches without any option.

    `*` and `?` do not match a leading dot, and `**` is `*`.

    Args:
        pattern: An absolute path with `*`, `?` or bracket expressions in it.
        limit: How many paths there may be.

    Raises:
        TooManyFilesError: There are more, or too many directory entries would have to be looked at.
    """
    budget = [MAX_ENTRIES]
    found: list[str] = []
    for path in _walk("/", [name for name in pattern.split("/") if name], budget):
        if len(found) >= limit:
            raise TooManyFilesError
        found.append(path)
    return found


def _walk(base: str, names: Sequence[str], budget: list[int]) -> Iterator[str]:
    if not names:
        if os.path.lexists(base):
            yield base
        return
    name, *rest = names
    if not _MAGIC.search(name):
        yield from _walk(os.path.join(base, name), rest, budget)
        return
    matches = _compiled(name).fullmatch
    for entry in _entries(base, budget):
        if (entry[0] != "." or name[0] == ".") and matches(entry):
            yield from _walk(os.path.join(base, entry), rest, budget)


def _entries(directory: str, budget: list[int]) -> Iterator[str]:
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                budget[0] -= 1
                if budget[0] < 0:
                    raise TooManyFilesError
                yield entry.name
    except OSError:
        return


@lru_cache(maxsize=256)
def _compiled(name: str) -> re.Pattern[str]:
    return re.compile(translate(name.replace("[^", "[!")))
