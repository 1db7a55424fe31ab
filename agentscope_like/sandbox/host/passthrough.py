"""`PassthroughSandbox`: commands on this host without isolation."""

from __future__ import annotations

import os

from agentscope_like.exception import ConfigurationError
from agentscope_like.sandbox.config import SandboxConfig, SandboxType
from agentscope_like.sandbox.handle import IsolationLevel
from agentscope_like.sandbox.host.host_sandbox import HostSandbox
from agentscope_like.sandbox.host.launcher import HostLauncher, Launcher

__all__ = ["PassthroughSandbox", "require_unmoved"]


class PassthroughSandbox(HostSandbox):
    """Runs commands as this process would, with its user's rights and the whole host in reach.

    The file methods reach only the workspace and the mounts, as in every sandbox. A mount must keep
    its own path, since commands see the host as it is. Limits and `network=False` have no effect.

    Args:
        config: Its configuration.

    Raises:
        ConfigurationError: A directory does not exist, or is mounted at another path.
    """

    def __init__(self, config: SandboxConfig | None = None) -> None:
        super().__init__(config or SandboxConfig(mode=SandboxType.PASSTHROUGH))
        require_unmoved(self.config, "PASSTHROUGH runs commands on the host as it is")

    @property
    def sandbox_type(self) -> SandboxType:
        """Return PASSTHROUGH."""
        return SandboxType.PASSTHROUGH

    @property
    def isolation(self) -> IsolationLevel:
        """Return NONE."""
        return IsolationLevel.NONE

    @property
    def _launcher(self) -> Launcher:
        return HostLauncher()

    def _own_variables(self) -> dict[str, str]:
        return {name: os.environ[name] for name in ("HOME", "PATH", "SHELL") if name in os.environ}


def require_unmoved(config: SandboxConfig, reason: str) -> None:
    """Refuse mounts whose path differs from the host's.

    Raises:
        ConfigurationError: There is one.
    """
    moved = [mount.mount_path for mount in config.volume_mounts if mount.is_moved]
    if config.virtual_workspace is not None:
        moved.append(config.virtual_workspace)
    if moved:
        raise ConfigurationError(
            f"{moved[0]} cannot stand for another directory of the host: {reason}. Leave "
            "`virtual_workspace` out and mount directories at their own path, or use LOCAL on Linux"
        )
