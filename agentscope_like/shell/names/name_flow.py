"""Traces the values of a command line's variables, parameters and standard inputs.

One pass over the trees of the command line and of the scripts in its words. A variable counts as
set where an assignment certainly came before; all of its assignments are possible values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeAlias

from msgspec import Struct

from agentscope_like.shell.catalog import programs_with
from agentscope_like.shell.syntax import (
    Arithmetic,
    Assignment,
    Command,
    For,
    Function,
    Group,
    Heredoc,
    If,
    Literal,
    Pipeline,
    Redirect,
    Script,
    SimpleCommand,
    Statement,
    Variable,
    Word,
    children,
)

__all__ = ["Input", "NameFlow", "ReadBy", "Value", "feeds"]


class ReadBy(Struct, frozen=True, eq=False):
    """A value that `read` or `mapfile` takes from its input."""

    command: SimpleCommand


Input: TypeAlias = Command | Redirect | None
"""The command or redirection that a standard input comes from; None where that is not known."""

Value: TypeAlias = Word | ReadBy
"""What a variable is given."""

_DEFAULTING = frozenset({":=", "="})
_GIVING = _DEFAULTING | {":-", "-", ":+", "+"}
"""Operators whose argument an expansion may become."""

_BODIES = frozenset({"body", "script"})
"""Fields that hold what may run never, or in a subshell, but in a group in braces."""


class NameFlow:
    """The sources of the text in the words of one command line.

    Tree nodes are keyed by identity.

    Args:
        scripts: The trees, each with the text that it was read from.

    Attributes:
        values: The values assigned to each variable, by name.
        held: The words that variables may hold, and the texts of here-documents and here-strings.
        inherited: The expansions of variables that may come from the environment.
        inputs: The standard input of each simple command, by its words.
        owners: The function or script text that contains each expansion.
        functions: The bodies of functions, by name.
        calls: The arguments of calls, by the name that is called; those of `set` too.
        texts: The scripts, by their text.
        nested: The script text that contains the words of a command; none for the command line.
    """

    def __init__(self, scripts: Iterable[tuple[str, Script]]) -> None:
        self.values: dict[str, list[Value]] = {}
        self.held: list[Word] = []
        self.inherited: set[int] = set()
        self.inputs: dict[int, Input] = {}
        self.owners: dict[int, str | Function] = {}
        self.functions: dict[str, list[Command]] = {}
        self.calls: dict[str, list[tuple[Word, ...]]] = {}
        self.texts: dict[str, Script] = {}
        self.nested: dict[int, str] = {}
        self._owner: str | Function = ""
        self._text = ""
        for number, (text, script) in enumerate(scripts):
            self.texts[text] = script
            self._owner = text
            self._text = text if number else ""
            self._visit(script, None, set())

    def _visit(self, tree: object, fed: Input, known: set[str]) -> None:
        """Visit a tree; `known` are the variables that are set, and grows."""
        match tree:
            case Word(segments=(Literal(),)):  # as nearly always
                return
            case tuple():
                for each in tree:
                    self._visit(each, fed, known)
            case Script(statements=statements):
                self._script(statements, fed, known)
            case SimpleCommand():
                self._simple(tree, fed, known)
            case Pipeline(commands=commands) if len(commands) > 1:
                for each in commands:
                    self._visit(each, fed, set(known))
                    fed = each
            case Function(name=name, body=body):
                self.functions.setdefault(name, []).append(body)
                outer, self._owner = self._owner, tree
                self._visit(body, None, set(known))
                self._owner = outer
            case For() | If():
                self._choice(tree, self._redirected(tree, fed, known), known)
            case Struct():
                self._visit_below(tree, self._redirected(tree, fed, known), known)
                self._note(tree, known)

    def _visit_below(self, node: Struct, fed: Input, known: set[str]) -> None:
        is_shared = isinstance(node, Group) and not node.subshell
        for name, below in children(node):
            if name != "redirects":
                inside = set(known) if name in _BODIES and not is_shared else known
                self._visit(below, fed, inside)

    def _redirected(self, node: Struct, fed: Input, known: set[str]) -> Input:
        """Visit the redirections of a compound command, and return its standard input."""
        redirects: tuple[Redirect, ...] = getattr(node, "redirects", ())
        self._visit(redirects, fed, known)
        return next(filter(feeds, reversed(redirects)), fed)

    def _script(self, statements: Sequence[Statement], fed: Input, known: set[str]) -> None:
        """Visit statements; of some joined by `&&` and `||`, what the first one sets stays set.

        What others set counts behind `&&` alone, and what runs in the background sets nothing.
        """
        start = 0
        for number, statement in enumerate(statements, 1):
            if statement.connector in {"&&", "||"} and number < len(statements):
                continue
            sure = set(known) if statement.connector == "&" else known
            self._visit(statements[start].command, fed, sure)
            inside, is_sure = set(sure), True
            for before, each in pairwise(statements[start:number]):
                is_sure = is_sure and before.connector == "&&"
                self._visit(each.command, fed, inside if is_sure else set(sure))
            start = number

    def _choice(self, command: For | If, fed: Input, known: set[str]) -> None:
        """Visit a `for`, whose variable is set in its body, or the branches of an `if`."""
        if isinstance(command, For):
            parameters = Word((Variable("@", command.span, quoted=True),), command.span)
            words = (parameters,) if command.words is None else command.words
            self._visit(words, fed, known)
            self.values.setdefault(command.name, []).extend(words)
            self.held += words
            self._visit(command.body, fed, known | {command.name})
            return
        inside = known
        for condition, body in command.branches:
            self._visit(condition, fed, inside)
            inside = set(inside)
            self._visit(body, fed, set(inside))
        self._visit(command.otherwise, fed, inside)

    def _simple(self, command: SimpleCommand, fed: Input, known: set[str]) -> None:
        self._visit(command.words, fed, known)
        fed = self._redirected(command, fed, known)
        self.inputs[id(command.words)] = fed
        if self._text:
            self.nested[id(command.words)] = self._text
        for assignment in command.assignments:
            self._visit(assignment, fed, known)
            if not command.words:
                known.add(assignment.name)
        if not command.words:
            return
        name = command.words[0].literal or ""
        self.calls.setdefault(name, []).append(command.words[1:])
        if name in programs_with("fills"):
            for word in command.words[1:]:
                self._set(word.literal or "", ReadBy(command), known)
        elif name in programs_with("declares"):
            for word in command.words[1:]:
                self._declared(word, known)
        elif name == "unset":
            known.difference_update(word.literal or "" for word in command.words)

    def _note(self, node: Struct, known: set[str]) -> None:
        """Note what a node sets, expands or holds, whose nodes below have been visited."""
        match node:
            case Assignment(name=name, value=value, elements=elements):
                words = (value, *(elements or ()))
                self.values.setdefault(name, []).extend(words)
                self.held += words
            case (
                Redirect(target=Heredoc(body=text))
                | Redirect(operator="<<<", target=Word() as text)
            ):
                self.held.append(text)
            case Arithmetic(assigned=assigned):
                known.update(assigned)
            case Variable(name=name, operator=operator, argument=argument):
                self.owners[id(node)] = self._owner
                if name.partition("[")[0] not in known:
                    self.inherited.add(id(node))
                if argument is not None and operator in _GIVING:
                    self.held.append(argument)
                if argument is not None and operator in _DEFAULTING:  # the environment may set it
                    self.values.setdefault(name, []).append(argument)

    def _set(self, name: str, value: Value, known: set[str]) -> None:
        self.values.setdefault(name, []).append(value)
        known.add(name)

    def _declared(self, word: Word, known: set[str]) -> None:
        """Record the variables that `export NAME=value` and similar commands set."""
        first = word.segments[0]
        name, equals, text = first.text.partition("=") if isinstance(first, Literal) else ("",) * 3
        if equals and isinstance(first, Literal):
            rest = (Literal(text, first.span, first.quoted), *word.segments[1:])
            self._set(name, Word(rest, word.span), known)


def feeds(redirect: Redirect) -> bool:
    """Return whether a redirection replaces the standard input."""
    return redirect.fd in {None, 0} and redirect.operator.startswith("<")
