"""Where commands run: on the host, isolated by its kernel, or on another host."""

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
