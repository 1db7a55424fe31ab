"""The tools of a kit, by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentscope_like.exception import ConfigurationError, ToolNotFoundError
from agentscope_like.permission.nearest import nearest
from agentscope_like.tool.arguments import ArgumentValidator, shortened
from agentscope_like.tool.base import ToolBase, check_schema
from agentscope_like.tool.grant import definition_digest

__all__ = ["RegisteredTool", "ToolRegistry"]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_DECLARED = ("name", "description", "input_schema", "is_concurrency_safe", "is_read_only")


@dataclass(slots=True)
class RegisteredTool:
    """A tool and what is computed from its definition, once."""

    tool: ToolBase
    _validator: ArgumentValidator | None = field(default=None, repr=False)
    _definition: str | None = field(default=None, repr=False)

    @property
    def validator(self) -> ArgumentValidator:
        """Return the validator of its arguments."""
        if self._validator is None:
            tool = self.tool
            self._validator = ArgumentValidator(
                tool.name, tool.input_schema, closed=not tool.is_mcp
            )
        return self._validator

    @property
    def definition(self) -> str:
        """Return the digest of its definition."""
        if self._definition is None:
            self._definition = definition_digest(self.tool)
        return self._definition

    @property
    def schema(self) -> dict[str, Any]:
        """Return what the model is told of it, in the chat-completions form."""
        return {
            "type": "function",
            "function": {
                "name": self.tool.name,
                "description": self.tool.description,
                "parameters": self.tool.input_schema,
            },
        }


class ToolRegistry(Mapping[str, ToolBase]):
    """Tools by name, in the order in which they were added.

    Args:
        base: Tools that stand before these and are not changed by what is done to these.
    """

    def __init__(self, base: ToolRegistry | None = None) -> None:
        self._base = base
        self._tools: dict[str, RegisteredTool] = {}
        self._changes = 0

    @property
    def version(self) -> int:
        """Return a number that grows with each change."""
        return self._changes + (self._base.version if self._base is not None else 0)

    def __getitem__(self, name: str) -> ToolBase:
        found = self._find(name)
        if found is None:
            raise KeyError(name)
        return found.tool

    def __iter__(self) -> Iterator[str]:
        yield from self._base or ()
        yield from self._tools

    def __len__(self) -> int:
        return len(self._tools) + len(self._base or ())

    def _find(self, name: str) -> RegisteredTool | None:
        found = self._tools.get(name)
        if found is None and self._base is not None:
            return self._base._find(name)  # noqa: SLF001 - of its own class
        return found

    def add(self, tool: ToolBase) -> None:
        """Add the tool.

        Raises:
            ConfigurationError: It is no tool, lacks something that a tool declares, its name is
                taken or cannot be told to a model, or its input schema is not one of an object.
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
        if not _NAME.fullmatch(tool.name):
            raise ConfigurationError(
                f"the tool name {tool.name!r} cannot be told to a model: use 1 to 64 letters, "
                "digits, `_` or `-`"
            )
        if tool.name in self:
            raise ConfigurationError(
                f"there are two tools named {tool.name!r}: rename one, or remove the other first"
            )
        check_schema(type(tool).__name__, tool.input_schema)
        self._tools[tool.name] = RegisteredTool(tool)
        self._changes += 1

    def remove(self, name: str) -> None:
        """Remove the tool of this name.

        Raises:
            ConfigurationError: There is none.
        """
        if self._tools.pop(name, None) is None:
            raise ConfigurationError(f"there is no tool named {name!r}{nearest(name, self)}")
        self._changes += 1

    def clear(self) -> None:
        """Remove every tool."""
        self._tools.clear()
        self._changes += 1

    def registered(self, name: str) -> RegisteredTool:
        """Return the tool of this name with what is computed of it.

        Raises:
            ToolNotFoundError: There is none; the message lists what there is.
            ConfigurationError: The tool has changed its name, so that its rules would be missed.
        """
        found = self._find(name)
        if found is None:
            listed = ", ".join(self) or "none"
            name = shortened(name)
            raise ToolNotFoundError(
                f"There is no tool named {name!r}{nearest(name, self)}. Tools: {listed}."
            )
        if found.tool.name != name:
            raise ConfigurationError(
                f"the tool {name!r} was renamed to {found.tool.name!r} after it was added: its "
                "rules would be missed. Remove it by its old name and add it again"
            )
        return found

    def all(self) -> list[RegisteredTool]:
        """Return every tool with what is computed of it."""
        before = self._base.all() if self._base is not None else []
        return [*before, *self._tools.values()]
