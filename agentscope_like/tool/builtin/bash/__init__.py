"""Provides the Bash tool, and runs its commands on the host or in a sandbox."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.bash.bash_tool import Bash, Contain

__all__ = [
    "Bash",
    "Contain",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Bash": "bash_tool",
        "Contain": "bash_tool",
    },
)
