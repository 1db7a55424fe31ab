"""Traces file names that are only known at run time to the programs that print them."""

from __future__ import annotations

from agentscope_like.shell.names.name_doubts import doubted_names, unnamed_reads
from agentscope_like.shell.names.name_origins import Origins
from agentscope_like.shell.names.name_sources import Prints, name_source, plain_name

__all__ = [
    "Origins",
    "Prints",
    "doubted_names",
    "name_source",
    "plain_name",
    "unnamed_reads",
]
