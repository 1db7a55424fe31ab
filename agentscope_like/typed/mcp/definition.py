"""Defines `MCPToolDefinition`, a tool of an MCP server as a typed tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Self

from typing_extensions import override

from agentscope_like.exception import ConfigurationError
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agentscope_like.state import AgentState
from agentscope_like.tool import MCPTool
from agentscope_like.tool.arguments import ArgumentValidator, copied
from agentscope_like.tool.mcp import definition_of
from agentscope_like.typed.action import Action
from agentscope_like.typed.annotations import ToolAnnotations
from agentscope_like.typed.arguments import action_of
from agentscope_like.typed.definition import ToolDefinition
from agentscope_like.typed.judging import OwnRules, PreparedAction
from agentscope_like.typed.mcp.action import MCPToolAction
from agentscope_like.typed.mcp.executor import MCPToolExecutor
from agentscope_like.typed.mcp.observation import MCPToolObservation
from agentscope_like.typed.secret_fields import has_secrets, marked_values

__all__ = ["MCPToolDefinition"]


class MCPToolDefinition(ToolDefinition[MCPToolAction, MCPToolObservation]):
    """A tool of a server (seed 004), decided as `MCPTool` decides: hints, pins and rules hold.

    Arguments are validated against the server's own schema, whole and without coercion. Any name
    is possible for them, since they are kept apart from the fields of the action.

    Args:
        tool: The tool, as its client offers it.
        executor: Calls it; by default one that closes nothing.
    """

    description = "A tool of an MCP server."
    is_mcp = True
    related_tools = ()

    def __init__(self, tool: MCPTool, executor: MCPToolExecutor | None = None) -> None:
        self._server_tool = tool
        super().__init__(
            name=tool.name,
            description=tool.description or f"The tool {tool.name} of an MCP server.",
            action_type=MCPToolAction,
            observation_type=MCPToolObservation,
            executor=executor if executor is not None else MCPToolExecutor(tool),
            annotations=_claims(tool),
            meta=tool.definition.meta,
        )
        self.input_schema = copied(tool.input_schema)
        self.mcp_name = tool.mcp_name
        self.is_hidden = tool.is_hidden

    @classmethod
    @override
    def create(
        cls,
        conv_state: AgentState | None = None,
        *,
        mcp_tool: MCPTool | None = None,
        **params: Any,
    ) -> Sequence[Self]:
        """Return the typed tool of a server's tool.

        Args:
            conv_state: Not used.
            mcp_tool: The tool, as its client offers it.
            **params: As for the class.

        Raises:
            ConfigurationError: No tool is given.
        """
        del conv_state
        if not isinstance(mcp_tool, MCPTool):
            raise ConfigurationError(
                f"`mcp_tool` is {mcp_tool!r}: give a tool that an MCPClient offers"
            )
        return [cls(mcp_tool, **params)]

    @property
    def mcp_tool(self) -> MCPTool:
        """Return the tool as its client offers it."""
        return self._server_tool

    @property
    @override
    def is_read_only(self) -> bool:  # type: ignore[override]
        return self._server_tool.is_read_only

    @property
    @override
    def is_idempotent(self) -> bool:  # type: ignore[override]
        return self._server_tool.is_idempotent

    # Arguments

    @cached_property
    def arguments_type(self) -> type[Action]:
        """Return a model of the arguments with a field for each; made on first use."""
        return Action.from_mcp_schema(self.name, self.input_schema)

    @override
    def action_from_arguments(self, arguments: Mapping[str, Any]) -> MCPToolAction:
        """Return the action of a call's arguments.

        Raises:
            ToolArgumentError: They do not fit the server's schema.
        """
        action_of(self.name, self.arguments_type, arguments)
        secrets = marked_values(self.input_schema, arguments)
        return MCPToolAction.with_secrets(copied(dict(arguments)), secrets)

    @override
    def argument_validator(self) -> ArgumentValidator:
        """Return what refuses arguments that do not fit the server's schema."""
        hides = has_secrets(self.input_schema)
        return ArgumentValidator(self.name, self.input_schema, closed=False, hides_values=hides)

    @override
    def to_mcp_tool(self) -> dict[str, Any]:
        """Return the definition as the server gave it, under the name that it has here."""
        return {**definition_of(self._server_tool.definition), "name": self.name}

    # Deciding

    @override
    async def prepare_call(
        self, tool_input: dict[str, Any], context: PermissionContext, session: object = None
    ) -> PreparedAction:
        """Return the action, which is judged as the server's tool is."""
        action = self.action_from_arguments(tool_input)
        return _PreparedServerCall(self, self._server_tool, tool_input, context, action)

    @override
    async def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool:
        """Return whether the rule is for the tool as a whole."""
        return await self._server_tool.match_rule(rule_content, tool_input)

    @override
    def validate_rule(self, rule_content: str) -> None:
        """Refuse every content: what a server does is not known.

        Raises:
            RuleError: Always.
        """
        self._server_tool.validate_rule(rule_content)

    @override
    def compile_rules(self, contents: Sequence[str], behavior: PermissionBehavior) -> OwnRules:
        """Refuse contents, as `validate_rule` does.

        Raises:
            RuleError: There is a content.
        """
        for content in contents:
            self.validate_rule(content)
        return super().compile_rules((), behavior)

    @override
    def allow_rules(self, context: PermissionContext) -> None:
        """Return None: no allow rule of Bash, Read or Write is about a server."""
        del context

    @override
    async def aclose(self) -> None:
        """Leave the client of the server, which is closed if no other tool uses it."""
        executor = self.executor
        if isinstance(executor, MCPToolExecutor):
            await executor.aclose()
        await super().aclose()


class _PreparedServerCall(PreparedAction):
    """A call of a server's tool; its effects are not known."""

    def __init__(
        self,
        tool: MCPToolDefinition,
        server_tool: MCPTool,
        tool_input: dict[str, Any],
        context: PermissionContext,
        action: MCPToolAction,
    ) -> None:
        super().__init__(tool, tool_input, context, action=action, effects=None)
        self._server_tool = server_tool

    @override
    async def check(self) -> PermissionDecision:
        return await self._server_tool.check_permissions(self.tool_input, self.context)

    @override
    async def only_reads(self) -> bool:
        return await self._server_tool.check_read_only(self.tool_input)

    @override
    def basis(self, *, now: bool = False) -> str | None:
        del now
        return self._server_tool.decision_basis(self.tool_input)


def _claims(tool: MCPTool) -> ToolAnnotations | None:
    """Return what the server claims about its tool."""
    claims = tool.definition.annotations
    if claims is None:
        return None
    given: dict[str, Any] = {
        "title": claims.title or tool.definition.title,
        "readOnlyHint": claims.read_only_hint,
        "destructiveHint": claims.destructive_hint,
        "idempotentHint": claims.idempotent_hint,
        "openWorldHint": claims.open_world_hint,
    }
    return ToolAnnotations(**{key: value for key, value in given.items() if value is not None})
