"""Gives the file tools access to files on this host or in a sandbox, and their rules."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.file_errors import FileToolError
    from agentscope_like.tool.builtin.file_system.host_file_system import HOST_FILES
    from agentscope_like.tool.builtin.file_system.known_names import UnknownNameError
    from agentscope_like.tool.builtin.file_system.path_permissions import ReadingTool, WritingTool
    from agentscope_like.tool.builtin.file_system.path_tool import PathTool, PreparedPath
    from agentscope_like.tool.builtin.file_system.protocol import (
        Entry,
        FileContent,
        Files,
        FileSystem,
        OpenFile,
        explain,
        read_whole,
        require_file,
        whole,
    )
    from agentscope_like.tool.builtin.file_system.safe_open import (
        open_each,
        open_parent,
        open_regular,
    )
    from agentscope_like.tool.builtin.file_system.sandbox_file_system import SandboxFileSystem

__all__ = [
    "HOST_FILES",
    "Entry",
    "FileContent",
    "FileSystem",
    "FileToolError",
    "Files",
    "OpenFile",
    "PathTool",
    "PreparedPath",
    "ReadingTool",
    "SandboxFileSystem",
    "UnknownNameError",
    "WritingTool",
    "explain",
    "open_each",
    "open_parent",
    "open_regular",
    "read_whole",
    "require_file",
    "whole",
]

__getattr__ = on_first_use(
    __name__,
    {
        "HOST_FILES": "host_file_system",
        "Entry": "protocol",
        "FileContent": "protocol",
        "FileSystem": "protocol",
        "FileToolError": ".file_errors",
        "Files": "protocol",
        "OpenFile": "protocol",
        "PathTool": "path_tool",
        "PreparedPath": "path_tool",
        "ReadingTool": "path_permissions",
        "SandboxFileSystem": "sandbox_file_system",
        "UnknownNameError": "known_names",
        "WritingTool": "path_permissions",
        "explain": "protocol",
        "open_each": "safe_open",
        "open_parent": "safe_open",
        "open_regular": "safe_open",
        "read_whole": "protocol",
        "require_file": "protocol",
        "whole": "protocol",
    },
)
