"""The files that the built-in tools work on, of this host or of a sandbox, and the rules about them."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.file_system.path_permissions import ReadingTool, WritingTool
    from agentscope_like.tool.builtin.file_system.path_tool import PathTool
    from agentscope_like.tool.builtin.file_system.protocol import (
        MAX_WHOLE_BYTES,
        Entry,
        FileContent,
        Files,
        FileSystem,
        FileToolError,
        OpenFile,
        RuleIndex,
        explain,
        read_whole,
        require_file,
        whole,
    )
    from agentscope_like.tool.builtin.file_system.safe_open import open_regular
    from agentscope_like.tool.builtin.file_system.sandbox_file_system import HandleFileSystem
    from agentscope_like.tool.builtin.file_system.sandbox_rules import HandleRuleIndex

__all__ = [
    "MAX_WHOLE_BYTES",
    "Entry",
    "FileContent",
    "FileSystem",
    "FileToolError",
    "Files",
    "HandleFileSystem",
    "HandleRuleIndex",
    "OpenFile",
    "PathTool",
    "ReadingTool",
    "RuleIndex",
    "WritingTool",
    "explain",
    "open_regular",
    "read_whole",
    "require_file",
    "whole",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Entry": "protocol",
        "FileContent": "protocol",
        "FileSystem": "protocol",
        "FileToolError": "protocol",
        "Files": "protocol",
        "HandleFileSystem": "sandbox_file_system",
        "HandleRuleIndex": "sandbox_rules",
        "MAX_WHOLE_BYTES": "protocol",
        "OpenFile": "protocol",
        "PathTool": "path_tool",
        "ReadingTool": "path_permissions",
        "RuleIndex": "protocol",
        "WritingTool": "path_permissions",
        "explain": "protocol",
        "open_regular": "safe_open",
        "read_whole": "protocol",
        "require_file": "protocol",
        "whole": "protocol",
    },
)
