"""What is known between two commands: variables, the directory, the functions, the parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from posixpath import normpath
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.shell.draft import Pipe, WalkScope
from agentscope_like.shell.state.script_mutations import Mutations
from agentscope_like.shell.syntax import Script, SimpleCommand
from agentscope_like.shell.values import (
    NO_NAMES,
    Argument,
    Shape,
    Unknown,
    any_of,
    join,
    names_of,
)

__all__ = [
    "UNKNOWN_PARAMETERS",
    "Parameters",
    "State",
    "absolute",
    "after_cd",
    "are_counted",
    "joined",
    "known_parameters",
    "merge",
    "parameters_after",
    "parameters_of_calls",
    "walked",
    "widened",
    "without_parameters",
]

_MAX_DIRECTORIES = 8
"""How many directories a command may be in before its directory counts as unknown."""


def absolute(directory: str | None, target: str) -> str | None:
    """Return `target` seen from `directory`, `.` and `..` folded; None where that is unknown."""
    if not target.startswith("/"):
        if directory is None or not target:
            return None
        target = f"{directory}/{target}"
    folded = normpath(target)
    return folded[1:] if folded.startswith("//") else folded


def joined(directory: str | None, target: str) -> str | None:
    """Return `target` seen from `directory`, nothing folded; None where that is unknown."""
    if target.startswith("/"):
        return target
    return None if directory is None or not target else f"{directory}/{target}"


def walked(directory: str | None, target: str) -> str:
    """Return `target` seen from `directory` if, behind a symlink, folding it leads elsewhere.

    Args:
        directory: What a relative path is relative to; None where that is unknown.
        target: A path.

    Returns:
        The absolute path with its `..` and the slash at its end; empty where there is neither.
    """
    if ".." not in target and target[-1:] not in "/." and ".." not in (directory or ""):
        return ""
    path = joined(directory, target) or ""
    return path if "/.." in path or path[1:].endswith(("/", "/.")) else ""


def after_cd(
    directories: tuple[str, ...],
    target: Argument | None,
    home: str | None,
    *,
    fold: Callable[[str | None, str], str | None] = absolute,
) -> tuple[str, ...]:
    """Return the directories that a successful `cd target` may lead to; empty means unknown.

    Args:
        directories: Where the `cd` runs; empty where that is unknown.
        target: Its operand, or None where it has none.
        home: The home directory, or None where unknown.
        fold: `absolute`, as the shell does it, or `joined`, for a program, which has it from the
            kernel.
    """
    if target is None:
        return (home,) if home else ()
    if isinstance(target, Unknown):
        targets = (*target.choices, *(() if target.single or not target.choices else (None,)))
        return _union(*(after_cd(directories, each, home, fold=fold) for each in targets))
    if target in {"", "-"}:
        return () if target else directories
    if target.startswith("/"):
        return tuple(filter(None, (fold(None, target),)))
    moved = (fold(directory, target) for directory in directories)
    return tuple(dict.fromkeys(path for path in moved if path))


def _union(*sets: tuple[str, ...]) -> tuple[str, ...]:
    """Return the directories of all `sets`, the first set's first; empty if any is unknown."""
    if not all(sets):
        return ()
    merged = tuple(dict.fromkeys(path for one in sets for path in one))
    return merged if len(merged) <= _MAX_DIRECTORIES else ()


Parameters: TypeAlias = tuple[Argument, ...]
"""The positional parameters in order, or one argument that stands for any number of them."""

UNKNOWN_PARAMETERS: Parameters = (Unknown(single=False),)

_END = "--"
_CALLED_BY_BASH = "command_not_found_handle"


def known_parameters(arguments: Sequence[Argument]) -> Parameters:
    """Return arguments as parameters; only their names if one may expand to several or none."""
    if all(isinstance(each, str) or (each.single and not each.optional) for each in arguments):
        return tuple(arguments)
    return _any_number(arguments)


def _any_number(arguments: Sequence[Argument]) -> Parameters:
    return (Unknown(single=False, names=any_of([*map(names_of, arguments), NO_NAMES])),)


def are_counted(parameters: Parameters) -> bool:
    """Return whether it is known how many parameters there are."""
    return all(isinstance(each, str) or each.single for each in parameters)


