"""The registry of the process, and functions for it (seed 004)."""

from __future__ import annotations

from agentscope_like.state import AgentState
from agentscope_like.typed.registry.packages import PackagedTool
from agentscope_like.typed.registry.registration import AnyTool, Registrable
from agentscope_like.typed.registry.tool import Tool
from agentscope_like.typed.registry.tool_registry import ToolRegistry

__all__ = [
    "default_registry",
    "find_tools",
    "list_packaged_tools",
    "list_registered_tools",
    "register_packaged_tool",
    "register_tool",
    "resolve_tool",
    "unregister_tool",
]

_registry = ToolRegistry()


def default_registry() -> ToolRegistry:
    """Return the registry of the process."""
    return _registry


def register_tool(name: str, tool: Registrable, *, trust: bool = False) -> None:
    """Register a tool, a class or a function in this process: `ToolRegistry.register`.

    Args:
        name: The name for specifications.
        tool: The tool; the class, whose `create` makes tools; or the function that makes them.
        trust: Whether what the tools say of themselves may make a call ask less.

    Raises:
        ConfigurationError: The name is taken, or it is none of the three.
    """
    _registry.register(name, tool, trust=trust)


def unregister_tool(name: str) -> None:
    """Remove a registered name.

    Raises:
        ConfigurationError: It is not registered.
    """
    _registry.unregister(name)


def resolve_tool(
    spec: Tool, conv_state: AgentState | None = None, *, trust: bool = False
) -> list[AnyTool]:
    """Return the tools of a specification: `ToolRegistry.resolve`.

    Args:
        spec: The name, and what it is made with.
        conv_state: The state of the session that they are for.
        trust: Whether what the tools say of themselves may make a call ask less.

    Raises:
        ConfigurationError: The name is not registered, or the parameters do not fit.
    """
    return _registry.resolve(spec, conv_state, trust=trust)


def list_registered_tools(pattern: str = "*") -> list[str]:
    """Return the registered names, sorted; only those that match a pattern such as `file_*`."""
    return _registry.names(pattern)


def find_tools(pattern: str) -> list[Tool]:
    """Return specifications, without parameters, of the registered names that match a pattern."""
    return _registry.find(pattern)


def list_packaged_tools() -> tuple[PackagedTool, ...]:
    """Return the tools that installed packages offer; nothing is imported."""
    return _registry.packaged()


def register_packaged_tool(name: str, *, package: str | None = None) -> None:
    """Import a tool that an installed package offers, and register it; nobody trusts it.

    Args:
        name: The name of the entry point, which becomes that of the tool.
        package: The package, if several offer one of this name.

    Raises:
        ConfigurationError: No package offers it, it cannot be imported, or its name is taken.
    """
    _registry.register_packaged(name, package=package)
