"""Defines the hooks of agent middlewares, and nests the hooks of several middlewares."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, Literal, TypeAlias, get_args, overload

from agentscope_like.exception import ConfigurationError
from agentscope_like.middleware.onion import LayerStream, OpenedStreams, wrap_call, wrap_stream
from agentscope_like.nearest import nearest
from agentscope_like.permission import PermissionDecision

__all__ = ["CallHook", "MiddlewareBase", "StreamHook", "hook_onion", "system_prompt"]

StreamHook: TypeAlias = Literal["on_reply", "on_reasoning", "on_acting"]
"""Hooks that are async generators."""

CallHook: TypeAlias = Literal["on_check_permission", "on_model_call", "on_compress_context"]
"""Hooks that are coroutines."""

_STREAM_HOOKS = get_args(StreamHook)
_CALL_HOOKS = get_args(CallHook)
_OTHER_HOOKS = ("on_system_prompt", "list_tools", "get_middleware_key")


class MiddlewareBase:
    """A layer around the parts of an agent's work; override the hooks you need.

    The first middleware is the outermost layer. A hook continues with `next_handler(**overrides)`:
    overrides replace its inputs of the same names, and the other inputs are passed on. If it does
    not call `next_handler`, the part does not run, and the hook's own output replaces it.

    In every hook `agent` is the `Agent`, whose type this layer cannot import. A hook yields or
    returns the same kinds of events and responses as its part.
    """

    def is_implemented(self, hook_name: str) -> bool:
        """Return whether this middleware overrides the hook.

        Raises:
            ConfigurationError: There is no such hook.
        """
        known = (*_STREAM_HOOKS, *_CALL_HOOKS, *_OTHER_HOOKS)
        if hook_name not in known:
            raise ConfigurationError(f"there is no hook {hook_name!r}{nearest(hook_name, known)}")
        own = getattr(self, hook_name)
        return getattr(own, "__func__", own) is not getattr(MiddlewareBase, hook_name)

    async def on_reply(
        self,
        agent: Any,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., AsyncGenerator[Any, None]],
    ) -> AsyncGenerator[Any, None]:
        """Surround a whole reply.

        Args:
            agent: The agent.
            input_kwargs: `inputs` and `structured_schema`.
            next_handler: The next layer; returns the stream of events.

        Yields:
            Events of the reply.
        """
        del agent, input_kwargs
        async with aclosing(next_handler()) as stream:
            async for event in stream:
                yield event

    async def on_reasoning(
        self,
        agent: Any,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., AsyncGenerator[Any, None]],
    ) -> AsyncGenerator[Any, None]:
        """Surround one round of reasoning.

        Args:
            agent: The agent.
            input_kwargs: `tool_choice`.
            next_handler: The next layer; returns the stream of events.

        Yields:
            Events of the round.
        """
        del agent, input_kwargs
        async with aclosing(next_handler()) as stream:
            async for event in stream:
                yield event

    async def on_acting(
        self,
        agent: Any,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., AsyncGenerator[Any, None]],
    ) -> AsyncGenerator[Any, None]:
        """Surround the run of one tool call, after its decision.

        Args:
            agent: The agent.
            input_kwargs: `tool_call`.
            next_handler: The next layer; returns the stream of chunks or events.

        Yields:
            Chunks or events of the call.
        """
        del agent, input_kwargs
        async with aclosing(next_handler()) as stream:
            async for event in stream:
                yield event

    async def on_check_permission(
        self,
        agent: Any,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., Awaitable[PermissionDecision]],
    ) -> PermissionDecision:
        """Surround one decision; the result may be stricter than the decision, never looser.

        Args:
            agent: The agent.
            input_kwargs: `tool_call`, `tool` and `tool_input`.
            next_handler: The next layer.

        Returns:
            The decision.
        """
        del agent, input_kwargs
        return await next_handler()

    async def on_model_call(
        self,
        agent: Any,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., Awaitable[Any]],
    ) -> Any:
        """Surround one call of the model.

        Args:
            agent: The agent.
            input_kwargs: `current_model`, `messages`, `tools` and `tool_choice`.
            next_handler: The next layer.

        Returns:
            A `ChatResponse`, or an async generator of them.
        """
        del agent, input_kwargs
        return await next_handler()

    async def on_compress_context(
        self,
        agent: Any,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., Awaitable[None]],
    ) -> None:
        """Surround the compression of the context.

        Args:
            agent: The agent.
            input_kwargs: `context_config` and `instructions`.
            next_handler: The next layer.
        """
        del agent, input_kwargs
        await next_handler()

    async def on_system_prompt(self, agent: Any, current_prompt: str) -> str:
        """Return the system prompt, changed or not; middlewares are called in order."""
        del agent
        return current_prompt

    async def list_tools(self) -> list[Any]:
        """Return the tools, each a `ToolBase`, that this middleware adds to the agent."""
        return []

    async def get_middleware_key(self) -> str:
        """Return the key of this middleware's data in `AgentState.middle_context`."""
        return f"{type(self).__module__}.{type(self).__qualname__}"


