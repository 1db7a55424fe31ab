"""Hides credentials from held commands."""

from __future__ import annotations

from collections.abc import Sequence

from agentscope_like.exception import IsolationError
from agentscope_like.paths import PathError
from agentscope_like.sandbox.isolation import Profile
from agentscope_like.sandbox.secret_wall import CoveredRun, Listings, Notices, find_credentials

__all__ = ["HeldCredentials"]


class HeldCredentials:
    """Looks for credentials before each held run of a shell, and keeps what covers them.

    Unlike a proven read, a held command does not run if they cannot be covered, and sees none that
    it names.
    """

    def __init__(self) -> None:
        self._notices: Notices | None = None
        self._listings = Listings()

    def cover(self, profile: Profile, *, home: str, directories: Sequence[str]) -> CoveredRun:
        """Cover the credentials that are there now; blocks while it searches.

        Args:
            profile: The profile of the command.
            home: The home directory.
            directories: The working directories.

        Raises:
            IsolationError: They cannot be looked for or covered.
        """
        try:
            found = find_credentials(home, directories, self._listings)
            if self._notices is None or not self._notices.renew(found.credentials):
                self._notices = Notices(found.credentials)
            return CoveredRun(profile, self._notices, found.left_out)
        except (OSError, PathError) as error:
            raise IsolationError(f"credentials cannot be hidden: {error}") from error
