"""Runs an interactive session at the terminal."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.cli.run.start import RunOptions, run_session

__all__ = [
    "RunOptions",
    "run_session",
]

__getattr__ = on_first_use(
    __name__,
    {
        "RunOptions": "start",
        "run_session": "start",
    },
)
