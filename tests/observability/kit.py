"""Handlers that write down what they hear, and tools and agents to hear from."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agentscope_like.agent import Agent
from agentscope_like.message import TextBlock, ToolCallBlock, ToolChunk
from agentscope_like.middleware import MiddlewareBase
from agentscope_like.observability import (
    BaseTraceHandler,
    ObservabilityManager,
    OpenTelemetryTraceHandler,
    SecretMasker,
    TraceMiddleware,
)
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolBase
from tests.agent.kit import Turn, agent_of

__all__ = [
    "DONE",
    "Recorder",
    "Spans",
    "Tool",
    "attributes",
    "call",
    "observed",
    "one_span",
    "traced",
]

DONE = (TextBlock(text="Done."),)

KINDS = ("chain", "agent", "llm", "tool", "message")


class Recorder(BaseTraceHandler):
    """Writes down every event: its name, its positional arguments, its keywords."""

    def __init__(self) -> None:
        self.events: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self._heard = asyncio.Event()

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("on_"):
            return super().__getattribute__(name)

        def heard(*args: Any, **kwargs: Any) -> None:
            self.events.append((name.removeprefix("on_"), args, kwargs))
            self._heard.set()

        return heard

    @property
    def names(self) -> list[str]:
        """Return the events' names."""
        return [name for name, _, _ in self.events]

    def named(self, name: str) -> list[dict[str, Any]]:
        """Return the keywords of the events of that name."""
        return [kwargs for known, _, kwargs in self.events if known == name]

    def details(self, name: str) -> list[tuple[Any, ...]]:
        """Return the positional arguments of the events of that name."""
        return [args for known, args, _ in self.events if known == name]

    async def until(self, name: str, times: int) -> None:
        """Wait until the event of that name was heard so often."""
        while self.names.count(name) < times:
            self._heard.clear()
            await self._heard.wait()

    def check_pairs(self) -> None:
        """Fail unless each run began once and ended once, later, inside the run it is part of."""
        open_runs: dict[str, str] = {}
        for name, _, kwargs in self.events:
            kind, _, what = name.partition("_")
            run_id = kwargs["run_id"]
            if what == "start":
                assert run_id not in open_runs
                parent = kwargs["parent_run_id"]
                assert parent is None or parent in open_runs, f"{name} outside its parent"
                open_runs[run_id] = kind
            else:
                assert open_runs.pop(run_id) == kind, f"{name} without its start"
                assert run_id not in {
                    later["parent_run_id"]
                    for _, _, later in self.events
                    if later.get("parent_run_id") and later["run_id"] in open_runs
                }, f"{name} before the runs inside it"
        assert open_runs == {}


class Tool(ToolBase):
    """Says what it is told, perhaps after a while; allowed by itself."""

    input_schema = {"type": "object", "properties": {"text": {"type": "string"}}}  # noqa: RUF012
    is_concurrency_safe = True
    is_read_only = True

    def __init__(
        self,
        name: str = "Tool",
        *chunks: str | Exception,
        pause: float = 0.0,
        behavior: PermissionBehavior = PermissionBehavior.ALLOW,
        reason: str = "it says so",
        middlewares: Sequence[Any] = (),
    ) -> None:
        super().__init__(middlewares)
        self.name = name
        self.description = "Speaks."
        self._chunks = chunks
        self._pause = pause
        self._behavior = behavior
        self._reason = reason

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        return PermissionDecision(self._behavior, "As it is.", decision_reason=self._reason)

    async def call(self, /, **kwargs: Any) -> AsyncGenerator[ToolChunk, None]:
        for chunk in self._chunks or (kwargs.get("text", "said"),):
            await asyncio.sleep(self._pause)
            if isinstance(chunk, Exception):
                raise chunk
            yield ToolChunk(content=[TextBlock(text=chunk)])


def call(name: str = "Tool", call_id: str = "c1", arguments: str = "{}") -> ToolCallBlock:
    """Return a call."""
    return ToolCallBlock(id=call_id, name=name, input=arguments)


def observed(
    tools: Sequence[ToolBase],
    *turns: Turn,
    handlers: Sequence[BaseTraceHandler],
    state: AgentState | None = None,
    inner: Sequence[MiddlewareBase] = (),
) -> Agent:
    """Return an agent that these handlers hear of."""
    middleware = TraceMiddleware(ObservabilityManager(handlers))
    return agent_of(tools, *turns, state=state, middlewares=[middleware, *inner])


class Spans:
    """A tracer provider of its own, and the spans that it has seen end."""

    def __init__(self) -> None:
        self._memory = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._memory))

    @property
    def finished(self) -> list[ReadableSpan]:
        """Return the spans in the order in which they ended."""
        return list(self._memory.get_finished_spans())

    def handler(
        self, *, masker: SecretMasker | None = None, captures_content: bool = False
    ) -> OpenTelemetryTraceHandler:
        """Return a handler that makes spans here."""
        return OpenTelemetryTraceHandler(
            self.provider, masker=masker, captures_content=captures_content
        )


def traced(
    tools: Sequence[ToolBase],
    *turns: Turn,
    masker: SecretMasker | None = None,
    captures_content: bool = False,
) -> tuple[Agent, Spans]:
    """Return an agent and the spans that it makes."""
    spans = Spans()
    handler = spans.handler(masker=masker, captures_content=captures_content)
    return observed(tools, *turns, handlers=[handler]), spans


def one_span(spans: Spans, name: str) -> ReadableSpan:
    """Return the only span of that name."""
    (span,) = [span for span in spans.finished if span.name == name]
    return span


def attributes(span: ReadableSpan) -> dict[str, Any]:
    """Return the span's attributes."""
    return dict(span.attributes or {})
