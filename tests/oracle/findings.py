"""The commands that the strict reader found in a text, in a form that other parsers share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from itertools import zip_longest
from typing import TypeAlias

from msgspec import Struct, field

from agentscope_like.shell.syntax import (
    Arithmetic,
    ArithmeticCommand,
    ArithmeticFor,
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
    Segment,
    SimpleCommand,
    Span,
    Statement,
    Substitution,
    Test,
    Variable,
    Word,
)

__all__ = ["Construct", "Findings", "Places", "find"]

Places: TypeAlias = tuple[tuple[int, int], ...]
"""Where the words of one command stand, in a form that parsers of any make share."""

_LISTING = frozenset({"&&", "||"})
_SEPARATOR = re.compile(r"[ \t]*(;[ \t])")


class Construct(StrEnum):
    """A form of the shell language that some parser does not know."""

    ARITHMETIC = "arithmetic"
    ARRAY = "array"
    CASE = "case"
    HEREDOC = "heredoc"
    TEST = "[["
    TIMING = "time"


class Findings(Struct):
    """The simple commands of a script, at any depth, and where other parsers are known to differ.

    Attributes:
        commands: For each simple command the places of its assignments and words, in order.
        targets: The places of the files that redirections name, and of the texts of `<<<`.
        buried: Those of `commands` and `targets` that stand where bashlex never looks: in the body
            of a heredoc, in the argument of `${...}`, after the first line of a substitution.
        timings: Where a `time` stands.
        constructs: The forms that occur.
        evaluations: The places of what `((...))` holds, which bashlex takes for subshells.
        braces: The brackets of `time { ...; }`, which tree-sitter takes for words.
        literals: What stands in single quotes, quotes included, outside of backticks.
        lists: The `&&` and `||` directly within substitutions, outside of backticks.
        separators: Each `;` and the blank behind it between two commands on the line of a heredoc.
    """

    commands: list[Places] = field(default_factory=list)
    targets: list[Places] = field(default_factory=list)
    buried: set[Places] = field(default_factory=set)
    timings: list[Span] = field(default_factory=list)
    constructs: set[Construct] = field(default_factory=set)
    evaluations: list[Span] = field(default_factory=list)
    braces: set[int] = field(default_factory=set)
    literals: list[Span] = field(default_factory=list)
    lists: list[Span] = field(default_factory=list)
    separators: list[Span] = field(default_factory=list)


def find(text: str, script: Script) -> Findings:
    """Return what the strict reader found.

    Args:
        text: The text that was read.
        script: What it was read as.
    """
    finder = _Finder(text)
    finder.script(script)
    return finder.found


class _Finder:
    """Walks a script in the order of its text."""

    __slots__ = ("_backticks", "_buried", "_heredoc_line_end", "_text", "found")

    def __init__(self, text: str) -> None:
        self._text = text
        self._buried = 0
        self._backticks = 0
        self._heredoc_line_end = 0
        self.found = Findings()

    def script(self, script: Script) -> None:
        for statement, following in zip_longest(script.statements, script.statements[1:]):
            self._command(statement.command)
            if following is not None and not self._backticks:
                self._separator(statement.command, following.command)

    def _separator(self, command: Command, following: Command) -> None:
        """Note the `; ` between two commands where both stand on the line of a heredoc."""
        found = _SEPARATOR.match(self._text, command.span.end)
        if found is not None and following.span.start < self._heredoc_line_end:
            self.found.separators.append(Span(*found.span(1)))

    def _command(self, command: Command) -> None:
        match command:
            case SimpleCommand():
                self._simple(command)
            case Pipeline():
                self._pipeline(command)
                return
            case Function(body=body):
                self._command(body)
                return
            case Case():
                self._case(command)
            case Test(words=words):
                self.found.constructs.add(Construct.TEST)
                self._words(words)
            case ArithmeticCommand(expression=expression):
                self._evaluation(expression)
            case _:
                self._compound(command)
        for redirect in command.redirects:
            self._redirect(redirect)

    def _evaluation(self, *expressions: Arithmetic | None) -> None:
        spans = [each.span for each in expressions if each is not None]
        self.found.constructs.add(Construct.ARITHMETIC)
        self.found.evaluations += spans
        self._buried += 1
        for expression in expressions:
            for each in () if expression is None else expression.substitutions:
                self._substitution(each)
        self._buried -= 1

    def _first_head(self, start: Arithmetic | None) -> None:
        """Note the first part of a counting loop's head: tree-sitter takes it for an assignment."""
        self._evaluation(start)
        if start is not None and start.assigned:
            begin, end = start.span
            text = self._text[begin:end]
            begin += len(text) - len(text.lstrip())
            self.found.commands.append(((begin, begin + len(text.strip())),))

    def _compound(self, command: Group | For | ArithmeticFor | Loop | If) -> None:
        match command:
            case Group(body=body):
                self.script(body)
            case For(words=words, body=body):
                self._words(words or ())
                self.script(body)
            case ArithmeticFor(start=start, test=test, step=step, body=body):
                self._evaluation(test, step)
                self._first_head(start)
                self.script(body)
            case Loop(condition=condition, body=body):
                self.script(condition)
                self.script(body)
            case If(branches=branches, otherwise=otherwise):
                for branch in branches:
                    for script in branch:
                        self.script(script)
                if otherwise is not None:
                    self.script(otherwise)

    def _simple(self, command: SimpleCommand) -> None:
        spans = [assignment.span for assignment in command.assignments]
        spans += [word.span for word in command.words]
        if spans:
            self._note(self.found.commands, dict.fromkeys(spans))
        for assignment in command.assignments:
            if assignment.elements is None:
                self._word(assignment.value)
            else:
                self.found.constructs.add(Construct.ARRAY)
                self._words(assignment.elements)
        self._words(command.words)

    def _note(self, to: list[Places], spans: Iterable[Span]) -> None:
        places = tuple([(span.start, span.end) for span in spans])
        to.append(places)
        if self._buried:
            self.found.buried.add(places)

    def _pipeline(self, pipeline: Pipeline) -> None:
        if pipeline.timed:
            self.found.constructs.add(Construct.TIMING)
            first = pipeline.commands[0]
            self.found.timings.append(Span(pipeline.span.start, first.span.start))
            if isinstance(first, Group) and not first.subshell:
                self.found.braces |= {first.span.start, first.body.span.end}
        for command in pipeline.commands:
            self._command(command)

    def _case(self, command: Case) -> None:
        self.found.constructs.add(Construct.CASE)
        self._word(command.subject)
        for arm in command.arms:
            self._words(arm.patterns)
            self.script(arm.body)

    def _redirect(self, redirect: Redirect) -> None:
        target = redirect.target
        if isinstance(target, Heredoc):
            self.found.constructs.add(Construct.HEREDOC)
            self._heredoc_line_end = self._text.find("\n", redirect.span.end)
            if not target.quoted:
                self._below(target.body)
        elif redirect.operator not in {">&", "<&"}:
            self._note(self.found.targets, (target.span,))
            self._word(target)

    def _below(self, word: Word) -> None:
        self._buried += 1
        self._word(word)
        self._buried -= 1

    def _words(self, words: Iterable[Word]) -> None:
        for word in words:
            self._word(word)

    def _word(self, word: Word) -> None:
        for segment in word.segments:
            self._segment(segment)

    def _segment(self, segment: Segment) -> None:
        match segment:
            case Literal(span=span, quoted=True):
                if self._text.startswith("'", span.start) and not self._backticks:
                    self.found.literals.append(span)
            case Substitution():
                self._substitution(segment)
            case Variable(argument=argument):
                if argument is not None:
                    self._below(argument)
            case Arithmetic(substitutions=substitutions):
                for each in substitutions:
                    self._substitution(each)
                self.found.constructs.add(Construct.ARITHMETIC)

    def _substitution(self, segment: Substitution) -> None:
        in_backticks = segment.opener == "`"
        self._backticks += in_backticks
        further_lines = 0
        for statement in segment.script.statements:
            self._command(statement.command)
            if statement.connector in _LISTING and not self._backticks:
                self._list(statement)
            if statement.connector == "\n" and not further_lines:
                further_lines = 1
                self._buried += 1
        self._buried -= further_lines
        self._backticks -= in_backticks

    def _list(self, statement: Statement) -> None:
        """Note the operator behind a statement; only blanks can stand between the two."""
        start = self._text.find(statement.connector, statement.command.span.end)
        self.found.lists.append(Span(start, start + len(statement.connector)))
