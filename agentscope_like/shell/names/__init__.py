"""Traces file names that are only known at run time to the programs that print them."""

from __future__ import annotations

from agentscope_like.shell.names.name_sources import (
    Prints,
    feeders,
    name_doubt,
    name_source,
    plain_name,
    unnamed_reads,
)
from agentscope_like.shell.names.printed_names import PrintedNames

__all__ = [
    "PrintedNames",
    "Prints",
    "feeders",
    "name_doubt",
    "name_source",
    "plain_name",
    "unnamed_reads",
]
