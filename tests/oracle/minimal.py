"""Makes a command that changes something as short as it can be."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.jail import Jail, Outcome, is_proven

__all__ = ["minimise"]

_MAX_RUNS = 60


def minimise(jail: Jail, found: Outcome) -> Outcome:
    """Return the outcome of the shortest command found that is proven and changes something.

    Takes away runs of words, the longest first, as long as both stay true.
    """
    best, runs = found, 0
    improved = True
    while improved and runs < _MAX_RUNS:
        improved = False
        for shorter in _shorter(best.command):
            if runs >= _MAX_RUNS:
                break
            if not is_proven(shorter):
                continue
            runs += 1
            (outcome,) = jail.run([shorter])
            if outcome.changes:
                best, improved = outcome, True
                break
    return best


def _shorter(command: str) -> Iterator[str]:
    words = command.split(" ")
    for size in range(len(words) - 1, 0, -1):
        for start in range(len(words) - size + 1):
            yield " ".join(words[:start] + words[start + size :])
