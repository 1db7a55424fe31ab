"""Chooses the kernel profile that a command is confined by."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, get_args

from agentscope_like.exception import ConfigurationError
from agentscope_like.nearest import nearest
from agentscope_like.permission.command import PreparedCommand
from agentscope_like.sandbox.isolation import Confine

if TYPE_CHECKING:
    from agentscope_like.sandbox.isolation import Scope
    from agentscope_like.sandbox.secret_wall import CoveredRun, SecretWall

__all__ = ["Confiner"]

_log = logging.getLogger(__name__)


class Confiner:
    """Says what each command is confined to.

    Args:
        confine: Whether commands are confined. With "auto", a machine that cannot is told of in
            the log once; with "require", such commands do not run there.

    Raises:
        ConfigurationError: `confine` is another word.
    """

    def __init__(self, confine: Confine = "auto") -> None:
        if confine not in get_args(Confine):
            known = get_args(Confine)
            raise ConfigurationError(
                f"unknown confinement {confine!r} (there are: {', '.join(known)})"
                f"{nearest(confine, known)}"
            )
        self.confine = confine
        self._reason: str | None = None
        self._has_looked = False
        self._wall: SecretWall | None = None

    async def scope(self, call: PreparedCommand) -> Scope | None:
        """Return what a command may do that was decided to run; None where it is not confined.

        Args:
            call: The command, as it was read for the decision.
        """
        if self.confine == "off":
            return None
        if not self._has_looked:
            await self._look()
        if self._reason is not None and self.confine == "auto":
            return None
        from agentscope_like.sandbox.isolation import scope_of

        if any(effect.glob for effect in call.analysis.effects):
            return await asyncio.to_thread(scope_of, call)
        return scope_of(call)

    @asynccontextmanager
    async def covered(
        self, call: PreparedCommand, scope: Scope | None
    ) -> AsyncIterator[CoveredRun | None]:
        """Keep credentials from one run; see `SecretWall`.

        Args:
            call: The command, as it was read for the decision.
            scope: What it may do; None where it is not confined.
        """
        run = await self.cover(call, scope)
        try:
            yield run
        finally:
            self.ran(scope, run)

    async def cover(self, call: PreparedCommand, scope: Scope | None) -> CoveredRun | None:
        """Return the credentials that are kept from one run, if any; `ran` has to follow it.

        Args:
            call: The command, as it was read for the decision.
            scope: What it may do; None where it is not confined.
        """
        if scope is None:
            return None
        if self._wall is None:
            from agentscope_like.sandbox.secret_wall import SecretWall

            self._wall = SecretWall()
        if not self._wall.stands(scope):
            return None
        return await asyncio.to_thread(self._wall.cover, call.analysis, call.surroundings, scope)

    def ran(self, scope: Scope | None, run: CoveredRun | None) -> None:
        """Note that a run has ended, and free what kept credentials from it."""
        if run is not None:
            run.close()
        if scope is not None and self._wall is not None:
            self._wall.ran(scope)

    def changed(self) -> None:
        """Note that the changes of a held command may have been applied."""
        if self._wall is not None:
            self._wall.changed()

    async def _look(self) -> None:
        """Find out whether commands can be confined here."""
        from agentscope_like.sandbox.isolation import bubblewrap_objection

        self._reason = await asyncio.to_thread(bubblewrap_objection, native=True)
        self._has_looked = True
        if self._reason is not None and self.confine == "auto":
            _log.warning("commands are decided but not confined: %s", self._reason)
