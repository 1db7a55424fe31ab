"""Traces the values of a command line's variables, parameters and standard inputs.

One pass over the trees of the command line and of the scripts in its words. A variable counts as
set where an assignment certainly came before; all of its assignments are possible values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct

from agentscope_like.shell.catalog import programs_with
from agentscope_like.shell.syntax import (
    Arithmetic,
    ArithmeticCommand,
    ArithmeticFor,
    Assignment,
    Case,
    Command,
    For,
    Function,
    Group,
    Heredoc,
    If,
    Literal,
    Loop,
    Pipeline,
    Redirect,
    Script,
    SimpleCommand,
    Statement,
    Substitution,
    Test,
    Variable,
    Word,
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
_ARRAY = "["


class NameFlow:
    """The sources of the text in the words of one command line.

    Tree nodes are keyed by identity.

    Args:
        scripts: The trees, each with the text that it was read from.

    Attributes:
        values: The values assigned to each variable, by name.
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
            self._script(script, None, set())

    def _script(self, script: Script, fed: Input, known: set[str]) -> None:
        """Visit a script; `known` are the variables that are set, and grows."""
        chain: list[Statement] = []
        for statement in script.statements:
            chain.append(statement)
            if statement.connector not in {"&&", "||"}:
                self._chain(chain, fed, known)
                chain = []
        self._chain(chain, fed, known)

    def _chain(self, chain: Sequence[Statement], fed: Input, known: set[str]) -> None:
        """Visit commands joined by `&&` and `||`: the variables that the first one sets stay set.

        In the background, no variable stays set.
        """
        if chain and chain[-1].connector == "&":
            known = set(known)
        for number, statement in enumerate(chain):
            if number == 1:
                known = set(known)
            self._command(statement.command, fed, known)

    def _command(self, command: Command, fed: Input, known: set[str]) -> None:
        match command:
            case SimpleCommand():
                self._simple(command, fed, known)
            case Pipeline(commands=commands):
                for each in commands:
                    self._command(each, fed, known if len(commands) == 1 else set(known))
                    fed = each
            case Function(name=name, body=body):
                self.functions.setdefault(name, []).append(body)
                outer, self._owner = self._owner, command
                self._command(body, None, set(known))
                self._owner = outer
            case _:
                self._compound(command, fed, known)

    def _compound(self, command: Command, fed: Input, known: set[str]) -> None:
        for redirect in getattr(command, "redirects", ()):
            self._redirect(redirect, fed, known)
            fed = redirect if feeds(redirect) else fed
        match command:
            case Group(body=body, subshell=subshell):
                self._script(body, fed, set(known) if subshell else known)
            case For():
                self._for(command, fed, known)
            case Loop(condition=condition, body=body):
                self._script(condition, fed, known)
                self._script(body, fed, set(known))
            case If():
                self._if(command, fed, known)
            case Case(subject=subject, arms=arms):
                self._words((subject, *(word for arm in arms for word in arm.patterns)), fed, known)
                for arm in arms:
                    self._script(arm.body, fed, set(known))
            case Test(words=words):
                self._words(words, fed, known)
            case ArithmeticCommand(expression=expression):
                self._arithmetic(expression, fed, known)
            case ArithmeticFor(body=body):
                for head in filter(None, (command.start, command.test, command.step)):
                    self._arithmetic(head, fed, known)
                self._script(body, fed, set(known))

    def _for(self, command: For, fed: Input, known: set[str]) -> None:
        parameters = Word((Variable("@", command.span, quoted=True),), command.span)
        words = (parameters,) if command.words is None else command.words
        self._words(words, fed, known)
        self.values.setdefault(command.name, []).extend(words)
        self._script(command.body, fed, known | {command.name})

    def _if(self, command: If, fed: Input, known: set[str]) -> None:
        for number, (condition, body) in enumerate(command.branches):
            inside = set(known) if number else known
            self._script(condition, fed, inside)
            self._script(body, fed, set(inside))
        if command.otherwise is not None:
            self._script(command.otherwise, fed, set(known))

    def _simple(self, command: SimpleCommand, fed: Input, known: set[str]) -> None:
        self._words(command.words, fed, known)
        for redirect in command.redirects:
            self._redirect(redirect, fed, known)
            fed = redirect if feeds(redirect) else fed
        self.inputs[id(command.words)] = fed
        if self._text:
            self.nested[id(command.words)] = self._text
        for assignment in command.assignments:
            self._assignment(assignment, fed, known)
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

    def _assignment(self, assignment: Assignment, fed: Input, known: set[str]) -> None:
        for word in (assignment.value, *(assignment.elements or ())):
            self._word(word, fed, known)
            self.values.setdefault(assignment.name, []).append(word)

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

    def _redirect(self, redirect: Redirect, fed: Input, known: set[str]) -> None:
        target = redirect.target
        self._word(target.body if isinstance(target, Heredoc) else target, fed, known)

    def _words(self, words: Iterable[Word], fed: Input, known: set[str]) -> None:
        for word in words:
            self._word(word, fed, known)

    def _word(self, word: Word, fed: Input, known: set[str]) -> None:
        for segment in word.segments:
            if isinstance(segment, Substitution):
                self._script(segment.script, fed, set(known))
            elif isinstance(segment, Variable):
                if segment.argument is not None:
                    self._word(segment.argument, fed, known)
                self._expand(segment, known)
                if segment.operator in _DEFAULTING and segment.argument is not None:
                    self._set(segment.name, segment.argument, known)
            elif isinstance(segment, Arithmetic):
                self._arithmetic(segment, fed, known)

    def _arithmetic(self, expression: Arithmetic, fed: Input, known: set[str]) -> None:
        for substitution in expression.substitutions:
            self._script(substitution.script, fed, set(known))
        known.update(expression.assigned)

    def _expand(self, variable: Variable, known: set[str]) -> None:
        self.owners[id(variable)] = self._owner
        if variable.name.partition(_ARRAY)[0] not in known:
            self.inherited.add(id(variable))


def feeds(redirect: Redirect) -> bool:
    """Return whether a redirection replaces the standard input."""
    return redirect.fd in {None, 0} and redirect.operator.startswith("<")
