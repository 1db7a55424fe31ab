"""The skills of one session, in its sandbox."""

from __future__ import annotations

import asyncio
import errno
import posixpath
from collections.abc import Mapping
from dataclasses import replace

from typing_extensions import override

from agentscope_like.exception import SandboxPathError
from agentscope_like.sandbox import FileInfo, SandboxHandle
from agentscope_like.sandbox.files import HostFile, put_file, read_below
from agentscope_like.skill.base import Skill, SkillLoaderBase
from agentscope_like.skill.directory import SKILL_FILE
from agentscope_like.skill.manager import package_files
from agentscope_like.skill.problems import Problems
from agentscope_like.skill.registry import SkillRegistry
from agentscope_like.skill.schema import SkillSchema
from agentscope_like.skill.yaml_fields import SkillFileError

__all__ = ["MAX_BYTES", "SandboxSkillManager"]

MAX_BYTES = 32 << 20
"""Most bytes that the files of a skill may have together."""


class SandboxSkillManager(SkillLoaderBase):
    """Puts skills into a sandbox, at `<workspace>/skills/<name>` (seed 000, 2.2; seed 003, 1.5).

    It uses the sandbox's interface only, so that it works for remote ones, too. As a source of
    skills of a toolkit it puts them there before the model is told of them.

    What is in the sandbox is never overwritten: a skill whose `SKILL.md` is there stays as it is,
    with what tools and scripts made of it; of one that is there in part, the missing files are
    added. What the model is shown are the instructions of the host's files, which nothing in the
    sandbox can change.

    Symlinks are left out, but for those to a file of the same skill. A skill of over 1,000 files or
    32 MB, or in whose place there is something else, is left out and logged once.

    Args:
        skills: The skills, such as a `SkillProxy`.
        sandbox: Where to put them; it has to be ready when they are.
    """

    def __init__(self, skills: SkillRegistry, sandbox: SandboxHandle) -> None:
        self._skills = skills
        self._sandbox = sandbox
        self._placed: set[str] = set()
        self._problems = Problems()
        self._lock = asyncio.Lock()

    @property
    def skills_path(self) -> str:
        """Return the directory, as the sandbox knows it, that the skills are in."""
        return posixpath.join(self._sandbox.workspace_path, "skills")

    @property
    def problems(self) -> tuple[SkillFileError, ...]:
        """Return what could not be put there when skills were last listed."""
        return self._problems.current

    async def project(self) -> list[Skill]:
        """Put the skills there that the sandbox has not got now, and return all of them.

        Raises:
            SandboxConnectionError: The other host cannot be reached, or was lost meanwhile.
            ConfigurationError: The sandbox is not ready.
        """
        self._placed.clear()
        return await self.list_skills()

    @override
    async def list_skills(self) -> list[Skill]:
        """Put the skills there that were not yet, and return all of them, with their paths there.

        Raises:
            SandboxConnectionError, ConfigurationError: As for `project`.
        """
        async with self._lock:
            await asyncio.to_thread(self._skills.reload)
            schemas = self._skills.list_skill_info()
            new = [schema for schema in schemas if schema.path and schema.name not in self._placed]
            await self._place_all(new)
            return [
                self._as_skill(schema)
                for schema in schemas
                if not schema.path or schema.name in self._placed
            ]

    def _as_skill(self, schema: SkillSchema) -> Skill:
        skill = schema.as_skill()
        return replace(skill, dir=self._target(schema)) if schema.path else skill

    def _target(self, schema: SkillSchema) -> str:
        return posixpath.join(self.skills_path, schema.name)

    async def _place_all(self, schemas: list[SkillSchema]) -> None:
        problems = []
        for schema in schemas:
            try:
                await self._place(schema)
            except (OSError, SandboxPathError) as error:
                message = f"it cannot be put into the sandbox at {self._target(schema)}: "
                problems.append(SkillFileError(message + _reason(error), file=schema.path))
            else:
                self._placed.add(schema.name)
        self._problems.report(problems)

    async def _place(self, schema: SkillSchema) -> None:
        """Copy a skill, its `SKILL.md` last: a copy that has one is complete.

        Raises:
            OSError: It cannot be read, or is too large.
            SandboxPathError: Something else is there, or the sandbox cannot be written.
        """
        present = await self._present(schema)
        if present is not None and SKILL_FILE in present:
            return
        files = await asyncio.to_thread(_read_package, schema.path)
        missing = await self._missing(schema, files) if present is not None else list(files)
        for path in sorted(missing, key=lambda path: path == SKILL_FILE):
            await put_file(self._sandbox, posixpath.join(self._target(schema), path), files[path])

    async def _present(self, schema: SkillSchema) -> Mapping[str, FileInfo] | None:
        """Return what is in the skill's directory by name; None where there is no directory.

        Raises:
            SandboxPathError: There is something else, be it that a file system takes for the same.
        """
        entries = await self._entries(self.skills_path)
        folded = {name.casefold(): entry for name, entry in entries.items()}
        there = entries.get(schema.name, folded.get(schema.name.casefold()))
        if there is None:
            return None
        if there.name != schema.name or not there.is_dir:
            raise SandboxPathError(f"{there.path} is there: rename one, or remove it")
        return await self._entries(self._target(schema))

    async def _missing(self, schema: SkillSchema, files: Mapping[str, HostFile]) -> list[str]:
        """Return the files that a directory, which is there in part, has not got.

        Raises:
            SandboxPathError: Something else is where one of their directories should be.
        """
        listed: dict[str, Mapping[str, FileInfo]] = {}
        missing = []
        for path in files:
            directory = ""
            for name in path.split("/"):
                if directory not in listed:
                    place = posixpath.join(self._target(schema), directory)
                    listed[directory] = await self._entries(place)
                there = listed[directory].get(name)
                directory = posixpath.join(directory, name)
                if there is None:
                    missing.append(path)
                    break
                if directory != path and not there.is_dir:
                    raise SandboxPathError(f"{there.path} is no directory: remove it")
        return missing

    async def _entries(self, path: str) -> Mapping[str, FileInfo]:
        """Return the entries of a directory by name; none where it does not exist."""
        try:
            entries = await self._sandbox.list_dir(path, include_hidden=True)
        except FileNotFoundError:
            return {}
        return {entry.name: entry for entry in entries}


def _read_package(directory: str) -> dict[str, HostFile]:
    """Return the files of a skill, by their path below its directory."""
    files: dict[str, HostFile] = {}
    left = MAX_BYTES
    for path, source in package_files(directory):
        try:
            files[path] = read_below(directory, source, left)
        except OSError as error:
            if error.errno != errno.EFBIG:
                raise
            message = f"its files have over {MAX_BYTES:,} bytes together"
            raise OSError(errno.EFBIG, message) from None
        left -= len(files[path].content)
    return files


def _reason(error: OSError | SandboxPathError) -> str:
    if isinstance(error, SandboxPathError):
        return error.message
    if error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
