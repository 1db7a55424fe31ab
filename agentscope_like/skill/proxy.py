"""The skills that one session may use."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence

from typing_extensions import override

from agentscope_like.exception import ConfigurationError
from agentscope_like.nearest import nearest
from agentscope_like.skill.registry import SkillRegistry
from agentscope_like.skill.schema import SkillSchema

__all__ = ["SkillProxy"]

_log = logging.getLogger(__name__)


class SkillProxy(SkillRegistry):
    """Shows some skills of a manager, or of several (seed 000, 2.1 and 5.3).

    It stands wherever a manager does, and is made anew for each session: the manager, and other
    views of it, stay as they are. What was dropped stays dropped, also when a skill of that name
    comes later.

    Args:
        skill_managers: A manager, or several; of skills of one name, that of the first is used.
        available_skills: Names, or ids, of the skills to show; none where it is empty. By default
            all, those that come later included.

    Attributes:
        unknown_skills: The names in `available_skills` that there were no skills of.

    Raises:
        ConfigurationError: There is no manager, something else is given as one, or a name instead
            of a list of them.
    """

    def __init__(
        self,
        skill_managers: SkillRegistry | Sequence[SkillRegistry],
        available_skills: Collection[str] | None = None,
    ) -> None:
        if isinstance(skill_managers, SkillRegistry):
            skill_managers = (skill_managers,)
        self._managers = tuple(skill_managers)
        self._available: frozenset[str] | None = None
        self.unknown_skills: tuple[str, ...] = ()
        _check(self._managers, available_skills)
        if available_skills is not None:
            self._choose(dict.fromkeys(available_skills))

    @override
    def reload(self) -> None:
        """Have the managers look again which skills there are."""
        for manager in self._managers:
            manager.reload()

    @override
    def list_skill_info(self) -> list[SkillSchema]:
        """Return all that is known of each skill that is shown, in the order of the managers."""
        skills: dict[str, SkillSchema] = {}
        for manager in self._managers:
            for skill in manager.list_skill_info():
                if self._available is None or skill.name in self._available:
                    skills.setdefault(skill.name, skill)
        return list(skills.values())

    def _choose(self, wanted: Iterable[str]) -> None:
        """Show the skills that the names stand for, and warn of those that stand for none."""
        found = {name: self.get_skill(name) for name in wanted}
        known = self.list_skill_names()
        self._available = frozenset(skill.name for skill in found.values() if skill is not None)
        self.unknown_skills = tuple(name for name, skill in found.items() if skill is None)
        for name in self.unknown_skills:
            _log.warning("available_skills: no skill is named %r%s", name, nearest(name, known))


def _check(managers: Sequence[object], available: Collection[str] | None) -> None:
    if not managers:
        raise ConfigurationError("a SkillProxy has no manager: give one, or a list of them")
    for manager in managers:
        if not isinstance(manager, SkillRegistry):
            raise ConfigurationError(
                f"`skill_managers` holds {manager!r}: give SkillManager or SkillProxy objects"
            )
    if isinstance(available, str):
        raise ConfigurationError(
            f"`available_skills` is one name: give a list of them, `[{available!r}]`"
        )
