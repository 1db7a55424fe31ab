"""Seed 003, 3.4, row by row: the spans of OpenTelemetry, and what stands in them."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode

from agentscope_like.exception import ConfigurationError, ModelError
from agentscope_like.message import ToolResultState, UserMsg
from agentscope_like.model import ChatResponse, ChatUsage
from agentscope_like.observability import (
    MASK,
    ObservabilityManager,
    OpenTelemetryTraceHandler,
    SecretMasker,
    TraceMiddleware,
)
from agentscope_like.observability.attributes import decision_attributes
from agentscope_like.observability.run import in_steps
from agentscope_like.permission import PermissionBehavior, PermissionDecision, PermissionRule
from agentscope_like.tool import Bash
from tests.agent.kit import agent_of, answer, events_of, reloaded
from tests.observability.kit import DONE, Spans, Tool, attributes, call, observed, one_span, traced

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY
SECRET = "hunter2-hunter2"


def parent_of(span: ReadableSpan) -> int | None:
    """Return the id of the span's parent."""
    return None if span.parent is None else span.parent.span_id


def context_of(span: ReadableSpan) -> trace.SpanContext:
    """Return the span's context."""
    context = span.get_span_context()
    assert context is not None
    return context


def id_of(span: ReadableSpan) -> int:
    """Return the span's id."""
    return context_of(span).span_id


class Nested(Tool):
    """Makes a span of its own in each step, as an instrumented library would."""

    def __init__(self, name: str, tracer: trace.Tracer) -> None:
        super().__init__(name)
        self.tracer = tracer

    async def call(self, /, **kwargs: Any) -> AsyncGenerator[Any, None]:
        for _ in range(3):
            with self.tracer.start_as_current_span(f"inside {self.name}"):
                await asyncio.sleep(0)
            async for chunk in super().call(**kwargs):
                yield chunk


async def test_sage_o_13_a_run_s_span_is_current_while_it_works() -> None:
    """Spans that a tool makes are children of its own; nothing is current at the consumer's."""
    spans = Spans()
    tool = Nested("Tool", spans.provider.get_tracer("test"))
    agent = observed([tool], [call()], DONE, handlers=[spans.handler()])
    async with aclosing(agent.reply_stream(UserMsg("user", "Speak."))) as stream:
        async for _ in stream:
            assert trace.get_current_span() is trace.INVALID_SPAN
    tool_span = one_span(spans, "execute_tool Tool")
    inside = [span for span in spans.finished if span.name == "inside Tool"]
    assert [parent_of(span) for span in inside] == [id_of(tool_span)] * 3


async def test_sage_o_13_the_outermost_span_is_the_program_s() -> None:
    """A reply inside a span of the program is part of it; each else begins a trace."""
    spans = Spans()
    agent = observed([], DONE, DONE, handlers=[spans.handler()])
    with spans.provider.get_tracer("test").start_as_current_span("request"):
        await events_of(agent, "Speak.")
    await events_of(agent, "Speak.")
    first, second = [span for span in spans.finished if span.name == "invoke_workflow"]
    assert parent_of(first) == id_of(one_span(spans, "request"))
    assert parent_of(second) is None


async def test_sage_o_14_tools_side_by_side_do_not_tangle() -> None:
    """Each call's own spans are part of it, though the tasks take turns."""
    spans = Spans()
    tracer = spans.provider.get_tracer("test")
    tools = [Nested(f"Tool{number}", tracer) for number in range(5)]
    turn = [call(tool.name, f"c{number}") for number, tool in enumerate(tools)]
    await events_of(observed(tools, turn, DONE, handlers=[spans.handler()]), "Speak.")
    agent = one_span(spans, "invoke_agent robot")
    for tool in tools:
        span = one_span(spans, f"execute_tool {tool.name}")
        assert parent_of(span) == id_of(agent)
        inside = [one for one in spans.finished if one.name == f"inside {tool.name}"]
        assert [parent_of(one) for one in inside] == [id_of(span)] * 3


