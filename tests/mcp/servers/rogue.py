"""A server of a few lines that does as it is told, and worse: `rogue.py SETTINGS LOG`.

The settings are a JSON file that is read anew for each message: `tools` are listed as they are;
`stubborn` means to ignore that the client has gone, `silent` to answer nothing, `slow` to wait so
long first, `refuse` to end at once, `noise` to print what is no message. The log gets a line for
each message.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SETTINGS, LOG = Path(sys.argv[1]), Path(sys.argv[2])


def settings() -> dict[str, Any]:
    """Return the settings as they are now."""
    read: dict[str, Any] = json.loads(SETTINGS.read_text())
    return read


def say(line: str) -> None:
    """Write a line to the client."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def send(message: dict[str, Any]) -> None:
    """Send a message."""
    say(json.dumps({"jsonrpc": "2.0", **message}))


def note(line: str) -> None:
    """Write a line to the log."""
    with LOG.open("a") as file:
        file.write(f"{line}\n")


def called(name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """Return the answer to a call, or None for none."""
    if name == "die":
        os._exit(3)
    if name == "die_once":
        if "died" not in LOG.read_text():
            note("died")
            os._exit(3)
        name = "echo"
    if name == "sleep":
        time.sleep(300)
    if name == "hang":
        return None
    if name == "refuse":
        return {"error": {"code": -32000, "message": "not today"}}
    if name == "die_then_refuse":
        SETTINGS.write_text(json.dumps({**settings(), "refuse": True}))
        os._exit(3)
    if name == "large":
        return {"result": {"content": [{"type": "text", "text": "x" * arguments["size"]}]}}
    if name == "raw":
        return {"result": arguments["result"]}
    if name == "spawn":
        subprocess.Popen(["sleep", arguments["text"]], start_new_session=True)
        subprocess.Popen(["sleep", arguments["text"]])
    if name == "announce":
        send({"method": "notifications/tools/list_changed"})
    text = f"{name} {json.dumps(arguments, sort_keys=True)}"
    return {"result": {"content": [{"type": "text", "text": text}]}}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """Return the answer to a request, or None for none."""
    now = settings()
    if now.get("silent"):
        return None
    time.sleep(now.get("slow", 0))
    if method == "initialize":
        capabilities = {"tools": {"listChanged": True}}
        return {
            "result": {
                "protocolVersion": now.get("version", "2025-06-18"),
                "capabilities": capabilities,
                "serverInfo": {"name": "rogue", "version": "1"},
            }
        }
    if method == "tools/list":
        tools, size = now["tools"], now.get("page", 1000)
        start = int(params.get("cursor", 0))
        page = {"tools": tools[start : start + size]}
        if start + size < len(tools):
            page["nextCursor"] = str(start + size)
        return {"result": page}
    if method == "tools/call":
        return called(params["name"], params.get("arguments") or {})
    return {"error": {"code": -32601, "message": "Method not found"}}


def main() -> None:
    """Serve until the client goes, or for ever."""
    now = settings()
    note("started")
    if now.get("refuse"):
        sys.stderr.write("no licence \x1b[31mfound\n")
        sys.exit(1)
    if now.get("banner"):
        say("usage: rogue --licence FILE")
        sys.exit(2)
    if now.get("noise"):
        say("Welcome to the rogue server!")
    if now.get("stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in sys.stdin:
        message = json.loads(line)
        params = message.get("params", {})
        note(" ".join([message["method"], str(params.get("name", ""))]).strip())
        if "id" in message and (found := answer(message["method"], params)) is not None:
            send({"id": message["id"], **found})
    while now.get("stubborn"):
        time.sleep(1)


if __name__ == "__main__":
    main()
