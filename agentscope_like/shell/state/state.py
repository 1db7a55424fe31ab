"""What is known between two commands: variables, the directory, the functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.shell.known_names import NO_NAMES, UNKNOWN_NAMES, any_of
from agentscope_like.shell.state.directories import union
from agentscope_like.shell.state.positional import Parameters, names_in_parameters
from agentscope_like.shell.state.script_mutations import Mutations
from agentscope_like.shell.values import Argument, Shape, Unknown, join

__all__ = ["ANYTHING", "State", "merge", "widened"]

ANYTHING = Unknown()
_NUMBER = Unknown(option=False, shape=Shape.INTEGER, names=NO_NAMES)


class State(Struct, frozen=True, gc=False):
    """What is known where a command starts.

    Attributes:
        directories: Where it may run, the likeliest first; empty where unknown.
        variables: What assignments of this command line have set. A name that is missing holds
            whatever the environment gave it.
        functions: Names that are certainly functions defined in this command line.
        parameters: The positional parameters, where this command line has set them.
        stack: Every directory that `popd` may go to; None where that is unknown.
        before_cd: Where a `cd` that has just run would have stayed had it failed, or None.
        fixed: Variables that may be read-only, so that an assignment may leave them as they are.
    """

    directories: tuple[str, ...]
    variables: Mapping[str, Argument]
    functions: frozenset[str] = frozenset()
    parameters: Parameters = UNKNOWN_NAMES
    stack: tuple[str, ...] | None = ()
    before_cd: tuple[str, ...] | None = None
    fixed: frozenset[str] = frozenset()

    def assign(self, name: str, value: Argument) -> State:
        """Return the state in which `name` holds `value`, or what it held if it is read-only."""
        if name in self.fixed:
            value = join([self.variables.get(name, ANYTHING), value])
        return replace(self, variables={**self.variables, name: value})

    def fix(self, names: Iterable[str]) -> State:
        """Return the state in which `names` may be read-only."""
        fixed = self.fixed.union(names)
        return self if fixed == self.fixed else replace(self, fixed=fixed)

    def move(self, directories: tuple[str, ...]) -> State:
        """Return the state after a `cd` to one of `directories`, while it is known to succeed."""
        return replace(self, directories=directories, before_cd=self.directories)

    def push(self) -> State:
        """Return the state where `popd` may come back to where this one is."""
        known = self.stack is not None and bool(self.directories)
        return replace(self, stack=(*(self.stack or ()), *self.directories) if known else None)

    def lost(self) -> State:
        """Return the state where nothing is known of the directory."""
        return replace(self, directories=(), stack=None)

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
        shapes = {name: Shape.ANY if name in self.fixed else shape for name, shape in names.items()}
        unknown = {
            name: Unknown() if shape is Shape.ANY else _NUMBER for name, shape in shapes.items()
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
            stack=first.stack if first.stack == other.stack else None,
            parameters=_merged(first.parameters, other.parameters),
            fixed=first.fixed,
        ).fix(other.fixed)
    return first


def _merged(one: Parameters, other: Parameters) -> Parameters:
    return one if one == other else any_of(map(names_in_parameters, (one, other)))


def widened(state: State, found: Mutations, *, calls: bool, moves: bool) -> State:
    """Return what still holds in a loop.

    Args:
        state: What is known before it.
        found: What its condition and body may change.
        calls: Whether functions may be called in it.
        moves: Whether these may change the directory.
    """
    state = state.fix(found.fixed)
    kept: dict[str, Shape] = {}
    for name, shape in found.names.items():
        before = state.variables.get(name)
        known = isinstance(before, Unknown) and before.shape is Shape.INTEGER
        number = known or (isinstance(before, str) and before.isascii() and before.isdigit())
        kept[name] = shape if number else Shape.ANY
    if calls or found.anything:
        state = replace(state, variables={}, parameters=UNKNOWN_NAMES)
    elif found.parameters:
        state = replace(state, parameters=UNKNOWN_NAMES)
    return state.forget(kept, directory=found.moves or (calls and moves))
