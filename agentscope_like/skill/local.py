"""Skills in a directory."""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import threading
from collections.abc import Iterator
from typing import NamedTuple

from typing_extensions import override

from agentscope_like.exception import ConfigurationError
from agentscope_like.skill.base import Skill, SkillLoaderBase
from agentscope_like.skill.front_matter import SkillFileError, parse_skill

__all__ = ["LocalSkillLoader"]

MAX_FILE_BYTES = 262_144
"""Largest `SKILL.md` that is read, in bytes."""

MAX_DIRECTORIES = 2_000
"""Most directories that are looked into."""

_FILE_NAME = "SKILL.md"
_SKIPPED = frozenset({".git", "node_modules", "__pycache__"})

_log = logging.getLogger(__name__)


class _Reading(NamedTuple):
    """What a file was when it was read, and what came of it."""

    identity: tuple[str, int, int, int] | None
    found: Skill | SkillFileError


class LocalSkillLoader(SkillLoaderBase):
    """Loads the skills of a directory: each is a directory with a `SKILL.md` (seed 002, "Skill").

    Files are read when they have changed, so that the next `list_skills` sees every edit. What
    cannot be used is logged once, as a warning with its file and line, and the rest is loaded.
    Nothing outside the directory is read: neither by way of a symbolic link nor of a name.

    Args:
        directory: A skill, or a directory of skills. It may come into being later.
        scan_subdir: Whether skills are looked for at any depth (default False: the directory
            itself or, where it is no skill, those right below it).

    Attributes:
        directory: The directory, absolute.
        problems: What could not be used when skills were last listed.
    """

    def __init__(self, directory: str | os.PathLike[str], scan_subdir: bool = False) -> None:
        if not os.fspath(directory):
            raise ConfigurationError("the skill directory is empty: name a directory, such as `.`")
        self.directory = os.path.abspath(os.path.expanduser(directory))
        self.scan_subdir = scan_subdir
        self.problems: tuple[SkillFileError, ...] = ()
        self._readings: dict[str, _Reading] = {}
        self._lock = threading.Lock()

    @override
    async def list_skills(self) -> list[Skill]:
        """Return the skills that there are now, always in the same order."""
        return await asyncio.to_thread(self._list)

    def _list(self) -> list[Skill]:
        with self._lock:
            problems: list[SkillFileError] = []
            directories = list(self._directories(problems))
            self._readings = {one: self._reading(one) for one in directories}
            skills: dict[str, Skill] = {}
            for reading in self._readings.values():
                found = reading.found
                if isinstance(found, SkillFileError):
                    problems.append(found)
                elif found.name in skills:
                    problems.append(_twice(found, skills[found.name]))
                else:
                    skills[found.name] = found
            known = {problem.message for problem in self.problems}
            self.problems = tuple(problems)
        for problem in problems:
            if problem.message not in known:
                _log.warning("A skill is left out: %s", problem.message)
        return list(skills.values())

    def _directories(self, problems: list[SkillFileError]) -> Iterator[str]:
        """Yield the directories with a `SKILL.md`; those of one directory in the order of names."""
        is_skill = _has_file(self.directory)
        if is_skill:
            yield self.directory
        waiting, seen = [self.directory], 0
        while waiting:
            directory = waiting.pop()
            below = _subdirectories(directory, problems)
            seen += len(below)
            if seen > MAX_DIRECTORIES:
                message = f"there are over {MAX_DIRECTORIES:,} directories: name a smaller one"
                problems.append(SkillFileError(message, file=self.directory))
                return
            if self.scan_subdir or not is_skill:
                yield from (path for path in below if _has_file(path))
            if self.scan_subdir:
                waiting.extend(path for path in reversed(below) if not os.path.islink(path))

    def _reading(self, directory: str) -> _Reading:
        """Return what the skill in the directory is, from memory where its file is as it was."""
        path = os.path.join(directory, _FILE_NAME)
        try:
            real = self._inside(directory, path)
            status = os.stat(real)
            identity = (real, status.st_ino, status.st_mtime_ns, status.st_size)
            known = self._readings.get(directory)
            if known is not None and known.identity == identity:
                return known
        except (OSError, SkillFileError) as error:
            return _Reading(None, _as_problem(error, path))
        try:
            text = _read(real, path)
            skill = parse_skill(path, text, directory=directory, updated_at=status.st_mtime)
        except (OSError, SkillFileError) as error:
            return _Reading(identity, _as_problem(error, path))
        return _Reading(identity, skill)

    def _inside(self, directory: str, path: str) -> str:
        """Return the file that the path leads to, which is inside the directory."""
        real, home = os.path.realpath(path), os.path.realpath(directory)
        root = os.path.realpath(self.directory)
        if not _is_below(real, home) or not (home == root or _is_below(home, root)):
            raise SkillFileError(
                f"it leads to {real}, outside of its directory: put the file itself there, or "
                "give that directory to a loader of its own",
                file=path,
            )
        return real


def _has_file(directory: str) -> bool:
    return os.path.lexists(os.path.join(directory, _FILE_NAME))


def _is_below(path: str, directory: str) -> bool:
    return path.startswith(os.path.join(directory, ""))


def _subdirectories(directory: str, problems: list[SkillFileError]) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            found = [
                entry.path for entry in entries if entry.name not in _SKIPPED and _opens(entry)
            ]
    except OSError as error:
        message = f"the directory cannot be read ({error.strerror}), so it has no skills"
        problems.append(SkillFileError(message, file=directory))
        return []
    return sorted(found)


def _opens(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _read(real: str, path: str) -> str:
    """Return the text of a regular file of bounded size."""
    descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise SkillFileError("it is no regular file: replace it by one", file=path)
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        message = f"it is over {MAX_FILE_BYTES:,} bytes: move parts of it to files beside it"
        raise SkillFileError(message, file=path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SkillFileError("it is not UTF-8: save it as such", file=path, line=line) from None


def _as_problem(error: OSError | SkillFileError, path: str) -> SkillFileError:
    if isinstance(error, SkillFileError):
        return error
    return SkillFileError(f"it cannot be read: {error.strerror}", file=path)


def _twice(skill: Skill, first: Skill) -> SkillFileError:
    path = os.path.join(skill.dir, _FILE_NAME)
    message = f"the skill {skill.name!r} is in {first.dir} already, which is used: rename one"
    return SkillFileError(message, file=path)
