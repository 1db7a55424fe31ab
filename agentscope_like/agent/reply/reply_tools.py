"""Builds the toolkit of one reply: the agent's tools and those added for the reply."""

from __future__ import annotations

from collections.abc import Sequence

from agentscope_like.agent.reply.structured_output import StructuredSchema, finishing_tool
from agentscope_like.middleware import MiddlewareBase
from agentscope_like.tool import ToolBase, Toolkit

__all__ = ["reply_toolkit"]


async def reply_toolkit(
    toolkit: Toolkit,
    middlewares: Sequence[MiddlewareBase],
    schema: StructuredSchema | None,
    *,
    limits_results: bool = True,
) -> Toolkit:
    """Return the toolkit of a reply: the agent's own if nothing is added to it.

    Args:
        toolkit: The agent's own; it is not changed, since other agents may share it.
        middlewares: The agent's middlewares.
        schema: The schema of the answer, if it has one.
        limits_results: Whether the toolkit's own limit of results applies.

    Raises:
        ConfigurationError: Two tools have the same name; or the schema does not describe an object.
    """
    await toolkit.refresh()
    added: list[ToolBase] = []
    for middleware in middlewares:
        if middleware.is_implemented("list_tools"):
            added += await middleware.list_tools()
    if schema is not None:
        added.append(finishing_tool(schema))
    if not limits_results:
        toolkit = toolkit.without_result_limit()
    return toolkit.extended(added) if added else toolkit
