"""Tracks the positional parameters through `set`, `shift` and function calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from agentscope_like.shell.known_names import NO_NAMES, UNKNOWN_NAMES, Names, any_of
from agentscope_like.shell.syntax import Script, SimpleCommand
from agentscope_like.shell.values import Argument, join, names_of

__all__ = [
    "Parameters",
    "known_parameters",
    "names_in_parameters",
    "parameters_after",
    "parameters_of_calls",
    "without_parameters",
]

Parameters: TypeAlias = tuple[Argument, ...] | Names
"""The positional parameters in order; where they are unknown, what is known of the names there."""

_END = "--"
_CALLED_BY_BASH = "command_not_found_handle"


def known_parameters(arguments: Sequence[Argument]) -> Parameters:
    """Return arguments as parameters; only their names if one may expand to several or none."""
    if all(isinstance(each, str) or (each.single and not each.optional) for each in arguments):
        return tuple(arguments)
    return names_in_parameters(tuple(arguments))


def names_in_parameters(parameters: Parameters) -> Names:
    """Return what is known of the file names in the positional parameters."""
    if isinstance(parameters, Names):
        return parameters
    return any_of([*map(names_of, parameters), NO_NAMES])


def parameters_after(arguments: Sequence[Argument], before: Parameters) -> Parameters:
    """Return the parameters after `set` or `shift` (bash(1), SHELL BUILTIN COMMANDS)."""
    name, *rest = arguments
    if name == "shift":
        return _shifted(rest, before)
    if name != "set":
        return UNKNOWN_NAMES
    while rest:
        option = rest.pop(0)
        if option == _END:
            return known_parameters(rest)
        if not isinstance(option, str) or len(option) < len("-e") or option[0] not in "-+":
            return UNKNOWN_NAMES
        if option.endswith("o") and rest:
            named = rest.pop(0)
            if not isinstance(named, str) or not named.isalpha():
                return UNKNOWN_NAMES  # it names no option, and may end them
    return before


def _shifted(count: Sequence[Argument], before: Parameters) -> Parameters:
    number = count[0] if count else "1"
    if isinstance(before, Names) or len(count) > 1 or not isinstance(number, str):
        return names_in_parameters(before)
    if not (number.isascii() and number.isdecimal()):
        return names_in_parameters(before)
    return before[int(number) :] if int(number) <= len(before) else before


def without_parameters(arguments: Sequence[Argument]) -> Sequence[Argument]:
    """Return the command without the parameters that `set` takes after `--`, whatever they are."""
    if arguments[0] != "set" or _END not in arguments:
        return arguments
    return arguments[: arguments.index(_END)]


def parameters_of_calls(script: Script) -> Mapping[str, tuple[Argument, ...]]:
    """Return the parameters of each command that a script calls with known words alone, by name.

    Each is whatever it is in some call. A name whose calls differ in number of words is left out;
    so is every name where some command's name is computed, which may be any.
    """
    calls: dict[str, list[tuple[str | None, ...]]] = {}
    for node in script.nodes:
        if isinstance(node, SimpleCommand) and node.words:
            name, *arguments = (word.literal for word in node.words)
            if name is None:
                return {}
            calls.setdefault(name, []).append(tuple(arguments))
    calls.pop(_CALLED_BY_BASH, None)
    found: dict[str, tuple[Argument, ...]] = {}
    for name, given in calls.items():
        known = [[each for each in call if each is not None] for call in given]
        if len(set(map(len, (*known, *given)))) == 1:
            found[name] = tuple(join(list(each)) for each in zip(*known, strict=True))
    return found
