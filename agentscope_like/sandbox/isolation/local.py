"""`LocalSandbox`: commands on this host, isolated by its kernel."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator

from agentscope_like.exception import ConfigurationError, IsolationError
from agentscope_like.sandbox.config import SandboxConfig, SandboxType
from agentscope_like.sandbox.handle import IsolationLevel
from agentscope_like.sandbox.host import (
    HostLauncher,
    HostSandbox,
    Launcher,
    find_seatbelt,
    require_unmoved,
)
from agentscope_like.sandbox.isolation.bubblewrap import (
    bubblewrap_objection,
    empty_directories,
    system_paths,
)
from agentscope_like.sandbox.isolation.bubblewrap_launcher import BubblewrapLauncher
from agentscope_like.sandbox.isolation.limits import Limits
from agentscope_like.sandbox.isolation.profile import Profile
from agentscope_like.sandbox.isolation.seatbelt import seatbelt_profile
from agentscope_like.sandbox.mount import VolumeMount

__all__ = ["LocalSandbox"]

_MEGABYTE = 1 << 20
_TEMPORARY = "/tmp"  # noqa: S108 - the sandbox's own
_SCRATCH = "/run/sandbox"
_OWN_WORKSPACE = "/workspace"
_IS_MACOS = sys.platform == "darwin"


class LocalSandbox(HostSandbox):
    """Runs commands in namespaces of their own, by bubblewrap; on macOS under seatbelt.

    They see the system read-only, the workspace, the mounts, and a private home and `/tmp` that
    last as long as the sandbox. They see nothing else of the host, no other file, process,
    socket, key or variable, and no network unless the configuration allows it. If that cannot be
    enforced, nothing is run. With a workspace or a mount below `/tmp`, each command has an
    empty `/tmp`.

    Args:
        config: Its configuration.

    Raises:
        ConfigurationError: A directory does not exist, or a path cannot be used as configured.
    """

    def __init__(self, config: SandboxConfig | None = None) -> None:
        super().__init__(config)
        if _IS_MACOS:
            require_unmoved(self.config, "macOS cannot show a directory at another path")
        self._check_places()

    @property
    def sandbox_type(self) -> SandboxType:
        """Return LOCAL."""
        return SandboxType.LOCAL

    @property
    def isolation(self) -> IsolationLevel:
        """Return KERNEL."""
        return IsolationLevel.KERNEL

    @property
    def profile(self) -> Profile:
        """Return what its commands may touch."""
        mounts = (*self.volume_mounts, self._scratch)
        if _IS_MACOS:
            hide: tuple[str, ...] = ()
            temporary = None
        elif any(mount.mount_path.startswith(f"{_TEMPORARY}/") for mount in mounts):
            # what commands can write to must not decide where something else is mounted
            hide, temporary = (*empty_directories(), _TEMPORARY), None
        else:
            hide, temporary = empty_directories(), os.path.join(self._private_directory, "tmp")
        return Profile(
            read=(*system_paths(), *_interpreter()),
            mounts=mounts,
            hide=hide,
            temporary=temporary,
            network=self.config.network,
            sockets=True,
        )

    @property
    def workspace_path(self) -> str:
        """Return the absolute path, as commands know it, of the directory that they start in."""
        if self.config.virtual_workspace or self._workspace or _IS_MACOS:
            return super().workspace_path
        return _OWN_WORKSPACE

    @property
    def scratch_path(self) -> str:
        """Return the directory, as commands know it, of files that are not the user's."""
        return super().scratch_path if _IS_MACOS else _SCRATCH

    async def initialize(self) -> None:
        """Make its private directory, after a check that commands can be isolated.

        Raises:
            IsolationError: They cannot be isolated on this machine.
        """
        if _IS_MACOS:
            reason = None if find_seatbelt() else "there is no sandbox-exec"
        else:
            reason = await asyncio.to_thread(bubblewrap_objection)
        if reason is not None:
            raise IsolationError(
                f"commands cannot be isolated on this machine: {reason}. Nothing is run without "
                "isolation unless `SandboxConfig(mode=SandboxType.PASSTHROUGH)` says so"
            )
        await super().initialize()

    @property
    def _launcher(self) -> Launcher:
        if _IS_MACOS:
            text = seatbelt_profile(self.profile)
            return HostLauncher([find_seatbelt() or "", "-p", text])
        config = self.config
        limits = Limits(
            cpu_seconds=config.cpu_time_limit,
            memory_bytes=config.memory_limit_mb * _MEGABYTE,
            processes=config.max_processes,
            file_bytes=config.max_file_size_mb * _MEGABYTE,
        )
        return BubblewrapLauncher(self.profile, limits)

    def _reachable(self) -> Iterator[VolumeMount]:
        yield from super()._reachable()
        if self.profile.temporary is not None:
            yield VolumeMount(self.profile.temporary, _TEMPORARY)

    def _check_places(self) -> None:
        """Refuse two directories mounted at one path, and a system directory as the workspace."""
        taken: dict[str, str] = {}
        mounts = list(self.config.volume_mounts)
        if self._workspace is not None or self.config.virtual_workspace is not None:
            place = self.config.virtual_workspace or self._workspace or ""
            mounts.insert(0, VolumeMount(self._workspace or "/nowhere", place))
        for mount in mounts:
            if taken.setdefault(mount.mount_path, mount.host_path) != mount.host_path:
                raise ConfigurationError(
                    f"{taken[mount.mount_path]} and {mount.host_path} cannot both be mounted at "
                    f"{mount.mount_path}: choose another `mount_path` for one of them"
                )


def _interpreter() -> tuple[str, ...]:
    """Return the directories of this process's Python that are not the system's."""
    prefix = os.path.realpath(sys.base_prefix)
    return () if prefix == "/usr" or prefix.startswith("/usr/") else (prefix,)
