"""The skills of a program."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Sequence
from typing import TypeAlias

from msgspec.structs import replace
from typing_extensions import override

from agentscope_like.exception import ConfigurationError
from agentscope_like.sandbox.files import files_below
from agentscope_like.skill.directory import SKILL_FILE, SKIPPED, SkillDirectory, name_taken
from agentscope_like.skill.package import METADATA_FILE, read_package
from agentscope_like.skill.problems import Problems
from agentscope_like.skill.registry import SkillRegistry
from agentscope_like.skill.schema import SkillSchema
from agentscope_like.skill.yaml_fields import SkillFileError

__all__ = ["MAX_FILES", "SkillManager", "package_files"]

MAX_FILES = 1_000
"""Most files and directories that a skill may have."""

_Source: TypeAlias = SkillDirectory[SkillSchema] | SkillSchema


class SkillManager(SkillRegistry):
    """Finds, reads and keeps skill packages; made once for a program (seed 000, 2).

    A package is a directory with a `SKILL.md`, and may have a `skill.yaml`, scripts and assets.
    What cannot be used is logged once, with its file and line, and the rest is there. Of several
    skills of one name the first is used. Nothing is ever changed on disk; what puts skills into a
    sandbox is `SandboxSkillManager`.

    Args:
        skill_dirs: Directories to begin with, as for `add_skill_dir`.

    Raises:
        ConfigurationError: It is one directory instead of a list.
    """

    def __init__(self, skill_dirs: Sequence[str | os.PathLike[str]] = ()) -> None:
        if isinstance(skill_dirs, str | os.PathLike):
            raise ConfigurationError(
                f"`skill_dirs` is one of them: give a list, `[{skill_dirs!r}]`"
            )
        self._sources: list[_Source] = []
        self._skills: dict[str, SkillSchema] = {}
        self._problems = Problems()
        self._lock = threading.RLock()
        for one in skill_dirs:
            self.add_skill_dir(one)

    @property
    def problems(self) -> tuple[SkillFileError, ...]:
        """Return what could not be used when skills were last looked for."""
        return self._problems.current

    def add_skill_dir(
        self, parent_dir: str | os.PathLike[str], *, scan_subdir: bool = False
    ) -> list[str]:
        """Register all skills of a directory, now and whenever they are looked for again.

        Args:
            parent_dir: A directory of skills, or a skill. It may come into being later.
            scan_subdir: Whether skills are looked for at any depth (default False: right below it).

        Returns:
            The names that are new.

        Raises:
            ConfigurationError: `parent_dir` is empty text.
        """
        source = _directory(parent_dir, scan_subdir=scan_subdir)
        with self._lock:
            before = set(self._skills)
            self._add(source)
            self.reload()
            return [name for name in self._skills if name not in before]

    def register_skill(self, skill: SkillSchema | str | os.PathLike[str]) -> SkillSchema:
        """Register one skill.

        Args:
            skill: The directory of a package, or a skill without one.

        Returns:
            The skill.

        Raises:
            SkillFileError: The package cannot be used; it is left as it is, and not registered.
            ConfigurationError: There is a skill of that name.
        """
        source: _Source = skill if isinstance(skill, SkillSchema) else _directory(skill)
        with self._lock:
            new = source if isinstance(source, SkillSchema) else _only(source)
            if new.name in self._skills:
                raise ConfigurationError(
                    f"there is a skill named {new.name!r} already: rename one of them"
                )
            self._add(source)
            self.reload()
            return self._skills[new.name]

    def _add(self, source: _Source) -> None:
        """Add a source, or put it where the same directory is already."""
        root = source.root if isinstance(source, SkillDirectory) else None
        for index, one in enumerate(self._sources):
            if isinstance(one, SkillDirectory) and one.root == root:
                self._sources[index] = source
                return
        self._sources.append(source)

    @override
    def reload(self) -> None:
        """Look again which skills there are; blocks, so call it off the loop."""
        skills: dict[str, SkillSchema] = {}
        problems: list[SkillFileError] = []
        with self._lock:
            for source in self._sources:
                for found in _scanned(source):
                    if isinstance(found, SkillFileError):
                        problems.append(found)
                    elif found.name in skills:
                        first = skills[found.name].path
                        problems.append(name_taken(found.name, found.path, first))
                    else:
                        skills[found.name] = found
            self._skills = skills
            self._problems.report(problems)

    @override
    def list_skill_info(self) -> list[SkillSchema]:
        """Return all that is known of each skill, in the order in which they were registered."""
        return list(self._skills.values())


def package_files(directory: str) -> list[tuple[str, str]]:
    """Return the files of a package: the path of each below it, and where it really lies.

    Raises:
        OSError: They cannot be listed, are too many, or one has a name that is not UTF-8.
    """
    files = list(files_below(directory, skip=SKIPPED, most=MAX_FILES))
    for path, _ in files:
        if any("\ud800" <= character <= "\udfff" for character in path):
            raise OSError(errno.EILSEQ, f"the file name {path!r} is not UTF-8")
    return files


def _directory(
    path: str | os.PathLike[str], *, scan_subdir: bool = False
) -> SkillDirectory[SkillSchema]:
    return SkillDirectory(path, read_package, also=(METADATA_FILE,), scan_subdir=scan_subdir)


def _scanned(source: _Source) -> list[SkillSchema | SkillFileError]:
    if isinstance(source, SkillSchema):
        return [source]
    return [_with_files(found) for found in source.scan()]


def _with_files(found: SkillSchema | SkillFileError) -> SkillSchema | SkillFileError:
    """Return the skill with the list of its files, or what is wrong with them."""
    if isinstance(found, SkillFileError):
        return found
    try:
        files = package_files(found.path)
    except OSError as error:
        return SkillFileError(f"its files cannot be used: {error.strerror}", file=found.path)
    return replace(found, file_list=tuple(path for path, _ in files))


def _only(source: SkillDirectory[SkillSchema]) -> SkillSchema:
    """Return the one skill of a directory.

    Raises:
        SkillFileError: It is none, or not one that can be used.
    """
    if os.path.lexists(os.path.join(source.root, SKILL_FILE)):
        for found in _scanned(source):
            if isinstance(found, SkillFileError):
                raise found
            return found
    raise SkillFileError(
        f"it has no {SKILL_FILE}: name the directory of one skill, or give this one to "
        "add_skill_dir",
        file=source.root,
    )
