"""Finds the variables that a script may change, and whether it may change the directory.

Used for scripts that may run any number of times (a loop) or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, field

from agentscope_like.shell.catalog import programs_with
from agentscope_like.shell.draft import BudgetError
from agentscope_like.shell.syntax import (
    Arithmetic,
    Assignment,
    For,
    Function,
    Group,
    Literal,
    Pipeline,
    Script,
    SimpleCommand,
    Substitution,
    Variable,
    Word,
    nodes,
    read_let,
)
from agentscope_like.shell.values import Shape, elements_of

__all__ = ["Mutations", "fixes", "mutations"]

_FIXING = re.compile(r"-\w*r\w*")
_LONGEST_OPTION = 200
_MOST_EXPRESSIONS = 200
_INTO_ARRAY = re.compile(r"-\w*a")


class Mutations(Struct):
    """What a script may change.

    Attributes:
        names: Variables it may set, with the shape of every value they may get.
        anything: Whether it may set any variable, since it runs or sets a computed name.
        moves: Whether it may change the directory.
        parameters: Whether it may change the positional parameters.
        functions: Names of the functions that it defines.
        fixed: Names of the variables that it may make read-only.
        arrays: Names of the variables that it may make arrays.
    """

    names: dict[str, Shape] = field(default_factory=dict)
    anything: bool = False
    moves: bool = False
    parameters: bool = False
    functions: set[str] = field(default_factory=set)
    fixed: set[str] = field(default_factory=set)
    arrays: set[str] = field(default_factory=set)

    def assign(self, name: str, shape: Shape) -> None:
        """Note that `name` may get a value of `shape`."""
        self.names[name] = min(shape, self.names.get(name, shape))


def fixes(name: str, words: Iterable[str]) -> bool:
    """Return whether the builtin `name` makes the variables read-only that `words` name."""
    return name == "readonly" or (
        name in programs_with("declares") and any(map(_FIXING.fullmatch, words))
    )


def mutations(*scripts: Script, outlasting: bool = False) -> Mutations:
    """Return what `scripts` may change in the shell that runs them."""
    found = Mutations()
    for script in scripts:
        for node in _in_the_shell(script, outlasting=outlasting):
            _note(node, found)
    return found


_CHANGING = frozenset({SimpleCommand, For, Variable, Arithmetic, Function})
_APART = frozenset({Substitution, Pipeline, Group})
"""Nodes that may change something, and those all of which may run in a subshell."""


def _in_the_shell(script: Script, *, outlasting: bool) -> Iterator[Struct]:
    """Yield the nodes that may change the shell, none of them in a substitution.

    Args:
        script: The script.
        outlasting: Whether those in other subshells are left out as well.
    """
    apart: set[int] = set()
    for node in script.nodes:
        kind = type(node)
        if kind in _CHANGING and id(node) not in apart:
            yield node
        elif kind in _APART and (kind is Substitution or (outlasting and _is_subshell(node))):
            apart.update(map(id, nodes(node)))


def _is_subshell(node: Struct) -> bool:
    """Return whether all of a command runs in subshells; `lastpipe` is never proven harmless."""
    if isinstance(node, Pipeline):
        return len(node.commands) > 1
    return isinstance(node, Group) and node.subshell


def _note(node: Struct, found: Mutations) -> None:
    match node:
        case SimpleCommand():
            _simple(node, found)
        case For(name=name) | Variable(name=name, operator=":=" | "="):
            found.assign(name, Shape.ANY)
        case Arithmetic(assigned=names):
            for name in names:
                found.assign(name, Shape.INTEGER)
        case Function(name=name):
            found.functions.add(name)


def _simple(command: SimpleCommand, found: Mutations) -> None:
    if not command.words:
        for assignment in command.assignments:
            found.assign(assignment.name, _assigned(assignment))
            if assignment.elements is not None:
                found.assign(elements_of(assignment.name), Shape.ANY)
                found.arrays.add(assignment.name)
        return
    words = command.words
    while len(words) > 1 and words[0].literal in programs_with("transparent"):
        words = words[1:]
        while len(words) > 1 and _leading(words[0]).startswith("-"):
            words = words[1:]
    _builtin(words[0].literal, words[1:], found)


def _builtin(name: str | None, words: Sequence[Word], found: Mutations) -> None:
    """Note what the command `name` may change; it is None where it is computed.

    Raises:
        BudgetError: It is given too many expressions, or too long an option.
    """
    if name is None:
        found.anything = found.moves = found.parameters = True
    elif name in programs_with("parameters") or name in programs_with("evaluator"):
        found.parameters = True
    elif name in programs_with("moves"):
        found.moves = True
    elif name == "let":
        if len(words) > _MOST_EXPRESSIONS:
            raise BudgetError
        for word in words:
            _evaluated(word, found)
    elif name in programs_with("assigns"):
        named = [variable for word in words for variable in _named(word, found)]
        if name != "read" or any(map(_INTO_ARRAY.match, map(_leading, words))):
            found.arrays.update(named if name in programs_with("fills") else ())
        if fixes(name, map(_leading, words)):
            found.fixed.update(_leading(word).partition("=")[0] for word in words)


def _named(word: Word, found: Mutations) -> Iterator[str]:
    """Note the variable that an argument of `read`, `export` and their kin names, and yield it.

    Raises:
        BudgetError: It is an option of so many letters that a name may begin at any of them.
    """
    name, equals, _ = _leading(word).partition("=")
    if not equals and word.literal is None:
        found.anything = True
    if name.startswith("-") and len(name) > _LONGEST_OPTION:
        raise BudgetError
    starts = range(len(name)) if name.startswith("-") else (0,)  # as in `-aNAME`
    for start in starts:
        found.assign(name[start:], Shape.ANY)
        yield name[start:]


def _evaluated(word: Word, found: Mutations) -> None:
    """Note the variables that an argument of `let` sets."""
    text = word.literal
    expression = None if text is None else read_let(text)
    if expression is None:
        found.anything = True
        return
    for name in expression.assigned:
        found.assign(name, Shape.INTEGER)


def _assigned(assignment: Assignment) -> Shape:
    segments = assignment.value.segments
    if len(segments) != 1 or assignment.append or assignment.elements is not None:
        return Shape.ANY
    only = segments[0]
    if isinstance(only, Arithmetic):
        return Shape.INTEGER
    if isinstance(only, Literal) and only.text.isascii() and only.text.isdigit():
        return Shape.INTEGER
    return Shape.ANY


def _leading(word: Word) -> str:
    first = word.segments[0]
    return first.text if isinstance(first, Literal) else ""
