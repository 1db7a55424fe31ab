"""Caches results by text, limited by the total length of the texts."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import update_wrapper
from typing import Generic, ParamSpec, TypeVar

__all__ = ["SizedCache", "cached_by_size"]

P = ParamSpec("P")
ResultT = TypeVar("ResultT")

_ENTRY = 100
"""Characters that an entry counts for besides its own."""


class SizedCache(Generic[P, ResultT]):
    """A function that caches its last results, but not its exceptions.

    The oldest results are dropped first; the newest is kept however long its texts are.

    Args:
        function: The function to cache; must always return the same for the same texts.
        characters: The total length of the texts of the results kept.
    """

    def __init__(self, function: Callable[P, ResultT], characters: int) -> None:
        update_wrapper(self, function)
        self._function = function
        self._most = characters
        self._kept: OrderedDict[Hashable, tuple[ResultT, int]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        """Return the result for these arguments, which must be hashable."""
        key = (*args, *kwargs.items()) if kwargs else args
        known = self._kept.get(key)
        if known is not None:
            return known[0]
        result = self._function(*args, **kwargs)
        self._keep(key, result)
        return result

    def _keep(self, key: tuple[object, ...], result: ResultT) -> None:
        size = _ENTRY
        for each in key:
            if isinstance(each, str):
                size += len(each)
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = result, size
            self._size += size
            while self._size > self._most and len(self._kept) > 1:
                _, (_, freed) = self._kept.popitem(last=False)
                self._size -= freed


def cached_by_size(
    characters: int,
) -> Callable[[Callable[P, ResultT]], SizedCache[P, ResultT]]:
    """Return a decorator that caches results up to a total length of text."""

    def decorate(function: Callable[P, ResultT]) -> SizedCache[P, ResultT]:
        return SizedCache(function, characters)

    return decorate
