"""An MCP server of the standard library alone: `office.py [--root DIRECTORY]`.

It serves standard input and output as a program, and an address where a test makes it do so.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


def _tool(name: str, description: str, parameter: str, *, reads: bool) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": {parameter: {"type": "string"}},
            "required": [parameter],
        },
        "annotations": {"readOnlyHint": reads},
    }


TOOLS = [
    _tool("read_file", "Read a file.", "path", reads=True),
    _tool("write_file", "Make an empty file.", "path", reads=False),
    _tool("web_search", "Search the web.", "query", reads=True),
    _tool("image_search", "Search images.", "query", reads=True),
    _tool("place_order", "Order something.", "item", reads=False),
]


class Office:
    """What the server does.

    Args:
        root: The directory whose files it reads and writes.

    Attributes:
        methods: The requests that it was sent, in order.
        headers: The `Authorization` of the latest request over HTTP.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.methods: list[str] = []
        self.authorization: str | None = None

    def answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer to a message, or None where it wants none."""
        method, params = message.get("method", ""), message.get("params") or {}
        self.methods.append(method)
        if "id" not in message:
            return None
        handlers: dict[str, Callable[[], Any]] = {
            "initialize": lambda: {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "office", "version": "1"},
            },
            "tools/list": lambda: {"tools": TOOLS},
            "tools/call": lambda: self._call(params["name"], params.get("arguments") or {}),
        }
        body: dict[str, Any] = {"error": {"code": -32601, "message": "Method not found"}}
        if method in handlers:
            body = {"result": handlers[method]()}
        return {"jsonrpc": "2.0", "id": message["id"], **body}

    def _call(self, name: str, arguments: dict[str, str]) -> dict[str, Any]:
        (given,) = arguments.values()
        text = f"{name}: {given}"
        if name == "read_file":
            text = (self.root / given).read_text()
        elif name == "write_file":
            (self.root / given).touch()
        return {"content": [{"type": "text", "text": text}]}


class OfficeAddress:
    """The server at a loopback address, from `with` on.

    Args:
        office: What it does.
    """

    def __init__(self, office: Office) -> None:
        self.office = office
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(office))
        self._thread = threading.Thread(target=self._serve)

    @property
    def url(self) -> str:
        """Return the address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/mcp"

    def _serve(self) -> None:
        self._server.serve_forever(poll_interval=0.01)

    def __enter__(self) -> OfficeAddress:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _handler(office: Office) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            office.authorization = self.headers.get("Authorization")
            length = int(self.headers.get("Content-Length", 0))
            answer = office.answer(json.loads(self.rfile.read(length)))
            body = b"" if answer is None else json.dumps(answer).encode()
            self.send_response(202 if answer is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self._refuse()

        def do_DELETE(self) -> None:
            self._refuse()

        def _refuse(self) -> None:
            self.send_response(405)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            del format, args

    return Handler


def main() -> None:
    """Serve over standard input and output."""
    root = sys.argv[sys.argv.index("--root") + 1] if "--root" in sys.argv else "."
    office = Office(Path(root))
    for line in sys.stdin:
        if (answer := office.answer(json.loads(line))) is not None:
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
