"""Reading a skill package: `SKILL.md`, with or without front matter, and `skill.yaml`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

from agentscope_like.exception import ConfigurationError
from agentscope_like.skill.base import check_description
from agentscope_like.skill.directory import SKILL_FILE, SkillText
from agentscope_like.skill.front_matter import FrontMatter
from agentscope_like.skill.prose import Paragraph, first_paragraph
from agentscope_like.skill.schema import SkillSchema, check_package_name, told_description
from agentscope_like.skill.yaml_fields import SkillFileError, YamlFields

__all__ = ["METADATA_FILE", "read_package"]

METADATA_FILE = "skill.yaml"
"""The file beside `SKILL.md` that may say what a skill is called and what it is for."""

_SCENARIOS = "activation_scenarios"
_BETWEEN_WORDS = re.compile(r"[ -]")
_FRONT_MATTER_LINE = re.compile(r"\s*(name|description)[ \t]*:")


def read_package(directory: str, files: Mapping[str, SkillText]) -> SkillSchema:
    """Return the skill that a directory holds, its list of files still empty.

    Name and description are those of the front matter, else of `skill.yaml`; a `SKILL.md` without
    front matter (seed 000, 5.3) is else named like its directory, and described by its first
    paragraph. Where both files give a name, it has to be the same.

    Args:
        directory: The directory.
        files: Its `SKILL.md` and, where there is one, its `skill.yaml`.

    Raises:
        SkillFileError: A file is wrong, or does not say enough.
    """
    main = files[SKILL_FILE]
    own, instructions = FrontMatter.read(main.path, main.text)
    about = files.get(METADATA_FILE)
    metadata = YamlFields(about.path, about.text, what="the file") if about else None
    description = _description(main, own, metadata)
    return SkillSchema(
        name=_name(directory, main, own, metadata),
        description=description,
        path=main.home,
        instructions=instructions,
        id=_id(directory, metadata),
        activation_scenarios=_scenarios(description, metadata),
        updated_at=max(file.updated_at for file in files.values()),
    )


def _name(
    directory: str, main: SkillText, own: YamlFields | None, metadata: YamlFields | None
) -> str:
    stated = _optional(metadata, "name", check_package_name)
    if own is not None and ("name" in own or stated is None):
        name = own.text("name", check_package_name)
        if stated not in (None, name):
            message = f"`name` is {name!r} here and {stated!r} in {METADATA_FILE}: keep one"
            raise own.error(message, "name")
        return name
    if stated is not None:
        return stated
    name = os.path.basename(directory)
    try:
        check_package_name(name)
    except ConfigurationError as error:
        message = f"it is named like its directory, and {error.message}"
        raise SkillFileError(message, file=main.path, line=1) from None
    return name


def _id(directory: str, metadata: YamlFields | None) -> str:
    return _optional(metadata, "id", check_package_name) or os.path.basename(directory)


def _description(main: SkillText, own: YamlFields | None, metadata: YamlFields | None) -> str:
    stated = _optional(metadata, "description", check_description)
    if own is not None and ("description" in own or stated is None):
        return own.text("description", check_description)
    if stated is not None:
        return stated
    paragraph = _first_paragraph(main)
    try:
        check_description(paragraph.text)
    except ConfigurationError as error:
        message = f"the first paragraph describes the skill, and {error.message}"
        raise SkillFileError(message, file=main.path, line=paragraph.line) from None
    return paragraph.text


def _scenarios(description: str, metadata: YamlFields | None) -> tuple[str, ...]:
    """Return when to use the skill, which a model is told of behind the description."""
    for field in metadata or ():
        if metadata is not None and _BETWEEN_WORDS.sub("_", field) == _SCENARIOS:
            scenarios = tuple(text for text in metadata.texts(field) if text)
            try:
                check_description(told_description(description, scenarios))
            except ConfigurationError as error:
                message = f"`{field}` belongs to the description, and {error.message}"
                raise metadata.error(message, field) from None
            return scenarios
    return ()


def _optional(fields: YamlFields | None, name: str, check: Callable[[str], None]) -> str | None:
    return fields.text(name, check) if fields is not None and name in fields else None


def _first_paragraph(main: SkillText) -> Paragraph:
    """Return what describes a skill that says nowhere else what it is for.

    Raises:
        SkillFileError: There is no prose, or it is front matter without its `---`.
    """
    if begun := _FRONT_MATTER_LINE.match(main.text):
        line = main.text.count("\n", 0, begun.start(1)) + 1
        message = "this looks like front matter, which begins and ends with a line `---`"
        raise SkillFileError(message, file=main.path, line=line)
    paragraph = first_paragraph(main.text)
    if paragraph is None:
        message = (
            "nothing says what the skill is for: write a paragraph about that, or a `description` "
            f"in {METADATA_FILE}"
        )
        raise SkillFileError(message, file=main.path, line=1)
    return paragraph
