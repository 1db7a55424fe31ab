"""Reading a `SKILL.md`: front matter in YAML, then the instructions."""

from __future__ import annotations

from typing import NamedTuple

from agentscope_like.skill.base import Skill, check_description, check_name
from agentscope_like.skill.yaml_fields import SkillFileError, YamlFields

__all__ = ["FrontMatter", "parse_skill"]

_FENCE = "---"
_HOW = "begin the file with the lines `---`, `name: ...`, `description: ...`, `---`"


class FrontMatter(NamedTuple):
    """A `SKILL.md`, taken apart.

    Attributes:
        fields: What is between the two `---`; None where the file does not begin with one.
        markdown: What comes after them, or all of it.
    """

    fields: YamlFields | None
    markdown: str

    @classmethod
    def read(cls, file: str, text: str) -> FrontMatter:
        """Take the text of a file apart.

        Args:
            file: The file's path, for messages.
            text: What it holds.

        Raises:
            SkillFileError: The front matter does not end, is too long, has no fields or is no YAML.
        """
        lines = text.replace("\r\n", "\n").split("\n")
        if lines[0].rstrip() != _FENCE:
            return cls(None, "\n".join(lines).strip())
        for index, line in enumerate(lines[1:], start=1):
            if line.rstrip() == _FENCE:
                fields = _fields(file, "\n".join(["", *lines[1:index]]))
                return cls(fields, "\n".join(lines[index + 1 :]).strip())
        message = "the front matter that begins here does not end: close it with a line `---`"
        raise SkillFileError(message, file=file, line=1)


def parse_skill(file: str, text: str, *, directory: str, updated_at: float) -> Skill:
    """Return the skill that the text of a `SKILL.md` holds.

    Only `name` and `description` are read of the front matter; other fields are left alone.

    Args:
        file: The file's path, for messages.
        text: What it holds.
        directory: The skill's directory.
        updated_at: When the file was last changed, in seconds since the epoch.

    Raises:
        SkillFileError: The front matter is missing, is no YAML, or lacks a field.
    """
    fields, markdown = FrontMatter.read(file, text)
    if fields is None:
        raise SkillFileError(f"there is no front matter: {_HOW}", file=file, line=1)
    return Skill(
        name=fields.text("name", check_name),
        description=fields.text("description", check_description),
        dir=directory,
        markdown=markdown,
        updated_at=updated_at,
    )


def _fields(file: str, front: str) -> YamlFields:
    fields = YamlFields(file, front, what="the front matter")
    if not fields:
        raise SkillFileError(f"the front matter has no fields: {_HOW}", file=file, line=1)
    return fields
