"""Reads and replaces files of a sandbox, on this host or by commands."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.sandbox.files.command_files import CommandFiles
    from agentscope_like.sandbox.files.command_names import CommandNames
    from agentscope_like.sandbox.files.command_text import answer
    from agentscope_like.sandbox.files.file_status import FileStatus
    from agentscope_like.sandbox.files.host_files import HostFiles
    from agentscope_like.sandbox.files.host_known_files import HostKnownFiles
    from agentscope_like.sandbox.files.known_files import KnownFiles
    from agentscope_like.sandbox.files.projection import (
        HostFile,
        copy_tree,
        files_below,
        put_file,
        read_below,
    )
    from agentscope_like.sandbox.files.whole_file import (
        READ_FLAGS,
        create_whole_file,
        open_regular_file,
        remove_whole_file,
        replace_whole_file,
    )

__all__ = [
    "READ_FLAGS",
    "CommandFiles",
    "CommandNames",
    "FileStatus",
    "HostFile",
    "HostFiles",
    "HostKnownFiles",
    "KnownFiles",
    "answer",
    "copy_tree",
    "create_whole_file",
    "files_below",
    "open_regular_file",
    "put_file",
    "read_below",
    "remove_whole_file",
    "replace_whole_file",
]

__getattr__ = on_first_use(
    __name__,
    {
        "READ_FLAGS": "whole_file",
        "CommandFiles": "command_files",
        "CommandNames": "command_names",
        "FileStatus": "file_status",
        "HostFile": "projection",
        "HostFiles": "host_files",
        "HostKnownFiles": "host_known_files",
        "KnownFiles": "known_files",
        "answer": "command_text",
        "copy_tree": "projection",
        "create_whole_file": "whole_file",
        "files_below": "projection",
        "open_regular_file": "whole_file",
        "put_file": "projection",
        "read_below": "projection",
        "remove_whole_file": "whole_file",
        "replace_whole_file": "whole_file",
    },
)
