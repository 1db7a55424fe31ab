"""What is wrong with skills, said once."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from agentscope_like.skill.yaml_fields import SkillFileError

__all__ = ["Problems"]

_log = logging.getLogger(__name__)


class Problems:
    """Keeps what could not be used, and logs what was not so before.

    Attributes:
        current: What could not be used when it was last looked at.
    """

    def __init__(self) -> None:
        self.current: tuple[SkillFileError, ...] = ()

    def report(self, problems: Sequence[SkillFileError]) -> None:
        """Take the place of what was wrong before, and log what is new."""
        known = {problem.message for problem in self.current}
        self.current = tuple(problems)
        for problem in problems:
            if problem.message not in known:
                _log.warning("A skill is left out: %s", problem.message)
