"""Runs the search program in a sandbox that only passes arguments and text output.

It is a separate program, run by the Python of a sandbox; its two arguments are the search program
and its job, both compressed and in Base64. Its output has the same format.
"""

from __future__ import annotations

import base64
import io
import sys
import zlib
from typing import Any

__all__ = ["TOO_MUCH", "main"]

TOO_MUCH = 4
"""The exit code for too much output."""

_MOST_BYTES = 480_000


class _TooMuchError(Exception):
    pass


class _Packed(io.StringIO):
    """Collects text in compressed form, up to a limit."""

    def __init__(self) -> None:
        super().__init__()
        self._packer = zlib.compressobj()
        self._packed = b""

    def write(self, text: str) -> int:
        self._packed += self._packer.compress(text.encode())
        if len(self._packed) > _MOST_BYTES:
            raise _TooMuchError
        return len(text)

    def finished(self) -> str:
        """Return all of it, as Base64."""
        return base64.b64encode(self._packed + self._packer.flush()).decode()


def main() -> int:
    """Run the program and return its exit code."""
    program, job = (zlib.decompress(base64.b64decode(word)).decode() for word in sys.argv[1:3])
    output, packed = sys.stdout, _Packed()
    sys.stdin, sys.stdout = io.StringIO(job), packed
    scope: dict[str, Any] = {"__name__": "search_worker"}
    exec(program, scope)  # noqa: S102 - it is this project's, sent along
    try:
        code: int = scope["main"]()
    except _TooMuchError:
        return TOO_MUCH
    output.write(packed.finished())
    return code


if __name__ == "__main__":
    sys.exit(main())
