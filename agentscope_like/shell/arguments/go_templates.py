"""Tells whether a Go template (https://pkg.go.dev/text/template) terminates.

`range` can count to any number, and loops can be nested. So each `range` must loop over a value of
the data, each variable and `.` must be set to one, and named templates, which could recurse, are
refused.
"""

from __future__ import annotations

import re

from agentscope_like.shell.values import Argument, Unknown

__all__ = ["ends_with_its_data"]

_NAMED = re.compile(r"-?\s*(?:define|block|template)\b")
_LOOP = re.compile(r"-?\s*range\b")
_SETS = re.compile(
    r"-?\s*(?:else\s+)?(?:(?:range|with)\b|(?:if\b\s*)?\$\w*\s*(?:,\s*\$\w+\s*)?:?=)"
    r"\s*(?:\$\w*\s*(?:,\s*\$\w+\s*)?:?=)?"
)
_DATA = re.compile(r"[\s(]*(?:(?:index|split)\s[\s(]*)?[.$](?!\d)[^|]*")


def ends_with_its_data(value: Argument) -> bool:
    """Return whether a template only loops over its data."""
    if isinstance(value, Unknown):
        return bool(value.shape) or (bool(value.choices) and all(map(_ends, value.choices)))
    return _ends(value)


def _ends(template: str) -> bool:
    actions = [part.partition("}}")[0] for part in template.split("{{")[1:]]
    if any(map(_NAMED.match, actions)):
        return False
    return not any(map(_LOOP.match, actions)) or all(map(_is_of_data, actions))


def _is_of_data(action: str) -> bool:
    """Return whether an action loops over, or sets, nothing but values of the data."""
    found = _SETS.match(action)
    return found is None or _DATA.fullmatch(action, found.end()) is not None
