"""Defines `ToolRegistry`, the tools that a program can make by name."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from fnmatch import fnmatchcase

from agentscope_like.exception import ConfigurationError
from agentscope_like.nearest import nearest
from agentscope_like.state import AgentState
from agentscope_like.typed.definition import ToolDefinition
from agentscope_like.typed.registry.packages import (
    GROUP,
    PackagedTool,
    packaged_tool,
    packaged_tools,
)
from agentscope_like.typed.registry.place import calling_place
from agentscope_like.typed.registry.registration import (
    AnyTool,
    Registrable,
    Registration,
    checked_provider,
)
from agentscope_like.typed.registry.tool import Tool

__all__ = ["ToolRegistry"]

_loading: ContextVar[PackagedTool | None] = ContextVar("loading_packaged_tool", default=None)


class ToolRegistry:
    """Makes tools from specifications (seed 004); threads may share it.

    Args:
        group: The group of entry points by which installed packages offer tools.
    """

    def __init__(self, group: str = GROUP) -> None:
        self._group = group
        self._lock = threading.RLock()
        self._known: dict[str, Registration] = {}

    def register(self, name: str, tool: Registrable, *, trust: bool = False) -> None:
        """Register a tool, a class whose `create` makes tools, or a function that makes them.

        Args:
            name: The name for specifications; that of the tool may be another.
            tool: The tool, the class or the function. `create` and the function get the parameters
                of the specification, and `conv_state`, if they take it.
            trust: Whether what the tools say of themselves may make a call ask less.

        Raises:
            ConfigurationError: The name is taken, or it is none of the three.
        """
        place, package = calling_place(), _loading.get()
        if package is not None:
            place = f"{place}, on import of {package}"
        if trust and package is not None:
            raise _untrusted(name, package)
        self._add(
            Registration(
                name,
                checked_provider(name, tool),
                trust is True,
                place,
                None if package is None else package.package,
            )
        )

    def register_packaged(self, name: str, *, package: str | None = None) -> None:
        """Register a tool that an installed package offers; this imports the package.

        Nobody trusts it: to trust it, import it and register it yourself.

        Args:
            name: The name of the entry point, which becomes that of the tool.
            package: The package, if several offer one of this name.

        Raises:
            ConfigurationError: No package offers it, it cannot be imported, or its name is taken.
        """
        found = packaged_tool(name, package, packaged_tools(self._group))
        with self._lock:
            if (known := self._known.get(name)) is not None:
                raise _taken(known, str(found))
            token = _loading.set(found)
            try:
                provider = checked_provider(name, found.load(self._group))
            finally:
                _loading.reset(token)
            own = self._known.get(name)
            if own is None or own.package != found.package or own.provider is not provider:
                self._add(Registration(name, provider, False, str(found), found.package))
            if isinstance(provider, ToolDefinition):
                provider.set_trust(False)

    def unregister(self, name: str) -> None:
        """Remove a name, so that another tool can be registered under it.

        Raises:
            ConfigurationError: It is not registered.
        """
        with self._lock:
            self._registration(name)
            del self._known[name]

    def resolve(
        self, spec: Tool, conv_state: AgentState | None = None, *, trust: bool = False
    ) -> list[AnyTool]:
        """Return the tools of a specification.

        Args:
            spec: The name, and what it is made with.
            conv_state: The state of the session that they are for.
            trust: Whether what the tools say of themselves may make a call ask less, even if who
                registered them did not say so.

        Raises:
            ConfigurationError: The name is not registered, or the parameters do not fit.
        """
        with self._lock:
            found = self._registration(spec.name)
        if trust and found.package is not None:
            raise _untrusted(spec.name, found.package)
        return found.made(spec, conv_state, trust=trust is True)

    def names(self, pattern: str = "*") -> list[str]:
        """Return the registered names, sorted; only those that match a pattern such as `file_*`."""
        with self._lock:
            return sorted(name for name in self._known if fnmatchcase(name, pattern))

    def find(self, pattern: str) -> list[Tool]:
        """Return specifications, without parameters, of the names that match the pattern."""
        return [Tool(name=name) for name in self.names(pattern)]

    def packaged(self) -> tuple[PackagedTool, ...]:
        """Return the tools that installed packages offer; nothing is imported."""
        return packaged_tools(self._group)

    def _add(self, registration: Registration) -> None:
        if not registration.name:
            raise ConfigurationError("a tool is registered under a name: it is empty")
        with self._lock:
            known = self._known.setdefault(registration.name, registration)
            if known is not registration:
                raise _taken(known, registration.place)
        if registration.trust and isinstance(registration.provider, ToolDefinition):
            registration.provider.set_trust(True)

    def _registration(self, name: str) -> Registration:
        found = self._known.get(name)
        if found is not None:
            return found
        offered = [one for one in self.packaged() if one.name == name]
        if offered:
            raise ConfigurationError(
                f"no tool {name!r} is registered; {offered[0]} offers one, which is imported only "
                f"by `register_packaged_tool({name!r})`"
            )
        raise ConfigurationError(f"no tool {name!r} is registered{nearest(name, self._known)}")


def _taken(known: Registration, place: str) -> ConfigurationError:
    return ConfigurationError(
        f"the tool {known.name!r} is registered twice: {known.place} and {place}. Give one of them "
        f"another name, or call `unregister_tool({known.name!r})` first"
    )


def _untrusted(name: str, package: object) -> ConfigurationError:
    return ConfigurationError(
        f"the tool {name!r} cannot be trusted, since {package} brings it: to trust it, import it "
        "and register it yourself"
    )
