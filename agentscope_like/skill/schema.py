"""All that is known of a skill package."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import force_setattr

from agentscope_like.exception import ConfigurationError
from agentscope_like.skill.base import Skill, check_description, check_name

__all__ = ["SkillSchema", "check_package_name", "told_description"]


class SkillSchema(Struct, frozen=True):
    """A skill package: its metadata, its instructions, and which files it has (seed 000, 2.1).

    Attributes:
        name: What it is asked for by, exactly, and the name of its directory in a sandbox; at most
            64 characters.
        description: What it is for and when to use it.
        path: The directory that holds its files, without symlinks; empty where there is none.
        instructions: The text of its `SKILL.md`, without front matter.
        file_list: Its files, relative to `path`, with `/`.
        id: Another name that a whitelist may have for it; by default `name`.
        activation_scenarios: When to use it; a model is told of them behind the description.
        updated_at: When the instructions or the metadata were last changed, in seconds since the
            epoch.

    Raises:
        ConfigurationError: The name or the description is none that a model could be told, or the
            name could not be that of a directory.
    """

    name: str
    description: str
    path: str = ""
    instructions: str = ""
    file_list: tuple[str, ...] = ()
    id: str = ""
    activation_scenarios: tuple[str, ...] = ()
    updated_at: float = 0.0

    def __post_init__(self) -> None:
        check_package_name(self.name)
        check_description(told_description(self.description, self.activation_scenarios))
        if not self.id:
            force_setattr(self, "id", self.name)

    def as_skill(self) -> Skill:
        """Return the skill as a toolkit knows it."""
        return Skill(
            name=self.name,
            description=told_description(self.description, self.activation_scenarios),
            dir=self.path,
            markdown=self.instructions,
            updated_at=self.updated_at,
        )


def told_description(description: str, scenarios: tuple[str, ...]) -> str:
    """Return what a model is told of a skill that is for these scenarios."""
    if not scenarios:
        return description
    return f"{description} Use it for: {'; '.join(scenarios)}"


def check_package_name(name: str) -> None:
    """Refuse a name that a directory could not have, or that would lead out of one.

    Raises:
        ConfigurationError: It is such a name, or none that a model could be told.
    """
    check_name(name)
    if name.startswith(".") or set(name) & set("/\\"):
        raise ConfigurationError(
            f"the skill name {name!r} cannot be that of a directory in a sandbox: use no slashes, "
            "and no dot at its beginning"
        )
