"""Searches file contents in a sandbox, with the same results as on this host.

The search program is sent to the sandbox and run by its Python; if that is not possible, the files
are read through the handle and searched here.
"""

from __future__ import annotations

import base64
import json
import os
import shlex
import sys
import time
import zlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import cache, partial
from importlib.resources import files as resources
from typing import TYPE_CHECKING, Protocol, TypeVar

from msgspec import Struct

from agentscope_like.tool.builtin.content_search import packed_worker, search_worker
from agentscope_like.tool.builtin.content_search.query import (
    FileMatches,
    Query,
    SearchResult,
    bad_pattern,
    found_by_worker,
    worker_job,
)
from agentscope_like.tool.builtin.content_search.search_process import (
    SEARCH_SECONDS,
    run_search,
    took_too_long,
)
from agentscope_like.tool.builtin.file_errors import MAX_WHOLE_BYTES, FileToolError
from agentscope_like.tool.builtin.tool_results import CancelCheck
from agentscope_like.tool.builtin.worker_process import MAX_OUTPUT_BYTES

if TYPE_CHECKING:
    from agentscope_like.sandbox import CommandResult, SandboxHandle
    from agentscope_like.sandbox.files import FileStatus

__all__ = ["search_there"]

_MOST_NAMES_BYTES = 400_000
_MOST_WORD_BYTES = 60_000
_MOST_HELD_BYTES = 32 << 20
_FILES_AT_ONCE = 200

ResultT = TypeVar("ResultT")


class _Wait(Protocol):
    def __call__(self, ask: Callable[[], Awaitable[ResultT]], /) -> ResultT: ...


class _Output(Struct, frozen=True):
    """The output of the search program."""

    matches: list[FileMatches]
    size: int
    cut: bool = False

    @classmethod
    def of(cls, output: bytes, *, cut: bool = False) -> _Output:
        return cls(list(found_by_worker(output)), len(output), cut)


def search_there(
    query: Query,
    directory: str,
    relative: Sequence[str],
    cancel_check: CancelCheck,
    *,
    handle: SandboxHandle,
    wait: _Wait,
) -> SearchResult:
    """Search files of a sandbox; blocks. Files with NUL or of more than 64 MB never match.

    Args:
        query: What to search for.
        directory: A resolved directory of the sandbox.
        relative: Paths below it.
        cancel_check: Called several times a second.
        handle: The sandbox.
        wait: Runs a coroutine of the sandbox and waits for it.

    Raises:
        FileToolError: The pattern is invalid, or the search took too long.
    """
    query.check()
    search = _Search(query, directory, cancel_check, handle, wait)
    outputs: list[_Output] = []
    for part in _parts(relative, _MOST_NAMES_BYTES):
        outputs += search.by_its_python(part)
        if sum(output.size for output in outputs) > MAX_OUTPUT_BYTES or outputs[-1].cut:
            break
    wanted = frozenset(relative)
    matches = [each for output in outputs for each in output.matches if each.relative in wanted]
    matches.sort(key=lambda each: each.relative)
    size = sum(output.size for output in outputs)
    return SearchResult(matches, cut=size > MAX_OUTPUT_BYTES or any(each.cut for each in outputs))


class _Search:
    """One search with a timeout."""

    def __init__(
        self,
        query: Query,
        directory: str,
        cancel_check: CancelCheck,
        handle: SandboxHandle,
        wait: _Wait,
    ) -> None:
        self._query = query
        self._directory = directory
        self._cancel_check = cancel_check
        self._handle = handle
        self._wait = wait
        self._has_python = True
        self._end = time.monotonic() + SEARCH_SECONDS

    def by_its_python(self, relative: Sequence[str]) -> Iterator[_Output]:
        """Yield results from the sandbox's Python, else from this one."""
        job = _packed(json.dumps(worker_job(self._query, relative)))
        is_much = len(job) > _MOST_WORD_BYTES
        if self._has_python and not is_much:
            done = self._run(job)
            output = _read(done)
            if output is not None:
                yield output
                return
            is_much = done.return_code == packed_worker.TOO_MUCH
            self._has_python = is_much
        if is_much and self._has_python and len(relative) > 1:
            half = len(relative) // 2
            yield from self.by_its_python(relative[:half])
            yield from self.by_its_python(relative[half:])
        else:
            yield from self._here(relative)

    def _run(self, job: str) -> CommandResult:
        words = [self._handle.python, "-I", "-S", "-W", "ignore", "-c", _program(), _worker(), job]
        command = f"cd -P {shlex.quote(self._directory)} && exec {shlex.join(words)}"
        done = self._wait(partial(self._handle.execute_command, command, timeout=self._seconds()))
        if done.timed_out:
            raise took_too_long()
        if done.return_code == search_worker.BAD_PATTERN:
            raise bad_pattern(done.stderr)
        return done

    def _here(self, relative: Sequence[str]) -> Iterator[_Output]:
        """Read the files through the handle, and search their contents."""
        held: dict[str, str] = {}
        size = 0
        for path, status in self._known(relative):
            data = self._held(status)
            if data is not None:
                held[path] = base64.b64encode(data).decode()
                size += len(data)
            if size > _MOST_HELD_BYTES:
                yield self._searched(held)
                held, size = {}, 0
        yield self._searched(held)

    def _known(self, relative: Sequence[str]) -> Iterator[tuple[str, FileStatus]]:
        for start in range(0, len(relative), _FILES_AT_ONCE):
            part = relative[start : start + _FILES_AT_ONCE]
            paths = [f"{self._directory.rstrip('/')}/{path}" for path in part]
            found = self._wait(partial(self._handle.stat_files, paths))
            for path, status in zip(part, found, strict=True):
                if status.is_regular and status.st_size <= MAX_WHOLE_BYTES:
                    yield path, status

    def _held(self, status: FileStatus) -> bytes | None:
        self._cancel_check()
        self._seconds()
        try:
            return self._wait(partial(self._handle.read_known_file, status))
        except OSError:
            return None

    def _searched(self, held: dict[str, str]) -> _Output:
        job = {**worker_job(self._query, list(held)), "contents": held}
        output = run_search(
            [sys.executable, "-I", "-S", "-W", "ignore", search_worker.__file__],
            feed=json.dumps(job).encode(),
            directory="/",
            cancel_check=self._cancel_check,
            seconds=self._seconds(),
        )
        if output.code == search_worker.BAD_PATTERN:
            raise bad_pattern(output.error)
        if output.code and not output.cut:
            raise FileToolError(f"The search failed: {output.error.strip()[-500:]}")
        return _Output.of(output.output, cut=output.cut)

    def _seconds(self) -> float:
        """Return the remaining seconds.

        Raises:
            FileToolError: No time is left.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise took_too_long()
        return left


def _read(done: CommandResult) -> _Output | None:
    """Return the output of the search program in the sandbox; None if it did not run."""
    if not done.success:
        return None
    try:
        packed = base64.b64decode(done.stdout)
        return _Output.of(zlib.decompressobj().decompress(packed, 2 * MAX_OUTPUT_BYTES))
    except (zlib.error, ValueError, KeyError, TypeError):
        return None


def _parts(relative: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    part: list[str] = []
    size = 0
    for path in relative:
        if size > most:
            yield part
            part, size = [], 0
        part.append(path)
        size += len(os.fsencode(path))
    if part:
        yield part


def _packed(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode())).decode()


@cache
def _program() -> str:
    return _source("packed_worker.py")


@cache
def _worker() -> str:
    return _packed(_source("search_worker.py"))


def _source(name: str) -> str:
    return resources(__package__).joinpath(name).read_text("utf-8")
