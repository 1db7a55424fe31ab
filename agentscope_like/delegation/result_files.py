"""Keeps the results of child tasks in files of the run's workspace."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from os import PathLike, fspath
from typing import Any

from agentscope_like.state import ChildTask

__all__ = ["ResultFiles"]

_MOST_OF_ONE_NAME = 10_000


class ResultFiles:
    """Writes `agent-results/<task>.json` and `summaries/<agent>-result.md`; never over a file.

    Args:
        directory: The directory of the run.
    """

    def __init__(self, directory: str | PathLike[str]) -> None:
        self._directory = fspath(directory)

    def keep(self, task: ChildTask, result: Mapping[str, Any]) -> list[str]:
        """Write the result of a task; blocks.

        Args:
            task: The task.
            result: Its result, with the `status` and a `summary`.

        Returns:
            The paths of the files, relative to the directory.

        Raises:
            OSError: A file could not be written.
        """
        record = {
            "taskId": task.id,
            "agentId": task.agent,
            "task": task.brief,
            "result": dict(result),
        }
        kept = [self._write("agent-results", task.id, ".json", _json(record))]
        heading = task.brief.get("title") or task.agent
        text = f"# {heading}\n\nStatus: {result['status']}\n\n{result['summary']}\n"
        kept.append(self._write("summaries", f"{task.agent}-result", ".md", text))
        return kept

    def _write(self, room: str, name: str, suffix: str, text: str) -> str:
        with self._opened(room) as directory:
            for number in range(1, _MOST_OF_ONE_NAME):
                numbered = f"{name}{'' if number == 1 else f'-{number:03}'}{suffix}"
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
                try:
                    opened = os.open(numbered, flags, 0o600, dir_fd=directory)
                except FileExistsError:
                    continue
                with os.fdopen(opened, "w", encoding="utf-8") as file:
                    file.write(text)
                return f"{room}/{numbered}"
        raise FileExistsError(f"{room}/{name}{suffix} and its followers exist")

    @contextmanager
    def _opened(self, room: str) -> Iterator[int]:
        """Open a directory of the run, which is made where it is missing and is no symlink."""
        flags = os.O_RDONLY | os.O_DIRECTORY
        top = os.open(self._directory, flags)
        try:
            with suppress(FileExistsError):
                os.mkdir(room, 0o700, dir_fd=top)
            inner = os.open(room, flags | os.O_NOFOLLOW, dir_fd=top)
        finally:
            os.close(top)
        try:
            yield inner
        finally:
            os.close(inner)


def _json(record: object) -> str:
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"
