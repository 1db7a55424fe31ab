"""The catalog of known programs, as TOML: their options, operands and sub-commands."""

from __future__ import annotations

from agentscope_like.shell.catalog.command_families import Runner, families
from agentscope_like.shell.catalog.compiler import CatalogError, parse_program
from agentscope_like.shell.catalog.grammar import REST, Flag, Grammar, Operand, Role, RoleKind, When
from agentscope_like.shell.catalog.steering import (
    Settings,
    Steering,
    SteeringFile,
    off_switches,
    seen_steerings,
    steered_by,
    steering_table,
)
from agentscope_like.shell.catalog.tables import lookup, names
from agentscope_like.shell.catalog.traits import (
    SYSTEM_DIRECTORIES,
    bare_name,
    canonical,
    names_of,
    parse_traits,
    program_name,
    programs_with,
)

__all__ = [
    "REST",
    "SYSTEM_DIRECTORIES",
    "CatalogError",
    "Flag",
    "Grammar",
    "Operand",
    "Role",
    "RoleKind",
    "Runner",
    "Settings",
    "Steering",
    "SteeringFile",
    "When",
    "bare_name",
    "canonical",
    "families",
    "lookup",
    "names",
    "names_of",
    "off_switches",
    "parse_program",
    "parse_traits",
    "program_name",
    "programs_with",
    "seen_steerings",
    "steered_by",
    "steering_table",
]
