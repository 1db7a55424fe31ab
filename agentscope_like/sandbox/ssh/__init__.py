"""Sandboxes on another host, over SSH."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.sandbox.ssh.ssh_sandbox import SSHSandbox

__all__ = [
    "SSHSandbox",
]

__getattr__ = on_first_use(
    __name__,
    {
        "SSHSandbox": "ssh_sandbox",
    },
)
