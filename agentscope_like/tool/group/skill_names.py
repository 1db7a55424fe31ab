"""Resolves duplicate skill names: the first skill of a name is used."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from agentscope_like.skill import Skill

__all__ = ["SkillNames"]

_log = logging.getLogger(__name__)


class SkillNames:
    """Keeps names unique: the first skill of a name is used, the others are logged once.

    Args:
        where: The owner of the skills, for the log.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._hidden: set[tuple[str, str]] = set()

    def unique(self, skills: Iterable[Skill]) -> list[Skill]:
        """Return the first skill of each name."""
        found: dict[str, Skill] = {}
        hidden: set[tuple[str, str]] = set()
        for skill in skills:
            if skill.name in found:
                hidden.add((skill.name, skill.dir))
            else:
                found[skill.name] = skill
        for name, directory in sorted(hidden - self._hidden):
            _log.warning(
                "The skill %r in %r is hidden: %s has one of that name already",
                name,
                directory,
                self._where,
            )
        self._hidden = hidden
        return list(found.values())
