"""Reads and checks what a typed tool declares: its name, its types, what it may not override."""

from __future__ import annotations

import re
from typing import Any, get_args, get_origin

from agentscope_like.exception import ConfigurationError
from agentscope_like.tool import ToolBase
from agentscope_like.typed.action import Action
from agentscope_like.typed.observation import Observation

__all__ = ["check_declared", "refuse_overrides", "tool_name_of", "types_named_by"]

_NOT_OVERRIDDEN = (
    "allow_rules",
    "also_ruled_as",
    "call",
    "check_permissions",
    "check_read_only",
    "compile_related",
    "compile_rules",
    "decision_basis",
    "is_read_only",
    "match_rule",
    "prepare_call",
    "related_tools",
    "touches_only_agent_state",
    "trust",
)


def check_declared(tool: ToolBase, action_type: object, result: object) -> None:
    """Refuse a tool that lacks a declaration.

    Args:
        tool: The tool.
        action_type: What it says is the class of its arguments.
        result: What it says is the class of its results; None for any.

    Raises:
        ConfigurationError: A declaration is missing, or is of the wrong kind.
    """
    if not tool.name:
        raise ConfigurationError(f"a {type(tool).__name__} needs a name: give `name`")
    if not tool.description:
        raise ConfigurationError(f"the tool {tool.name} needs a `description` for the model")
    if not (isinstance(action_type, type) and issubclass(action_type, Action)):
        raise ConfigurationError(
            f"the `action_type` of {tool.name} is {action_type!r}: give a subclass of Action"
        )
    if result is not None and not (isinstance(result, type) and issubclass(result, Observation)):
        raise ConfigurationError(
            f"the `observation_type` of {tool.name} is {result!r}: give a subclass of Observation"
        )


def refuse_overrides(cls: type) -> None:
    """Refuse a class that would decide about its own calls.

    Raises:
        ConfigurationError: It overrides what the decision is made of.
    """
    for name in _NOT_OVERRIDDEN:
        owner = next((one for one in cls.__mro__ if name in one.__dict__), None)
        if owner is not None and not owner.__module__.startswith("agentscope_like."):
            raise ConfigurationError(
                f"{cls.__name__} overrides `{name}`: a typed tool does not decide about its own "
                "calls. Say in `effects` what an action would do; who adds the tool gives `trust`"
            )


def types_named_by(base: Any, generic: type) -> dict[str, type]:
    """Return the classes that `ToolDefinition[MyAction, MyObservation]` names, by attribute."""
    origin = get_origin(base)
    if not (isinstance(origin, type) and issubclass(origin, generic)):
        return {}
    named = zip(("action_type", "observation_type"), get_args(base), strict=False)
    return {name: one for name, one in named if isinstance(one, type)}


def tool_name_of(name: str) -> str:
    """Return the tool name of a class: `file_editor` of `FileEditorTool`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    return words.removesuffix("_tool") or words
