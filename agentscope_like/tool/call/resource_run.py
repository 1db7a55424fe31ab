"""Runs a call while the resources that it declares are held."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from agentscope_like.exception import (
    AgentOrientedException,
    ConfigurationError,
    DeveloperOrientedException,
)
from agentscope_like.message import ToolChunk, ToolResponse, ToolResultState
from agentscope_like.tool.arguments import copied, parse_arguments
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.call.decided_call import refused
from agentscope_like.tool.call.grant import Grant
from agentscope_like.tool.call.registered_tool import RegisteredTool
from agentscope_like.tool.resources import Claim, DeclaredResources, while_held

__all__ = ["claim_of", "declared_resources", "declares", "within_resources"]

Items = AsyncGenerator[ToolChunk | ToolResponse, None]


def declared_resources(tool: ToolBase, arguments: dict[str, Any]) -> DeclaredResources | None:
    """Return what a call says that it touches; None if it says nothing.

    Raises:
        AgentOrientedException: The tool's `resources` fails.
        ConfigurationError: It returns something else.
    """
    if not declares(tool):
        return None
    try:
        declared: object = tool.resources(copied(arguments))
    except (AgentOrientedException, DeveloperOrientedException):
        raise
    except Exception as error:
        raise AgentOrientedException(
            f"{tool.name} did not run, as it cannot tell what the call would touch: "
            f"{type(error).__name__}: {error}"
        ) from error
    if not isinstance(declared, DeclaredResources | None):
        raise ConfigurationError(
            f"`resources` of {tool.name} returns {declared!r}: return DeclaredResources, or None"
        )
    return declared


def declares(tool: ToolBase) -> bool:
    """Return whether the tool can say what a call touches."""
    return getattr(tool.resources, "__func__", None) is not ToolBase.resources


def claim_of(entry: RegisteredTool, text: str) -> Claim:
    """Return what a call says of running at the same time as others; alone if it cannot say.

    Args:
        entry: The tool.
        text: The model's arguments, not yet checked.
    """
    tool = entry.tool
    if not declares(tool):
        return Claim(tool.is_concurrency_safe)
    try:
        arguments, _ = entry.split(parse_arguments(tool.name, text))
        declared = declared_resources(tool, arguments)
    except (AgentOrientedException, DeveloperOrientedException):
        return Claim(is_concurrency_safe=False)
    return Claim(tool.is_concurrency_safe, declared)


def within_resources(grant: Grant, stream: Items) -> Items:
    """Return the stream of a granted call, run while its resources are held.

    Args:
        grant: The grant.
        stream: What the call yields, not yet begun.

    Raises:
        ConfigurationError: The tool's `resources` returns something else.
    """
    try:
        declared = declared_resources(grant.tool, grant.arguments)
    except AgentOrientedException as error:
        return _refused(grant, error)
    if declared is None or not (declared.keys or declared.shared):
        return stream
    return _held(grant, declared, stream)


async def _held(grant: Grant, declared: DeclaredResources, stream: Items) -> Items:
    try:
        async with aclosing(while_held(declared, stream)) as items:
            async for item in items:
                yield item
    except AgentOrientedException as error:
        yield refused(grant.call_id, error.told, ToolResultState.ERROR, error.metadata)


async def _refused(grant: Grant, error: AgentOrientedException) -> Items:
    yield refused(grant.call_id, error.told, ToolResultState.ERROR, error.metadata)
