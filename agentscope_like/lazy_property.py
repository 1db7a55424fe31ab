"""A property that is computed on first use and then kept by its object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Self, TypeVar, overload

__all__ = ["lazy_property"]

OwnerT = TypeVar("OwnerT")
ValueT = TypeVar("ValueT")


class lazy_property(Generic[OwnerT, ValueT]):  # noqa: N801 - a decorator
    """`functools.cached_property` without its lock, which takes longer than most of the values.

    Args:
        compute: Returns the value; two threads that ask at once may both call it.
    """

    def __init__(self, compute: Callable[[OwnerT], ValueT]) -> None:
        self._compute = compute
        self._name = ""
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        """Note the name under which the value is kept."""
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: OwnerT, owner: type) -> ValueT: ...

    def __get__(self, instance: OwnerT | None, owner: type) -> Self | ValueT:
        """Return the value, which from then on hides this property."""
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
