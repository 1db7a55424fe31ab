"""Makes the sandbox that a configuration asks for."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from typing import ClassVar

from agentscope_like.exception import ConfigurationError
from agentscope_like.nearest import nearest
from agentscope_like.sandbox.config import SandboxConfig, SandboxType
from agentscope_like.sandbox.handle import SandboxHandle

__all__ = ["SandboxProviderFactory"]

Provider = Callable[[SandboxConfig], SandboxHandle]


class SandboxProviderFactory:
    """Makes sandboxes by mode, REMOTE ones by a registered provider (seed 003, 5.2).

    Providers are registered for the whole process.
    """

    _providers: ClassVar[dict[str, Provider]] = {}
    _lock: ClassVar[threading.Lock] = threading.Lock()

    @classmethod
    def register_remote_provider(cls, name: str, provider: Provider) -> None:
        """Register the provider that makes REMOTE sandboxes of that name.

        Args:
            name: What `SandboxConfig.remote_provider` calls it; `"ssh"` and `"docker"` are taken.
            provider: A subclass of `SandboxHandle`, or a function, that is called with the
                configuration.

        Raises:
            ConfigurationError: It is not a provider, or the name is taken.
        """
        is_handle = isinstance(provider, type) and issubclass(provider, SandboxHandle)
        if not is_handle and (isinstance(provider, type) or not callable(provider)):
            raise ConfigurationError(
                f"the remote provider {name!r} is {provider!r}, which makes no sandbox: register a "
                "subclass of SandboxHandle, or a function that takes a SandboxConfig"
            )
        if inspect.isabstract(provider):
            missing = ", ".join(sorted(getattr(provider, "__abstractmethods__", ())))
            raise ConfigurationError(
                f"the remote provider {name!r} cannot be made yet: {provider!r} lacks {missing}"
            )
        with cls._lock:
            if name in _SHIPPED or cls._providers.get(name, provider) is not provider:
                raise ConfigurationError(
                    f"there is another remote provider {name!r} already: choose another name, or "
                    "unregister it first"
                )
            cls._providers[name] = provider

    @classmethod
    def unregister_remote_provider(cls, name: str) -> None:
        """Forget a provider, if there is one."""
        with cls._lock:
            cls._providers.pop(name, None)

    @classmethod
    def remote_providers(cls) -> tuple[str, ...]:
        """Return the names that `SandboxConfig.remote_provider` can have."""
        return (*_SHIPPED, *sorted(cls._providers))

    @classmethod
    async def create(cls, config: SandboxConfig | None = None) -> SandboxHandle:
        """Return a sandbox that is ready; close it, or use it as an async context manager.

        Args:
            config: Its configuration; by default LOCAL, with a workspace of its own.

        Raises:
            IsolationError: LOCAL is not possible on this machine; nothing else is made instead.
            ConfigurationError: There is no such provider, or the configuration cannot work.
            SandboxConnectionError: The other host cannot be reached.
        """
        handle = cls._make(config or SandboxConfig())
        try:
            await handle.initialize()
        except BaseException:
            await handle.close()
            raise
        return handle

    @classmethod
    def _make(cls, config: SandboxConfig) -> SandboxHandle:
        if config.mode is SandboxType.LOCAL:
            from agentscope_like.sandbox.isolation import LocalSandbox

            return LocalSandbox(config)
        if config.mode is SandboxType.PASSTHROUGH:
            from agentscope_like.sandbox.host import PassthroughSandbox

            return PassthroughSandbox(config)
        name = config.remote_provider or ""
        if name == _SSH:
            from agentscope_like.sandbox.ssh import SSHSandbox

            return SSHSandbox(config)
        if name == _DOCKER:
            from agentscope_like.sandbox.docker import DockerSandbox

            return DockerSandbox(config)
        provider = cls._providers.get(name)
        if provider is None:
            known = ", ".join(cls.remote_providers())
            raise ConfigurationError(
                f"there is no remote provider {name!r}{nearest(name, cls.remote_providers())}; "
                f"known: {known}. Others are made known by register_remote_provider"
            )
        handle = provider(config)
        if not isinstance(handle, SandboxHandle):
            raise ConfigurationError(
                f"the remote provider {name!r} made {handle!r}, which is not a SandboxHandle"
            )
        return handle


_SSH = "ssh"
_DOCKER = "docker"
_SHIPPED = (_SSH, _DOCKER)
