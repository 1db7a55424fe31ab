"""Sandboxes: commands run on the host, isolated by its kernel, or on another host.

Modules that only running commands needs are imported on first use.
"""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.sandbox.config import SandboxConfig, SandboxType
    from agentscope_like.sandbox.factory import SandboxProviderFactory
    from agentscope_like.sandbox.handle import ISandboxHandle, IsolationLevel, SandboxHandle
    from agentscope_like.sandbox.mount import VolumeMount
    from agentscope_like.sandbox.result import CommandResult, ExecutionResult, FileInfo

__all__ = [
    "CommandResult",
    "ExecutionResult",
    "FileInfo",
    "ISandboxHandle",
    "IsolationLevel",
    "SandboxConfig",
    "SandboxHandle",
    "SandboxProviderFactory",
    "SandboxType",
    "VolumeMount",
]

__getattr__ = on_first_use(
    __name__,
    {
        "CommandResult": "result",
        "ExecutionResult": "result",
        "FileInfo": "result",
        "ISandboxHandle": "handle",
        "IsolationLevel": "handle",
        "SandboxConfig": "config",
        "SandboxHandle": "handle",
        "SandboxProviderFactory": "factory",
        "SandboxType": "config",
        "VolumeMount": "mount",
    },
)
