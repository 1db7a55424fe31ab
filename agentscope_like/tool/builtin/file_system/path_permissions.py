"""Checks the permission to read or write the path of a call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from agentscope_like.exception import ConfigurationError
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.paths import (
    FileKind,
    Location,
    PathError,
    SensitiveNames,
    inside_any,
    private_objection,
    write_objection,
)
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
)
from agentscope_like.tool.builtin.file_system.path_tool import PathTool, sentence

if TYPE_CHECKING:
    from agentscope_like.checkpoint import CheckpointStore
    from agentscope_like.sandbox import SandboxHandle

__all__ = ["ReadingTool", "WritingTool"]

_KERNEL = ("/proc/", "/sys/")
_HARMLESS_KINDS = (FileKind.FILE, FileKind.DIRECTORY, FileKind.MISSING)


class ReadingTool(PathTool):
    """A file tool that only reads; reading credentials is a safety ASK."""

    is_read_only = True
    is_concurrency_safe = True
    is_idempotent = True

    @override
    def judge(
        self, location: Location | PathError, context: PermissionContext
    ) -> PermissionDecision:
        """Return a safety ASK for what may be a secret, else PASSTHROUGH; DENY for no path."""
        if isinstance(location, PathError):
            return _unusable(location)
        reason = self.read_objection(location) or self._private_objection(location, context)
        if reason is not None:
            return _sensitive(f"{self.intention(location)}, and {reason}", reason)
        return PermissionDecision(
            PermissionBehavior.PASSTHROUGH,
            f"{self.intention(location)}. It asks because no rule allows it.",
        )

    def _private_objection(self, location: Location, context: PermissionContext) -> str | None:
        directories = self.directories_for(location, context)
        own = (private_objection(each, directories) for each in self._files.homes_of(location))
        return next(filter(None, own), None)

    @override
    def is_harmless(self, location: Location | PathError) -> bool:
        """Return whether the path is proven harmless: a file or directory, or nothing.

        Kernel files are not: reading some of them, such as `/proc/kmsg`, has side effects.
        """
        if isinstance(location, PathError):
            return False
        return location.kind in _HARMLESS_KINDS and not location.resolved.startswith(_KERNEL)

    def intention(self, location: Location) -> str:
        """Return what the call would do, as the beginning of a sentence."""
        return f"{self.name} would read `{self.shown(location.resolved)}`"


class WritingTool(PathTool):
    """A file tool that changes one file (seed 002, "File Tools").

    Args:
        dangerous_files: File names whose change always asks, in any directory. Sensitive paths with
            more than a name (`/etc`) are not affected by this. By default, the names of the table
            of sensitive paths.
        dangerous_directories: Names of directories below which every change asks.
        middlewares: Layers around `call`.
        additional_dangerous_files: Names to add to `dangerous_files`.
        additional_dangerous_directories: Names to add to `dangerous_directories`.
        cwd: The base of relative paths.
        backend: The sandbox where the files are; by default they are on this host.
        checkpoints: Keeps what files were before they are changed; None to keep nothing.

    Raises:
        ConfigurationError: There are checkpoints and a backend; only files of this host are kept.
    """

    is_read_only = False
    is_concurrency_safe = False
    is_state_injected = True
    verb: ClassVar[str]

    def __init__(
        self,
        dangerous_files: Sequence[str] | None = None,
        dangerous_directories: Sequence[str] | None = None,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
        backend: SandboxHandle | None = None,
        *,
        additional_dangerous_files: Sequence[str] = (),
        additional_dangerous_directories: Sequence[str] = (),
        cwd: str | os.PathLike[str] | None = None,
        checkpoints: CheckpointStore | None = None,
    ) -> None:
        if checkpoints is not None and backend is not None:
            raise ConfigurationError(
                "checkpoints are of files of this host: leave `checkpoints` or the backend out"
            )
        super().__init__(cwd=cwd, middlewares=middlewares, backend=backend)
        self.checkpoints = checkpoints
        self._sensitive = SensitiveNames.of(
            dangerous_files,
            dangerous_directories,
            additional_dangerous_files,
            additional_dangerous_directories,
        )

    @property
    def dangerous_files(self) -> tuple[str, ...]:
        """Return the file names whose change always asks, in any directory."""
        return self._sensitive.all_files

    @property
    def dangerous_directories(self) -> tuple[str, ...]:
        """Return the names of directories below which every change asks."""
        return self._sensitive.all_directories

    @override
    def judge(
        self, location: Location | PathError, context: PermissionContext
    ) -> PermissionDecision:
        """Return a safety ASK for what is sensitive, ALLOW for unattended edits, or PASSTHROUGH.

        In ACCEPT_EDITS and DONT_ASK, edits inside a working directory are accepted.
        """
        if isinstance(location, PathError):
            return _unusable(location)
        if reason := self._write_objection(location):
            return _sensitive(f"{self._intention(location)}, and {reason}", reason)
        intention = self._intention(location)
        if not context.mode.properties.edits_run:
            return PermissionDecision(
                PermissionBehavior.PASSTHROUGH,
                f"{intention}. It asks because no rule allows it.",
            )
        directories = self.directories_for(location, context)
        if inside_any(location, directories):
            return PermissionDecision(
                PermissionBehavior.ALLOW, f"{intention}, which is inside a working directory."
            )
        listed = ", ".join(f"`{directory.absolute}`" for directory in directories)
        return PermissionDecision(
            PermissionBehavior.PASSTHROUGH,
            f"{intention}, which is outside the working directories ({listed}). "
            "It asks because no rule allows it.",
            decision_reason="outside the working directories",
        )

    def _write_objection(self, location: Location) -> str | None:
        for each in self._files.homes_of(location):
            if reason := write_objection(each, self._sensitive):
                return reason
        return None

    def _intention(self, location: Location) -> str:
        verb = "create" if location.kind is FileKind.MISSING else self.verb
        shown = self.shown(location.absolute)
        through = "" if location.resolved == location.absolute else f" (`{location.resolved}`)"
        return f"{self.name} would {verb} `{shown}`{through}"


def _sensitive(message: str, reason: str) -> PermissionDecision:
    return PermissionDecision(
        PermissionBehavior.ASK, f"{message}.", decision_reason=reason, bypass_immune=True
    )


def _unusable(error: PathError) -> PermissionDecision:
    return PermissionDecision(
        PermissionBehavior.DENY, sentence(error), decision_reason="no usable path"
    )
