"""The skills below a directory: finding them, and reading them again when they have changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, NamedTuple, TypeVar

from agentscope_like.exception import ConfigurationError
from agentscope_like.skill.yaml_fields import SkillFileError

__all__ = ["SKILL_FILE", "SKIPPED", "SkillDirectory", "SkillText", "name_taken"]

MAX_FILE_BYTES = 262_144
"""Largest file that is read of a skill, in bytes."""

MAX_DIRECTORIES = 2_000
"""Most directories that are looked into."""

SKILL_FILE = "SKILL.md"
"""The file that makes a directory a skill."""

SKIPPED = frozenset({".git", "node_modules", "__pycache__"})
"""Directories that hold no skills, and nothing of a skill."""

T = TypeVar("T")


class SkillText(NamedTuple):
    """A file of a skill.

    Attributes:
        path: Its path.
        home: The skill's directory, without symlinks.
        text: What it holds.
        updated_at: When it was last changed, in seconds since the epoch.
    """

    path: str
    home: str
    text: str
    updated_at: float


class _File(NamedTuple):
    """What a file was when it was looked at."""

    real: str
    number: int
    changed_ns: int
    changed: float
    size: int

    @classmethod
    def at(cls, real: str) -> _File:
        """Look at a file."""
        status = os.stat(real)
        return cls(real, status.st_ino, status.st_mtime_ns, status.st_mtime, status.st_size)


class _Reading(NamedTuple, Generic[T]):
    """What the files of a skill were when they were read, and what came of it."""

    files: tuple[_File, ...]
    found: T | SkillFileError


class SkillDirectory(Generic[T]):
    """A directory that is a skill, or has some; files that have not changed are not read again.

    Nothing outside the directory is read: neither by way of a symbolic link nor of a name.

    Args:
        root: The directory. It may come into being later.
        parse: What makes a skill of its directory and its files, by name.
        also: Files that are read besides `SKILL.md`, where they are there.
        scan_subdir: Whether skills are looked for at any depth (default False: the directory
            itself or, where it is no skill, those right below it).

    Attributes:
        root: The directory, absolute.

    Raises:
        ConfigurationError: The directory is empty text.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        parse: Callable[[str, Mapping[str, SkillText]], T],
        *,
        also: tuple[str, ...] = (),
        scan_subdir: bool = False,
    ) -> None:
        if not os.fspath(root):
            raise ConfigurationError("the skill directory is empty: name a directory, such as `.`")
        self.root = os.path.abspath(os.path.expanduser(root))
        self._parse = parse
        self._names = (SKILL_FILE, *also)
        self._scan_subdir = scan_subdir
        self._readings: dict[str, _Reading[T]] = {}

    def scan(self) -> list[T | SkillFileError]:
        """Return the skills that there are now, and what is wrong with others, in a fixed order."""
        problems: list[SkillFileError] = []
        directories = list(self._directories(problems))
        self._readings = {one: self._reading(one) for one in directories}
        return [*problems, *(reading.found for reading in self._readings.values())]

    def _directories(self, problems: list[SkillFileError]) -> Iterator[str]:
        """Yield the directories with a `SKILL.md`; those of one directory in the order of names."""
        is_skill = _has_file(self.root)
        if is_skill:
            yield self.root
        waiting, seen = [self.root], 0
        while waiting:
            directory = waiting.pop()
            below = _subdirectories(directory, problems)
            seen += len(below)
            if seen > MAX_DIRECTORIES:
                message = f"there are over {MAX_DIRECTORIES:,} directories: name a smaller one"
                problems.append(SkillFileError(message, file=self.root))
                return
            if self._scan_subdir or not is_skill:
                yield from (path for path in below if _has_file(path))
            if self._scan_subdir:
                waiting.extend(path for path in reversed(below) if not os.path.islink(path))

    def _reading(self, directory: str) -> _Reading[T]:
        """Return what the skill in the directory is, from memory where its files are as they were.

        What the system refuses is tried again; what is written wrongly only when it has changed.
        """
        files: dict[str, _File] = {}
        seen: tuple[_File, ...] = ()
        path = os.path.join(directory, SKILL_FILE)
        home = os.path.realpath(directory)
        try:
            for name in self._names:
                path = os.path.join(directory, name)
                if name == SKILL_FILE or os.path.lexists(path):
                    files[path] = _File.at(self._inside(home, path))
            seen = tuple(files.values())
            known = self._readings.get(directory)
            if known is not None and known.files == seen:
                return known
            texts = {}
            for path, file in files.items():
                text = SkillText(path, home, _read(file.real, path), file.changed)
                texts[os.path.basename(path)] = text
            return _Reading(seen, self._parse(directory, texts))
        except SkillFileError as error:
            return _Reading(seen, error)
        except OSError as error:
            return _Reading((), SkillFileError(f"it cannot be read: {error.strerror}", file=path))

    def _inside(self, home: str, path: str) -> str:
        """Return the file that the path leads to, which is inside the skill's directory."""
        real = os.path.realpath(path)
        root = os.path.realpath(self.root)
        if not _is_below(real, home) or not (home == root or _is_below(home, root)):
            raise SkillFileError(
                f"it leads to {real}, outside of its directory: put the file itself there, or "
                "give that directory to a loader of its own",
                file=path,
            )
        return real


def name_taken(name: str, directory: str, first: str) -> SkillFileError:
    """Return what is wrong with a skill whose name the skill in another directory has."""
    message = f"the skill {name!r} is in {first} already, which is used: rename one"
    return SkillFileError(message, file=os.path.join(directory, SKILL_FILE))


def _has_file(directory: str) -> bool:
    return os.path.lexists(os.path.join(directory, SKILL_FILE))


def _is_below(path: str, directory: str) -> bool:
    return path.startswith(os.path.join(directory, ""))


def _subdirectories(directory: str, problems: list[SkillFileError]) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            found = [entry.path for entry in entries if entry.name not in SKIPPED and _opens(entry)]
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
