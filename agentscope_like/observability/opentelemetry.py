"""Creates OpenTelemetry spans by its conventions for generative AI."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from agentscope_like.exception import ConfigurationError
from agentscope_like.message import TextBlock, ToolResultState
from agentscope_like.observability.attributes import (
    OWN,
    confinement_attributes,
    decision_attributes,
    error_type,
    usage_attributes,
    without_values,
)
from agentscope_like.observability.handler import BaseTraceHandler
from agentscope_like.observability.masker import SecretMasker

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Link, Span, TracerProvider
    from opentelemetry.util.types import AttributeValue

__all__ = ["OpenTelemetryTraceHandler"]

_LONGEST = 8192


class OpenTelemetryTraceHandler(BaseTraceHandler):
    """Creates a span for each run; the program's OpenTelemetry SDK exports the spans.

    A span's parent is the span of the enclosing run, even in another task; for the outermost run,
    it is the current span. A pause ends the spans of the reply and of the waiting calls; the spans
    after a resume link to them, even in a later process.

    Args:
        tracer_provider: Provides the tracer; the program's global one by default.
        masker: Masks secrets in every text of a span.
        captures_content: Whether spans include the arguments and results of calls, and quotes of
            them in reasons and errors; masked, and at most 8,192 characters each.
        provider_name: `gen_ai.provider.name` of the models.

    Raises:
        ConfigurationError: OpenTelemetry is not installed.
    """

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        *,
        masker: SecretMasker | None = None,
        captures_content: bool = False,
        provider_name: str = "openai",
    ) -> None:
        try:
            from opentelemetry import trace
        except ImportError as error:
            raise ConfigurationError(
                "OpenTelemetry is not installed: pip install 'agentscope_like[otel]'"
            ) from error
        self._tracer = trace.get_tracer(OWN, tracer_provider=tracer_provider)
        self._masker = masker if masker is not None else SecretMasker()
        self._captures_content = captures_content
        self._provider_name = provider_name
        self._spans: dict[str, Span] = {}
        self._messages: dict[str, str] = {}
        self._parents: dict[str, str] = {}
        self._arguments: dict[str, list[str]] = {}

    @override
    def on_chain_start(self, session_id: str, **kwargs: Any) -> None:
        self._start("invoke_workflow", "", session_id, kwargs)

    @override
    def on_chain_end(self, **kwargs: Any) -> None:
        self._end(kwargs)

    @override
    def on_chain_error(self, error: BaseException, **kwargs: Any) -> None:
        self._fail(error, kwargs)

    @override
    def on_agent_start(self, session_id: str, agent_name: str, **kwargs: Any) -> None:
        attributes = {
            "gen_ai.agent.name": agent_name,
            "gen_ai.provider.name": self._provider_name,
        }
        self._start("invoke_agent", agent_name, session_id, kwargs, attributes)

    @override
    def on_agent_end(self, **kwargs: Any) -> None:
        self._end(
            kwargs,
            {
                f"{OWN}.reply.id": kwargs.get("reply_id"),
                f"{OWN}.reply.finished_reason": kwargs.get("finished_reason"),
            },
        )

    @override
    def on_agent_error(self, error: BaseException, **kwargs: Any) -> None:
        self._fail(error, kwargs)

    @override
    def on_llm_start(
        self,
        session_id: str,
        model_name: str,
        messages: Sequence[Any],
        step_name: str | None = None,
        **kwargs: Any,
    ) -> None:
        attributes = {
            "gen_ai.request.model": model_name,
            "gen_ai.provider.name": self._provider_name,
            f"{OWN}.step": step_name,
        }
        self._start("chat", model_name, session_id, kwargs, attributes)

    @override
    def on_llm_end(self, response: Any, **kwargs: Any) -> None:
        self._end(kwargs, usage_attributes(response))

    @override
    def on_llm_error(self, error: BaseException, **kwargs: Any) -> None:
        self._fail(error, kwargs)

    @override
    def on_tool_start(
        self,
        session_id: str,
        tool_name: str,
        tool_input: str,
        step_name: str | None = None,
        **kwargs: Any,
    ) -> None:
        attributes: dict[str, Any] = {
            "gen_ai.tool.name": tool_name,
            "gen_ai.tool.call.id": kwargs.get("tool_call_id"),
            "gen_ai.tool.type": "function",
            f"{OWN}.step": step_name,
        }
        if self._captures_content:
            attributes["gen_ai.tool.call.arguments"] = tool_input
        decision = kwargs.get("decision")
        if decision is not None:
            attributes |= decision_attributes(decision, tool_input, quotes=self._captures_content)
        self._start("execute_tool", tool_name, session_id, kwargs, attributes)
        self._arguments[kwargs["run_id"]] = [tool_input]

    @override
    def on_tool_end(self, output: Any, **kwargs: Any) -> None:
        state = kwargs.get("state")
        attributes: dict[str, Any] = {f"{OWN}.tool.state": None if state is None else str(state)}
        if output is not None:
            attributes |= confinement_attributes(output.metadata)
        if self._captures_content and output is not None:
            texts = [block.text for block in output.content if isinstance(block, TextBlock)]
            attributes["gen_ai.tool.call.result"] = "".join(texts)
        if state is ToolResultState.ERROR:
            attributes["error.type"] = "tool_error"
        self._end(kwargs, attributes, is_ok=state is ToolResultState.SUCCESS)

    @override
    def on_tool_error(self, error: BaseException, **kwargs: Any) -> None:
        self._hand_up(kwargs["run_id"])
        self._fail(error, kwargs)

    @override
    def on_message_start(self, session_id: str, agent_name: str, **kwargs: Any) -> None:
        del session_id, agent_name
        parent = kwargs.get("parent_run_id")
        if parent in self._spans:
            self._messages[kwargs["run_id"]] = parent
            message_id = {f"{OWN}.message.id": self._text(kwargs.get("message_id", ""))}
            self._spans[parent].add_event("message.start", message_id)

    @override
    def on_message_end(self, message: Any, **kwargs: Any) -> None:
        span = self._spans.get(self._messages.pop(kwargs["run_id"], ""))
        if span is not None:
            span.add_event("message.end", {f"{OWN}.paused": kwargs.get("is_paused", False)})

    @override
    def activate(self, run_id: str) -> AbstractContextManager[object]:
        """Return a context in which the run's span is the current one."""
        span = self._spans.get(run_id)
        return nullcontext() if span is None else _current(span)

    @override
    def carrier(self, run_id: str) -> dict[str, str]:
        """Return the span's W3C trace context."""
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        carrier: dict[str, str] = {}
        if (span := self._spans.get(run_id)) is not None:
            TraceContextTextMapPropagator().inject(carrier, context=_context_of(span))
        return carrier

    def _start(
        self,
        operation: str,
        subject: str,
        session_id: str,
        kwargs: Mapping[str, Any],
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        from opentelemetry.trace import SpanKind

        parent = self._spans.get(kwargs.get("parent_run_id") or "")
        named = {
            "gen_ai.operation.name": operation,
            "gen_ai.conversation.id": session_id,
            **(attributes or {}),
        }
        self._spans[kwargs["run_id"]] = self._tracer.start_span(
            self._text(f"{operation} {subject}".rstrip()),
            context=None if parent is None else _context_of(parent),
            kind=SpanKind.CLIENT if operation == "chat" else SpanKind.INTERNAL,
            attributes=self._masked(named),
            links=_links(kwargs.get("links", ())),
        )
        if parent is not None:
            self._parents[kwargs["run_id"]] = kwargs["parent_run_id"]

    def _end(
        self,
        kwargs: Mapping[str, Any],
        attributes: Mapping[str, Any] | None = None,
        *,
        is_ok: bool = True,
    ) -> None:
        from opentelemetry.trace import StatusCode

        span, _ = self._pop(kwargs["run_id"])
        if span is None:
            return
        is_paused = bool(kwargs.get("is_paused"))
        try:
            masked = self._masked(attributes or {})
            if is_paused:
                masked[f"{OWN}.paused"] = True
            span.set_attributes(masked)
            if "error.type" in masked:
                span.set_status(StatusCode.ERROR)
            elif is_ok and not is_paused:
                span.set_status(StatusCode.OK)
        finally:
            span.end()

    def _fail(self, error: BaseException, kwargs: Mapping[str, Any]) -> None:
        from opentelemetry.trace import StatusCode

        span, calls = self._pop(kwargs["run_id"])
        if span is None:
            return
        try:
            span.set_attribute("error.type", error_type(error))
            span.set_status(StatusCode.ERROR, type(error).__name__)
            told = "".join(traceback.format_exception(error))
            shown = {"exception.message": str(error), "exception.stacktrace": told}
            if calls and not self._captures_content:
                shown = {name: self._without(text, calls) for name, text in shown.items()}
            span.record_exception(error, attributes=self._masked(shown))
        finally:
            span.end()

    def _pop(self, run_id: str) -> tuple[Span | None, list[str]]:
        """Remove a run; return its span, and the arguments that its error may repeat."""
        self._parents.pop(run_id, None)
        return self._spans.pop(run_id, None), self._arguments.pop(run_id, [])

    def _hand_up(self, run_id: str) -> None:
        """Keep the arguments of a run, since its error may end the enclosing runs as well."""
        calls = self._arguments.get(run_id, [])
        while (parent := self._parents.get(run_id)) is not None:
            self._arguments.setdefault(parent, []).extend(calls)
            run_id = parent

    def _without(self, text: str, calls: Sequence[str]) -> str:
        """Return the text without secrets and without values from the arguments of calls."""
        mask = self._masker.mask  # first: what is left of a secret is not found any more
        return without_values(mask(text), map(mask, calls))

    def _masked(self, attributes: Mapping[str, Any]) -> dict[str, AttributeValue]:
        return {
            name: self._text(value) if isinstance(value, str) else value
            for name, value in attributes.items()
            if value is not None
        }

    def _text(self, text: str) -> str:
        masked = self._masker.mask(text)
        return masked if len(masked) <= _LONGEST else f"{masked[: _LONGEST - 1]}…"


def _context_of(span: Span) -> Context:
    from opentelemetry.trace import set_span_in_context

    return set_span_in_context(span)


@contextmanager
def _current(span: Span) -> Iterator[None]:
    from opentelemetry import context

    attached = _context_of(span)
    token = context.attach(attached)
    try:
        yield
    finally:
        # Another task may tear the step down; what it has attached is not ours to detach.
        if context.get_current() is attached:
            context.detach(token)


def _links(carriers: Sequence[dict[str, str]]) -> list[Link]:
    from opentelemetry.context import Context
    from opentelemetry.trace import Link, get_current_span
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    propagator = TraceContextTextMapPropagator()
    linked = [
        get_current_span(propagator.extract(carrier, Context())).get_span_context()
        for carrier in carriers
    ]
    return [Link(one, {f"{OWN}.link": "resumes"}) for one in linked if one.is_valid]
