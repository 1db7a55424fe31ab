"""Ready-made typed tools; what does a tool's work is imported when the tool is created."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.typed.tools.file_editor import FileEditorTool
    from agentscope_like.typed.tools.finish import FinishTool
    from agentscope_like.typed.tools.glob import GlobTool
    from agentscope_like.typed.tools.grep import GrepTool
    from agentscope_like.typed.tools.task_tracker import TaskTrackerTool
    from agentscope_like.typed.tools.think import ThinkTool

__all__ = [
    "FileEditorTool",
    "FinishTool",
    "GlobTool",
    "GrepTool",
    "TaskTrackerTool",
    "ThinkTool",
]

__getattr__ = on_first_use(
    __name__,
    {
        "FileEditorTool": "file_editor",
        "FinishTool": "finish",
        "GlobTool": "glob",
        "GrepTool": "grep",
        "TaskTrackerTool": "task_tracker",
        "ThinkTool": "think",
    },
)
