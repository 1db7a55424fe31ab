"""Runs an interactive session at the terminal."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.cli.run.extra_tools import parse_extras
    from agentscope_like.cli.run.start import (
        RunOptions,
        opening_notes,
        prepare_session,
        run_session,
    )

__all__ = [
    "RunOptions",
    "opening_notes",
    "parse_extras",
    "prepare_session",
    "run_session",
]

__getattr__ = on_first_use(
    __name__,
    {
        "RunOptions": "start",
        "opening_notes": "start",
        "parse_extras": "extra_tools",
        "prepare_session": "start",
        "run_session": "start",
    },
)
