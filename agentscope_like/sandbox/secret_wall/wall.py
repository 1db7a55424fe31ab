"""Covers credentials during proven reads, and reports which of them a command opened."""

from __future__ import annotations

import os
import time
from collections.abc import Container, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.paths import PathError, TooManyFilesError, is_below
from agentscope_like.permission.command import find_danger
from agentscope_like.sandbox.isolation import Profile, Scope, ScopeKind, reading
from agentscope_like.sandbox.secret_wall.listings import Listings
from agentscope_like.sandbox.secret_wall.notices import Notices
from agentscope_like.sandbox.secret_wall.open_watch import OpenWatch
from agentscope_like.sandbox.secret_wall.places import is_credential
from agentscope_like.sandbox.secret_wall.search import Credential, Found, find_credentials
from agentscope_like.shell import CommandAnalysis, Surroundings

__all__ = ["CoveredRun", "CoveredSecrets", "SecretWall"]

_SECONDS = 60.0
"""How long what was found is relied on: others may make credentials meanwhile."""


class CoveredSecrets(Struct, frozen=True):
    """The credentials that were hidden from a command.

    Attributes:
        covered: The number of hidden credentials.
        opened: Those that it tried to read, as absolute paths.
        left_out: For each reason why others may not be covered, a sentence.
    """

    covered: int
    opened: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def as_metadata(self) -> dict[str, Any]:
        """Return it as plain values that survive a round trip through JSON."""
        return {
            "covered": self.covered,
            "opened": list(self.opened),
            "left_out": list(self.left_out),
        }


class CoveredRun:
    """One run of a command with credentials covered, until it is closed.

    Args:
        profile: The profile of the command without covers.
        notices: The covers; None if they could not be made.
        left_out: Why some credentials may not be covered.
        named: Paths of credentials that the command may see.
    """

    def __init__(
        self,
        profile: Profile,
        notices: Notices | None,
        left_out: Sequence[str],
        named: Container[str] = (),
    ) -> None:
        mounts = () if notices is None else notices.mounts()
        covers = tuple(mount for mount in mounts if mount.mount_path not in named)
        self.profile = profile
        self._notices = notices
        self._left_out = tuple(left_out)
        self._covered = {os.path.basename(mount.host_path): mount.mount_path for mount in covers}
        self._watch: OpenWatch | None = None
        if notices is not None and covers:
            self._watch = notices.take_watch()
            own = (notices.directory,) if notices.is_seen_by(profile) else ()
            self.profile = replace(
                profile, mounts=(*profile.mounts, *covers), hide=(*profile.hide, *own)
            )

    def report(self) -> CoveredSecrets | None:
        """Return what was hidden from the command, if anything; call once, after its end."""
        if not self._covered and not self._left_out:
            return None
        names = frozenset[str]() if self._watch is None else self._watch.opened()
        opened = sorted(path for name, path in self._covered.items() if name in names)
        return CoveredSecrets(len(self._covered), tuple(opened), self._left_out)

    def close(self) -> None:
        """Release its resources; calling it again does nothing."""
        watch, notices = self._watch, self._notices
        self._watch = self._notices = None
        if watch is not None and notices is not None:
            notices.give_back(watch)


class SecretWall:
    """Hides credentials from the proven reads of one shell, and caches what it found."""

    def __init__(self) -> None:
        self._known: _Known | None = None
        self._changes = 0
        self._listings = Listings()

    @staticmethod
    def stands(scope: Scope) -> bool:
        """Return whether credentials are hidden from a command of this scope.

        Only from proven reads without network: a program that writes would find its files covered,
        and `git add` would record the covers; one that logs in needs its credentials.
        """
        profile = scope.profile
        return scope.kind is ScopeKind.READ and profile is not None and not profile.network

    def ran(self, scope: Scope) -> None:
        """Note that a run has ended: if it may have written, there may be new credentials."""
        if scope.kind is not ScopeKind.READ:
            self.changed()

    def changed(self) -> None:
        """Note that files may have changed: there may be new credentials."""
        self._changes += 1

    def cover(
        self, analysis: CommandAnalysis, surroundings: Surroundings, scope: Scope
    ) -> CoveredRun:
        """Cover the credentials that a command was not allowed to see; blocks while it searches.

        Args:
            analysis: The analysis that the decision used.
            surroundings: Where it runs.
            scope: Its scope, of a kind for which `stands` is true.
        """
        profile = scope.profile or reading()
        try:
            known = self._look(surroundings)
        except (OSError, PathError) as error:
            return CoveredRun(profile, None, [f"no credential is covered: {error}"])
        named = _asked_for(analysis, surroundings, known.found.credentials)
        return CoveredRun(profile, known.notices, known.found.left_out, named)

    def _look(self, surroundings: Surroundings) -> _Known:
        home = surroundings.home or ""
        directories = tuple(each.resolved for each in surroundings.working_directories)
        key = (self._changes, home, directories)
        known = self._known
        if known is None or known.key != key or not known.is_fresh:
            found = find_credentials(home, directories, self._listings)
            is_same = known is not None and known.notices.renew(found.credentials)
            notices = known.notices if known and is_same else Notices(found.credentials)
            known = _Known(key, time.monotonic(), found, notices)
            self._known = known
        return known


class _Known(Struct, frozen=True):
    """What was found for a number of changes, a home and directories, and when."""

    key: tuple[int, str, tuple[str, ...]]
    since: float
    found: Found
    notices: Notices

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() - self.since < _SECONDS and self.notices.are_there


def _asked_for(
    analysis: CommandAnalysis, surroundings: Surroundings, credentials: Sequence[Credential]
) -> frozenset[str]:
    """Return the credentials that a command may see: it names them, and a person agreed.

    A simple command that was allowed without a question does not print a file that it names, but
    may print its size. So it may see credentials with well-known names. The directory that it runs
    in has to exist for it as well.
    """
    start = os.path.realpath(surroundings.directory)
    needed = frozenset(each.path for each in credentials if is_below(start, each.path))
    try:
        around = surroundings.of(analysis)
        named = _named(analysis, around, credentials)
        if not named:
            return needed
        if find_danger(analysis, around) is not None:
            return needed | named
        if len(analysis.parts) == 1 and not any(each.recursive for each in analysis.effects):
            home = surroundings.home or ""
            return needed.union(path for path in named if is_credential(path, home=home))
    except (OSError, PathError, TooManyFilesError):
        return needed
    return needed


def _named(
    analysis: CommandAnalysis, around: Surroundings, credentials: Sequence[Credential]
) -> frozenset[str]:
    """Return the credentials at or above the paths of a command, or in a directory of such."""
    found: set[str] = set()
    for effect in analysis.effects:
        for location in around.locations(effect) or ():
            place = location.resolved
            found.update(each.path for each in credentials if is_below(place, each.path))
            if around.read_objection(location):
                found.update(each.path for each in credentials if is_below(each.path, place))
    return frozenset(found)
