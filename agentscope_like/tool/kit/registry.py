"""Registers the tools of a toolkit by name: its own and those of its sources."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence

from agentscope_like.exception import ConfigurationError, ToolNotFoundError
from agentscope_like.nearest import nearest
from agentscope_like.tool.arguments import shortened
from agentscope_like.tool.base import ToolBase, check_schema
from agentscope_like.tool.call import RegisteredTool
from agentscope_like.tool.group import BASIC
from agentscope_like.tool.tool_names import shown_name

__all__ = ["ToolRegistry", "check_tool"]

_log = logging.getLogger(__name__)

_NAME = re.compile(r"(?=.{1,64}\Z)[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
_DECLARED = ("name", "description", "input_schema", "is_concurrency_safe", "is_read_only")


class ToolRegistry(Mapping[str, ToolBase]):
    """Tools by name: its own in the order of addition, then those of its sources.

    No source can replace a tool of another source or of the registry itself: if several tools have
    the same name, the first is used; the others are hidden and logged.

    Args:
        base: Another registry whose current tools come first.
    """

    def __init__(self, base: ToolRegistry | None = None) -> None:
        self._base = base
        self._own: dict[str, RegisteredTool] = {}
        self._listed: dict[str, list[RegisteredTool]] = {}
        self._hidden: set[tuple[str, str]] = set()
        self._tools: dict[str, RegisteredTool] = {}
        self._shown: dict[str, str] = {}
        self._changes = 0

    @property
    def version(self) -> int:
        """Return the number of changes so far."""
        return self._changes if self._base is None else self._changes + self._base.version

    def __getitem__(self, name: str) -> ToolBase:
        found = self.find(name)
        if found is None:
            raise KeyError(name)
        return found.tool

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def add(self, tool: ToolBase, group: str = BASIC) -> None:
        """Add an own tool.

        Raises:
            ConfigurationError: A model cannot call it, or its name is taken.
        """
        check_tool(tool)
        if self._owns(tool.name):
            raise ConfigurationError(
                f"there are two tools named {tool.name!r}: rename one, or remove the other first"
            )
        other = self._owner(shown_name(tool.name))
        if other is not None:
            raise ConfigurationError(
                f"the tools {other!r} and {tool.name!r} would both be {shown_name(other)!r} for "
                "the model: rename one"
            )
        self._own[tool.name] = RegisteredTool(tool, group)
        self._merge()
        self._share_kept_files(tool)

    def remove(self, name: str) -> None:
        """Remove an own tool.

        Raises:
            ConfigurationError: There is none of this name, or a source lists it.
        """
        if self._own.pop(name, None) is None:
            if name in self:
                raise ConfigurationError(
                    f"the tool {name!r} was not added here, but is of a source, or of the toolkit "
                    "that this one extends: leave it out there"
                )
            raise ConfigurationError(f"there is no tool named {name!r}{nearest(name, self)}")
        self._merge()

    def put_listed(self, source: str, tools: Sequence[ToolBase], group: str) -> None:
        """Replace the tools of a source; unchanged ones are kept."""
        known = self._listed.get(source, [])
        kept = {id(entry.tool): entry for entry in known}
        entries = [kept.get(id(tool)) or RegisteredTool(tool, group) for tool in tools]
        if source not in self._listed or list(map(id, entries)) != list(map(id, known)):
            self._listed[source] = entries
            self._merge()

    def clear(self) -> None:
        """Remove all tools, its own and those of its sources."""
        self._own.clear()
        self._listed.clear()
        self._merge()

    def registered(self, name: str) -> RegisteredTool:
        """Return the registered tool of this name.

        Raises:
            ToolNotFoundError: There is none.
            ConfigurationError: The tool has changed its name, so that its rules would not match.
        """
        found = self.find(name)
        if found is None:
            name = shortened(name)
            hint = nearest(name, self) or "."
            raise ToolNotFoundError(f"There is no tool named {name!r}{hint}")
        if found.tool.name != name:
            raise ConfigurationError(
                f"the tool {name!r} was renamed to {found.tool.name!r} after it was added: its "
                "rules would be missed. Remove it by its old name and add it again"
            )
        return found

    def all(self) -> list[RegisteredTool]:
        """Return every registered tool."""
        return list(self._all().values())

    def _all(self) -> dict[str, RegisteredTool]:
        if self._base is None:
            return self._tools
        return {**self._base._all(), **self._tools}  # noqa: SLF001 - of its own class

    def find(self, name: str) -> RegisteredTool | None:
        """Return the registered tool of this name, or None."""
        found = self._tools.get(name)
        if found is None and self._base is not None:
            return self._base.find(name)
        return found

    def canonical(self, name: str) -> str:
        """Return the name of the tool that a model calls by this name; else the name itself."""
        if self.find(name) is not None:
            return name
        known = self._shown.get(name)
        if known is None and self._base is not None:
            return self._base.canonical(name)
        return name if known is None else known

    def _owner(self, shown: str) -> str | None:
        """Return the own tool that a model calls by this name, or None."""
        known = self._shown.get(shown)
        if known in self._own or self._base is None:
            return known if known in self._own else None
        return self._base._owner(shown)  # noqa: SLF001 - of its own class

    def _owns(self, name: str) -> bool:
        if name in self._own or self._base is None:
            return name in self._own
        return self._base._owns(name)  # noqa: SLF001 - of its own class

    def _share_kept_files(self, tool: ToolBase) -> None:
        """Tell the tools that see files of those that another one keeps."""
        if (files := tool.kept_files()) is not None:
            for entry in self._all().values():
                entry.tool.see_kept_files(files)
        elif type(tool).see_kept_files is not ToolBase.see_kept_files:
            for entry in self._all().values():
                if (files := entry.tool.kept_files()) is not None:
                    tool.see_kept_files(files)

    def _merge(self) -> None:
        tools, hidden = dict(self._own), set[tuple[str, str]]()
        shown = {shown_name(name): name for name in tools}
        for source, entries in self._listed.items():
            for entry in entries:
                name = entry.tool.name
                is_first = shown.setdefault(shown_name(name), name) == name
                if not is_first or tools.setdefault(name, entry) is not entry:
                    hidden.add((source, name))
        for source, name in sorted(hidden - self._hidden):
            _log.warning(
                "The tool %r of the source %r is hidden: there is one of that name", name, source
            )
        self._tools, self._hidden, self._shown = tools, hidden, shown
        self._changes += 1


def check_tool(tool: object) -> None:
    """Refuse an object that is not a tool that a model can call.

    Raises:
        ConfigurationError: It is not a tool, lacks a declaration or `call`, its name is not valid
            for a model, or its input schema does not describe an object.
    """
    if not isinstance(tool, ToolBase):
        raise ConfigurationError(
            f"{tool!r} is not a tool: wrap a function with FunctionTool, or give an instance "
            "of a ToolBase subclass"
        )
    for declared in _DECLARED:
        if getattr(tool, declared, None) is None:
            raise ConfigurationError(
                f"{type(tool).__name__} does not declare `{declared}`: give the class, or the "
                "instance before it is added, a value"
            )
    if not tool.is_external_tool and type(tool).call is ToolBase.call:
        raise ConfigurationError(
            f"{type(tool).__name__} does not implement `call`: write it, or set "
            "`is_external_tool = True` where somebody outside does the work"
        )
    if not _NAME.fullmatch(tool.name):
        raise ConfigurationError(
            f"the tool name {tool.name!r} is not valid for a model: use 1 to 64 letters, "
            "digits, `_` or `-`, with single dots between them"
        )
    check_schema(type(tool).__name__, tool.input_schema)
