"""Runs the methods of an object on the event loop that its connection belongs to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

__all__ = ["HasHomeLoop", "at_home"]

P = ParamSpec("P")
ResultT = TypeVar("ResultT")


class HasHomeLoop(Protocol):
    """An object that may have a connection.

    Attributes:
        home_loop: The event loop of the connection; None without a connection.
    """

    home_loop: asyncio.AbstractEventLoop | None

    def forget_connection(self) -> None:
        """Forget a connection that has ended with its event loop."""


OwnerT = TypeVar("OwnerT", bound=HasHomeLoop)


def at_home(
    method: Callable[Concatenate[OwnerT, P], Coroutine[Any, Any, ResultT]],
) -> Callable[Concatenate[OwnerT, P], Coroutine[Any, Any, ResultT]]:
    """Make a coroutine method run on the home loop, whichever loop it is awaited on.

    Cancelling reaches it, and context variables pass.
    """

    @wraps(method)
    async def run_at_home(owner: OwnerT, /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        home = owner.home_loop
        if home is None or home is asyncio.get_running_loop():
            return await method(owner, *args, **kwargs)
        if not home.is_running():
            owner.forget_connection()
            return await method(owner, *args, **kwargs)
        running = asyncio.run_coroutine_threadsafe(method(owner, *args, **kwargs), home)
        return await asyncio.wrap_future(running)

    return run_at_home
