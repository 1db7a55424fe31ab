"""Seed 003, "Observability", row by row: events, pairs and the manager."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

import pytest

from agentscope_like.agent import Agent, ContextConfig, ModelConfig, ReActConfig
from agentscope_like.event import RequireUserConfirmEvent, UserInterruptEvent
from agentscope_like.exception import ConfigurationError, ModelError, ResumeError
from agentscope_like.message import Msg, TextBlock, ToolResultState, UserMsg
from agentscope_like.middleware import MiddlewareBase
from agentscope_like.model import ChatResponse
from agentscope_like.observability import BaseTraceHandler, ObservabilityManager, TraceMiddleware
from agentscope_like.permission import PermissionBehavior
from agentscope_like.tool import HumanApproval
from tests.agent.kit import agent_of, answer, events_of, executed, reloaded
from tests.agent.test_compression import summing_up
from tests.observability.kit import DONE, KINDS, Recorder, Spans, Tool, call, observed

ASK, DENY = PermissionBehavior.ASK, PermissionBehavior.DENY


async def test_sage_o_01_a_session_s_work_is_a_chain() -> None:
    """It carries the session's id, and surrounds all else."""
    heard = Recorder()
    agent = observed([], DONE, handlers=[heard])
    await events_of(agent, "Speak.")
    assert heard.names[0] == "chain_start"
    assert heard.names[-1] == "chain_end"
    assert heard.details("chain_start") == [(agent.state.session_id,)]


async def test_sage_o_02_a_reply_is_an_agent_s_run() -> None:
    """The event names the agent, and says how the reply ended."""
    heard = Recorder()
    agent = observed([], DONE, handlers=[heard])
    await events_of(agent, "Speak.")
    assert heard.details("agent_start") == [(agent.state.session_id, "robot")]
    (end,) = heard.named("agent_end")
    assert end["finished_reason"] == "completed"
    assert end["reply_id"] == agent.state.reply_id


async def test_sage_o_03_a_model_call_has_its_events() -> None:
    """The start shows the messages, the end the whole response."""
    heard = Recorder()
    await events_of(observed([Tool()], [call()], DONE, handlers=[heard]), "Speak.")
    starts = heard.details("llm_start")
    assert [name for _, name, _ in starts] == ["dictated", "dictated"]
    assert [message.role for message in starts[0][2]] == ["system", "user"]
    assert [kwargs["step_name"] for kwargs in heard.named("llm_start")] == ["round 1", "round 2"]
    responses = [response for (response,) in heard.details("llm_end")]
    assert [type(response) for response in responses] == [ChatResponse] * 2


async def test_sage_o_04_a_tool_call_has_its_events() -> None:
    """The start shows the arguments and the decision, the end the whole result."""
    heard = Recorder()
    agent = observed([Tool()], [call(arguments='{"text": "hi"}')], DONE, handlers=[heard])
    await events_of(agent, "Speak.")
    assert heard.details("tool_start") == [(agent.state.session_id, "Tool", '{"text": "hi"}')]
    (start,), (end,) = heard.named("tool_start"), heard.named("tool_end")
    assert start["tool_call_id"] == "c1"
    assert start["decision"].behavior is PermissionBehavior.ALLOW
    assert end["state"] is ToolResultState.SUCCESS
    ((output,),) = heard.details("tool_end")
    assert [block.text for block in output.content] == ["hi"]


async def test_sage_o_05_a_message_has_events_but_no_error() -> None:
    """It just ends where the work on it failed."""
    heard = Recorder()
    agent = observed([], DONE, ModelError("down"), handlers=[heard])
    await events_of(agent, "Speak.")
    ((message,),) = heard.details("message_end")
    assert isinstance(message, Msg)
    assert message.get_text_content() == "Done."
    assert heard.named("message_start")[0]["message_id"] == message.id
    await events_of(agent, "Speak again.")
    assert heard.names.count("message_end") == heard.names.count("message_start") == 2
    assert not hasattr(BaseTraceHandler, "on_message_error")


