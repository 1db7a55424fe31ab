"""Libraries of skills for tests."""

from __future__ import annotations

from pathlib import Path

from agentscope_like.profile import Account, SkillPolicy
from agentscope_like.tool import SkillLibrary

FORMS = "# Forms\n\nFill in the form.\nThen sign it.\n"


def library_of(
    *directories: Path, policy: SkillPolicy | None = None, most: int | None = None
) -> SkillLibrary:
    """Return the library of a run that sees the skills of these directories."""
    given = policy or SkillPolicy()
    account = Account(80, most_characters=given.max_read_chars_per_run if most is None else most)
    return SkillLibrary({"global": list(map(str, directories))}, given, account)
