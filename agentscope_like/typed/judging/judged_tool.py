"""Defines `JudgedTool`, the base of tools that are judged by what they say that they do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import ClassVar, Self

from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.permission import PermissionBehavior, PermissionContext
from agentscope_like.tool import ToolBase
from agentscope_like.typed.judging.allow_rules import ALLOWING_TOOLS, AllowRules
from agentscope_like.typed.judging.judges import directory_at

__all__ = ["JudgedTool"]


class JudgedTool(ToolBase):
    """A tool whose calls are judged as Bash, Read and Write judge what it says that they do.

    Args:
        trust: Whether what it says may make a call ask less.
        cwd: Where relative paths of effects start; by default, the process's own directory.
        middlewares: Layers around the call; the first is the outermost.

    Attributes:
        cwd: Where relative paths of effects start.
        runs_like_bash: As for `ToolDefinition`.
    """

    runs_like_bash: ClassVar[bool] = False

    def __init__(
        self,
        *,
        trust: bool = False,
        cwd: str | os.PathLike[str] | None = None,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
    ) -> None:
        super().__init__(middlewares)
        self.cwd = directory_at(os.getcwd(), "" if cwd is None else os.fspath(cwd))
        self._trust = trust is True
        self._allowing: tuple[int, AllowRules | None] | None = None

    @property
    def trust(self) -> bool:
        """Return whether effects and annotations may make a call ask less."""
        return self._trust

    def set_trust(self, trust: bool) -> Self:
        """Set, for who adds the tool, whether effects and annotations may make a call ask less."""
        self._trust = trust is True
        return self

    def allow_rules(self, context: PermissionContext) -> AllowRules | None:
        """Return the allow rules of Bash, Read and Write; they hold for trusted tools.

        Raises:
            RuleError: One of the contents cannot be read.
        """
        table = context.table(PermissionBehavior.ALLOW)
        if not table:
            return None
        if self._allowing is None or self._allowing[0] != table.version:
            rules = [rule for name in ALLOWING_TOOLS for rule in table.get(name, ())]
            self._allowing = table.version, AllowRules(rules) if rules else None
        return self._allowing[1]