async def broken_off() -> AsyncGenerator[ChatResponse, None]:
    """Yield the beginning of an answer, then fail."""
    yield ChatResponse(content=[TextBlock(id="t", text="So")], is_last=False)
    raise ModelError("cut")


async def endless() -> AsyncGenerator[ChatResponse, None]:
    """Yield the beginning of an answer, then nothing more."""
    yield ChatResponse(content=[TextBlock(id="t", text="So")], is_last=False)
    await asyncio.sleep(60)


async def never_whole() -> AsyncGenerator[ChatResponse, None]:
    """Yield the beginning of an answer, and end."""
    yield ChatResponse(content=[TextBlock(id="t", text="So")], is_last=False)


class Refusing(MiddlewareBase):
    """Fails where calls run."""

    async def on_acting(
        self,
        agent: Any,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., AsyncGenerator[Any, None]],
    ) -> AsyncGenerator[Any, None]:
        raise RuntimeError("not here")
        yield


async def failing_model(heard: Recorder) -> None:
    await events_of(observed([], ModelError("down"), handlers=[heard]), "Speak.")
    assert "llm_error" in heard.names
    assert heard.names[-2:] == ["agent_error", "chain_error"]


async def failing_stream(heard: Recorder) -> None:
    await events_of(observed([], broken_off, handlers=[heard]), "Speak.")
    assert "llm_error" in heard.names
    assert "llm_end" not in heard.names


async def stream_without_its_last_part(heard: Recorder) -> None:
    await events_of(observed([], never_whole, handlers=[heard]), "Speak.")
    assert "llm_error" in heard.names


async def retried_model(heard: Recorder) -> None:
    agent = observed([], ModelError("down"), DONE, handlers=[heard])
    agent.model_config = ModelConfig(max_retries=1)
    await events_of(agent, "Speak.")
    assert [name for name in heard.names if name.startswith("llm")] == [
        *("llm_start", "llm_error"),
        *("llm_start", "llm_end"),
    ]
    assert heard.names[-1] == "chain_end"


async def failing_tool(heard: Recorder) -> None:
    tool = Tool("Tool", ValueError("no"))
    await events_of(observed([tool], [call()], DONE, handlers=[heard]), "Speak.")
    assert heard.named("tool_end")[0]["state"] is ToolResultState.ERROR


async def failing_hook(heard: Recorder) -> None:
    agent = observed([Tool()], [call()], DONE, handlers=[heard], inner=[Refusing()])
    with pytest.raises(RuntimeError, match="not here"):
        await events_of(agent, "Speak.")
    assert heard.names[-4:] == ["tool_error", "message_end", "agent_error", "chain_error"]


async def cancelled_tools(heard: Recorder) -> None:
    agent = observed(
        [Tool(pause=60)], [call("Tool", "c1"), call("Tool", "c2")], DONE, handlers=[heard]
    )
    task = asyncio.create_task(events_of(agent, "Speak."))
    await heard.until("tool_start", 2)
    task.cancel()
    await task
    assert heard.names.count("tool_error") == 2
    assert heard.named("agent_end")[0]["finished_reason"] == "interrupted"