def parameters_after(arguments: Sequence[Argument], before: Parameters) -> Parameters:
    """Return the parameters after `set` or `shift` (bash(1), SHELL BUILTIN COMMANDS)."""
    name, *rest = arguments
    if name == "shift":
        return _shifted(rest, before)
    if name != "set":
        return UNKNOWN_PARAMETERS
    while rest:
        option = rest.pop(0)
        if option == _END:
            return known_parameters(rest)
        if not isinstance(option, str) or len(option) < len("-e") or option[0] not in "-+":
            return UNKNOWN_PARAMETERS
        if option.endswith("o") and rest:
            named = rest.pop(0)
            if not isinstance(named, str) or not named.isalpha():
                return UNKNOWN_PARAMETERS  # it names no option, and may end them
    return before


def _shifted(count: Sequence[Argument], before: Parameters) -> Parameters:
    number = count[0] if count else "1"
    is_counted = len(count) <= 1 and are_counted(before)
    if not (is_counted and isinstance(number, str) and number.isascii() and number.isdecimal()):
        return _any_number(before)
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


_ANYTHING = Unknown()
_NUMBER = Unknown(option=False, shape=Shape.INTEGER, names=NO_NAMES)


class State(Struct, frozen=True, gc=False):
    """What is known where a command starts.

    Attributes:
        directories: Where it may run, the likeliest first; empty where unknown.
        variables: What assignments of this command line have set. A name that is missing holds
            whatever the environment gave it.
        functions: The functions that are certainly defined here, and where they print to.
        parameters: The positional parameters, where this command line has set them.
        stack: Every directory that `popd` may go to; None where that is unknown.
        before_cd: Where a `cd` that has just run would have stayed had it failed, or None.
        fixed: Variables that may be read-only, so that an assignment may leave them as they are.
    """

    directories: tuple[str, ...]
    variables: Mapping[str, Argument]
    functions: Mapping[str, Pipe] = {}
    parameters: Parameters = UNKNOWN_PARAMETERS
    stack: tuple[str, ...] | None = ()
    before_cd: tuple[str, ...] | None = None
    fixed: frozenset[str] = frozenset()

    def assign(self, name: str, value: Argument) -> State:
        """Return the state in which `name` holds `value`, or what it held if it is read-only."""
        if name in self.fixed:
            value = join([self.variables.get(name, _ANYTHING), value])
        return replace(self, variables={**self.variables, name: value})

    def fix(self, names: Iterable[str]) -> State:
        """Return the state in which `names` may be read-only."""
        return replace(self, fixed=self.fixed.union(names))

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
        return replace(self, directories=_union(self.directories, self.before_cd), before_cd=None)

    def forget(self, names: Mapping[str, Shape]) -> State:
        """Return the state in which `names` hold any value of their shape."""
        if not names:
            return self
        shapes = {name: Shape.ANY if name in self.fixed else shape for name, shape in names.items()}
        unknown = {
            name: Unknown() if shape is Shape.ANY else _NUMBER for name, shape in shapes.items()
        }
        return replace(self, variables={**self.variables, **unknown})


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
                name: join([variables.get(name, _ANYTHING), other.variables.get(name, _ANYTHING)])
                for name in names
            }
        first = State(
            directories=_union(first.directories, other.directories),
            variables=variables,
            functions=_common(first.functions, other.functions),
            stack=first.stack if first.stack == other.stack else None,
            parameters=first.parameters
            if first.parameters == other.parameters
            else _any_number([*first.parameters, *other.parameters]),
            fixed=first.fixed,
        ).fix(other.fixed)
    return first


def _common(one: Mapping[str, Pipe], other: Mapping[str, Pipe]) -> Mapping[str, Pipe]:
    """Return the functions of both states, each of which may be either."""
    if one is other:
        return one
    both = one.keys() & other.keys()
    return {name: Pipe([*one[name].printers, *other[name].printers]) for name in both}


def widened(state: State, found: Mutations, scope: WalkScope) -> State:
    """Return what still holds in a loop that may change what was `found`."""
    state = state.fix(found.fixed)
    if not found.functions.isdisjoint(state.functions):
        same = {name: pipe for name, pipe in state.functions.items() if name not in found.functions}
        state = replace(state, functions=same)
    kept: dict[str, Shape] = {}
    for name, shape in found.names.items():
        before = state.variables.get(name)
        known = isinstance(before, Unknown) and before.shape is Shape.INTEGER
        number = known or (isinstance(before, str) and before.isascii() and before.isdigit())
        kept[name] = shape if number else Shape.ANY
    calls = bool(scope.defined)
    if calls or found.anything:
        state = replace(state, variables={}, parameters=UNKNOWN_PARAMETERS)
    elif found.parameters:
        state = replace(state, parameters=UNKNOWN_PARAMETERS)
    state = state.forget(kept)
    return state.lost() if found.moves or (calls and scope.moves) else state
