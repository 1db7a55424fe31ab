"""The example, which exports to the console and by OTLP over HTTP."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

EXAMPLE = Path(__file__).parents[2] / "examples" / "tracing.py"
TOKEN = b"example-token-0123456789"


class Collector(ThreadingHTTPServer):
    """Takes what is exported to it, as a collector of OpenTelemetry does."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[tuple[str, bytes]] = []

    @property
    def address(self) -> str:
        """Return its base URL."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        assert isinstance(self.server, Collector)
        self.server.bodies.append((self.path, body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    """Return a collector that runs."""
    server = Collector()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def run_example(**environment: str) -> str:
    """Run the example and return what it prints."""
    inherited = {name: value for name, value in os.environ.items() if "OTEL" not in name}
    done = subprocess.run(
        [sys.executable, str(EXAMPLE)],
        env={**inherited, "NO_PROXY": "127.0.0.1", **environment},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_spans_reach_a_collector(collector: Collector) -> None:
    """All of them, with their links and what was decided, and without the secret."""
    printed = run_example(OTEL_EXPORTER_OTLP_ENDPOINT=collector.address)
    assert {path for path, _ in collector.bodies} == {"/v1/traces"}
    spans = [
        span
        for _, body in collector.bodies
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    names = [span.name for span in spans]
    assert names.count("execute_tool deploy") == 2
    assert sorted(set(names)) == [
        "chat scripted",
        "execute_tool deploy",
        "invoke_agent robot",
        "invoke_workflow",
    ]
    waited, ran = [span for span in spans if span.name == "execute_tool deploy"]
    assert [link.span_id for link in ran.links] == [waited.span_id]
    decided = {one.key: one.value.string_value for one in ran.attributes}
    assert decided["agentscope_like.decision.behavior"] == "ask"
    assert decided["gen_ai.tool.call.result"] == "deployed to staging with [masked]"
    assert TOKEN not in b"".join(body for _, body in collector.bodies)
    assert TOKEN.decode() not in printed


def test_without_a_collector_spans_are_printed() -> None:
    """Nothing else is needed for that."""
    printed = run_example()
    assert "execute_tool deploy" in printed
    assert "takes up one that waited" in printed
    assert TOKEN.decode() not in printed
