"""Defines `DeclaredResources`, what one call touches, and which calls conflict."""

from __future__ import annotations

from msgspec import Struct

from agentscope_like.exception import ConfigurationError

__all__ = ["Claim", "DeclaredResources"]


class DeclaredResources(Struct, frozen=True):
    """The resources that one call touches; with none of them, it conflicts with no call.

    A key is any text, such as `file:/srv/data.db`. It names the same resource in all tools and
    agents of the process.

    Attributes:
        keys: Those that the call needs for itself, as for writing.
        shared: Those that it shares with calls that share them too, as for reading.

    Raises:
        ConfigurationError: A text stands where a tuple of texts belongs.
    """

    keys: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("keys", "shared"):
            given: object = getattr(self, name)
            if not isinstance(given, tuple) or not all(isinstance(key, str) for key in given):
                raise ConfigurationError(
                    f"`{name}` of DeclaredResources is {given!r}: give a tuple of texts"
                )

    def conflicts_with(self, other: DeclaredResources) -> bool:
        """Return whether the two calls must not run at the same time."""
        if not (self.keys or other.keys):
            return False
        own, others = set(self.keys), set(other.keys)
        return not (
            own.isdisjoint(others)
            and own.isdisjoint(other.shared)
            and others.isdisjoint(self.shared)
        )


class Claim(Struct, frozen=True):
    """What one call says of running at the same time as others.

    Attributes:
        is_concurrency_safe: What its tool says of all its calls.
        declared: What the tool says that this call touches; None if it does not say.
    """

    is_concurrency_safe: bool
    declared: DeclaredResources | None = None

    @property
    def excludes_all(self) -> bool:
        """Return whether the call runs alone."""
        return self.declared is None and not self.is_concurrency_safe

    def must_follow(self, other: Claim) -> bool:
        """Return whether this call has to wait for that one, which stands before it."""
        if self.declared is not None and other.declared is not None:
            return self.declared.conflicts_with(other.declared)
        return not (self.is_concurrency_safe and other.is_concurrency_safe)
