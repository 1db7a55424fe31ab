"""Defines the `@tool` decorator, and discovers the functions that it declares.

A declaration is stored in the module that makes it, like Python's `__warningregistry__`: importing
the module is enough for discovery, and there is no global registry.
"""

from __future__ import annotations

import inspect
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any, TypeVar, overload

from msgspec import Struct
from pydantic import BaseModel

from agentscope_like.exception import ConfigurationError
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.make.function_tool import FunctionTool

__all__ = ["DeclaredTools", "ToolDeclaration", "tool", "tool_of"]

_log = logging.getLogger(__name__)

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

_DECLARED = "__declared_tools__"


class ToolDeclaration(Struct, frozen=True, eq=False):
    """The arguments of `@tool` for a function, as for `FunctionTool`."""

    func: Callable[..., Any]
    name: str | None = None
    description: str | None = None
    input_schema: Mapping[str, Any] | type[BaseModel] | None = None
    is_concurrency_safe: bool = True
    is_read_only: bool = False
    is_state_injected: bool = False
    is_idempotent: bool = False
    inline: bool = False

    def made(self) -> FunctionTool:
        """Return a tool of the function.

        Raises:
            ConfigurationError: The function or a declaration is not valid for a tool.
        """
        return FunctionTool(**{name: getattr(self, name) for name in self.__struct_fields__})


@overload
def tool(func: FunctionT, /) -> FunctionT: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    input_schema: Mapping[str, Any] | type[BaseModel] | None = None,
    is_concurrency_safe: bool = True,
    is_read_only: bool = False,
    is_state_injected: bool = False,
    is_idempotent: bool = False,
    inline: bool = False,
) -> Callable[[FunctionT], FunctionT]: ...


def tool(func: FunctionT | None = None, /, **said: Any) -> Any:
    """Declare a function to be a tool, which a `ToolManager` finds (seed 000, 5.1).

    The function itself is not changed. Once its module is imported, every `ToolManager` offers it,
    unless the manager is restricted to other modules. It may be `async`, or a generator; a returned
    dict, like anything that is not text, becomes JSON.

    Args:
        func: The function, if the decorator is used without arguments.
        **said: As for `FunctionTool`: `name`, by default that of the function; `description`, by
            default the docstring; `input_schema`; `is_concurrency_safe`, True by default;
            `is_read_only`, `is_state_injected`, `is_idempotent` and `inline`.

    Raises:
        ConfigurationError: It is not a function, or is a method that needs an object.
    """

    def declare(func: FunctionT) -> FunctionT:
        if not inspect.isfunction(func):
            raise ConfigurationError(f"`@tool` is for functions: {func!r} is none")
        if "." in func.__qualname__.rpartition("<locals>.")[2]:
            raise ConfigurationError(
                f"`@tool` is for functions: {func.__qualname__} belongs to a class. Register it "
                "with its object: `manager.register_tool(FunctionTool(object.method))`"
            )
        declaration = ToolDeclaration(func, **said)
        key = (func.__qualname__, declaration.name)
        place = getattr(inspect.unwrap(func), "__globals__", func.__globals__)
        place.setdefault(_DECLARED, {})[key] = declaration
        return func

    return declare if func is None else declare(func)


def tool_of(given: ToolBase | Callable[..., Any]) -> ToolBase:
    """Return the given tool, or one created from the function and its declaration.

    Raises:
        ConfigurationError: The function cannot make a tool.
    """
    if isinstance(given, ToolBase):
        return given
    unwrapped = inspect.unwrap(given) if inspect.isfunction(given) else given
    for declaration in _declarations(getattr(unwrapped, "__globals__", {})):
        if declaration.func is given:
            return declaration.made()
    return FunctionTool(given)


class DeclaredTools:
    """A source of tools that are created from the declared functions of modules.

    An invalid function is left out and logged.

    Args:
        modules: The modules; None for all imported modules at the time of each look.
    """

    name = "@tool"

    def __init__(self, modules: Iterable[ModuleType] | None = None) -> None:
        self._modules = None if modules is None else tuple(modules)
        self._made: dict[ToolDeclaration, FunctionTool | None] = {}
        self.version = 0

    def look(self) -> list[ToolBase]:
        """Return the current tools; earlier tools stay the same objects."""
        modules = list(sys.modules.values()) if self._modules is None else self._modules
        places = [getattr(module, "__dict__", {}) for module in modules]
        found = dict.fromkeys(
            declaration
            for place in places
            if _DECLARED in place
            for declaration in _declarations(place)
        )
        if list(found) != list(self._made):
            known, self._made = self._made, {}
            self._made = {one: known[one] if one in known else _made(one) for one in found}
            self.version += 1
        return [made for made in self._made.values() if made is not None]

    async def list_tools(self) -> list[ToolBase]:
        """Return the tools as of the last look."""
        return [made for made in self._made.values() if made is not None]

    async def refresh(self) -> None:
        """Look for newly imported functions."""
        self.look()


def _declarations(place: Mapping[str, Any]) -> Iterator[ToolDeclaration]:
    declared = place.get(_DECLARED)
    return iter(tuple(declared.values()) if isinstance(declared, dict) else ())


def _made(declaration: ToolDeclaration) -> FunctionTool | None:
    try:
        return declaration.made()
    except ConfigurationError as error:
        func = declaration.func
        where = f"{func.__module__}.{getattr(func, '__qualname__', func)}"
        _log.warning("The declared tool %s is left out: %s", where, error.message)
        return None
