"""The terminal: runs commands on a pseudo-terminal, decided as Bash decides them."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.typed.tools.terminal.action import ExecuteBashAction, TerminalAction
    from agentscope_like.typed.tools.terminal.definition import BashTool, TerminalTool
    from agentscope_like.typed.tools.terminal.impl import TerminalExecutor
    from agentscope_like.typed.tools.terminal.observation import (
        ExecuteBashObservation,
        TerminalMetadata,
        TerminalObservation,
    )

__all__ = [
    "BashTool",
    "ExecuteBashAction",
    "ExecuteBashObservation",
    "TerminalAction",
    "TerminalExecutor",
    "TerminalMetadata",
    "TerminalObservation",
    "TerminalTool",
]

__getattr__ = on_first_use(
    __name__,
    {
        "BashTool": "definition",
        "ExecuteBashAction": "action",
        "ExecuteBashObservation": "observation",
        "TerminalAction": "action",
        "TerminalExecutor": "impl",
        "TerminalMetadata": "observation",
        "TerminalObservation": "observation",
        "TerminalTool": "definition",
    },
)
