"""The programs that are known, as TOML: their flags, their kinds and their sub-commands."""

from __future__ import annotations

from agentscope_like.shell.catalog.command_families import families
from agentscope_like.shell.catalog.grammar import REST, Grammar, Operand, Role, RoleKind, When
from agentscope_like.shell.catalog.programs import (
    COPIERS,
    FINDERS,
    GREPS,
    LINKERS,
    MOVERS,
    MOVING,
    RIGHTS,
    SEARCHERS,
    program_name,
)
from agentscope_like.shell.catalog.tables import lookup, names

__all__ = [
    "COPIERS",
    "FINDERS",
    "GREPS",
    "LINKERS",
    "MOVERS",
    "MOVING",
    "REST",
    "RIGHTS",
    "SEARCHERS",
    "Grammar",
    "Operand",
    "Role",
    "RoleKind",
    "When",
    "families",
    "lookup",
    "names",
    "program_name",
]
