"""Shows events, edits and summaries in the terminal."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.cli.show.edit_diff import diff_lines
    from agentscope_like.cli.show.render import Renderer
    from agentscope_like.cli.show.summary import Tally
    from agentscope_like.cli.show.theme import make_console, one_line, plain, role_line

__all__ = [
    "Renderer",
    "Tally",
    "diff_lines",
    "make_console",
    "one_line",
    "plain",
    "role_line",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Renderer": "render",
        "Tally": "summary",
        "diff_lines": "edit_diff",
        "make_console": "theme",
        "one_line": "theme",
        "plain": "theme",
        "role_line": "theme",
    },
)
