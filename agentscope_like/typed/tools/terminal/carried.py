"""Tells which exported variables of a command the next one gets."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from agentscope_like.sandbox.host import MARK_VARIABLE
from agentscope_like.shell.state import own_doubt
from agentscope_like.tool.builtin.bash.environment import is_inherited, secret_names

__all__ = ["Carried", "carried_over"]

_OF_THE_SHELL = frozenset({"_", "PWD", "OLDPWD", "SHLVL", MARK_VARIABLE})
"""What bash sets itself, and what marks the command."""

_MOST_VARIABLES = 200
_MOST_CHARACTERS = 8192
_LEAST_SECRET = 6
"""A shorter value says nothing about where it comes from."""


class Carried(Struct, frozen=True):
    """The variables after a command.

    Attributes:
        variables: What the next command gets.
        refused: The names that the command changed and the next one does not get.
    """

    variables: dict[str, str]
    refused: tuple[str, ...] = ()


def carried_over(
    before: Mapping[str, str], given: Mapping[str, str], reported: Mapping[str, str]
) -> Carried:
    """Return the variables after a command that reported its exported variables.

    What a variable of no known program holds changes no proof about a later command. So these
    are carried, and others with values that are known to change nothing but how output looks. A
    value that holds that of a secret variable is not: a later command could show it unasked.

    Args:
        before: What was carried to the command.
        given: Its environment.
        reported: What it exported when it ended.
    """
    kept = {name: value for name, value in before.items() if name in reported or name not in given}
    secrets = [given[name] for name in secret_names(given)]
    secrets = [value for value in secrets if len(value) >= _LEAST_SECRET]
    refused: list[str] = []
    for name, value in reported.items():
        if given.get(name) == value or name in _OF_THE_SHELL:
            continue
        kept.pop(name, None)
        holds_secret = any(secret in value for secret in secrets)
        if len(kept) < _MOST_VARIABLES and not holds_secret and _steers_nothing(name, value):
            kept[name] = value
        else:
            refused.append(name)
    return Carried(kept, tuple(sorted(refused)))


def _steers_nothing(name: str, value: str) -> bool:
    if len(value) > _MOST_CHARACTERS or not is_inherited(name):
        return False
    return own_doubt(name, value) is None
