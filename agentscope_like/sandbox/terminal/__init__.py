"""Runs programs on pseudo-terminals, and shows what they write as plain text."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.sandbox.terminal.keeper import confined_environment
    from agentscope_like.sandbox.terminal.launch import ProgramStart
    from agentscope_like.sandbox.terminal.pty_process import PtyProcess
    from agentscope_like.sandbox.terminal.screen import COLUMNS, ROWS, Screen

__all__ = [
    "COLUMNS",
    "ROWS",
    "ProgramStart",
    "PtyProcess",
    "Screen",
    "confined_environment",
]

__getattr__ = on_first_use(
    __name__,
    {
        "COLUMNS": "screen",
        "ProgramStart": "launch",
        "PtyProcess": "pty_process",
        "ROWS": "screen",
        "Screen": "screen",
        "confined_environment": "keeper",
    },
)
