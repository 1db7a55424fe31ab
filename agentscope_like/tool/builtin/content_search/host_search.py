"""Searches file contents with ripgrep, or with Python if it is not installed."""

from __future__ import annotations

import base64
import json
import os
import re
import resource
import shutil
import sys
import time
from collections.abc import Generator, Iterator, Mapping
from itertools import islice
from typing import Any

from agentscope_like.paths import is_below
from agentscope_like.tool.builtin.content_search import search_worker
from agentscope_like.tool.builtin.content_search.query import (
    FileMatches,
    MatchLine,
    Query,
    SearchResult,
    bad_pattern,
    found_by_worker,
    json_lines,
    worker_job,
)
from agentscope_like.tool.builtin.content_search.search_process import (
    SEARCH_SECONDS,
    SearchOutput,
    run_search,
)
from agentscope_like.tool.builtin.file_errors import MAX_WHOLE_BYTES, FileToolError
from agentscope_like.tool.builtin.tool_results import CancelCheck

__all__ = ["find_ripgrep", "search"]

_MOST_OPEN = 512
"""How many files are open at once; half of what the process may open, where that is less."""

_NAMED_GROUP = re.compile(r"(\\.)|\(\?<(?![=!])", re.DOTALL)

_SYSTEM_PLACES = ("/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin")


def find_ripgrep(*avoid: str) -> str | None:
    """Return the absolute path of `rg`, or None.

    Args:
        avoid: Working directories: a program in them is never run, unless it is the system's own.
    """
    found = shutil.which("rg")
    if found is None or not os.path.isabs(found):
        return None
    found = os.path.realpath(found)
    if os.path.dirname(found) in _SYSTEM_PLACES:
        return found
    inside = any(is_below(found, os.path.realpath(directory)) for directory in avoid)
    return None if inside else found


def search(
    query: Query,
    opened: Generator[tuple[str, int], None, None],
    cancel_check: CancelCheck,
    *,
    ripgrep: str | None,
) -> SearchResult:
    """Search files; blocks. Files that hold NUL, and ones of over 64 MB, never match.

    The search program is handed what was opened: a name that leads elsewhere by now is never
    followed.

    Args:
        query: What to search for.
        opened: Opens the files; yields the name and the descriptor of each, which is closed here.
        cancel_check: Called several times a second.
        ripgrep: The absolute path of `rg`, or None to do without.

    Raises:
        FileToolError: The pattern is not understood, or the search took too long.
    """
    query.check()
    deadline = time.monotonic() + SEARCH_SECONDS
    matches: list[FileMatches] = []
    cut = False
    while not cut and (held := dict(islice(opened, _most_open()))):
        try:
            output = _run(query, held, cancel_check, ripgrep, deadline - time.monotonic())
            matches += _found(query, held, output, with_ripgrep=ripgrep is not None)
            cut = output.cut
        finally:
            for descriptor in held.values():
                os.close(descriptor)
    opened.close()
    matches.sort(key=lambda each: each.relative)
    return SearchResult(matches, cut)


def _most_open() -> int:
    return max(16, min(_MOST_OPEN, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2))


def _run(
    query: Query,
    held: Mapping[str, int],
    cancel_check: CancelCheck,
    ripgrep: str | None,
    seconds: float,
) -> SearchOutput:
    if ripgrep is None:
        argv = [sys.executable, "-I", "-S", "-W", "ignore", search_worker.__file__]
        feed = json.dumps({**worker_job(query, list(held)), "descriptors": held}).encode()
    else:
        argv = [ripgrep, *_options(query), "--", *(_handed(each) for each in held.values())]
        feed = b""
    output = run_search(
        argv,
        feed=feed,
        directory="/",
        cancel_check=cancel_check,
        seconds=seconds,
        hand_over=tuple(held.values()),
    )
    bad_code = search_worker.BAD_PATTERN if ripgrep is None else _FAILED
    if output.code == bad_code and not output.output and output.error.strip():
        raise bad_pattern(output.error)
    if ripgrep is None and output.code and not output.cut:
        raise FileToolError(f"The search failed: {output.error.strip()[-500:]}")
    return output


def _handed(descriptor: int) -> str:
    return f"/dev/fd/{descriptor}"


def _found(
    query: Query, held: Mapping[str, int], output: SearchOutput, *, with_ripgrep: bool
) -> Iterator[FileMatches]:
    if not with_ripgrep:
        yield from found_by_worker(output.output)
        return
    names = {_handed(descriptor): relative for relative, descriptor in held.items()}
    for each in _from_ripgrep(query, output):
        relative = names.get(each.relative)
        if relative is not None and _is_searched(held[relative]):
            each.relative = relative
            yield each


def _is_searched(descriptor: int) -> bool:
    """Return whether the file is one that is searched: small enough, and without NUL.

    ripgrep stops at the first NUL, or not, depending on how it came to the file.
    """
    try:
        data = os.pread(descriptor, MAX_WHOLE_BYTES + 1, 0)
    except OSError:
        return False
    return len(data) <= MAX_WHOLE_BYTES and (
        b"\0" not in data or data.startswith(search_worker.TRANSCODED)
    )


# With ripgrep

_ALWAYS = (
    *("--no-config", "--no-ignore", "--hidden", "--no-messages", "--color=never"),
    *("--crlf", "--no-heading", "--with-filename", f"--max-filesize={MAX_WHOLE_BYTES}"),
)
_FAILED = 2


def _options(query: Query) -> list[str]:
    # ripgrep before version 14 knows named groups only as Python writes them.
    pattern = _NAMED_GROUP.sub(lambda match: match[1] or "(?P<", query.pattern)
    options = [*_ALWAYS, f"--regexp={pattern}"]
    options.append("--ignore-case" if query.ignore_case else "--case-sensitive")
    if query.multiline:
        options += ("--multiline", "--multiline-dotall")
    if query.mode == "files_with_matches":
        options += ("--files-with-matches", "--null")
    elif query.mode == "count" and not query.multiline:
        options += ("--count", "--null")
    else:
        options.append("--json")
    if query.mode == "content":
        options += (f"--before-context={query.before}", f"--after-context={query.after}")
    return options


def _from_ripgrep(query: Query, output: SearchOutput) -> Iterator[FileMatches]:
    if query.mode == "files_with_matches":
        for path in output.output.split(b"\0")[:-1]:
            yield FileMatches(_relative(path), 1)
    elif query.mode == "count" and not query.multiline:
        path, *rest = output.output.split(b"\0")
        for part in rest:
            count, _, following = part.partition(b"\n")
            yield FileMatches(_relative(path), int(count or 0))
            path = following
    else:
        yield from _from_events(json_lines(output.output), with_lines=query.mode == "content")


def _from_events(events: Iterator[Mapping[str, Any]], *, with_lines: bool) -> Iterator[FileMatches]:
    by_path: dict[str, FileMatches] = {}
    for event in events:
        kind, data = event["type"], event["data"]
        if kind not in ("match", "context"):
            continue
        path = _relative(_bytes(data["path"]))
        matches = by_path.setdefault(path, FileMatches(path))
        text = _bytes(data["lines"]).decode("utf-8", "replace").removesuffix("\n")
        for number, line in enumerate(text.split("\n"), data["line_number"]):
            matches.count += kind == "match"
            if with_lines:
                shown = line.removesuffix("\r")
                matches.lines.append(MatchLine(number, kind == "match", shown))
    yield from by_path.values()


def _bytes(value: Mapping[str, str]) -> bytes:
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])


def _relative(path: bytes) -> str:
    return os.fsdecode(path)
