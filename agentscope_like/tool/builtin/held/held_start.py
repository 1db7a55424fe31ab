"""Starts one command of Bash held on a layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentscope_like.exception import IsolationError
from agentscope_like.sandbox.held import HeldCredentials, HeldRun
from agentscope_like.sandbox.isolation import Attempt
from agentscope_like.sandbox.layer import Layer
from agentscope_like.sandbox.secret_wall import CoveredSecrets

__all__ = ["HeldStart"]


class HeldStart:
    """How one command is started held.

    Args:
        layer: The layer that it writes to.
        home: The home directory of the user.
        temporary: The directory of the session that is its `/tmp` and `/var/tmp`.
        hide: More files and directories that it must not see.
        credentials: Hides credentials from it.

    Attributes:
        hide: As given.
        opened: The hidden credentials that it opened, once `report` was called.
        attempts: What it tried to connect to, likewise; None if that is not known.
    """

    def __init__(
        self,
        layer: Layer,
        *,
        home: str,
        temporary: str,
        credentials: HeldCredentials,
        hide: Sequence[str] = (),
    ) -> None:
        self.layer = layer
        self._home = home
        self._temporary = temporary
        self._credentials = credentials
        self.hide = tuple(hide)
        self.opened: tuple[str, ...] = ()
        self.attempts: tuple[Attempt, ...] | None = None
        self._run: HeldRun | None = None

    def start(self, directory: str, environment: Mapping[str, str]) -> HeldRun:
        """Return what starts the command; blocks while credentials are looked for.

        Args:
            directory: Where it starts.
            environment: All of its variables, without secrets.

        Raises:
            IsolationError: It cannot be held; it must not run.
        """
        if self._run is not None:
            raise IsolationError("a layer takes the changes of one run")
        self._run = HeldRun(
            self.layer,
            directory=directory,
            environment=environment,
            temporary=self._temporary,
            home=self._home,
            hide=self.hide,
            credentials=self._credentials,
        )
        return self._run

    def excess(self) -> str | None:
        """Return why the command has to be ended, or None; blocks for some milliseconds."""
        return None if self._run is None else self._run.excess()

    def report(self) -> CoveredSecrets | None:
        """Note what it tried, and return the credentials that were hidden from it, if any.

        Call it once, after its end and before `close`; it blocks for some milliseconds.
        """
        if self._run is None:
            return None
        self.attempts = self._run.attempts()
        secrets = self._run.hidden()
        self.opened = () if secrets is None else tuple(secrets.opened)
        return secrets

    def close(self) -> None:
        """Close what the run needed; calling it again does nothing."""
        if self._run is not None:
            self._run.close()
