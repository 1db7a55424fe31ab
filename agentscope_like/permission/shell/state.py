"""What is known between two commands: variables, the directory, the functions."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.permission.shell.directories import union
from agentscope_like.permission.shell.values import Argument, Shape, Unknown, join

__all__ = ["ANYTHING", "State", "merge"]

ANYTHING = Unknown()


class State(Struct, frozen=True):
    """What is known where a command starts.

    Attributes:
        directories: Where it may run, the likeliest first; empty where unknown.
        variables: What assignments of this command line have set. A name that is missing holds
            whatever the environment gave it.
        functions: Names that are certainly functions defined in this command line.
        repository: Whether, while `directories` is empty, it runs in a directory that was known
            before, at the top of the repository that holds it, or where a glob has led from there.
        before_cd: Where a `cd` that has just run would have stayed had it failed, or None.
    """

    directories: tuple[str, ...]
    variables: Mapping[str, Argument]
    functions: frozenset[str] = frozenset()
    repository: bool = False
    before_cd: tuple[str, ...] | None = None

    def assign(self, name: str, value: Argument) -> State:
        """Return the state in which `name` holds `value`."""
        return replace(self, variables={**self.variables, name: value})

    @property
    def is_placed(self) -> bool:
        """Return whether what depends on the directory is known to stay where it began."""
        return bool(self.directories) or self.repository

    def move(self, directories: tuple[str, ...], *, repository: bool = False) -> State:
        """Return the state after a `cd` to one of `directories`, while it is known to succeed.

        Args:
            directories: Where it leads to; empty where that is unknown.
            repository: Whether, if unknown, that is as the attribute of this name tells.
        """
        near = repository and self.is_placed
        return replace(self, directories=directories, repository=near, before_cd=self.directories)

    def lost(self) -> State:
        """Return the state where nothing is known of the directory."""
        return replace(self, directories=(), repository=False)

    def failed(self) -> State:
        """Return the state where the last command failed."""
        if self.before_cd is None:
            return self
        return replace(self, directories=self.before_cd, before_cd=None)

    def settle(self) -> State:
        """Return the state where the last command may have failed or not."""
        if self.before_cd is None:
            return self
        return replace(self, directories=union(self.directories, self.before_cd), before_cd=None)

    def forget(self, names: Mapping[str, Shape], *, directory: bool) -> State:
        """Return the state in which `names` hold any value of their shape."""
        if not names and not directory:
            return self
        unknown = {
            name: Unknown(option=shape is Shape.ANY, shape=shape) for name, shape in names.items()
        }
        known = replace(self, variables={**self.variables, **unknown})
        return known.lost() if directory else known


def merge(*states: State) -> State:
    """Return what is known where control may come from any of `states`."""
    first = states[0].settle()
    for other in map(State.settle, states[1:]):
        if other is first or other == first:
            continue
        variables = first.variables
        if other.variables is not variables:
            names = {*variables, *other.variables}
            variables = {
                name: join([variables.get(name, ANYTHING), other.variables.get(name, ANYTHING)])
                for name in names
            }
        first = State(
            directories=union(first.directories, other.directories),
            variables=variables,
            functions=first.functions & other.functions,
            repository=first.is_placed and other.is_placed,
        )
    return first
