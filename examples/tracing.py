"""Trace an agent that asks before it acts, to the console and to whoever collects OTLP.

The model is recorded, so no key is needed. Spans are printed as they end; set
OTEL_EXPORTER_OTLP_ENDPOINT, such as http://localhost:4318, to send them there as well.
"""

from __future__ import annotations

import asyncio
import os

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    ConsoleSpanExporter,
    SimpleSpanProcessor,
)

from agentscope_like.agent import Agent
from agentscope_like.event import ConfirmResult, UserConfirmResultEvent
from agentscope_like.message import TextBlock, ToolResultBlock, UserMsg
from agentscope_like.model import Script, ScriptedModel
from agentscope_like.observability import (
    MaskSecretsMiddleware,
    ObservabilityManager,
    OpenTelemetryTraceHandler,
    SecretMasker,
    TraceMiddleware,
)
from agentscope_like.tool import FunctionTool, Toolkit

TOKEN = "example-token-0123456789"
SCRIPT = Script.parse("""\
{"calls": [{"id": "c1", "name": "deploy", "input": {"target": "staging"}}]}
{"say": "Deployed."}
""")


def deploy(target: str) -> str:
    """Deploy the service.

    Args:
        target: Where to.
    """
    return f"deployed to {target} with {TOKEN}"


def shown(span: ReadableSpan) -> str:
    """Return a span in one line, with this project's own attributes."""
    status = span.status.status_code.name
    own = {
        name.removeprefix("agentscope_like."): value
        for name, value in (span.attributes or {}).items()
        if name.startswith(("agentscope_like.decision.behavior", "agentscope_like.paused"))
    }
    linked = " (takes up one that waited)" if span.links else ""
    return f"{span.name:24} {status:6} {own or ''}{linked}\n"


def provider() -> TracerProvider:
    """Return a tracer provider with the exporters that are wanted."""
    made = TracerProvider(resource=Resource.create({"service.name": "tracing-example"}))
    made.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(formatter=shown)))
    if os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        # pip install opentelemetry-exporter-otlp-proto-http
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return made


async def main() -> None:
    """Ask for a deployment, allow it, and say what came of it."""
    spans = provider()
    masker = SecretMasker([TOKEN])
    handler = OpenTelemetryTraceHandler(spans, masker=masker, captures_content=True)
    agent = Agent(
        "robot",
        "You release software.",
        ScriptedModel(SCRIPT),
        Toolkit([FunctionTool(deploy, middlewares=[MaskSecretsMiddleware(masker)])]),
        [TraceMiddleware(ObservabilityManager([handler]))],
    )
    try:
        await agent.reply(UserMsg("you", "Release it."))
        (call,) = agent.state.get_awaiting_tool_calls("robot")
        answer = ConfirmResult(confirmed=True, tool_call=call)
        reply = await agent.reply(
            UserConfirmResultEvent(reply_id=agent.state.reply_id, confirm_results=[answer])
        )
        for result in reply.content:
            if isinstance(result, ToolResultBlock):
                print("".join(b.text for b in result.output if isinstance(b, TextBlock)))
    finally:
        spans.shutdown()  # sends what is left


if __name__ == "__main__":
    asyncio.run(main())
