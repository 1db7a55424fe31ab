"""Defines `MCPToolAction`, the arguments of an MCP tool."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

from pydantic import PrivateAttr
from typing_extensions import override

from agentscope_like.tool.arguments import copied
from agentscope_like.typed.action import Action

__all__ = ["MCPToolAction"]


class MCPToolAction(Action):
    """The arguments of an MCP tool, as its server wants them (seed 004).

    Attributes:
        data: The arguments, by the server's own names.
    """

    data: dict[str, Any]

    _secrets: tuple[str, ...] = PrivateAttr(default=())

    @classmethod
    def with_secrets(cls, data: dict[str, Any], secrets: Iterable[str]) -> Self:
        """Return the action of these arguments.

        Args:
            data: The arguments.
            secrets: Texts in them that are not to be shown, the longest first.
        """
        action = cls(data=data)
        action._secrets = tuple(secrets)
        return action

    @override
    def __given__(self) -> dict[str, Any]:
        given: dict[str, Any] = copied(self.data)
        return given

    @override
    def __secrets__(self) -> list[str]:
        return list(self._secrets)
