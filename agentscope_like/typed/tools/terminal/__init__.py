"""The terminal: runs commands on a pseudo-terminal, decided as Bash decides them."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.typed.tools.terminal.definition import (
        BashTool,
        ExecuteBashAction,
        ExecuteBashObservation,
        TerminalAction,
        TerminalMetadata,
        TerminalObservation,
        TerminalTool,
    )
    from agentscope_like.typed.tools.terminal.impl import TerminalExecutor

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
        "ExecuteBashAction": "definition",
        "ExecuteBashObservation": "definition",
        "TerminalAction": "definition",
        "TerminalExecutor": "impl",
        "TerminalMetadata": "definition",
        "TerminalObservation": "definition",
        "TerminalTool": "definition",
    },
)
