"""The shell behind the `Bash` tool: runs commands, streams what they say, keeps the directory."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import uuid
import weakref
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from msgspec import to_builtins

from agentscope_like.exception import ConfigurationError, IsolationError, ToolArgumentError
from agentscope_like.message import TextBlock, ToolChunk, ToolResultState
from agentscope_like.sandbox.orphan_guard import OrphanGuard
from agentscope_like.sandbox.profile import Profile
from agentscope_like.sandbox.violation import Heard, Violation, find_violation
from agentscope_like.tool.builtin.process import ShellExit, ShellProcess, find_bash
from agentscope_like.tool.builtin.shell_environment import shell_environment
from agentscope_like.tool.builtin.transcript import Transcript

__all__ = ["MAX_TIMEOUT_MS", "Shell"]

MAX_TIMEOUT_MS = 600_000
"""The longest that a command may run, in milliseconds (seed 002, "Bash")."""

NO_OUTPUT = "The command ended without any output."

_CONFINED = {"TMPDIR": "/dev/shm"}  # noqa: S108 - its own, and forgotten with it
"""A confined command has no other place for temporary files."""

_MILLISECONDS = 1000
_MAX_ARGUMENT_BYTES = 131_072
"""MAX_ARG_STRLEN of Linux, execve(2)."""


class Shell:
    """Runs one command after the other, each in a bash of its own.

    Attributes:
        start: The absolute directory that this was made for, whatever commands did since.

    Args:
        directory: Where commands start; by default, the process's own directory of now.

    Raises:
        ConfigurationError: There is no such directory.
    """

    def __init__(self, directory: str | os.PathLike[str] | None = None) -> None:
        self.start = _existing(directory)
        self._moved_to: str | None = None
        self._files: str | None = None
        self._guard = OrphanGuard()

    @property
    def directory(self) -> str:
        """Return the absolute directory that the next command starts in."""
        return self._moved_to or self.start

    async def run(
        self,
        command: str,
        *,
        timeout_ms: int,
        extra_environment: Callable[[dict[str, str]], dict[str, str]] | None = None,
        profile: Profile | None = None,
    ) -> AsyncGenerator[ToolChunk, None]:
        """Run the command and yield its output as it comes, then a last chunk with how it ended.

        Args:
            command: What bash runs.
            timeout_ms: Milliseconds until it is ended, at most 600,000; 0 is the most.
            extra_environment: Given the environment, returns variables to set besides; it may
                block and is called off the loop.
            profile: What the kernel lets it touch; by default, what this process may. Where that
                cannot be done, the command does not run.

        Raises:
            ToolArgumentError: The command is one that no process can be given.
        """
        _refuse_unsendable(command)
        if problem := self._cannot_run():
            yield problem
            return
        directory = self.directory
        mark = uuid.uuid4().hex
        environment = shell_environment(os.environ, mark)
        if extra_environment is not None:
            environment |= await asyncio.to_thread(extra_environment, environment)
        if profile is not None:
            environment |= _CONFINED
        process = ShellProcess(
            command,
            bash=find_bash() or "",
            directory=directory,
            environment=environment,
            family_mark=mark,
            timeout=min(timeout_ms or MAX_TIMEOUT_MS, MAX_TIMEOUT_MS) / _MILLISECONDS,
            profile=profile,
            guard=self._guard,
        )
        heard = Heard()
        transcript = Transcript(self._new_file)
        say = partial(_chunk, block_id=uuid.uuid4().hex)
        async with AsyncExitStack() as stack:
            stack.callback(transcript.close)
            try:
                await stack.enter_async_context(process)
            except OSError as error:
                yield _failure(f"bash could not be started in {directory}: {error}.")
                return
            except IsolationError as error:
                yield _not_confined(error.message)
                return
            while data := await process.read():
                heard.add(data)
                if text := await _take(transcript, data):
                    yield say(text)
            end = await process.finish()
            self._moved_to = await asyncio.to_thread(_still_there, end.directory, directory)
            text = await asyncio.to_thread(transcript.finish)
        if not end.ran:
            yield _not_confined(heard.text.strip())
            return
        violation = None if profile is None else find_violation(profile, end.status, heard.text)
        yield say(
            text + _epilogue(end, transcript, timeout_ms, violation),
            state=ToolResultState.SUCCESS if end.status == 0 else ToolResultState.ERROR,
            metadata={
                "exit_code": end.status,
                "duration": round(end.seconds, 3),
                "directory": self.directory,
                "timed_out": end.status is None,
                "output_file": transcript.path,
                **({} if violation is None else {"violation": to_builtins(violation)}),
            },
        )

    def _cannot_run(self) -> ToolChunk | None:
        """Return why no command can be started here, or None."""
        if find_bash() is None:
            return _failure(
                "There is no bash in the system's directories, so no command can be run. Use the "
                "other tools, or ask for bash to be installed."
            )
        directory = self.directory
        if os.path.isdir(directory):
            return None
        self._moved_to = None
        if self.start != directory and os.path.isdir(self.start):
            return _failure(
                f"The directory {directory} that commands ran in is gone, so this one was not run. "
                f"Commands now run in {self.start}: call again."
            )
        return _failure(
            f"{directory} that commands run in does not exist, so this one was not run. It has to "
            "be made again before any command can run."
        )

    def _new_file(self) -> str:
        """Return a new path in a directory that is this shell's alone, and goes when it goes."""
        if self._files is None or not os.path.isdir(self._files):
            self._files = tempfile.mkdtemp(prefix="agentscope-like-")
            weakref.finalize(self, shutil.rmtree, self._files, ignore_errors=True)
        return os.path.join(self._files, f"output-{uuid.uuid4().hex[:12]}.txt")


