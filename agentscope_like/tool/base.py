"""Defines `ToolBase`, the base class of every tool."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from functools import lru_cache, partial
from typing import Any, ClassVar

from pydantic import BaseModel

from agentscope_like.exception import ConfigurationError
from agentscope_like.message import ToolChunk, ToolResultBlock, ToolResultState
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.middleware.onion import (
    LayerChain,
    LayerStream,
    StreamHandler,
    chain_layers,
)
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionRule,
    Preparation,
    RuleError,
)
from agentscope_like.state import AgentState
from agentscope_like.tool.arguments import ArgumentValidator, check_fit
from agentscope_like.tool.held_call import KeptFiles
from agentscope_like.tool.resources import DeclaredResources
from agentscope_like.tool.tool_stream import Produced, ToolStream
from agentscope_like.tool.workplace import Workplace

__all__ = ["ParamsBase", "ToolBase"]


class ParamsBase(BaseModel):
    """Parameters of a tool as a pydantic model; its JSON schema has no titles."""

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return the JSON schema without the `title` of the model and of its fields."""
        return without_titles(super().model_json_schema(*args, **kwargs))


def without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema without generated titles; a property named `title` is kept."""
    cleaned: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "title" and isinstance(value, str):
            continue
        if key in ("properties", "$defs") and isinstance(value, dict):
            cleaned[key] = {name: _untitled(inner) for name, inner in value.items()}
        elif isinstance(value, dict) and key not in ("default", "const"):
            cleaned[key] = without_titles(value)
        elif isinstance(value, list) and key in ("anyOf", "allOf", "oneOf", "prefixItems"):
            cleaned[key] = [_untitled(inner) for inner in value]
        else:
            cleaned[key] = value
    return cleaned


def _untitled(schema: Any) -> Any:
    return without_titles(schema) if isinstance(schema, dict) else schema  # or true, or false


class ToolBase(ABC):
    """A capability that an agent can call (seed 002, "ToolBase Interface").

    Subclasses declare `name`, `description`, `input_schema`, `is_concurrency_safe` and
    `is_read_only`, and implement `check_permissions` and, unless the tool is external, `call`.

    Args:
        middlewares: Layers around `call`; the first is the outermost.

    Attributes:
        name: Its name for the model and in rules.
        description: What it does, for the model.
        input_schema: JSON Schema of its parameters, `{"type": "object", "properties": ...}`.
        is_concurrency_safe: Whether its calls may run concurrently with others; `resources` can
            say more of a single call.
        is_read_only: Whether it never changes anything.
        is_idempotent: Whether it is harmless to run a call again after a failure.
        is_external_tool: Whether a person or another system does the work, not `call`.
        is_state_injected: Whether `call` gets the agent's state as `_agent_state`.
        is_policy_injected: Whether `call` gets the `_permission_context`.
        is_basis_injected: Whether `call` gets, as `_decision_basis`, the result of `decision_basis`
            from the decision; None without a decision.
        is_call_injected: Whether `call` gets, as `_prepared_call`, the `PreparedCall` of the
            decision; None without a decision.
        is_held_call_injected: Whether `call` gets the `_held_call` of a call that is to run held;
            None for all others. Such a tool is a `HoldingTool`.
        is_mcp: Whether it comes from an MCP server.
        mcp_name: The name of that server.
        is_hidden: Whether the model does not see it; a call by its name is still decided.
        asks_for_risk: Whether the model is asked to label the risk of each call. A label can only
            make a call ask.
        touches_only_agent_state: Whether it changes nothing but the agent's own state, so that only
            a deny rule stops it.
        limits_own_results: Whether its results have a limit of their own in characters, and are not
            truncated to the toolkit's limit of tokens.
        metadata_schema: JSON Schema of the required `metadata` in a result of an external tool;
            None if nothing is required.
        prepare_decision: Awaited before a decision, and before its grant is run, with the arguments
            and the permission context. Here a tool looks up the data for `decision_basis` and its
            rules, which cannot wait. None if it needs no data.

    Raises:
        ConfigurationError: A declaration of the class is invalid, or a middleware is not a tool
            middleware.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    is_concurrency_safe: bool
    is_read_only: bool
    is_idempotent: bool = False
    is_external_tool: bool = False
    is_state_injected: bool = False
    is_policy_injected: ClassVar[bool] = False
    is_basis_injected: ClassVar[bool] = False
    is_call_injected: ClassVar[bool] = False
    is_held_call_injected: ClassVar[bool] = False
    is_mcp: bool = False
    mcp_name: str | None = None
    is_hidden: bool = False
    asks_for_risk: bool = False
    touches_only_agent_state: ClassVar[bool] = False
    limits_own_results: ClassVar[bool] = False
    metadata_schema: dict[str, Any] | None = None
    prepare_decision: Preparation | None = None
    middlewares: Sequence[ToolMiddlewareBase] = ()

    # Of the class, so that a subclass may do without `super().__init__()`.
    _chained: tuple[tuple[ToolMiddlewareBase, ...] | None, LayerChain[ToolChunk] | None] = (
        None,
        None,
    )

    def __init__(self, middlewares: Sequence[ToolMiddlewareBase] | None = None) -> None:
        self.middlewares = _layers(middlewares)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        schema = cls.__dict__.get("input_schema")
        if isinstance(schema, Mapping):
            check_schema(cls.__name__, schema)
        if cls.is_external_tool and cls.is_state_injected:
            raise ConfigurationError(
                f"{cls.__name__} is external and wants the agent's state injected: what runs "
                "outside cannot be given it. Set `is_state_injected = False`."
            )

    @abstractmethod
    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Return the tool's own decision about a call; the engine applies rules and mode.

        Args:
            tool_input: The validated arguments.
            context: The permission context of the session.

        Returns:
            ALLOW or DENY if the tool can decide; ASK to ask a person, with `bypass_immune=True` if
            no allow rule may prevent the question; PASSTHROUGH for no opinion.
        """

    async def check_read_only(self, tool_input: dict[str, Any]) -> bool:
        """Return whether this call is proven to change nothing; `is_read_only` by default."""
        del tool_input
        return self.is_read_only

    async def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool:
        """Return whether a rule of this content matches the call; by default only None does."""
        del tool_input
        return rule_content is None

    def validate_rule(self, rule_content: str) -> None:
        """Refuse rule contents that this tool cannot read.

        Raises:
            RuleError: By default, for every content, unless `match_rule` is overridden.
        """
        if type(self).match_rule is ToolBase.match_rule:
            raise RuleError(
                f"{self.name} cannot read the rule content {rule_content!r}: its rules have none. "
                f"Write the rule for {self.name} as a whole, with `rule_content=None`."
            )

    async def generate_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
        """Return rules that would allow this call; by default one for the whole tool."""
        del tool_input
        return [PermissionRule(tool_name=self.name, behavior=PermissionBehavior.ALLOW)]

    def decision_basis(self, tool_input: dict[str, Any]) -> str | None:
        """Return what a decision depends on besides the arguments, such as a working directory.

        A grant is only valid while this is unchanged; None, the default, for nothing.
        """
        del tool_input
        return None

    def argument_validator(self) -> ArgumentValidator:
        """Return what refuses arguments that do not fit; by default, the input schema does.

        Raises:
            ConfigurationError: The input schema is not valid.
        """
        return ArgumentValidator(self.name, self.input_schema, closed=not self.is_mcp)

    async def aclose(self) -> None:  # noqa: B027 - most have nothing to close
        """Free what the tool holds; called when its toolkit is closed, maybe several times."""

    async def certain_failure(self, tool_input: dict[str, Any], state: AgentState) -> str | None:
        """Return why the call can only fail, or None, the default: it may succeed.

        It is awaited before a person is asked: such a call fails at once, and the model is told
        why. It must tell nothing that the model may not read unasked.

        Args:
            tool_input: The validated arguments.
            state: The agent's state.
        """
        del tool_input, state
        return None

    def resources(self, tool_input: dict[str, Any]) -> DeclaredResources | None:
        """Return what a call touches; None, the default, if the tool does not say.

        Calls that say so run at the same time unless they conflict, whichever agent makes them: see
        `DeclaredResources`. For all others `is_concurrency_safe` holds, among the calls of one
        response. This must be quick, and is asked before the call is decided and as it begins.

        Args:
            tool_input: The arguments.
        """
        del tool_input
        return None

    def workplace(self, state: AgentState) -> Workplace | None:
        """Return the directory that the session's next call works in; None for no matter."""
        del state
        return None

    def kept_files(self) -> KeptFiles | None:
        """Return the files of this host that the tool keeps; None, the default, for none."""
        return None

    def see_kept_files(self, files: KeptFiles) -> None:
        """Take notice of the files that another tool keeps; by default nothing is done."""
        del files

    async def check_external_result(
        self, result: ToolResultBlock, *, tool_input: dict[str, Any] | None = None
    ) -> None:
        """Refuse an external result; the call then keeps waiting for another one.

        By default the metadata of a successful result must fit `metadata_schema`.

        Args:
            result: The result that was sent.
            tool_input: The arguments of the call; an override may omit this parameter.

        Raises:
            ValueError: The result is refused; the message says why.
        """
        del tool_input
        if self.metadata_schema is not None and result.state is ToolResultState.SUCCESS:
            check_fit(self.metadata_schema, result.metadata, "metadata")

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Do the work; subclasses override it with a coroutine or async generator function.

        Returns:
            A coroutine of a `ToolChunk` or of a stream of them, or a stream of them.

        Raises:
            NotImplementedError: The subclass neither implements it nor is an external tool.
        """
        del args, kwargs
        what = (
            "runs elsewhere: answer its RequireExternalExecutionEvent"
            if self.is_external_tool
            else "does not implement `call`"
        )
        raise NotImplementedError(f"{self.name} {what}")

    def __call__(self, **kwargs: Any) -> ToolStream:
        """Run the middlewares around `call` and return the stream of chunks; do not override.

        `await tool(...)` gives what `call` returns instead: its one chunk, or a stream.

        It neither validates nor decides the call: for a model's calls, use `Toolkit.call_tool`.
        """
        is_stream = bool(self.middlewares) or _streams(getattr(self.call, "__func__", self.call))
        return ToolStream(
            partial(self.stream, kwargs), None if is_stream else partial(self._produce, kwargs)
        )

    def stream(
        self,
        input_kwargs: dict[str, Any],
        *,
        guard: Callable[[StreamHandler[ToolChunk]], StreamHandler[ToolChunk]] | None = None,
    ) -> AsyncGenerator[ToolChunk, None]:
        """Return the stream of one run through the middlewares.

        Args:
            input_kwargs: The arguments, including the agent's state if it is injected.
            guard: Wraps `call` after the middlewares, if there are any.
        """
        core = self._core()
        chain = self._chain()
        if chain is None:
            return core(**input_kwargs)
        reached = core if guard is None else guard(core)
        return LayerStream.start(chain, reached, input_kwargs)

    def _chain(self) -> LayerChain[ToolChunk] | None:
        layers = tuple(self.middlewares)  # the same object, where it is a tuple already
        if layers is not self._chained[0]:
            bound = [partial(layer.on_tool_call, self) for layer in layers]
            self._chained = layers, chain_layers(bound)
        return self._chained[1]

    def _core(self) -> StreamHandler[ToolChunk]:
        call = self.call
        return call if _streams(getattr(call, "__func__", call)) else self._unified

    async def _unified(self, /, **kwargs: Any) -> AsyncGenerator[ToolChunk, None]:
        produced = await self._produce(kwargs)
        if isinstance(produced, ToolChunk):
            yield produced
        else:
            async with aclosing(produced):
                async for chunk in produced:
                    yield chunk

    async def _produce(self, kwargs: dict[str, Any]) -> Produced:
        result = self.call(**kwargs)
        produced: object = await result if inspect.isawaitable(result) else result
        if isinstance(produced, ToolChunk):
            return produced
        if hasattr(produced, "__anext__"):
            stream: AsyncGenerator[ToolChunk, None] = produced  # type: ignore[assignment]
            return stream
        raise TypeError(
            f"{self.name}.call returned {type(produced).__name__}: return a ToolChunk, or "
            "yield ToolChunks"
        )


@lru_cache(maxsize=1024)
def _streams(function: Callable[..., Any]) -> bool:
    return inspect.isasyncgenfunction(function)


def _layers(
    middlewares: Sequence[ToolMiddlewareBase] | None,
) -> tuple[ToolMiddlewareBase, ...]:
    """Return the given middlewares.

    Raises:
        ConfigurationError: It is not a list of instances of `ToolMiddlewareBase`.
    """
    if not isinstance(middlewares, Iterable | None):
        raise ConfigurationError(
            f"`middlewares` is {middlewares!r}: give a list, such as `[{type(middlewares).__name__}"
            "(...)]`"
        )
    layers = tuple(middlewares or ())
    for layer in layers:
        if not isinstance(layer, ToolMiddlewareBase):
            hint = "; one of an agent is given to the agent" if hasattr(layer, "on_acting") else ""
            raise ConfigurationError(
                f"{layer!r} is not a tool middleware: give an instance of a subclass of "
                f"ToolMiddlewareBase{hint}"
            )
    return layers


def check_schema(owner: str, schema: Mapping[str, Any]) -> None:
    """Refuse an input schema that does not describe an object.

    Raises:
        ConfigurationError: `type` is not `object`, or `properties` is missing.
    """
    if schema.get("type") != "object" or not isinstance(schema.get("properties"), Mapping):
        raise ConfigurationError(
            f"{owner}.input_schema must be a JSON Schema of an object: give it "
            '`"type": "object"` and `"properties"`'
        )
