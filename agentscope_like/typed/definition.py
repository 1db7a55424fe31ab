"""Defines `ToolDefinition`, a tool whose calls are an action in and an observation out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from operator import is_
from typing import Any, ClassVar, Generic, Self, TypeVar

from typing_extensions import override

from agentscope_like.exception import ConfigurationError, GrantError
from agentscope_like.message import ToolChunk
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionRule,
    never_waits,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import DeclaredResources, ToolSpec
from agentscope_like.tool.arguments import ArgumentValidator, copied
from agentscope_like.tool.risk_label import with_label
from agentscope_like.typed.action import Action
from agentscope_like.typed.annotations import ToolAnnotations
from agentscope_like.typed.arguments import ActionValidator, action_of
from agentscope_like.typed.declaring import (
    check_declared,
    refuse_overrides,
    tool_name_of,
    types_named_by,
)
from agentscope_like.typed.effects import Effects
from agentscope_like.typed.executor import ToolConversation, ToolExecutor
from agentscope_like.typed.judging import (
    RELATED_TOOLS,
    ActionRules,
    JudgedTool,
    OwnRules,
    PreparedAction,
    directory_at,
    judges_in,
    parts_of,
    shared_rules,
)
from agentscope_like.typed.observation import Observation
from agentscope_like.typed.run import ExecutorRun
from agentscope_like.typed.secret_fields import without_values

__all__ = ["ToolDefinition"]

ActionT = TypeVar("ActionT", bound=Action)
ObservationT = TypeVar("ObservationT", bound=Observation)


class ToolDefinition(JudgedTool, Generic[ActionT, ObservationT]):
    """A typed tool (seed 004): its arguments are an `Action`, its result is an `Observation`.

    Either give an executor to the constructor, or write a subclass whose `create` returns tools
    with executors of their own. It goes into a `Toolkit` like every tool; its executor runs only
    there, after the decision.

    What a call would do is what `effects` says. It is judged as Bash, Read and Write judge it:
    their safety checks, and the deny and ask rules for them, hold. Effects and annotations can
    make a call ask less only with `trust`, which the person gives who adds the tool.

    Args:
        name: The tool's name; by default that of the class, as `file_editor` of `FileEditorTool`.
        description: What it does, for the model; by default the class's own.
        action_type: The class of its arguments; by default the one that the class names.
        observation_type: The class of its results; by default the one that the class names.
        executor: Does the work; may be set later.
        annotations: What the tool claims about itself.
        meta: Facts about the tool for programs.
        trust: Whether effects and annotations may make a call ask less.
        cwd: Where relative paths of effects start; by default, the process's own directory.
        middlewares: Layers around the call; the first is the outermost.
        is_concurrency_safe: Whether its calls may run concurrently with others.
        asks_for_risk: Whether the model is asked to label the risk of each call; a label can only
            make a call ask.

    Attributes:
        runs_like_bash: Whether its executor runs commands as Bash does (without secrets and a
            repository's programs), so that the proof that one only reads holds.

    Raises:
        ConfigurationError: A declaration is missing or invalid.
    """

    name = ""
    description = ""
    is_concurrency_safe = False
    is_state_injected = True
    is_call_injected = True
    related_tools: ClassVar[tuple[str, ...]] = RELATED_TOOLS

    action_type: type[ActionT]
    observation_type: type[ObservationT] | None = None
    annotations: ToolAnnotations | None = None
    meta: Mapping[str, Any] | None = None

    def __init__(
        self,
        *,
        name: str | None = None,
        description: str | None = None,
        action_type: type[ActionT] | None = None,
        observation_type: type[ObservationT] | None = None,
        executor: ToolExecutor[ActionT, ObservationT] | None = None,
        annotations: ToolAnnotations | None = None,
        meta: Mapping[str, Any] | None = None,
        trust: bool = False,
        cwd: str | os.PathLike[str] | None = None,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
        is_concurrency_safe: bool | None = None,
        asks_for_risk: bool = False,
    ) -> None:
        super().__init__(trust=trust, cwd=cwd, middlewares=middlewares)
        self.name = name or type(self).name
        self.description = description or type(self).description
        if action_type is not None:
            self.action_type = action_type
        if observation_type is not None:
            self.observation_type = observation_type
        if annotations is not None:
            self.annotations = annotations
        if meta is not None:
            self.meta = meta
        if is_concurrency_safe is not None:
            self.is_concurrency_safe = is_concurrency_safe
        check_declared(self, getattr(self, "action_type", None), self.observation_type)
        schema = self.action_type.to_mcp_schema()
        self.input_schema = {"type": "object", "properties": {}, **schema}
        self.asks_for_risk = asks_for_risk
        self._run: ExecutorRun | None = None
        self._told: dict[bool, tuple[tuple[Any, ...], dict[str, Any]]] = {}
        if executor is not None:
            self.set_executor(executor)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        refuse_overrides(cls)
        declared = cls.__dict__
        if "name" not in declared:
            cls.name = tool_name_of(cls.__name__)
        for base in declared.get("__orig_bases__", ()):
            for name, named in types_named_by(base, ToolDefinition).items():
                if name not in declared:
                    setattr(cls, name, named)

    @classmethod
    def create(cls, conv_state: AgentState | None = None, **params: Any) -> Sequence[Self]:
        """Return the tools of this class; a subclass makes their executors here.

        Args:
            conv_state: The state of the session that they are for.
            **params: How they are to be; by default, what the constructor takes.
        """
        del conv_state
        return [cls(**params)]

    # What it does

    def effects(self, action: ActionT) -> Effects | None:
        """Return what the action would do, all of it; None, the default, where that is unknown."""
        del action
        return None

    def declared_resources(self, action: ActionT) -> DeclaredResources | None:
        """Return what the action needs for itself or shares; None, the default, says nothing."""
        del action
        return None

    @override
    def resources(self, tool_input: dict[str, Any]) -> DeclaredResources | None:
        """Return what `declared_resources` says of the call's action."""
        if type(self).declared_resources is ToolDefinition.declared_resources:
            return None
        return self.declared_resources(self.action_from_arguments(tool_input))

    @property
    def title(self) -> str:
        """Return the tool's name for people."""
        claimed = None if self.annotations is None else self.annotations.title
        return claimed or self.name

    @property
    def is_read_only(self) -> bool:  # type: ignore[override]
        """Return whether a trusted tool claims that it changes nothing."""
        claims = self.annotations
        return self.trust and claims is not None and claims.readOnlyHint

    @property
    def is_idempotent(self) -> bool:  # type: ignore[override]
        """Return whether a trusted tool claims that it is harmless to run a call again."""
        claims = self.annotations
        return self.trust and claims is not None and claims.idempotentHint

    # Schemas

    def to_openai_tool(self, add_security_risk_prediction: bool = False) -> dict[str, Any]:
        """Return the tool for a model, in the chat-completions form.

        Args:
            add_security_risk_prediction: Whether the model is asked for the risk of each call.
        """
        with_risk = add_security_risk_prediction or self.asks_for_risk
        made_of = (self.name, self.description, self.input_schema)
        known = self._told.get(with_risk)
        if known is None or not all(map(is_, known[0], made_of)):
            schema = with_label(self.input_schema) if with_risk else self.input_schema
            spec = ToolSpec(self.name, self.description, schema)
            known = self._told[with_risk] = made_of, spec.to_openai()
        told: dict[str, Any] = copied(known[1])
        return told

    def to_mcp_tool(self) -> dict[str, Any]:
        """Return the tool as a server lists it, in the form of MCP."""
        told: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "inputSchema": copied(self.input_schema),
        }
        if self.observation_type is not None:
            told["outputSchema"] = self.observation_type.to_mcp_schema()
        if self.annotations is not None:
            told["annotations"] = self.annotations.model_dump(exclude_none=True)
        if self.meta is not None:
            told["_meta"] = copied(dict(self.meta))
        return told

    def action_from_arguments(self, arguments: Mapping[str, Any]) -> ActionT:
        """Return the action of a call's arguments.

        Raises:
            ToolArgumentError: They do not fit; no value is shown.
        """
        return action_of(self.name, self.action_type, arguments)

    @override
    def argument_validator(self) -> ArgumentValidator:
        """Return what refuses arguments that are no action."""
        return ActionValidator(self.name, self.input_schema, self.action_type)

    # Deciding

    async def prepare_call(
        self, tool_input: dict[str, Any], context: PermissionContext, session: object = None
    ) -> PreparedAction:
        """Return the action with its effects, located and read for one decision."""
        action = self.action_from_arguments(tool_input)
        prepared = partial(PreparedAction, self, tool_input, context, action=action)
        try:
            effects = self.effects(action)
            if effects is None:
                return prepared(effects=None)
            judges = judges_in(self.name, directory_at(self.cwd, effects.directory or ""))
            parts = await parts_of(effects, judges, context, session, trust=self.trust)
        except Exception as error:
            found = f"What {self.name} would do is not known: {type(error).__name__}: {error}"
            return prepared(effects=None, failure=without_values(found, action.__secrets__()))
        return prepared(effects=effects, parts=parts)

    @override
    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Return what Bash, Read and Write find in the effects; ALLOW only with `trust`."""
        return await (await self.prepare_call(tool_input, context)).check()

    @override
    async def check_read_only(self, tool_input: dict[str, Any]) -> bool:
        """Return whether the call is proven to change nothing; never without `trust`."""
        return await (await self.prepare_call(tool_input, PermissionContext())).only_reads()

    @override
    async def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool:
        """Return whether an allow rule of this content matches all that the call would do."""
        if rule_content is None:
            return True
        call = await self.prepare_call(tool_input, PermissionContext())
        return OwnRules((rule_content,), PermissionBehavior.ALLOW).match(call) is not None

    @override
    def validate_rule(self, rule_content: str) -> None:
        """Refuse contents that say nothing of what a typed tool does.

        Raises:
            RuleError: The content cannot be read.
        """
        OwnRules((rule_content,), PermissionBehavior.DENY)

    def compile_rules(self, contents: Sequence[str], behavior: PermissionBehavior) -> OwnRules:
        """Return a matcher for the contents of the tool's own rules.

        Raises:
            RuleError: One of the contents cannot be read.
        """
        return OwnRules(contents, behavior)

    def compile_related(self, rules: Sequence[PermissionRule]) -> ActionRules:
        """Return a matcher for deny or ask rules of Bash and the file tools.

        Raises:
            RuleError: One of the contents cannot be read.
        """
        return shared_rules(tuple(rules))

    @override
    @never_waits
    async def generate_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
        """Return rules for what a trusted tool would do, as Bash, Read and Write suggest theirs."""
        return await (await self.prepare_call(tool_input, PermissionContext())).suggestions()

    @never_waits
    async def fallback_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
        """Return a rule for the tool as a whole, if no other would allow the call."""
        return await super().generate_suggestions(tool_input)

    # Running

    @property
    def executor(self) -> ToolExecutor[ActionT, ObservationT] | None:
        """Return what does the work."""
        return None if self._run is None else self._run.executor

    def set_executor(self, executor: ToolExecutor[ActionT, ObservationT]) -> Self:
        """Set what does the work.

        Raises:
            ConfigurationError: It is no `ToolExecutor`.
        """
        if not isinstance(executor, ToolExecutor):
            raise ConfigurationError(
                f"the executor of {self.name} is {executor!r}: give an instance of a subclass of "
                "ToolExecutor"
            )
        self._run = ExecutorRun(self.name, executor, self.observation_type)
        return self

    @override
    async def call(self, /, **kwargs: Any) -> ToolChunk:
        """Run the executor, in the run of a grant.

        Args:
            **kwargs: The arguments, with the session and the decided call.

        Raises:
            GrantError: No `Toolkit` runs it.
            ConfigurationError: It has no executor.
        """
        state, prepared = kwargs.get("_agent_state"), kwargs.get("_prepared_call")
        if not isinstance(prepared, PreparedAction) or prepared.tool is not self:
            raise GrantError(
                f"{self.name} was called without a decision: run it with `Toolkit.call_tool`, or "
                "call its executor, if no model is involved"
            )
        if self._run is None:
            raise ConfigurationError(f"{self.name} has no executor: give it one")
        if not isinstance(state, AgentState):
            state = AgentState()
        return await self._run.run(prepared.action, ToolConversation(state, prepared))

    @override
    async def aclose(self) -> None:
        """Close the executor, once."""
        if self._run is not None:
            await self._run.aclose()

    def close(self) -> None:
        """Close the executor, once."""
        if self._run is not None:
            self._run.close()
