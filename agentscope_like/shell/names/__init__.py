"""Traces file names that are only known at run time to the programs that print them."""

from __future__ import annotations

from agentscope_like.shell.names.name_sources import (
    Prints,
    feeders,
    name_doubt,
    name_source,
    unnamed_reads,
)
from agentscope_like.shell.names.printed_names import handed, names_from, names_read

__all__ = [
    "Prints",
    "feeders",
    "handed",
    "name_doubt",
    "name_source",
    "names_from",
    "names_read",
    "unnamed_reads",
]
