"""Traces file names that are only known at run time to the programs that print them."""

from __future__ import annotations

from agentscope_like.shell.names.found_files import finds_files_alone
from agentscope_like.shell.names.name_doubts import doubted_names, unnamed_reads
from agentscope_like.shell.names.name_origins import Origins
from agentscope_like.shell.names.name_sources import Prints, name_source, plain_name
from agentscope_like.shell.names.spoken_names import held_words, pieces, said

__all__ = [
    "Origins",
    "Prints",
    "doubted_names",
    "finds_files_alone",
    "held_words",
    "name_source",
    "pieces",
    "plain_name",
    "said",
    "unnamed_reads",
]
