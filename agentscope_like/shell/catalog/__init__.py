"""The catalog of known programs, as TOML: their options, operands and sub-commands."""

from __future__ import annotations

from agentscope_like.shell.catalog.command_families import families
from agentscope_like.shell.catalog.grammar import REST, Grammar, Operand, Role, RoleKind, When
from agentscope_like.shell.catalog.programs import program_name
from agentscope_like.shell.catalog.tables import lookup, names
from agentscope_like.shell.catalog.traits import canonical, programs_with

__all__ = [
    "REST",
    "Grammar",
    "Operand",
    "Role",
    "RoleKind",
    "When",
    "canonical",
    "families",
    "lookup",
    "names",
    "program_name",
    "programs_with",
]
