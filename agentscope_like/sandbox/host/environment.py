"""Builds the environment of commands in a sandbox from the variables that were named.

A token in the environment of an agent can be read by `env` and by any program that a command
starts. So a sandbox starts with an empty environment and inherits only the locale, the time zone,
the terminal and the variables that were named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agentscope_like.sandbox.host.process_family import MARK_VARIABLE
from agentscope_like.sandbox.variables import EVERYTHING

__all__ = ["sandbox_environment"]

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_LANGUAGE = frozenset(
    {"LANG", "LANGUAGE", "LC_ALL", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION"}
    | {"LC_MEASUREMENT", "LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER"}
    | {"LC_TELEPHONE", "LC_TIME"}
)
"""locale(7); others that begin like these are how people get secrets past an sshd."""

_TAKEN_OVER = _LANGUAGE | {"TZ", "TERM", "COLORTERM", "NO_COLOR"}
_UNATTENDED = {"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}


def sandbox_environment(
    inherited: Mapping[str, str], passed: Iterable[str], own: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables of a sandbox.

    Args:
        inherited: The environment of this process.
        passed: Further names to inherit; `EVERYTHING` for all.
        own: Variables to set, over inherited ones.
    """
    names = frozenset(passed)
    everything = EVERYTHING in names
    kept = {
        name: value
        for name, value in inherited.items()
        if everything or name in names or name in _TAKEN_OVER
    }
    environment = {"PATH": SYSTEM_PATH, **_UNATTENDED, **kept, **own}
    outer = inherited.get(MARK_VARIABLE)
    if outer and MARK_VARIABLE not in own:
        environment[MARK_VARIABLE] = outer
    return environment
