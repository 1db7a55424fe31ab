"""Lists the tools that installed packages offer, without importing the packages."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points

from msgspec import Struct

from agentscope_like.exception import ConfigurationError
from agentscope_like.nearest import nearest

__all__ = ["GROUP", "PackagedTool", "packaged_tool", "packaged_tools"]

GROUP = "agentscope_like.tools"
"""The group of entry points by which packages offer tools."""


class PackagedTool(Struct, frozen=True):
    """A tool that an installed package offers as an entry point.

    Attributes:
        name: The name that the package gives it.
        package: The package, by its name on an index.
        version: The package's version.
        value: Where it is, as `module:object`.
    """

    name: str
    package: str
    version: str
    value: str

    def __str__(self) -> str:
        """Return where it is from, for messages."""
        return f"the package {self.package} {self.version} ({self.value})"

    def load(self, group: str = GROUP) -> object:
        """Import the package, and return the object.

        Raises:
            ConfigurationError: It cannot be imported.
        """
        try:
            return EntryPoint(self.name, self.value, group).load()
        except Exception as error:
            raise ConfigurationError(
                f"the tool {self.name!r} of {self} cannot be imported: "
                f"{type(error).__name__}: {error}"
            ) from error


def packaged_tools(group: str = GROUP) -> tuple[PackagedTool, ...]:
    """Return the tools that installed packages offer, sorted; nothing is imported."""
    found = set()
    for one in entry_points(group=group):
        package = one.dist
        name = "" if package is None else package.name
        version = "" if package is None else package.version
        found.add((one.name, name, version, one.value))
    return tuple(PackagedTool(*facts) for facts in sorted(found))


def packaged_tool(name: str, package: str | None, known: Iterable[PackagedTool]) -> PackagedTool:
    """Return the one of these tools that has the name.

    Raises:
        ConfigurationError: There is none, or several packages offer one.
    """
    known = list(known)
    named = [one for one in known if one.name == name and package in (None, one.package)]
    if len(named) == 1:
        return named[0]
    if named:
        told = " and ".join(map(str, named))
        raise ConfigurationError(
            f"several packages offer a tool {name!r}: {told}; say which, "
            f"`package={named[0].package!r}`"
        )
    by_whom = "installed package" if package is None else f"package {package!r}"
    raise ConfigurationError(
        f"no {by_whom} offers a tool {name!r}{nearest(name, [one.name for one in known])}"
    )
