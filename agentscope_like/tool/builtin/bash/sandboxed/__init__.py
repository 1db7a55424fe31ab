"""Runs the commands of Bash in a sandbox."""

from agentscope_like.tool.builtin.bash.sandboxed.sandbox_shell import SandboxShell

__all__ = ["SandboxShell"]
