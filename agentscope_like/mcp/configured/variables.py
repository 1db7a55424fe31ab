"""Puts environment variables into a configuration: only those that a person named."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from agentscope_like.exception import ConfigurationError
from agentscope_like.nearest import nearest

__all__ = ["Variables"]

_PLACE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{")


class Variables:
    """Replaces `${NAME}` in texts; `$${` stands for `${`.

    Args:
        names: The variables that may be used.
        environ: Their values.

    Raises:
        ConfigurationError: The names are not a list.
    """

    def __init__(self, names: Collection[str], environ: Mapping[str, str]) -> None:
        if isinstance(names, str):
            raise ConfigurationError(f"`variables` is a list of names: give [{names!r}]")
        self._names = tuple(names)
        self._environ = environ

    def expanded(self, value: Any, path: str, owner: str) -> Any:
        """Return JSON data with the variables in its texts replaced; keys stay as they are.

        Args:
            value: The data.
            path: Where it is, for messages, such as `env.TOKEN`.
            owner: What it is a part of, for messages.

        Raises:
            ConfigurationError: A variable is not among the names, or is not set.
        """
        if isinstance(value, str):
            where = f"`{path}` of {owner}"
            return _PLACE.sub(lambda place: self._value(place, where), value)
        if isinstance(value, dict):
            return {key: self.expanded(item, f"{path}.{key}", owner) for key, item in value.items()}
        if isinstance(value, list):
            return [self.expanded(item, f"{path}.{n}", owner) for n, item in enumerate(value)]
        return value

    def _value(self, place: re.Match[str], where: str) -> str:
        name = place[1]
        if name is None:
            if place[0] == "$${":
                return "${"
            raise ConfigurationError(
                f"{where} has a `${{` that names no variable: write `${{NAME}}`, or `$${{` for the "
                "characters themselves"
            )
        if name not in self._names:
            raise ConfigurationError(
                f"{where} uses the environment variable {name}, which it was not given"
                f"{nearest(name, self._names)}. Name it in the list of variables that the "
                f"configuration may use, `[..., {name!r}]`, if the server is to have its value"
            )
        value = self._environ.get(name)
        if value is None:
            raise ConfigurationError(
                f"{where} uses the environment variable {name}, which is not set: set it, or leave "
                "the server out with `disabled: true`"
            )
        return value
