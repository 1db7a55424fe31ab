"""Extracts the text of PDF pages; a program of its own, whose document may be hostile.

It gets the document on standard input, and writes one line of JSON with the number of pages and one
for each page that was asked for. Its time and memory are limited before anything is read.
"""

from __future__ import annotations

import io
import json
import logging
import resource
import sys
from typing import Any

__all__ = ["ENCRYPTED", "NO_PDF", "main"]

NO_PDF = 3
"""Exit code for what cannot be read as a PDF document; standard error says why."""

ENCRYPTED = 4
"""Exit code for a document that needs a password."""

_MOST_PAGE_CHARACTERS = 100_000


def main() -> int:
    """Do the job in the arguments and return the exit code."""
    library, job = sys.argv[1], json.loads(sys.argv[2])
    for limit, value in (
        (resource.RLIMIT_CPU, job["seconds"]),
        (resource.RLIMIT_AS, job["memory"]),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _set_limit(limit, value)
    sys.path.append(library)
    try:
        return _extract(job)
    except MemoryError:
        said = "it takes too much memory"
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    sys.stderr.write(said[:500])
    return NO_PDF


def _set_limit(limit: int, value: int) -> None:
    _, most = resource.getrlimit(limit)
    if most != resource.RLIM_INFINITY:
        value = min(value, most)
    resource.setrlimit(limit, (value, value))


def _extract(job: dict[str, Any]) -> int:
    from pypdf import PdfReader

    logging.disable(logging.CRITICAL)  # its warnings are about the document's form
    reader = PdfReader(io.BytesIO(sys.stdin.buffer.read()))
    if reader.is_encrypted and not reader.decrypt(""):
        return ENCRYPTED
    count = len(reader.pages)
    _write({"pages": count})
    last = count if job["last"] is None else min(job["last"], count)
    if last - job["first"] >= job["most"]:
        return 0
    for number in range(job["first"], last + 1):
        text = reader.pages[number - 1].extract_text()
        _write({"number": number, "text": text[:_MOST_PAGE_CHARACTERS], "characters": len(text)})
    return 0


def _write(facts: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
