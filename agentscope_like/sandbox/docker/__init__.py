"""Sandboxes in containers of a Docker engine."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.sandbox.docker.docker_sandbox import DockerSandbox

__all__ = ["DockerSandbox"]

__getattr__ = on_first_use(__name__, {"DockerSandbox": "docker_sandbox"})
