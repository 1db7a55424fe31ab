"""Holds the tools of one server, as last listed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from agentscope_like.exception import ConfigurationError
from agentscope_like.mcp.pins import Pin, ToolChange
from agentscope_like.nearest import nearest
from agentscope_like.tool import MCPTool
from agentscope_like.tool.arguments import ArgumentValidator
from agentscope_like.tool.mcp import MCPSession, definition_of, digest_of

if TYPE_CHECKING:
    from mcp_types import Tool

__all__ = ["Catalog", "Selection"]

_log = logging.getLogger(__name__)


class Selection(Struct, frozen=True):
    """Selects which of a server's tools are offered, by the server's names for them.

    Attributes:
        enabled: The offered tools; None for all.
        disabled: Tools that are not offered.
    """

    enabled: tuple[str, ...] | None = None
    disabled: tuple[str, ...] = ()

    def takes(self, name: str) -> bool:
        """Return whether the tool of this name is offered."""
        return name not in self.disabled and (self.enabled is None or name in self.enabled)

    def check(self, server: str, known: Iterable[str]) -> None:
        """Refuse unknown names: a typo could offer a tool that was meant to be disabled.

        Raises:
            ConfigurationError: A name is unknown.
        """
        known = list(known)
        for option, names in (("enable_tools", self.enabled), ("disable_tools", self.disabled)):
            for name in names or ():
                if name not in known:
                    raise ConfigurationError(
                        f"`{option}` of the MCP server {server!r} names {name!r}, which the server "
                        f"does not have{nearest(name, known)}"
                    )


class _Entry(Struct, frozen=True):
    tool: MCPTool
    digest: str
    change: ToolChange | None


class Catalog:
    """The tools that a server offers; a tool with an unchanged definition stays the same object.

    Args:
        server: The server's name in this program.
        selection: Which tools are offered.
        session_for: Returns the session for the calls of a tool, from the digest of its definition.
        timeout: Seconds that a call may take; None for the default.
        trust_annotations: Whether the server's hints may loosen a decision.

    Attributes:
        version: The number of changes so far.
        left_out: Why tools are not offered, by the server's names for them.
    """

    def __init__(
        self,
        server: str,
        selection: Selection,
        *,
        session_for: Callable[[str], MCPSession],
        timeout: float | None,
        trust_annotations: bool,
    ) -> None:
        self._server = server
        self._selection = selection
        self._session_for = session_for
        self._timeout = timeout
        self._trust_annotations = trust_annotations
        self._claimed: frozenset[tuple[str, str]] | None = None
        self._entries: dict[str, _Entry] | None = None
        self.version = 0
        self.left_out: dict[str, str] = {}

    @property
    def is_filled(self) -> bool:
        """Return whether the tools have been listed."""
        return self._entries is not None

    @property
    def tools(self) -> list[MCPTool]:
        """Return the tools, in the server's order."""
        return [entry.tool for entry in (self._entries or {}).values()]

    @property
    def changes(self) -> tuple[ToolChange, ...]:
        """Return the definitions that are not approved."""
        entries = (self._entries or {}).values()
        return tuple(entry.change for entry in entries if entry.change is not None)

    def find(self, name: str) -> MCPTool | None:
        """Return the tool with this server's or model's name, or None."""
        if self._entries and name in self._entries:
            return self._entries[name].tool
        return next((tool for tool in self.tools if tool.name == name), None)

    def digest(self, name: str) -> str | None:
        """Return the digest of the definition of the tool with this server's name, or None."""
        entry = (self._entries or {}).get(name)
        return None if entry is None else entry.digest

    def update(self, listed: Iterable[Tool], pins: Mapping[str, Pin] | None) -> None:
        """Update the tools from the server's list.

        Args:
            listed: The definitions.
            pins: The approved definitions; None if no approval is needed.

        Raises:
            ConfigurationError: A name to be enabled or disabled is unknown, on the first listing.
        """
        listed = list(listed)
        if self._entries is None:
            self._selection.check(self._server, (tool.name for tool in listed))
        if self._claimed is None:
            self._claimed = frozenset(claim for tool in listed for claim in _claims(tool))
        known, entries = self._entries or {}, dict[str, _Entry]()
        self.left_out = {}
        for tool in listed:
            if not self._selection.takes(tool.name):
                continue
            if tool.name in entries:
                self._leave_out(tool, "the server lists two tools of this name")
                continue
            entry = self._entry(tool, pins, known.get(tool.name))
            if entry is not None:
                entries[tool.name] = entry
        if self._entries is None or list(entries.items()) != list(known.items()):
            self.version += 1
        self._entries = entries

    def _entry(
        self, tool: Tool, pins: Mapping[str, Pin] | None, known: _Entry | None
    ) -> _Entry | None:
        if tool.execution is not None and tool.execution.task_support == "required":
            self._leave_out(tool, "it only runs as a task, which this client does not support")
            return None
        try:
            definition = definition_of(tool)
            digest = digest_of(definition)
        except (ValueError, RecursionError) as error:
            self._leave_out(tool, f"its definition is no JSON: {error}")
            return None
        change = self._change(tool.name, definition, digest, pins)
        if known is not None and known.digest == digest and known.change == change:
            return known
        try:
            made = MCPTool(
                self._server,
                tool,
                session=self._session_for(digest),
                timeout=self._timeout,
                trust_annotations=self._trust_annotations and self._trusts(tool, pins),
                drift=None if change is None else change.differences,
            )
            ArgumentValidator(made.name, made.input_schema, closed=False)
        except ConfigurationError as error:
            self._leave_out(tool, error.message)
            return None
        except Exception as error:  # a schema that nobody thought of costs its tool, not the server
            self._leave_out(tool, f"{type(error).__name__}: {error}")
            return None
        return _Entry(made, digest, change)

    def _trusts(self, tool: Tool, pins: Mapping[str, Pin] | None) -> bool:
        """Return whether the tool's hints count: approved, or as in the server's first list."""
        return pins is not None or self._claimed is None or self._claimed.issuperset(_claims(tool))

    def _change(
        self, name: str, definition: dict[str, Any], digest: str, pins: Mapping[str, Pin] | None
    ) -> ToolChange | None:
        pin = None if pins is None else pins.get(name)
        if pins is None or (pin is not None and pin.digest == digest):
            return None
        approved = None if pin is None else pin.definition
        return ToolChange(self._server, name, definition, approved)

    def _leave_out(self, tool: Tool, why: str) -> None:
        self.left_out[tool.name] = why
        _log.warning("tool %r of the MCP server %r is left out: %s", tool.name, self._server, why)


def _claims(tool: Tool) -> Iterator[tuple[str, str]]:
    """Yield what the server says of the tool that would loosen a decision, with its name."""
    claims = tool.annotations
    if claims is not None and claims.read_only_hint:
        yield tool.name, "readOnlyHint"
    if claims is not None and claims.idempotent_hint:
        yield tool.name, "idempotentHint"
