"""Turns the canonical names of tools into those that a model may call, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentscope_like.exception import ConfigurationError
from agentscope_like.nearest import nearest

__all__ = ["ToolNames", "model_name", "shown_name"]

_FOR_MODELS = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What the names of functions are for the providers of models."""


def shown_name(canonical: str) -> str:
    """Return the name that a model sees: `workspace_read_file` for `workspace.read_file`."""
    return canonical.replace(".", "_")


def model_name(canonical: str) -> str:
    """Return the `shown_name` of a tool, if a model may call it.

    Raises:
        ConfigurationError: It has characters that no model's function may have, or too many.
    """
    name = shown_name(canonical)
    if _FOR_MODELS.fullmatch(name) is None:
        raise ConfigurationError(
            f"the tool {canonical!r} cannot be shown to a model as {name!r}: use 1 to 64 letters, "
            "digits, underscores, hyphens and dots"
        )
    return name


class ToolNames:
    """The two names of each tool: profiles, rules and records use the one, models the other.

    Args:
        canonical: The canonical names.

    Raises:
        ConfigurationError: Two tools would have one name for the model.
    """

    def __init__(self, canonical: Iterable[str]) -> None:
        self._canonical: dict[str, str] = {}
        for name in canonical:
            shown = model_name(name)
            other = self._canonical.setdefault(shown, name)
            if other != name:
                raise ConfigurationError(
                    f"the tools {other!r} and {name!r} would both be {shown!r} for the model: "
                    "rename one"
                )

    def canonical(self, name: str) -> str:
        """Return the canonical name of a name that a model used; an unknown name as it is."""
        return self._canonical.get(shown_name(name), name)

    def unknown(self, name: str) -> str | None:
        """Return why a name is not a canonical one, with the nearest that is; None if it is one."""
        known = self._canonical.get(shown_name(name))
        if known == name:
            return None
        if known is not None:
            return f"{name!r} is what the model calls {known!r}: write {known!r}"
        return f"there is no tool {name!r}{nearest(name, self._canonical.values())}"
