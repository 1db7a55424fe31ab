"""An interactive session at the terminal."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.cli.run.program_tools import TOOL_NAMES, load_tool, parse_input, reading_of
    from agentscope_like.cli.run.start import RunOptions, run_session

__all__ = [
    "TOOL_NAMES",
    "RunOptions",
    "load_tool",
    "parse_input",
    "reading_of",
    "run_session",
]

__getattr__ = on_first_use(
    __name__,
    {
        "RunOptions": "start",
        "TOOL_NAMES": "program_tools",
        "load_tool": "program_tools",
        "parse_input": "program_tools",
        "reading_of": "program_tools",
        "run_session": "start",
    },
)