async def test_sage_o_14_sessions_side_by_side_do_not_tangle() -> None:
    """One middleware serves many agents; each session is a trace of its own."""
    spans = Spans()
    middleware = TraceMiddleware(ObservabilityManager([spans.handler()]))
    agents = [agent_of([Tool()], [call()], DONE, middlewares=[middleware]) for _ in range(8)]
    await asyncio.gather(*(events_of(agent, "Speak.") for agent in agents))
    traces: dict[int, list[ReadableSpan]] = {}
    for span in spans.finished:
        traces.setdefault(context_of(span).trace_id, []).append(span)
    assert len(traces) == len(agents)
    for members in traces.values():
        assert sorted(span.name for span in members) == [
            "chat dictated",
            "chat dictated",
            "execute_tool Tool",
            "invoke_agent robot",
            "invoke_workflow",
        ]
        assert len({attributes(span)["gen_ai.conversation.id"] for span in members}) == 1


async def test_sage_o_15_messages_are_events_of_the_agent_s_span() -> None:
    """Their beginning and their end."""
    agent, spans = traced([], DONE)
    await events_of(agent, "Speak.")
    span = one_span(spans, "invoke_agent robot")
    assert [event.name for event in span.events] == ["message.start", "message.end"]


async def test_sage_o_16_what_went_well_is_ok() -> None:
    """Every span ends, with the names and attributes of the GenAI conventions."""

    async def answered() -> AsyncGenerator[ChatResponse, None]:
        usage = ChatUsage(10, 5, 0.1, cache_creation_input_tokens=2, cache_input_tokens=3)
        yield ChatResponse(content=[*DONE], is_last=True, usage=usage)

    agent, spans = traced([Tool()], [call()], answered)
    await events_of(agent, "Speak.")
    assert {span.status.status_code for span in spans.finished} == {StatusCode.OK}
    chat = [span for span in spans.finished if span.name == "chat dictated"][-1]
    assert chat.kind is SpanKind.CLIENT
    assert (
        attributes(chat).items()
        >= {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "dictated",
            "gen_ai.response.finish_reasons": ("completed",),
            "gen_ai.usage.input_tokens": 10,
            "gen_ai.usage.output_tokens": 5,
            "gen_ai.usage.cache_read.input_tokens": 3,
            "gen_ai.usage.cache_creation.input_tokens": 2,
        }.items()
    )
    tool = one_span(spans, "execute_tool Tool")
    assert tool.kind is SpanKind.INTERNAL
    assert (
        attributes(tool).items()
        >= {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "Tool",
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.type": "function",
            "gen_ai.conversation.id": agent.state.session_id,
            "agentscope_like.decision.behavior": "allow",
            "agentscope_like.decision.reason": "it says so",
            "agentscope_like.decision.row": "tool_allows",
            "agentscope_like.decision.bypass_immune": False,
            "agentscope_like.tool.state": "success",
        }.items()
    )
    assert (
        attributes(one_span(spans, "invoke_agent robot")).items()
        >= {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "robot",
        }.items()
    )


async def test_sage_o_17_an_error_ends_its_span_and_no_other() -> None:
    """The model's failure is recorded where it was, and the spans around it fail with it."""
    agent, spans = traced([], DONE, ModelError("down"), DONE)
    for _ in range(3):
        await events_of(agent, "Speak.")
    failed = [span for span in spans.finished if span.status.status_code is StatusCode.ERROR]
    assert [span.name for span in failed] == [
        "chat dictated",
        "invoke_agent robot",
        "invoke_workflow",
    ]
    assert len({context_of(span).trace_id for span in failed}) == 1
    for span in failed:
        assert attributes(span)["error.type"] == "agentscope_like.exception.ModelError"
        (exception,) = [event for event in span.events if event.name == "exception"]
        assert dict(exception.attributes or {})["exception.message"] == "down"
    assert len(spans.finished) == 9


