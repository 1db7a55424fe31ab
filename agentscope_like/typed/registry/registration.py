"""Defines `Registration`, which makes the tools of one registered name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from agentscope_like.exception import ConfigurationError
from agentscope_like.nearest import nearest
from agentscope_like.state import AgentState
from agentscope_like.typed.definition import ToolDefinition
from agentscope_like.typed.registry.tool import Tool

__all__ = ["Registrable", "Registration", "checked_provider"]

AnyTool: TypeAlias = ToolDefinition[Any, Any]
Registrable: TypeAlias = AnyTool | type[AnyTool] | Callable[..., AnyTool | Sequence[AnyTool]]
"""A tool; or a class, whose `create` makes tools; or a function that makes them."""

_STATE = "conv_state"
_UNKNOWN = re.compile(r"got an unexpected keyword argument '(\w+)'")
_OF_THE_PERSON = {
    _STATE: "it is an argument of `resolve_tool`",
    "trust": "a specification cannot trust its tool: give `trust=True` to `register_tool`",
}


class Registration(Struct, frozen=True):
    """What makes the tools of a name.

    Attributes:
        name: The name.
        provider: The tool, the class or the function.
        trust: Whether its tools' effects and annotations may make a call ask less.
        place: Where it was registered.
        package: The package that offers it; None if the program registered it itself.
    """

    name: str
    provider: Any
    trust: bool
    place: str
    package: str | None = None

    def made(self, spec: Tool, conv_state: AgentState | None, *, trust: bool) -> list[AnyTool]:
        """Return the tools of a specification.

        Args:
            spec: The specification.
            conv_state: The state of the session that they are for.
            trust: Whether the caller trusts them, besides who registered them.

        Raises:
            ConfigurationError: A parameter is not known or is missing, or something else than tools
                was made.
        """
        if isinstance(self.provider, ToolDefinition):
            if spec.params:
                raise ConfigurationError(
                    f"the tool {self.name!r} was registered as it is ({self.place}), so it takes "
                    f"no parameters: leave out {', '.join(map(repr, spec.params))}, or register "
                    "its class"
                )
            return [self.provider.set_trust(True) if trust else self.provider]
        made = self._call(spec.params, conv_state)
        tools = list(made) if isinstance(made, Sequence) else [made]
        for tool in tools:
            if not isinstance(tool, ToolDefinition):
                raise ConfigurationError(
                    f"{self._told} made {tool!r}, which is no ToolDefinition: return one, or a "
                    "list of them"
                )
            tool.set_trust(self.trust or trust)
        return tools

    @property
    def _told(self) -> str:
        return f"the tool {self.name!r} ({self.place})"

    def _call(self, params: Mapping[str, Any], conv_state: AgentState | None) -> Any:
        is_class = isinstance(self.provider, type)
        make = self.provider.create if is_class else self.provider
        signature = inspect.signature(make)
        known, is_open = _parameters(signature)
        wide = _parameters(inspect.signature(self.provider))[0] if is_class and is_open else []
        offered = [name for name in dict.fromkeys((*known, *wide)) if name not in _OF_THE_PERSON]
        for name in params:
            if name in _OF_THE_PERSON:
                raise ConfigurationError(
                    f"{self._told} takes no parameter {name!r}: {_OF_THE_PERSON[name]}"
                )
            if name not in known and not is_open:
                raise self._unknown(name, offered)
        given = dict(params)
        if _STATE in known or is_open:
            given[_STATE] = conv_state
        try:
            signature.bind(**given)
        except TypeError as error:
            raise ConfigurationError(f"{self._told} cannot be made: {error}") from None
        try:
            return make(**given)
        except TypeError as error:
            refused = _UNKNOWN.search(str(error))
            if refused is None or refused[1] not in params:
                raise
            raise self._unknown(refused[1], offered) from error

    def _unknown(self, name: str, known: Sequence[str]) -> ConfigurationError:
        listed = ", ".join(known) or "none"
        return ConfigurationError(
            f"{self._told} takes no parameter {name!r}{nearest(name, known)}; it takes: {listed}"
        )


def checked_provider(name: str, provider: object) -> Any:
    """Return what is to make the tools of this name.

    Raises:
        ConfigurationError: It is no tool, class of tools or function.
    """
    if isinstance(provider, ToolDefinition) or _makes_tools(provider):
        return provider
    raise ConfigurationError(
        f"{name!r} cannot be registered as {provider!r}: give a ToolDefinition, a subclass of it, "
        "or a function, not async, that returns tools"
    )


def _makes_tools(provider: object) -> bool:
    if isinstance(provider, type):
        return issubclass(provider, ToolDefinition)
    return callable(provider) and not inspect.iscoroutinefunction(provider)


def _parameters(signature: inspect.Signature) -> tuple[list[str], bool]:
    """Return the names that can be given by keyword, and whether any other can."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    given = signature.parameters.values()
    names = [one.name for one in given if one.kind in kinds]
    return names, any(one.kind is inspect.Parameter.VAR_KEYWORD for one in given)