@overload
def hook_onion(
    middlewares: Sequence[MiddlewareBase],
    hook_name: StreamHook,
    agent: Any,
    core: Callable[..., AsyncGenerator[Any, None]],
) -> Callable[..., AsyncGenerator[Any, None]]: ...
@overload
def hook_onion(
    middlewares: Sequence[MiddlewareBase],
    hook_name: CallHook,
    agent: Any,
    core: Callable[..., Awaitable[Any]],
) -> Callable[..., Awaitable[Any]]: ...
def hook_onion(
    middlewares: Sequence[MiddlewareBase],
    hook_name: StreamHook | CallHook,
    agent: Any,
    core: Callable[..., Any],
) -> Callable[..., Any]:
    """Return `core` inside one hook of the middlewares, the first outermost.

    Args:
        middlewares: The middlewares; those that do not override the hook are ignored.
        hook_name: The hook.
        agent: The agent, passed to the hook.
        core: The innermost function, called with the inputs as keywords: an async generator
            function for generator hooks, else a coroutine function.

    Returns:
        A function of the same kind. Streams are always closed from the inside out; so is a stream
        of responses that `on_model_call` returns.

    Raises:
        ConfigurationError: There is no such hook; or, at run time, a middleware overrides an input
            that the hook does not have.
    """
    if hook_name not in (*_STREAM_HOOKS, *_CALL_HOOKS):
        known = (*_STREAM_HOOKS, *_CALL_HOOKS)
        raise ConfigurationError(f"no onion {hook_name!r}{nearest(str(hook_name), known)}")
    hooks = [getattr(one, hook_name) for one in middlewares if one.is_implemented(hook_name)]
    if not hooks:
        return core
    if hook_name in _STREAM_HOOKS:
        return wrap_stream([partial(_stream_layer, hook, agent) for hook in hooks], core)
    layered = wrap_call(
        [partial(_call_layer, hook, agent) for hook in hooks], lambda inputs: core(**inputs)
    )
    return lambda **inputs: layered(inputs)


async def system_prompt(middlewares: Sequence[MiddlewareBase], agent: Any, prompt: str) -> str:
    """Return the system prompt after each middleware, in order, has changed it.

    Raises:
        ConfigurationError: A middleware did not return text.
    """
    for middleware in middlewares:
        returned: object = await middleware.on_system_prompt(agent, prompt)
        if not isinstance(returned, str):
            raise ConfigurationError(
                f"{type(middleware).__qualname__}.on_system_prompt returned {returned!r:.200}: "
                "return the prompt, changed or not"
            )
        prompt = returned
    return prompt


def _merged(hook: Any, inputs: dict[str, Any], overrides: dict[str, Any]) -> dict[str, Any]:
    for name in overrides:
        if name not in inputs:
            raise ConfigurationError(
                f"{hook.__qualname__} overrides {name!r}, which is not an input of the hook"
                f"{nearest(name, inputs)}"
            )
    return {**inputs, **overrides}


def _stream_layer(
    hook: Callable[..., AsyncGenerator[Any, None]],
    agent: Any,
    inputs: dict[str, Any],
    next_handler: Callable[..., AsyncGenerator[Any, None]],
) -> AsyncGenerator[Any, None]:
    def go_on(**overrides: Any) -> AsyncGenerator[Any, None]:
        return next_handler(**_merged(hook, inputs, overrides))

    return hook(agent, inputs, go_on)


async def _call_layer(
    hook: Callable[..., Awaitable[Any]],
    agent: Any,
    inputs: dict[str, Any],
    go_on: Callable[[dict[str, Any]], Awaitable[Any]],
) -> Any:
    opened = OpenedStreams()

    async def next_handler(**overrides: Any) -> Any:
        result = await go_on(_merged(hook, inputs, overrides))
        if isinstance(result, AsyncGenerator):
            opened.add(result)
        return result

    try:
        result = await hook(agent, inputs, next_handler)
    except BaseException:
        await opened.aclose()
        raise
    if isinstance(result, AsyncGenerator):
        return LayerStream.owning(result, opened)
    await opened.aclose()
    return result
