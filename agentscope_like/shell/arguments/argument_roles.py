"""The records of what the arguments of a program mean by its grammar."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field

from agentscope_like.lazy_property import lazy_property
from agentscope_like.shell.catalog import Grammar, Role, RoleKind
from agentscope_like.shell.values import Argument, Shape, Unknown

__all__ = ["DEVICES", "ArgumentReading", "Item", "Problem", "fits"]

DEVICES = "/dev"
_ON_THIS_HOST = re.compile(r"[^:/]*/")
_OPEN_END = re.compile(r"(?:[^()|$\\]|\\[dsw.])*\(\?s:\.\*\)")
"""A pattern that any text may follow: what matches still does with more behind it."""


class Item(Struct, frozen=True, gc=False):
    """One argument and its meaning, at the indexes from `start` to before `end`.

    `flag` is the option whose value it is, empty for an operand. One that no argument gives stands
    where the program's name does.
    """

    role: Role
    argument: Argument
    start: int
    end: int
    flag: str = ""


class Problem(Struct, frozen=True, gc=False):
    """Something that is not understood, and the index of the argument."""

    message: str
    at: int


class ArgumentReading(Struct, dict=True):
    """The meaning of all arguments of a command.

    Attributes:
        grammar: The grammar of the innermost sub-command.
        label: The words that name the program and sub-command, for messages.
        items: Option values and operands in order.
        problems: What is not understood.
        used: The options that were given, at all levels.
        recursive: Whether what it does reaches everything below a path.
        is_about: Whether the command only asks for help or a version.
        unless_piped: Whether what a pipe gives it takes the place of what no argument gives.
    """

    grammar: Grammar
    label: str
    items: list[Item] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    recursive: bool = False
    is_about: bool = False
    unless_piped: bool = False

    @lazy_property
    def by_kind(self) -> Mapping[RoleKind, Sequence[Item]]:
        """Its items by the kind of their role, once all have been read."""
        found: dict[RoleKind, list[Item]] = {}
        for item in self.items:
            found.setdefault(item.role.kind, []).append(item)
        return found

    @lazy_property
    def reaches_devices(self) -> bool:
        """Whether an operand may be a device, or a directory of devices; known at the end."""
        places = [item.argument for item in self.items if not item.flag]
        texts = [place if isinstance(place, str) else place.prefix for place in places]
        texts += [text for place in places if isinstance(place, Unknown) for text in place.choices]
        return any(f"{text}/".startswith(f"{DEVICES}/") for text in texts)

    def problem(self, message: str, index: int) -> None:
        """Note that the argument at `index` is not understood."""
        self.problems.append(Problem(message, index))


def fits(role: Role, value: Argument) -> bool:
    """Return whether `role` allows `value`."""
    if role.pattern is not None:
        if isinstance(value, str):
            return role.pattern.fullmatch(value) is not None
        if value.choices:
            return all(role.pattern.fullmatch(choice) for choice in value.choices)
        if role.kind is RoleKind.NAME:
            return value.single and not value.option
        if _is_settled(role.pattern, value):
            return True
        return role.kind is RoleKind.NUMBER and value.shape is Shape.INTEGER
    check = _CHECKS.get(role.kind)
    return check is None or check(value)


def _is_settled(pattern: re.Pattern[str], value: Unknown) -> bool:
    """Return whether the beginning of a computed argument suffices for the pattern."""
    begins_so = value.single or value.pattern is not None
    is_open = begins_so and _OPEN_END.fullmatch(pattern.pattern) is not None
    return is_open and pattern.fullmatch(value.prefix) is not None


def _is_on_this_host(value: Argument) -> bool:
    """Return whether an archive's name has no host in it, as GNU tar parses it (tar(1), `-f`)."""
    if isinstance(value, str):
        return bool(value) and (":" not in value or _ON_THIS_HOST.match(value) is not None)
    if value.choices:
        return all(map(_is_on_this_host, value.choices))
    return _ON_THIS_HOST.match(value.prefix) is not None


# Whether a Go template (https://pkg.go.dev/text/template) ends: `range` can count to any number,
# and loops can be nested. So each `range` must loop over a value of the data, each variable and `.`
# must be set to one, and named templates, which could recurse, are refused.
_NAMED = re.compile(r"-?\s*(?:define|block|template)\b")
_LOOP = re.compile(r"-?\s*range\b")
_SETS = re.compile(
    r"-?\s*(?:else\s+)?(?:(?:range|with)\b|(?:if\b\s*)?\$\w*\s*(?:,\s*\$\w+\s*)?:?=)"
    r"\s*(?:\$\w*\s*(?:,\s*\$\w+\s*)?:?=)?"
)
_DATA = re.compile(r"[\s(]*(?:(?:index|split)\s[\s(]*)?[.$](?!\d)[^|]*")


def _ends_with_its_data(value: Argument) -> bool:
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


_CHECKS: dict[RoleKind, Callable[[Argument], bool]] = {
    RoleKind.ARCHIVE: _is_on_this_host,
    RoleKind.TEMPLATE: _ends_with_its_data,
}
