"""A server of an older protocol: it passes on to `asking.py`, which knows the newer one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def main() -> None:
    """Pass messages on, and know nothing of the newer protocol."""
    program = [sys.executable, str(Path(__file__).with_name("asking.py"))]
    child = subprocess.Popen(program, stdin=subprocess.PIPE, text=True)
    if child.stdin is None:
        return
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "server/discover":
            error = {"code": -32601, "message": "Method not found"}
            answer = {"jsonrpc": "2.0", "id": message["id"], "error": error}
            sys.stdout.write(f"{json.dumps(answer)}\n")
            sys.stdout.flush()
        else:
            child.stdin.write(line)
            child.stdin.flush()
    child.stdin.close()
    child.wait()


if __name__ == "__main__":
    main()
