"""Searches file contents with ripgrep, or with Python if it is not installed."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from agentscope_like.paths import is_below
from agentscope_like.tool.builtin.file_errors import MAX_WHOLE_BYTES, FileToolError
from agentscope_like.tool.builtin.file_system import open_regular
from agentscope_like.tool.builtin.search import search_worker
from agentscope_like.tool.builtin.search.query import (
    FileMatches,
    MatchLine,
    Query,
    SearchResult,
    bad_pattern,
    found_by_worker,
    json_lines,
    worker_job,
)
from agentscope_like.tool.builtin.search.search_process import SearchOutput, run_search
from agentscope_like.tool.builtin.tool_results import Checkpoint

__all__ = ["find_ripgrep", "search"]

MAX_LISTED_BYTES = 100_000
"""The maximum size of file names passed to ripgrep; beyond it, the whole tree is searched."""

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
    directory: str,
    files: Sequence[str],
    checkpoint: Checkpoint,
    *,
    ripgrep: str | None,
    passed_over: Collection[str] = (),
) -> SearchResult:
    """Search files; blocks. Files with NUL or of more than 64 MB never match.

    Args:
        query: What to search for.
        directory: A resolved directory.
        files: Paths below it, with `/` between the names; results for other files are ignored.
        checkpoint: Called several times a second.
        ripgrep: The absolute path of `rg`, or None to search with Python.
        passed_over: Names of directories to skip.

    Raises:
        FileToolError: The pattern is invalid, or the search took too long.
    """
    query.check()
    if not files:
        return SearchResult([], cut=False)
    found: Iterator[FileMatches]
    if ripgrep is None:
        output = _run_worker(query, directory, files, checkpoint)
        found = found_by_worker(output.output)
    else:
        argv = [ripgrep, *_options(query), *_targets(files, passed_over)]
        output = run_search(argv, feed=b"", directory=directory, checkpoint=checkpoint)
        if output.code == _FAILED and not output.output and output.error.strip():
            raise bad_pattern(output.error)
        found = _from_ripgrep(query, output)
    wanted = frozenset(files)
    matches = [
        each
        for each in found
        if each.relative in wanted and (ripgrep is None or _is_searched(directory, each.relative))
    ]
    matches.sort(key=lambda each: each.relative)
    return SearchResult(matches, output.cut)


def _is_searched(directory: str, relative: str) -> bool:
    """Return whether the file is searched: it must be small enough and have no NUL.

    ripgrep's behaviour at a NUL depends on how it found the file.
    """
    try:
        with open_regular(os.path.join(directory, relative)) as file:
            data = file.read(MAX_WHOLE_BYTES + 1) or b""
    except OSError:
        return False
    return len(data) <= MAX_WHOLE_BYTES and (
        b"\0" not in data or data.startswith(search_worker.TRANSCODED)
    )


# Without ripgrep


def _run_worker(
    query: Query, directory: str, files: Sequence[str], checkpoint: Checkpoint
) -> SearchOutput:
    output = run_search(
        [sys.executable, "-I", "-S", "-W", "ignore", search_worker.__file__],
        feed=json.dumps(worker_job(query, files)).encode(),
        directory=directory,
        checkpoint=checkpoint,
    )
    if output.code == search_worker.BAD_PATTERN:
        raise bad_pattern(output.error)
    if output.code and not output.cut:
        raise FileToolError(f"The search failed: {output.error.strip()[-500:]}")
    return output


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


def _targets(files: Sequence[str], passed_over: Collection[str]) -> list[str]:
    """Return the arguments for the files, or for the whole tree if there are many."""
    if sum(len(os.fsencode(path)) + 3 for path in files) <= MAX_LISTED_BYTES:
        return ["--", *(f"./{path}" for path in files)]
    return [*(f"--glob=!**/{name}/" for name in sorted(passed_over)), "--", "./"]


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
    return os.fsdecode(path.removeprefix(b"./"))
