"""What a skill is, and what a source of skills."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from agentscope_like.exception import ConfigurationError

__all__ = ["Skill", "SkillLoaderBase", "check_description", "check_name"]

_MAX_NAME = 64
_MAX_DESCRIPTION = 1024


@dataclass(frozen=True)
class Skill:
    """Instructions for one kind of work (seed 002, "Skill").

    Attributes:
        name: What the model asks for it by, exactly; at most 64 characters.
        description: What it is for and when to use it, for the model, which sees this of every
            skill from the start; at most 1,024 characters (the limits of the Agent Skills format).
        dir: The directory that holds its files; empty where there is none.
        markdown: The instructions.
        updated_at: When they were last changed, in seconds since the epoch.

    Raises:
        ConfigurationError: The name or the description is none that a model could be told.
    """

    name: str
    description: str
    dir: str
    markdown: str
    updated_at: float

    def __post_init__(self) -> None:
        check_name(self.name)
        check_description(self.description)


class SkillLoaderBase(ABC):
    """A source of skills, such as a directory or a registry."""

    @abstractmethod
    async def list_skills(self) -> list[Skill]:
        """Return the skills that there are now; called whenever a model is told of them."""


def check_name(name: str) -> None:
    """Refuse a name that could not be told apart, or that would read as markup.

    Raises:
        ConfigurationError: It is empty, too long, or holds what is not plain text of one line.
    """
    if not name.strip() or len(name) > _MAX_NAME:
        raise ConfigurationError(
            f"a skill's `name` has 1 to {_MAX_NAME} characters, this has {len(name.strip()):,}: "
            "name the skill in a few words, such as `pdf-forms`"
        )
    if name != name.strip() or not name.isprintable() or set(name) & set("<>"):
        raise ConfigurationError(
            f"the skill name {name!r} is not plain text: a model has to repeat it exactly, so use "
            "no line breaks, invisible characters, angle brackets or blanks around it"
        )


def check_description(description: str) -> None:
    """Refuse a description that says nothing, or too much for a list that is always shown.

    Raises:
        ConfigurationError: It is empty, too long or no text that can be sent.
    """
    if not description.strip() or len(description) > _MAX_DESCRIPTION:
        raise ConfigurationError(
            f"a skill's `description` has 1 to {_MAX_DESCRIPTION:,} characters, this has "
            f"{len(description.strip()):,}: say what the skill is for and when to use it, and "
            "leave the rest to its text"
        )
    if any("\ud800" <= character <= "\udfff" for character in description):
        raise ConfigurationError(
            "a skill's `description` holds half of a character, which cannot be sent: remove it"
        )
