"""Reading fields that are written in YAML, with the line of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from agentscope_like.exception import ConfigurationError
from agentscope_like.nearest import nearest

if TYPE_CHECKING:
    import yaml

__all__ = ["SkillFileError", "YamlFields"]

MAX_CHARACTERS = 16_384
"""Longest YAML that is read, in characters."""

_TEXT = "tag:yaml.org,2002:str"


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


class YamlFields:
    """The fields at the top of a YAML text, as they are written: nothing is constructed.

    Args:
        file: The file's path, for messages.
        text: The YAML, its lines where they stand in the file.
        what: What the YAML is, as the subject of a sentence.

    Raises:
        SkillFileError: It is no YAML, holds an alias, gives a field twice, or is too long.
    """

    def __init__(self, file: str, text: str, *, what: str) -> None:
        self._file = file
        self._what = what
        self._fields = self._read(text)

    def __contains__(self, name: str) -> bool:
        return name in self._fields

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def error(self, message: str, name: str | None = None) -> SkillFileError:
        """Return an error about a field, or about the whole."""
        line = self._fields[name].line if name in self._fields else 1
        return SkillFileError(message, file=self._file, line=line)

    def text(self, name: str, check: Callable[[str], None]) -> str:
        """Return the text of a field that has to be there.

        Raises:
            SkillFileError: It is missing, is no text, or does not pass the check.
        """
        if name not in self._fields:
            raise self.error(f"{self._what} has no `{name}`{nearest(name, self._fields)}")
        value = self._scalar(name, self._fields[name].node)
        try:
            check(value)
        except ConfigurationError as error:
            raise self.error(error.message, name) from None
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the texts of a field that holds a list of them, or one; none where it is missing.

        Raises:
            SkillFileError: It holds something else.
        """
        import yaml

        if name not in self._fields:
            return ()
        node = self._fields[name].node
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        return tuple(self._scalar(name, one) for one in nodes)

    def _scalar(self, name: str, node: yaml.Node) -> str:
        if node.tag != _TEXT:
            kind = node.tag.rpartition(":")[2]
            message = f"`{name}` is no text but {kind}: write it, or put it in quotes"
            raise self.error(message, name)
        return str(node.value).strip()

    def _read(self, text: str) -> dict[str, _Field]:
        import yaml

        if len(text) > MAX_CHARACTERS:
            message = (
                f"{self._what} is over {MAX_CHARACTERS:,} characters long: move what is not about "
                "the skill elsewhere"
            )
            raise SkillFileError(message, file=self._file, line=1)
        root = self._composed(text)
        if root is None:
            return {}
        if not isinstance(root, yaml.MappingNode):
            message = f"{self._what} has no fields: write lines such as `name: ...`"
            raise SkillFileError(message, file=self._file, line=1)
        fields: dict[str, _Field] = {}
        for key, value in root.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            line = key.start_mark.line + 1
            if key.value in fields:
                message = f"`{key.value}` is given twice: keep one"
                raise SkillFileError(message, file=self._file, line=line)
            fields[key.value] = _Field(value, line)
        return fields

    def _composed(self, text: str) -> yaml.Node | None:
        import yaml

        try:
            root: yaml.Node | None = yaml.compose(text, Loader=_plain_loader())
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark else 1
            message = f"{self._what} is no YAML: {error.problem}; text with `:` in it needs quotes"
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position) + 1
            message = f"{self._what} holds a character that YAML does not have: remove it"
        except (OverflowError, ValueError):
            line, message = 1, f"{self._what} names a character that there is not: remove it"
        except RecursionError:
            line, message = 1, f"{self._what} is nested too deeply: keep it flat"
        else:
            return root
        raise SkillFileError(message, file=self._file, line=line)


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