async def test_sage_o_17_a_tool_that_fails_has_an_error_type() -> None:
    """A refusal is no failure: its span says what was decided, and is not an error."""
    tools = [Tool("Fails", ValueError("no")), Tool("No", behavior=DENY, reason="not here")]
    agent, spans = traced(tools, [call("Fails", "c1"), call("No", "c2")], DONE)
    await events_of(agent, "Speak.")
    failed, denied = one_span(spans, "execute_tool Fails"), one_span(spans, "execute_tool No")
    assert failed.status.status_code is StatusCode.ERROR
    assert attributes(failed)["error.type"] == "tool_error"
    assert denied.status.status_code is StatusCode.UNSET
    assert (
        attributes(denied).items()
        >= {
            "agentscope_like.tool.state": "denied",
            "agentscope_like.decision.behavior": "deny",
            "agentscope_like.decision.reason": "not here",
        }.items()
    )


async def test_sage_o_17_a_cancelled_call_s_span_ends() -> None:
    """And the next reply has spans of its own."""
    tool = Tool(pause=60)
    agent, spans = traced([tool], [call()], DONE, DONE)
    task = asyncio.create_task(events_of(agent, "Speak."))
    await asyncio.sleep(0.05)
    task.cancel()
    await task
    span = one_span(spans, "execute_tool Tool")
    assert attributes(span)["error.type"] == "asyncio.exceptions.CancelledError"
    before = len(spans.finished)
    await events_of(agent, "Speak.")
    assert [span.name for span in spans.finished[before:]] == [
        "chat dictated",
        "invoke_agent robot",
        "invoke_workflow",
    ]


