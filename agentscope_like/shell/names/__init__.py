"""Where the names of files come from that a command is only told while it runs."""

from __future__ import annotations

from agentscope_like.shell.names.feeding import Feeders
from agentscope_like.shell.names.handed import held_words, said, spelled
from agentscope_like.shell.names.unseen import (
    doubted_names,
    finds_files_alone,
    finds_source_code,
    sources,
)

__all__ = [
    "Feeders",
    "doubted_names",
    "finds_files_alone",
    "finds_source_code",
    "held_words",
    "said",
    "sources",
    "spelled",
]
