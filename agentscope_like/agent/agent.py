"""Defines `Agent`, which calls its model and tools until it can answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from agentscope_like import bridge
from agentscope_like.agent.calls import checked_middlewares
from agentscope_like.agent.config import (
    ContextConfig,
    InjectionConfig,
    ModelConfig,
    ReActConfig,
)
from agentscope_like.agent.context import CompressionWish
from agentscope_like.agent.mcp_tools import toolkit_with_servers
from agentscope_like.agent.offloader import Offloader
from agentscope_like.agent.reply import (
    BROKEN_OFF,
    NEVER_RAN,
    AgentInput,
    Beginning,
    PromptContext,
    ReplyEnding,
    ReplyParts,
    Rounds,
    StructuredSchema,
    listed,
    refuse_while_waiting,
    reply_toolkit,
)
from agentscope_like.agent.reply_recorder import ReplyRecorder
from agentscope_like.event import AgentEvent, UserInterruptEvent
from agentscope_like.exception import ConfigurationError, ResumeError
from agentscope_like.message import (
    AssistantMsg,
    HintBlock,
    Msg,
    TextBlock,
    ToolCallState,
    ToolResultState,
)
from agentscope_like.middleware import (
    DirectoryOutputStore,
    MiddlewareBase,
    OutputStore,
    hook_onion,
)
from agentscope_like.model import ChatModelBase
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit

if TYPE_CHECKING:
    from agentscope_like.mcp import MCPServers

__all__ = ["Agent", "AgentInput"]

WAITING = "I'm waiting for your permission or the external execution to finish."


class Agent:
    """An agent; every tool call it makes is decided and run by its toolkit.

    Args:
        name: Its name, recorded in its messages.
        system_prompt: The system prompt.
        model: The model that it calls.
        toolkit: The tools; none by default.
        middlewares: Layers around the parts of its work, the first outermost.
        state: The state to continue from; a new one by default.
        offloader: Stores what the context cannot hold: history that is summed up, and the full
            text of long tool results. By default, history is dropped and results are kept on disk.
        model_config: Retries and the fallback model.
        context_config: How the context is kept within the model's token limit.
        react_config: Limits on rounds, and what happens on interruption.
        injection_config: How the model is told the time, the directory and the open tasks.
        mcp_config: The MCP servers whose tools the agent has beside those of the toolkit: in the
            form that clients share, `{"mcpServers": {NAME: SERVER}}`, or as `MCPServers`. They are
            connected to by `async with`, or in the first reply, and closed with the agent.
        mcp_variables: The environment variables that `${NAME}` in `mcp_config` may stand for.

    Attributes:
        toolkit: The tools, those of the MCP servers included.
        mcp_servers: The MCP servers of `mcp_config`; None without.
        state: The state; it can be saved as JSON and restored whenever no reply is being streamed.
        output_store: Keeps the full text of results that the context limit truncated, for the life
            of the agent; the toolkit keeps those that it truncated itself.

    Raises:
        ConfigurationError: The model, the toolkit, the state or a middleware has the wrong type; or
            the configuration of the MCP servers is not valid.
    """

    def __init__(
        self,
        name: str,
        system_prompt: str,
        model: ChatModelBase,
        toolkit: Toolkit | None = None,
        middlewares: Sequence[MiddlewareBase] | None = None,
        state: AgentState | None = None,
        offloader: Offloader | None = None,
        model_config: ModelConfig | None = None,
        context_config: ContextConfig | None = None,
        react_config: ReActConfig | None = None,
        injection_config: InjectionConfig | None = None,
        mcp_config: Mapping[str, Any] | MCPServers | None = None,
        mcp_variables: Sequence[str] = (),
    ) -> None:
        self._replying = False
        if not isinstance(model, ChatModelBase):
            raise ConfigurationError(
                f"`model` is {model!r}: give a model, such as OpenAIChatModel({model!r})"
            )
        if not isinstance(toolkit, Toolkit | None):
            raise ConfigurationError(
                f"`toolkit` is {toolkit!r}: give a Toolkit, such as Toolkit([Bash(), Read()])"
            )
        if not isinstance(state, AgentState | None):
            raise ConfigurationError(
                f"`state` is {type(state).__name__}: give an AgentState, such as "
                "AgentState.model_validate_json(saved)"
            )
        self.name = name
        self.system_prompt = system_prompt
        self.model = model
        toolkit = toolkit if toolkit is not None else Toolkit()
        self.toolkit, self.mcp_servers = toolkit_with_servers(toolkit, mcp_config, mcp_variables)
        self.middlewares = checked_middlewares(middlewares)
        self._state = state if state is not None else AgentState()
        self.model_config = model_config if model_config is not None else ModelConfig()
        self.context_config = context_config if context_config is not None else ContextConfig()
        self.react_config = react_config if react_config is not None else ReActConfig()
        self.injection_config = injection_config or InjectionConfig()
        self.offloader = offloader
        self.output_store: OutputStore = DirectoryOutputStore()
        self._wishes: list[CompressionWish] = []
        self._recorder = ReplyRecorder(self._state, self.name)

    @property
    def state(self) -> AgentState:
        """Return the state."""
        return self._state

    @state.setter
    def state(self, state: AgentState) -> None:
        if self._replying:
            raise ResumeError(f"{self.name} is replying: give it another state when it has ended")
        self._state = state
        self._recorder = ReplyRecorder(state, self.name)

    async def observe(self, msgs: Msg | list[Msg] | None = None) -> None:
        """Add messages to the context without replying.

        Raises:
            ResumeError: A reply waits for an answer, so no message can be added in its middle; or
                an input is not a message.
        """
        refuse_while_waiting(self.state, self.name)
        self.state.context.extend(listed(msgs))

    async def compress_context(
        self, context_config: ContextConfig | None = None, instructions: HintBlock | None = None
    ) -> None:
        """Replace older history with a summary, even if the context is not too long.

        During a reply, this happens before the next model call.

        Args:
            context_config: Used instead of the agent's own.
            instructions: Further instructions to the model for the summary.

        Raises:
            ModelError: No model wrote a summary; the context is unchanged. During a reply, this is
                only logged.
            ResumeError: Another agent is replying on this agent's state.
        """
        config = context_config if context_config is not None else self.context_config
        wish = CompressionWish(config, instructions)
        if self._replying:
            self._wishes.append(wish)
            return
        self._take_turn()
        try:
            care = PromptContext(ReplyParts.of(self, self.toolkit, self._recorder, []))
            await care.compress(await care.system_prompt(), wish)
        finally:
            self._end_turn()

    async def reply(
        self, inputs: AgentInput = None, structured_schema: StructuredSchema | None = None
    ) -> Msg:
        """Reply and return the message; if the reply waits for an answer, the message says so.

        Args:
            inputs: As in `reply_stream`.
            structured_schema: As in `reply_stream`; the answer in this form is the message's
                `structured_output`.

        Returns:
            The message. Where the model failed, its last text says so, and `error` has the details.
        """
        heard: Msg | None = None
        final: Msg | None = None
        stream = self.reply_stream(inputs, structured_schema, yield_final_msg=True)
        async with aclosing(stream) as events:
            async for event in events:
                if isinstance(event, Msg):
                    final = event
                elif getattr(event, "is_of_child", False):
                    continue
                elif self.middlewares and (reply_id := getattr(event, "reply_id", None)):
                    # A middleware may reply in the agent's place.
                    heard = heard or AssistantMsg(self.name, [], id=reply_id)
                    heard.append_event(event)
        return _with_failure(final or heard or AssistantMsg(self.name, []))

    async def reply_stream(
        self,
        inputs: AgentInput = None,
        structured_schema: StructuredSchema | None = None,
        yield_final_msg: bool = False,
    ) -> AsyncGenerator[AgentEvent | Msg, None]:
        """Reply and yield the events of the reply as they happen.

        A stream that ends without `ReplyEndEvent` has calls that wait for answers. Give the answers
        as the `inputs` of another call, in this process or a later one.

        Args:
            inputs: New messages; or answers to some or all waiting calls, in any order; or an
                interrupt of the waiting reply; or None to continue: a waiting reply asks again.
            structured_schema: The schema of the answer: a pydantic model class, or a JSON Schema of
                an object. A resumed reply keeps its schema; a class is lost when the state is saved
                as JSON, so give it again for its validators to run.
            yield_final_msg: Whether the reply's message is yielded last.

        Raises:
            ResumeError: The input is not what the agent waits for. Nothing was done.
            RuleError: A rule could never do what it says. Nothing was done.
            ConfigurationError: The schema does not describe an object; or two tools have the same
                name.
        """
        self._take_turn()
        try:
            run = _Run(self, self._recorder, self._wishes)
            core = run.replied
            onion = hook_onion(self.middlewares, "on_reply", self, core)
            stream = onion(inputs=inputs, structured_schema=structured_schema)
            if onion is not core:  # a cancellation may come while a hook is at work
                stream = run.interruptible(stream)
            async with aclosing(stream) as events:
                async for event in events:
                    if yield_final_msg or not isinstance(event, Msg):
                        yield event
        finally:
            self._end_turn()
            self._settle()

    def run(
        self,
        inputs: AgentInput = None,
        structured_schema: StructuredSchema | None = None,
        *,
        timeout: float | None = None,
    ) -> Msg:
        """Reply as `reply` does, and wait for the message; for code that is not async.

        It runs on the background loop of the process (`agentscope_like.bridge`). Ctrl-C and the
        timeout end the reply properly, as an interrupt does, before they are raised.

        Args:
            inputs: As in `reply_stream`.
            structured_schema: As in `reply_stream`.
            timeout: Seconds after which the reply is interrupted.

        Raises:
            BridgeError: This thread runs an event loop.
            TimeoutError: The time was over.
        """
        return bridge.run(
            self.reply(inputs, structured_schema),
            timeout=timeout,
            instead="use `await agent.reply(...)`",
        )

    def run_stream(
        self,
        inputs: AgentInput = None,
        structured_schema: StructuredSchema | None = None,
        yield_final_msg: bool = False,
        *,
        timeout: float | None = None,
    ) -> Generator[AgentEvent | Msg, None, None]:
        """Return an iterator of the events of `reply_stream`; for code that is not async.

        Leaving a `for` loop over it closes the stream.

        Args:
            inputs: As in `reply_stream`.
            structured_schema: As in `reply_stream`.
            yield_final_msg: As in `reply_stream`.
            timeout: Seconds that one event may take.

        Raises:
            BridgeError: This thread runs an event loop.
        """
        return bridge.iterate(
            self.reply_stream(inputs, structured_schema, yield_final_msg),
            timeout=timeout,
            instead="iterate `agent.reply_stream(...)` with `async for`",
        )

    async def close(self) -> None:
        """Close the tools of the agent's toolkit, and its MCP servers.

        Each is closed, whatever another one raised.

        Raises:
            ResumeError: The agent is replying.
            ExceptionGroup: What the tools raised.
        """
        if self._replying:
            raise ResumeError(f"{self.name} is replying: close it when the reply has ended")
        try:
            await self.toolkit.close()
        finally:
            if self.mcp_servers is not None:
                await self.mcp_servers.close()

    async def __aenter__(self) -> Self:
        if self.mcp_servers is not None:
            await self.mcp_servers.connect_available()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.close()

    def _take_turn(self) -> None:
        if self._replying or not self._state.take_turn():
            raise ResumeError(
                f"{self.name}, or another agent on its state, is replying already: wait for the "
                "stream to end, or close it"
            )
        self._replying = True
        self._wishes = []
        self._recorder = ReplyRecorder(self._state, self.name)

    def _end_turn(self) -> None:
        self._replying = False
        self._state.end_turn()

    def _settle(self) -> None:
        """Close what an abandoned stream left open, so that nothing still counts as running."""
        for call in self.state.get_unfinished_tool_calls(self.name):
            if call.state in (ToolCallState.ALLOWED, ToolCallState.FINISHED):
                begun = self._recorder.result(call.id) is not None
                text = BROKEN_OFF if begun else NEVER_RAN
                for _ in self._recorder.whole_result(call, text, ToolResultState.INTERRUPTED):
                    pass


class _Run:
    """One stream of the agent; the `on_reply` hooks wrap `replied`."""

    def __init__(
        self, agent: Agent, recorder: ReplyRecorder, wishes: list[CompressionWish]
    ) -> None:
        self._agent = agent
        self._wishes = wishes
        self._recorder = recorder
        self._has_begun = False

    async def replied(
        self, inputs: AgentInput, structured_schema: StructuredSchema | None
    ) -> AsyncGenerator[AgentEvent | Msg, None]:
        """Reply, and yield the message last; if the reply waits, the message says so."""
        agent, recorder = self._agent, self._recorder
        async with aclosing(self.interruptible(self._worked(inputs, structured_schema))) as events:
            async for event in events:
                yield event
        if recorder.state.has_awaiting_tool_calls(agent.name):
            yield AssistantMsg(agent.name, WAITING, id=recorder.reply_id)
        elif (message := recorder.state.reply_message(agent.name)) is not None:
            yield message

    async def interruptible(
        self, stream: AsyncGenerator[AgentEvent | Msg, None]
    ) -> AsyncGenerator[AgentEvent | Msg, None]:
        """Yield the stream; if its task is cancelled, end the reply properly."""
        config = self._agent.react_config
        try:
            async with aclosing(stream) as events:
                async for event in events:
                    yield event
        except asyncio.CancelledError:
            if not self._has_begun:
                raise
            task = asyncio.current_task()
            if task is not None and not config.interruption_raise_cancelled_error:
                task.uncancel()
            if not self._recorder.is_over:
                for event in ReplyEnding(self._recorder).interrupted(config.interruption_message):
                    yield event
            if config.interruption_raise_cancelled_error:
                raise

    async def _worked(
        self, inputs: AgentInput, structured_schema: StructuredSchema | None
    ) -> AsyncGenerator[AgentEvent, None]:
        agent, recorder = self._agent, self._recorder
        schema = structured_schema
        is_new = bool(inputs) and isinstance(inputs, Msg | list)
        if schema is None and not is_new and not recorder.is_over:
            schema = recorder.state.reply_context.structured_schema
        toolkit = await reply_toolkit(
            agent.toolkit,
            agent.middlewares,
            schema,
            limits_results=agent.offloader is None,
        )
        self._has_begun = True
        parts = ReplyParts.of(agent, toolkit, recorder, self._wishes)
        async with aclosing(Beginning(parts).take(inputs, structured_schema)) as events:
            async for event in events:
                yield event
        if isinstance(inputs, UserInterruptEvent) or recorder.is_over:
            return
        if recorder.state.has_awaiting_tool_calls(agent.name):
            return
        async with aclosing(Rounds(parts).go()) as events:
            async for event in events:
                yield event


def _with_failure(message: Msg) -> Msg:
    """Return the message, its error told in a last text as well; the agent's context keeps none."""
    if message.error is None:
        return message
    told = TextBlock(text=f"The reply failed: {message.error.message}")
    return message.model_copy(update={"content": [*message.content, told]})
