"""Ready-made typed tools; what does a tool's work is imported when the tool is created."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.typed.tools.file_editor import FileEditorTool
    from agentscope_like.typed.tools.finish import FinishTool
    from agentscope_like.typed.tools.glob import GlobTool
    from agentscope_like.typed.tools.grep import GrepTool
    from agentscope_like.typed.tools.task_tracker import TaskTrackerTool
    from agentscope_like.typed.tools.terminal import BashTool, TerminalTool
    from agentscope_like.typed.tools.think import ThinkTool

__all__ = [
    "BashTool",
    "FileEditorTool",
    "FinishTool",
    "GlobTool",
    "GrepTool",
    "TaskTrackerTool",
    "TerminalTool",
    "ThinkTool",
]

__getattr__ = on_first_use(
    __name__,
    {
        "BashTool": "terminal",
        "FileEditorTool": "file_editor",
        "FinishTool": "finish",
        "GlobTool": "glob",
        "GrepTool": "grep",
        "TaskTrackerTool": "task_tracker",
        "TerminalTool": "terminal",
        "ThinkTool": "think",
    },
)