def _existing(directory: str | os.PathLike[str] | None) -> str:
    try:
        start = os.path.abspath(os.getcwd() if directory is None else os.fspath(directory))
    except FileNotFoundError:
        start = "the process's own directory"
    if not os.path.isdir(start):
        raise ConfigurationError(
            f"commands cannot run in {start}: there is no such directory. Make it first, or give "
            "another `cwd`"
        )
    return start


def _refuse_unsendable(command: str) -> None:
    """Refuse what no program can be given as an argument."""
    try:
        encoded = os.fsencode(command)
    except UnicodeEncodeError as error:
        raise ToolArgumentError(f"The command cannot be encoded ({error}): rewrite it.") from error
    if b"\0" in encoded:
        raise ToolArgumentError("The command contains a NUL character: leave it out.")
    if len(encoded) >= _MAX_ARGUMENT_BYTES:
        raise ToolArgumentError(
            f"The command has {len(encoded):,} bytes and a program can be given "
            f"{_MAX_ARGUMENT_BYTES:,}: write it to a file and run that."
        )


async def _take(transcript: Transcript, data: bytes) -> str:
    if transcript.touches_disk(len(data)):
        return await asyncio.to_thread(transcript.add, data)
    return transcript.add(data)


def _still_there(reported: str | None, before: str) -> str:
    return reported if reported is not None and os.path.isdir(reported) else before


def _epilogue(
    end: ShellExit, transcript: Transcript, timeout_ms: int, violation: Violation | None
) -> str:
    """Return what is to be said after the output."""
    notes: list[str] = []
    if end.status is None:
        limit = timeout_ms or MAX_TIMEOUT_MS
        notes.append(
            f"The command was ended after its timeout of {limit} ms; what it did until then "
            f"stands. Give it a longer timeout, at most {MAX_TIMEOUT_MS} ms, or less to do."
        )
    elif end.status:
        notes.append(f"exit status {end.status}")
    if end.left_background:
        notes.append("Processes that the command left in the background were ended with it.")
    if violation is not None:
        notes.append(violation.message)
    if not notes:
        return NO_OUTPUT if transcript.is_empty else ""
    text = "\n".join(f"[{note}]" for note in notes)
    return text if transcript.is_empty or transcript.ends_line else f"\n{text}"


def _not_confined(reason: str) -> ToolChunk:
    """Return the result of a command that did not run, since it could not be confined."""
    chunk = _failure(
        "The command was not run, because it could not be confined to what was decided about it: "
        f"{reason}. Nothing is run without that unless the user switches it off."
    )
    chunk.metadata["not_confined"] = reason
    return chunk


def _failure(text: str) -> ToolChunk:
    return _chunk(text, block_id=uuid.uuid4().hex, state=ToolResultState.ERROR)


def _chunk(
    text: str,
    *,
    block_id: str,
    state: ToolResultState = ToolResultState.RUNNING,
    metadata: dict[str, Any] | None = None,
) -> ToolChunk:
    return ToolChunk(
        content=[TextBlock(text=text, id=block_id)],
        state=state,
        is_last=state is not ToolResultState.RUNNING,
        metadata=metadata or {},
    )
