"""Shows the text of PDF pages, which a worker process extracts."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from msgspec import Struct

from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.files import pdf_worker
from agentscope_like.tool.builtin.tool_results import CancelCheck
from agentscope_like.tool.builtin.worker_process import WorkerOutput, run_worker

__all__ = ["PageRange", "pdf_text"]

MOST_PAGES = 20
"""Most pages that one call shows."""

MOST_UNASKED_PAGES = 10
"""Most pages of a document that is shown whole."""

SECONDS = 20
MEMORY_BYTES = 1024 * 1024 * 1024
OUTPUT_BYTES = 8 * 1024 * 1024

_RANGE = re.compile(r"([0-9]{1,7})(?:-([0-9]{1,7}))?")


class PageRange(Struct, frozen=True):
    """Pages of a document, counted from 1.

    Attributes:
        first: The first page.
        last: The last page; None for that of the document.
    """

    first: int = 1
    last: int | None = None

    @classmethod
    def parse(cls, pages: str | None) -> PageRange:
        """Return the pages that a call asked for, all where it did not say.

        Raises:
            FileToolError: It is no page and no range, or asks for too many pages.
        """
        if pages is None:
            return cls()
        found = _RANGE.fullmatch(pages.strip())
        if found is None:
            raise FileToolError(
                f'`pages` is {pages[:50]!r}: give a page or a range, such as "3" or "1-5".'
            )
        first, last = int(found[1]), int(found[2] or found[1])
        if not 1 <= first <= last:
            raise FileToolError(
                f'`pages` is {pages!r}: the first page is 1, and a range goes up, as in "1-5".'
            )
        if last - first >= MOST_PAGES:
            raise FileToolError(
                f"`pages` asks for {last - first + 1:,} pages: at most {MOST_PAGES} are shown at "
                "once."
            )
        return cls(first, last)


def pdf_text(shown: str, data: bytes, pages: PageRange, cancel_check: CancelCheck) -> str:
    """Return the text of pages of a PDF document; blocks.

    Args:
        shown: The file's name, for messages.
        data: The document, which may be hostile.
        pages: The pages.
        cancel_check: Called several times a second; what it raises ends the work.

    Raises:
        FileToolError: The text cannot be had; the message says why and what to do.
    """
    job = {
        "first": pages.first,
        "last": pages.last,
        "most": MOST_UNASKED_PAGES if pages.last is None else MOST_PAGES,
        "seconds": SECONDS,
        "memory": MEMORY_BYTES,
    }
    worker = str(Path(pdf_worker.__file__))
    output = run_worker(
        [sys.executable, "-I", "-S", worker, _library(shown), json.dumps(job)],
        feed=data,
        directory=os.sep,
        cancel_check=cancel_check,
        seconds=SECONDS,
        too_slow=_unreadable(shown, "it takes too long"),
        most_bytes=OUTPUT_BYTES,
    )
    _refuse_failure(shown, output)
    lines = [json.loads(line) for line in output.output.splitlines()]
    count = lines[0]["pages"]
    if pages.first > max(count, 1):
        raise FileToolError(f"{shown} has {_counted(count)}; there is no page {pages.first:,}.")
    if pages.last is None and count > MOST_UNASKED_PAGES:
        raise FileToolError(
            f"{shown} has {_counted(count)}: say which to show with `pages`, at most {MOST_PAGES} "
            'at once, such as "1-5".'
        )
    return _text(lines[1:], count)


def _library(shown: str) -> str:
    spec = PathFinder.find_spec("pypdf", _search_path())
    if spec is None or spec.origin is None:
        raise FileToolError(
            f"{shown} is a PDF document, whose text needs the extra `pdf`; the user can install "
            'it: `pip install "agentscope_like[pdf]"`. Or extract the text through the shell, '
            "such as `pdftotext -f 1 -l 5 FILE -`."
        )
    return str(Path(spec.origin).parents[1])


def _search_path() -> list[str]:
    """Return where libraries are; not the directory of the project, which could bring its own."""
    here = os.getcwd()
    return [entry for entry in sys.path if entry and os.path.abspath(entry) != here]


def _refuse_failure(shown: str, output: WorkerOutput) -> None:
    if output.cut:
        raise _unreadable(shown, "its text is too long")
    if output.code == pdf_worker.ENCRYPTED:
        raise _unreadable(shown, "it needs a password")
    if output.code:
        raise _unreadable(shown, output.error.strip() or "it takes too much time or memory")


def _unreadable(shown: str, reason: str) -> FileToolError:
    return FileToolError(
        f"{shown} cannot be read as a PDF document: {reason}. Try fewer pages, or ask the user for "
        "another form of it."
    )


def _counted(count: int) -> str:
    return "1 page" if count == 1 else f"{count:,} pages"


def _text(pages: Sequence[Mapping[str, Any]], count: int) -> str:
    parts = []
    for page in pages:
        cut = page["characters"] - len(page["text"])
        note = f"\n[{cut:,} more characters of this page are cut]" if cut else ""
        text = page["text"] or "(no text)"
        parts.append(f"--- Page {page['number']}/{count} ---\n{text}{note}")
    return "\n\n".join(parts)