async def cancelled_raising(heard: Recorder) -> None:
    agent = observed([Tool(pause=60)], [call()], DONE, handlers=[heard])
    agent.react_config = ReActConfig(interruption_raise_cancelled_error=True)
    task = asyncio.create_task(events_of(agent, "Speak."))
    await heard.until("tool_start", 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert isinstance(heard.details("agent_error")[0][0], asyncio.CancelledError)


async def closed_stream(heard: Recorder) -> None:
    agent = observed([], endless, handlers=[heard])
    async with aclosing(agent.reply_stream(UserMsg("user", "Speak."))) as stream:
        async for event in stream:
            if "llm_start" in heard.names and event.type.value == "TEXT_BLOCK_DELTA":  # type: ignore[union-attr]
                break
    assert isinstance(heard.details("llm_error")[0][0], GeneratorExit)
    assert heard.names[-2:] == ["agent_error", "chain_error"]


async def denied_and_unknown(heard: Recorder) -> None:
    agent = observed(
        [Tool("No", behavior=DENY)], [call("No", "c1"), call("None", "c2")], DONE, handlers=[heard]
    )
    await events_of(agent, "Speak.")
    denied, unknown = heard.named("tool_end")
    assert denied["state"] is ToolResultState.DENIED
    assert unknown["state"] is ToolResultState.ERROR
    assert heard.named("tool_start")[0]["decision"].behavior is DENY


async def asked_and_answered(heard: Recorder) -> None:
    tools = [Tool(behavior=ASK)]
    agent = observed(tools, [call()], DONE, handlers=[heard])
    await events_of(agent, "Speak.")
    assert heard.named("tool_end")[0]["is_paused"] is True
    assert heard.named("agent_end")[0]["is_paused"] is True
    assert heard.named("chain_end")[0]["is_paused"] is True
    heard.check_pairs()
    again = reloaded(agent, tools, DONE)
    await events_of(again, answer(again, "c1"))
    assert heard.named("tool_end")[1]["state"] is ToolResultState.SUCCESS
    assert heard.named("agent_end")[1]["is_paused"] is False


async def asked_and_left(heard: Recorder) -> None:
    agent = observed([Tool(behavior=ASK)], [call()], handlers=[heard])
    async with aclosing(agent.reply_stream(UserMsg("user", "Speak."))) as stream:
        async for event in stream:
            if isinstance(event, RequireUserConfirmEvent):
                break
    assert heard.named("agent_end")[0]["is_paused"] is True


async def asked_and_interrupted(heard: Recorder) -> None:
    agent = observed([Tool(behavior=ASK)], [call()], handlers=[heard])
    await events_of(agent, "Speak.")
    await events_of(agent, UserInterruptEvent(reply_id=agent.state.reply_id))
    assert heard.named("tool_end")[1]["state"] is ToolResultState.INTERRUPTED


async def done_outside(heard: Recorder) -> None:
    arguments = '{"action": "release", "reason": "it is Friday"}'
    agent = observed(
        [HumanApproval()], [call("HumanApproval", "c1", arguments)], DONE, handlers=[heard]
    )
    await events_of(agent, "Speak.")
    await events_of(agent, executed(agent, "c1"))
    assert [args[1] for args in heard.details("tool_start")] == ["HumanApproval"] * 2
    assert heard.named("tool_end")[1]["state"] is ToolResultState.SUCCESS


async def wrong_answer(heard: Recorder) -> None:
    agent = observed([Tool(behavior=ASK)], [call()], handlers=[heard])
    await events_of(agent, "Speak.")
    with pytest.raises(ResumeError):
        await events_of(agent, "Something else.")
    assert heard.names[-2:] == ["agent_error", "chain_error"]


async def compressed_between_replies(heard: Recorder) -> None:
    agent = observed([], DONE, DONE, summing_up(), handlers=[heard])
    await events_of(agent, "Speak. " * 2000)
    await events_of(agent, "Speak.")
    await agent.compress_context(ContextConfig(trigger_ratio=0.02, reserve_ratio=0.01))
    assert heard.named("llm_start")[-1]["parent_run_id"] is None


class Hanging(MiddlewareBase):
    """Keeps a model from answering, once it is told to."""

    hangs = False

    async def on_model_call(
        self, agent: Any, input_kwargs: dict[str, Any], next_handler: Callable[..., Any]
    ) -> Any:
        if self.hangs:
            await asyncio.sleep(60)
        return await next_handler()


async def cancelled_compression(heard: Recorder, agent: Agent) -> None:
    config = ContextConfig(trigger_ratio=0.02, reserve_ratio=0.01)
    task = asyncio.create_task(agent.compress_context(config))
    await heard.until("llm_start", 3)
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert isinstance(heard.details("llm_error")[0][0], asyncio.CancelledError)


async def compression_cancelled_in_its_stream(heard: Recorder) -> None:
    agent = observed([], DONE, DONE, endless, handlers=[heard])
    await events_of(agent, "Speak. " * 2000)
    await events_of(agent, "Speak.")
    await cancelled_compression(heard, agent)


async def compression_cancelled_before_its_stream(heard: Recorder) -> None:
    hanging = Hanging()
    agent = observed([], DONE, DONE, handlers=[heard], inner=[hanging])
    await events_of(agent, "Speak. " * 2000)
    await events_of(agent, "Speak.")
    hanging.hangs = True
    await cancelled_compression(heard, agent)


class Discarding(MiddlewareBase):
    """Answers in the place of a model whose stream it never reads."""

    async def on_model_call(
        self, agent: Any, input_kwargs: dict[str, Any], next_handler: Callable[..., Any]
    ) -> Any:
        await next_handler()
        return ChatResponse(content=[*DONE], is_last=True)


async def discarded_answer(heard: Recorder) -> None:
    layers = [Discarding(), TraceMiddleware(heard)]
    await events_of(agent_of([], endless, middlewares=layers), "Speak.")
    assert heard.names[-4:] == ["llm_error", "message_end", "agent_end", "chain_end"]


@pytest.mark.parametrize(
    "work",
    [
        failing_model,
        failing_stream,
        stream_without_its_last_part,
        retried_model,
        failing_tool,
        failing_hook,
        cancelled_tools,
        cancelled_raising,
        closed_stream,
        denied_and_unknown,
        asked_and_answered,
        asked_and_left,
        asked_and_interrupted,
        done_outside,
        wrong_answer,
        discarded_answer,
        compressed_between_replies,
        compression_cancelled_in_its_stream,
        compression_cancelled_before_its_stream,
    ],
)
async def test_sage_o_06_every_start_has_one_end(work: Callable[[Recorder], Any]) -> None:
    """Whatever ends the work, each run that began ends, once, before the run that it is part of."""
    heard = Recorder()
    await work(heard)
    assert "chain_start" in heard.names
    heard.check_pairs()


async def test_sage_o_07_runs_are_nested() -> None:
    """The chain holds the agent, and this the models, tools and messages."""
    heard = Recorder()
    await events_of(observed([Tool()], [call()], DONE, handlers=[heard]), "Speak.")
    (chain,), (agent,) = heard.named("chain_start"), heard.named("agent_start")
    assert chain["parent_run_id"] is None
    assert agent["parent_run_id"] == chain["run_id"]
    for kind in ("llm", "tool", "message"):
        for start in heard.named(f"{kind}_start"):
            assert start["parent_run_id"] == agent["run_id"]


class Delegating(Tool):
    """Has another agent reply."""

    def __init__(self, helper: Any) -> None:
        super().__init__("Delegate")
        self.helper = helper

    async def call(self, /, **kwargs: Any) -> AsyncGenerator[Any, None]:
        await self.helper.reply(UserMsg("user", "Help."))
        async for chunk in super().call(**kwargs):
            yield chunk


async def test_sage_o_07_an_agent_inside_a_tool_is_part_of_its_run() -> None:
    """There is one chain, however deep; side by side, each is part of its own call."""
    heard = Recorder()
    trace = TraceMiddleware(ObservabilityManager([heard]))
    helpers = [Delegating(agent_of([], DONE, middlewares=[trace])) for _ in range(2)]
    for number, helper in enumerate(helpers):
        helper.name = f"Delegate{number}"
    turn = [call("Delegate0", "c0"), call("Delegate1", "c1")]
    await events_of(agent_of(helpers, turn, DONE, middlewares=[trace]), "Speak.")
    heard.check_pairs()
    assert heard.names.count("chain_start") == 1
    tools = {start["run_id"] for start in heard.named("tool_start")}
    assert {start["parent_run_id"] for start in heard.named("agent_start")[1:]} == tools
    assert len(tools) == 2


@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_sage_o_06_wherever_a_stream_is_left(is_cancelled: bool) -> None:
    """By whom it is read, or by a cancellation, at any event of two agents: all runs have ended."""
    length = left_at = 0
    while left_at <= length:
        left_at += 1
        heard, spans = Recorder(), Spans()
        trace = TraceMiddleware(ObservabilityManager([heard, handler := spans.handler()]))
        inner = agent_of([Tool()], [call()], DONE, middlewares=[trace])
        tools = [Tool(), Delegating(inner), Tool("Asks", behavior=ASK)]
        turn = [call("Tool", "c1"), call("Delegate", "c2"), call("Asks", "c3")]
        agent = agent_of(tools, turn, middlewares=[trace])
        length = await _left(agent, left_at, is_cancelled=is_cancelled)
        heard.check_pairs()
        assert "chain_start" in heard.names
        assert len(spans.finished) == sum(
            name.endswith("_start") and not name.startswith("message") for name in heard.names
        )
        assert not any(kept for kept in vars(handler).values() if isinstance(kept, dict))
    assert length > 10


async def _left(agent: Agent, left_at: int, *, is_cancelled: bool) -> int:
    """Read so many events of a reply, and leave it; return how many there were."""
    read = 0

    async def reading() -> None:
        nonlocal read
        async with aclosing(agent.reply_stream(UserMsg("user", "Speak."))) as stream:
            async for _ in stream:
                read += 1
                if read == left_at and is_cancelled:
                    task.cancel()
                elif read == left_at:
                    break

    task = asyncio.create_task(reading())
    await asyncio.wait([task])
    if not task.cancelled():
        task.result()
    return read


async def test_sage_o_07_two_managers_do_not_mix() -> None:
    """Each has its own chain, though one middleware is inside the other."""
    one, other = Recorder(), Recorder()
    agent = agent_of(
        [Tool()], [call()], DONE, middlewares=[TraceMiddleware(one), TraceMiddleware(other)]
    )
    await events_of(agent, "Speak.")
    for heard in (one, other):
        heard.check_pairs()
        assert heard.names.count("chain_start") == 1


class Failing(BaseTraceHandler):
    """Raises whenever it hears or is asked something."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("on_") or name in {"activate", "carrier"}:
            raise self.error
        return super().__getattribute__(name)


def test_sage_o_08_every_handler_hears_every_event() -> None:
    """In their order, with the same arguments."""
    handlers = [Recorder(), Recorder()]
    manager = ObservabilityManager(handlers)
    manager.on_chain_start("s", run_id="1", parent_run_id=None)
    manager.on_agent_start("s", "robot", run_id="2", parent_run_id="1")
    manager.on_llm_start("s", "model", [], "round 1", run_id="3", parent_run_id="2")
    manager.on_llm_end(None, run_id="3")
    manager.on_tool_start("s", "Tool", "{}", "round 1", run_id="4", parent_run_id="2")
    manager.on_tool_end(None, run_id="4")
    manager.on_message_start("s", "robot", run_id="5", parent_run_id="2")
    manager.on_message_end(None, run_id="5")
    error = ValueError("no")
    for kind in ("llm", "tool", "agent", "chain"):
        getattr(manager, f"on_{kind}_error")(error, run_id="6")
    for kind in ("agent", "chain"):
        getattr(manager, f"on_{kind}_end")(run_id="7")
    first, second = handlers
    assert first.events == second.events
    assert len(set(first.names)) == len(KINDS) * 3 - 1


@pytest.mark.parametrize("error", [ValueError("no"), asyncio.CancelledError(), GeneratorExit()])
async def test_sage_o_09_a_handler_that_raises_is_skipped(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged; the agent and the other handlers go on, even where it raises a cancellation."""
    heard = Recorder()
    agent = observed([Tool()], [call()], DONE, handlers=[Failing(error), heard])
    with caplog.at_level(logging.WARNING):
        events = await events_of(agent, "Speak.")
    assert events[-1].type.value == "REPLY_END"
    heard.check_pairs()
    assert "skipped for this event" in caplog.text


async def test_sage_o_09_a_coroutine_function_is_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It would hear nothing, silently."""

    class Waiting(BaseTraceHandler):
        async def on_chain_start(self, session_id: str, **kwargs: Any) -> None:  # type: ignore[override]
            raise AssertionError

    await events_of(observed([], DONE, handlers=[Waiting()]), "Speak.")
    assert "coroutine function" in caplog.text


def test_sage_o_10_handlers_are_added() -> None:
    """To one manager, not to all; and removed again."""
    manager, other = ObservabilityManager(), ObservabilityManager()
    heard = Recorder()
    manager.add_handler(heard)
    assert [len(one.handlers) for one in (manager, other)] == [1, 0]
    manager.remove_handler(heard)
    assert len(manager.handlers) == 0
    for stranger in (print, manager):
        with pytest.raises(ConfigurationError, match="not a handler"):
            manager.add_handler(stranger)  # type: ignore[arg-type]


async def test_sage_o_11_a_handler_overrides_what_it_wants() -> None:
    """The handler of the document, which overrides two events of fourteen, works."""
    printed: list[str] = []

    class MyHandler(BaseTraceHandler):
        def on_llm_start(
            self,
            session_id: str,
            model_name: str,
            messages: Any,
            step_name: str | None = None,
            **kwargs: Any,
        ) -> None:
            printed.append(f"[LLM start] model={model_name} step={step_name}")

        def on_llm_end(self, response: Any, **kwargs: Any) -> None:
            printed.append(f"[LLM end] {getattr(response, 'usage', None)}")

    await events_of(observed([Tool()], [call()], DONE, handlers=[MyHandler()]), "Speak.")
    assert printed[:2] == ["[LLM start] model=dictated step=round 1", "[LLM end] None"]
    assert len(printed) == 4


def test_sage_o_12_the_base_takes_every_event_and_does_nothing() -> None:
    """With the document's arguments, by position or by name."""
    handler = BaseTraceHandler()
    handler.on_llm_start("s", "model", [], step_name="x", anything=1)
    handler.on_llm_end(response=None, anything=1)
    handler.on_tool_error(ValueError("no"))
    assert handler.carrier("1") == {}


async def test_sage_o_20_the_order_of_a_session() -> None:
    """Chain, agent, model, tool, model, agent, chain."""
    heard = Recorder()
    await events_of(observed([Tool()], [call()], DONE, handlers=[heard]), "Speak.")
    assert [name for name in heard.names if not name.startswith("message")] == [
        "chain_start",
        "agent_start",
        *("llm_start", "llm_end"),
        *("tool_start", "tool_end"),
        *("llm_start", "llm_end"),
        "agent_end",
        "chain_end",
    ]


async def test_what_a_handler_returns_may_be_nonsense(caplog: pytest.LogCaptureFixture) -> None:
    """What is no context is not entered, and what is no carrier is not stored."""

    class Odd(BaseTraceHandler):
        def activate(self, run_id: str) -> Any:
            return 3

        def carrier(self, run_id: str) -> Any:
            return {1: object()} if run_id else "none"

    heard = Recorder()
    agent = observed([Tool(behavior=ASK)], [call()], DONE, handlers=[Odd(), heard])
    await events_of(agent, "Speak.")
    again = reloaded(agent, [Tool(behavior=ASK)], DONE)
    events = await events_of(again, answer(again, "c1"))
    assert events[-1].type.value == "REPLY_END"
    heard.check_pairs()
    assert "failed to begin a step" in caplog.text
