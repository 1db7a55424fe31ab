"""Skills in a directory."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping

from typing_extensions import override

from agentscope_like.skill.base import Skill, SkillLoaderBase
from agentscope_like.skill.directory import SKILL_FILE, SkillDirectory, SkillText, name_taken
from agentscope_like.skill.front_matter import parse_skill
from agentscope_like.skill.problems import Problems
from agentscope_like.skill.yaml_fields import SkillFileError

__all__ = ["LocalSkillLoader"]


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
    """

    def __init__(self, directory: str | os.PathLike[str], scan_subdir: bool = False) -> None:
        self._source = SkillDirectory(directory, _parse, scan_subdir=scan_subdir)
        self.directory = self._source.root
        self.scan_subdir = scan_subdir
        self._problems = Problems()
        self._lock = threading.Lock()

    @property
    def problems(self) -> tuple[SkillFileError, ...]:
        """Return what could not be used when skills were last listed."""
        return self._problems.current

    @override
    async def list_skills(self) -> list[Skill]:
        """Return the skills that there are now, always in the same order."""
        return await asyncio.to_thread(self._list)

    def _list(self) -> list[Skill]:
        problems: list[SkillFileError] = []
        skills: dict[str, Skill] = {}
        with self._lock:
            for found in self._source.scan():
                if isinstance(found, SkillFileError):
                    problems.append(found)
                elif found.name in skills:
                    problems.append(name_taken(found.name, found.dir, skills[found.name].dir))
                else:
                    skills[found.name] = found
            self._problems.report(problems)
        return list(skills.values())


def _parse(directory: str, files: Mapping[str, SkillText]) -> Skill:
    file = files[SKILL_FILE]
    return parse_skill(file.path, file.text, directory=directory, updated_at=file.updated_at)