async def test_sage_o_18_a_step_that_another_task_tears_down_is_quiet(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Leaving a context in which it was never entered neither raises nor logs nor changes it."""
    spans = Spans()
    manager = ObservabilityManager([spans.handler()])
    manager.on_chain_start("s", run_id="1", parent_run_id=None)
    step = manager.activate("1")
    await asyncio.create_task(_enter(step))
    with spans.provider.get_tracer("test").start_as_current_span("own") as own, caplog.at_level(0):
        step.__exit__(None, None, None)
        assert trace.get_current_span() is own
    assert caplog.records == []
    assert manager.current_run_id() is None


async def _enter(step: Any) -> None:
    step.__enter__()


async def test_sage_o_18_nothing_stays_current_between_steps() -> None:
    """A stream may be closed by a task that never took a step of it."""
    manager = ObservabilityManager()
    seen: list[str | None] = []

    async def work() -> AsyncGenerator[int, None]:
        try:
            for number in range(3):
                seen.append(manager.current_run_id())
                yield number
        finally:
            seen.append(manager.current_run_id())

    stream = in_steps(work(), lambda: manager.activate("1"))
    assert await anext(stream) == 0
    assert manager.current_run_id() is None
    await asyncio.create_task(_close(stream))
    assert seen == ["1", "1"]
    assert manager.current_run_id() is None


async def _close(stream: AsyncGenerator[int, None]) -> None:
    await stream.aclose()


async def test_sage_o_19_without_an_sdk_nothing_happens() -> None:
    """Where spans go is the SDK's business; with none set up, the agent works all the same."""
    agent = observed([Tool(behavior=ASK)], [call()], DONE, handlers=[OpenTelemetryTraceHandler()])
    await events_of(agent, "Speak.")
    assert agent.state.middle_context == {}
    events = await events_of(agent, answer(agent, "c1"))
    assert events[-1].type.value == "REPLY_END"


async def test_a_pause_ends_the_spans_and_the_resume_links_to_them() -> None:
    """In another process too: what it takes is in the state, and is gone with the reply."""
    tools = [Tool(behavior=ASK, reason="better ask")]
    agent, spans = traced(tools, [call()], DONE)
    await events_of(agent, "Speak.")
    paused = {span.name: span for span in spans.finished}
    for name in ("execute_tool Tool", "invoke_agent robot", "invoke_workflow"):
        assert attributes(paused[name])["agentscope_like.paused"] is True
        assert paused[name].status.status_code is StatusCode.UNSET
    assert (
        attributes(paused["execute_tool Tool"])["agentscope_like.decision.reason"] == "better ask"
    )

    later = Spans()
    again = reloaded(agent, tools, DONE)
    again.middlewares = (TraceMiddleware(ObservabilityManager([later.handler()])),)
    await events_of(again, answer(again, "c1"))
    for name in ("execute_tool Tool", "invoke_agent robot"):
        (link,) = one_span(later, name).links
        assert link.context.span_id == id_of(paused[name])
        assert link.context.trace_id == context_of(paused[name]).trace_id
        assert dict(link.attributes or {}) == {"agentscope_like.link": "resumes"}
    assert (
        attributes(one_span(later, "execute_tool Tool"))["agentscope_like.tool.state"] == "success"
    )
    assert again.state.middle_context == {}


RESUMED = """\
import asyncio, sys
from agentscope_like.message import TextBlock
from agentscope_like.observability import ObservabilityManager, TraceMiddleware
from agentscope_like.state import AgentState
from tests.agent.kit import agent_of, answer, events_of
from tests.observability.kit import Spans, Tool

spans = Spans()
trace = TraceMiddleware(ObservabilityManager([spans.handler()]))
state = AgentState.model_validate_json(sys.stdin.read())
agent = agent_of([Tool()], [TextBlock(text="Done.")], state=state, middlewares=[trace])
asyncio.run(events_of(agent, answer(agent, "c1")))
for span in spans.finished:
    for link in span.links:
        print(link.context.trace_id, link.context.span_id, span.name)
"""


async def test_a_resume_in_a_new_process_links_to_the_spans_of_the_old_one() -> None:
    """All that it takes is in the JSON of the state."""
    agent, spans = traced([Tool(behavior=ASK)], [call()])
    await events_of(agent, "Speak.")
    done = subprocess.run(  # noqa: ASYNC221 - nothing else runs meanwhile
        [sys.executable, "-c", RESUMED],
        input=agent.state.model_dump_json(),
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    waited, parked = one_span(spans, "execute_tool Tool"), one_span(spans, "invoke_agent robot")
    assert {tuple(line.split(maxsplit=2)) for line in done.stdout.splitlines()} == {
        (str(context_of(span).trace_id), str(id_of(span)), name)
        for span, name in (
            (waited, "execute_tool Tool"),
            (parked, "invoke_agent robot"),
            (parked, "invoke_workflow"),
        )
    }


async def test_a_second_pause_links_to_the_first() -> None:
    """Asking again is a pause of its own; what was answered is not linked twice."""
    tools = [Tool(behavior=ASK)]
    agent, spans = traced(tools, [call("Tool", "c1"), call("Tool", "c2")], DONE)
    await events_of(agent, "Speak.")
    await events_of(agent, answer(agent, "c1"))
    await events_of(agent, answer(agent, "c2"))
    second = [s for s in spans.finished if attributes(s).get("gen_ai.tool.call.id") == "c2"]
    assert len(second) >= 2
    for earlier, later in pairwise(second):
        assert [link.context.span_id for link in later.links] == [id_of(earlier)]


@pytest.mark.parametrize(
    "kept",
    [
        "nonsense",
        {"robot": 1},
        {"robot": {"carrier": {"traceparent": "nonsense"}, "calls": {"c1": 3}}},
        {"robot": {"carrier": {"traceparent": "00-0-0-0"}, "calls": {"c1": {"carrier": {}}}}},
    ],
)
async def test_what_a_state_claims_to_have_kept_is_not_trusted(kept: Any) -> None:
    """A state from elsewhere may hold anything; the reply goes on without links."""
    tools = [Tool(behavior=ASK)]
    agent, spans = traced(tools, [call()], DONE)
    await events_of(agent, "Speak.")
    (key,) = agent.state.middle_context
    agent.state.middle_context[key] = kept
    events = await events_of(agent, answer(agent, "c1"))
    assert events[-1].type.value == "REPLY_END"
    resumed = [span for span in spans.finished if span.name == "execute_tool Tool"][-1]
    assert attributes(resumed)["agentscope_like.tool.state"] == ToolResultState.SUCCESS
    assert resumed.links == ()


def everything(spans: Spans) -> str:
    """Return all that the spans say."""
    return "".join(span.to_json() for span in spans.finished)


async def test_arguments_and_results_are_left_out() -> None:
    """Neither they, nor what a reason quotes of them, nor messages, unless it is asked for."""
    arguments = '{"command": "frobnicate --token=abc123xyz /srv/place"}'
    turn = [call("Tool", "c0", '{"text": "vorpal"}'), call("Bash", "c1", arguments)]
    agent, spans = traced([Bash(), Tool("Tool", "bandersnatch")], turn, DONE)
    await events_of(agent, "The word is jabberwocky.")
    state = attributes(one_span(spans, "execute_tool Tool"))["agentscope_like.tool.state"]
    assert state == ToolResultState.SUCCESS
    assert (
        attributes(one_span(spans, "execute_tool Bash"))["agentscope_like.decision.behavior"]
        == "ask"
    )
    told = everything(spans)
    for private in ("frobnicate", "abc123xyz", "/srv/place", "jabberwocky", "vorpal"):
        assert private not in told
    assert "bandersnatch" not in told


async def test_a_reason_that_repeats_an_argument_is_shortened() -> None:
    """Though it does not stand in backquotes."""
    tool = Tool(reason="because you said swordfish to it")
    agent, spans = traced([tool], [call(arguments='{"text": "swordfish"}')], DONE)
    await events_of(agent, "Speak.")
    reason = attributes(one_span(spans, "execute_tool Tool"))["agentscope_like.decision.reason"]
    assert reason == "because you said … to it"


def test_a_rule_that_repeats_an_argument_is_shortened() -> None:
    """One for a whole command is; a prefix that a person chose to allow is shown."""
    exact = PermissionRule(tool_name="Bash", rule_content="echo swordfish", behavior=ALLOW)
    prefix = PermissionRule(tool_name="Bash", rule_content="make:*", behavior=ALLOW)
    decided = PermissionDecision(ALLOW, "A rule allows it.", rule=exact)
    shown = decision_attributes(decided, '{"command": "echo swordfish"}', quotes=False)
    assert shown["agentscope_like.decision.rule"] == "allow Bash(…)"
    decided = PermissionDecision(ALLOW, "A rule allows it.", rule=prefix)
    shown = decision_attributes(decided, '{"command": "make swordfish"}', quotes=False)
    assert shown["agentscope_like.decision.rule"] == "allow Bash(make:*)"


async def test_content_is_captured_on_request_and_masked() -> None:
    """Arguments, results and quotes; secrets are masked in every form, long texts are cut."""
    tool = Tool("Tool", f"found {SECRET} ", "x" * 10_000, reason=f"`{SECRET}` is quoted")
    arguments = f'{{"text": "{SECRET}"}}'
    agent, spans = traced(
        [tool],
        [call(arguments=arguments)],
        DONE,
        masker=SecretMasker([SECRET]),
        captures_content=True,
    )
    await events_of(agent, "Speak.")
    shown = attributes(one_span(spans, "execute_tool Tool"))
    assert shown["gen_ai.tool.call.arguments"] == f'{{"text": "{MASK}"}}'
    assert shown["agentscope_like.decision.reason"] == f"`{MASK}` is quoted"
    assert shown["gen_ai.tool.call.result"].startswith(f"found {MASK} xxx")
    assert len(shown["gen_ai.tool.call.result"]) == 8192
    assert SECRET not in everything(spans)


class Refusing(Tool):
    """Fails as a tool that is set up wrongly does, and says what it was given."""

    async def call(self, /, **kwargs: Any) -> AsyncGenerator[Any, None]:
        text = kwargs["text"]
        raise ConfigurationError(f"cannot use {text}: {text!r} has {text.splitlines()[1]}")
        yield


@pytest.mark.parametrize("captures_content", [False, True])
async def test_an_error_repeats_arguments_on_request_only(captures_content: bool) -> None:
    """Neither in the call's span, nor in those around it, which the error ends as well."""
    text = f"sword\nfish\tÄ {SECRET}"
    agent, spans = traced(
        [Refusing()],
        [call(arguments=json.dumps({"text": text}))],
        masker=SecretMasker([SECRET]),
        captures_content=captures_content,
    )
    with pytest.raises(ConfigurationError, match="cannot use"):
        await events_of(agent, "Speak.")
    failed = [span for span in spans.finished if span.status.status_code is StatusCode.ERROR]
    names = [span.name for span in failed]
    assert names == ["execute_tool Tool", "invoke_agent robot", "invoke_workflow"]
    for span in failed:
        (exception,) = [event for event in span.events if event.name == "exception"]
        told = dict(exception.attributes or {})
        assert str(told["exception.message"]).startswith("cannot use")
        assert "ConfigurationError" in str(told["exception.stacktrace"])
        for said in (told["exception.message"], told["exception.stacktrace"]):
            assert ("fish" in str(said)) is captures_content
    assert SECRET not in everything(spans)


async def test_a_secret_in_an_error_or_a_name_is_masked() -> None:
    """In the message, in the traceback, and in what the model made up."""
    masker = SecretMasker([SECRET])
    agent, spans = traced([], [call(f"x{SECRET}")], ModelError(f"bad {SECRET}"), masker=masker)
    await events_of(agent, "Speak.")
    assert SECRET not in everything(spans)
    assert f"bad {MASK}" in everything(spans)
    assert f"execute_tool x{MASK}" in {span.name for span in spans.finished}


async def test_a_span_ends_though_its_error_cannot_be_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """An exception whose text raises is still an error."""

    class MuteError(ModelError):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    spans = Spans()
    manager = ObservabilityManager([spans.handler()])
    manager.on_llm_start("s", "model", [], run_id="1", parent_run_id=None)
    with caplog.at_level(logging.CRITICAL):
        manager.on_llm_error(MuteError("x"), run_id="1")
    assert one_span(spans, "chat model").status.status_code is StatusCode.ERROR


def test_events_of_runs_that_began_before_are_left_out() -> None:
    """A handler that is added in the middle hears ends without starts."""
    spans = Spans()
    handler = spans.handler()
    handler.on_llm_end(None, run_id="1")
    handler.on_tool_error(ValueError("no"), run_id="1")
    handler.on_message_start("s", "robot", run_id="2", parent_run_id="0")
    handler.on_message_end(None, run_id="2")
    assert spans.finished == []
    assert handler.carrier("1") == {}


def test_opentelemetry_is_loaded_on_first_use() -> None:
    """Neither the package nor an agent's middleware imports it."""
    code = (
        "import sys, agentscope_like.observability as o; o.TraceMiddleware, o.SecretFilter; "
        "before = 'opentelemetry' in sys.modules; o.OpenTelemetryTraceHandler(); "
        "print(before, 'opentelemetry' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["False", "True"]


def test_without_opentelemetry_the_handler_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the project's own kind of error."""
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(ConfigurationError, match=r"agentscope_like\[otel\]"):
        OpenTelemetryTraceHandler()
