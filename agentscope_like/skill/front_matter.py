"""Reading a `SKILL.md`: front matter in YAML, then the instructions."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from agentscope_like.exception import ConfigurationError
from agentscope_like.permission.nearest import nearest
from agentscope_like.skill.base import Skill, check_description, check_name

if TYPE_CHECKING:
    import yaml

__all__ = ["SkillFileError", "parse_skill"]

MAX_FRONT_MATTER = 16_384
"""Longest front matter that is read, in characters."""

_FENCE = "---"
_TEXT = "tag:yaml.org,2002:str"
_HOW = "begin the file with the lines `---`, `name: ...`, `description: ...`, `---`"


class SkillFileError(ConfigurationError):
    """A skill on disk that cannot be used; the others still can.

    Args:
        message: What is wrong, and how to mend it.
        file: The file, or the directory.
        line: The line that it is about, counted from 1; None where it is about the whole.
    """

    def __init__(self, message: str, *, file: str, line: int | None = None) -> None:
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {message}")
        self.file = file
        self.line = line


class _Field(NamedTuple):
    node: yaml.Node
    line: int


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
    front, markdown = _split(file, text)
    fields = _fields(file, front)
    return Skill(
        name=_text(file, fields, "name", check_name),
        description=_text(file, fields, "description", check_description),
        dir=directory,
        markdown=markdown,
        updated_at=updated_at,
    )


def _split(file: str, text: str) -> tuple[str, str]:
    """Return the front matter, its lines where they stand in the file, and the rest."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != _FENCE:
        raise SkillFileError(f"there is no front matter: {_HOW}", file=file, line=1)
    for index, line in enumerate(lines[1:], start=1):
        if line.rstrip() == _FENCE:
            front = "\n".join(["", *lines[1:index]])
            if len(front) > MAX_FRONT_MATTER:
                raise SkillFileError(
                    f"the front matter is over {MAX_FRONT_MATTER:,} characters long: leave what "
                    "is not `name` or `description` to the text below it",
                    file=file,
                    line=1,
                )
            return front, "\n".join(lines[index + 1 :]).strip()
    raise SkillFileError(
        "the front matter that begins here does not end: close it with a line `---`",
        file=file,
        line=1,
    )


def _fields(file: str, front: str) -> dict[str, _Field]:
    """Return the fields of the front matter, as they are written: nothing is constructed."""
    import yaml

    try:
        root = yaml.compose(front, Loader=_plain_loader())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = f"the front matter is no YAML: {error.problem}; text with `:` in it needs quotes"
        raise SkillFileError(message, file=file, line=mark.line + 1 if mark else 1) from None
    except yaml.reader.ReaderError as error:
        line = front.count("\n", 0, error.position) + 1
        message = "the front matter holds a character that YAML does not have: remove it"
        raise SkillFileError(message, file=file, line=line) from None
    except RecursionError:
        message = "the front matter is nested too deeply: keep it flat"
        raise SkillFileError(message, file=file, line=1) from None
    if not isinstance(root, yaml.MappingNode):
        raise SkillFileError(f"the front matter has no fields: {_HOW}", file=file, line=1)
    fields: dict[str, _Field] = {}
    for key, value in root.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        line = key.start_mark.line + 1
        if key.value in fields:
            raise SkillFileError(f"`{key.value}` is given twice: keep one", file=file, line=line)
        fields[key.value] = _Field(value, line)
    return fields


def _text(file: str, fields: dict[str, _Field], name: str, check: Callable[[str], None]) -> str:
    field = fields.get(name)
    if field is None:
        message = f"the front matter has no `{name}`{nearest(name, fields)}"
        raise SkillFileError(message, file=file, line=1)
    if field.node.tag != _TEXT:
        kind = field.node.tag.rpartition(":")[2]
        message = f"`{name}` is no text but {kind}: write it, or put it in quotes"
        raise SkillFileError(message, file=file, line=field.line)
    value = str(field.node.value).strip()
    try:
        check(value)
    except ConfigurationError as error:
        raise SkillFileError(error.message, file=file, line=field.line) from None
    return value


@cache
def _plain_loader() -> type[Any]:
    """Return a safe loader without aliases: a few lines of them can stand for gigabytes."""
    import yaml

    class PlainLoader(yaml.SafeLoader):
        def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
            if self.check_event(yaml.AliasEvent):
                mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
                raise yaml.composer.ComposerError(None, None, "it has an alias (`*`)", mark)
            return super().compose_node(parent, index)

    return PlainLoader
