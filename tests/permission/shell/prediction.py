"""What a tree says that bash runs, where the programs are the oracle's stubs."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.permission.shell.argv_oracle import HOME, MARKER, PROGRAMS
from tests.permission.shell.syntax import (
    Arithmetic,
    ArithmeticCommand,
    ArithmeticFor,
    Assignment,
    Case,
    For,
    Function,
    Glob,
    Group,
    Heredoc,
    If,
    Literal,
    Loop,
    Pipeline,
    Redirect,
    Script,
    SimpleCommand,
    Substitution,
    Test,
    Tilde,
    Variable,
    Word,
)

if TYPE_CHECKING:
    from tests.permission.shell.syntax import Command, Segment

__all__ = ["Prediction", "UnpredictableError", "names_marker", "predict"]


class UnpredictableError(Exception):
    """The tree holds something whose outcome only bash can know."""


@dataclass
class Prediction:
    """The argument vectors that a tree says will run, and whether their order is certain."""

    argvs: list[tuple[str, ...]] = field(default_factory=list)
    ordered: bool = True


def predict(script: Script) -> Prediction:
    """Walk a tree as bash would with the stubs, where every variable is unset.

    Raises:
        UnpredictableError: The outcome depends on more than the tree and the stubs.
    """
    runner = _Runner()
    runner.script(script)
    return runner.prediction


class _Runner:
    def __init__(self) -> None:
        self.prediction = Prediction()
        self.functions: dict[str, Command] = {}
        self.calls = 0

    def script(self, script: Script) -> bool:
        status = True
        skip = ""
        for statement in script.statements:
            runs = not ((skip == "&&" and not status) or (skip == "||" and status))
            if runs:
                status = self.command(statement.command)
            skip = statement.connector
            if skip == "&":
                self.prediction.ordered = False
                status = True
        return status

    def command(self, command: Command) -> bool:
        self.calls += 1
        if self.calls > 500:
            raise UnpredictableError
        match command:
            case SimpleCommand():
                return self.simple(command)
            case Pipeline():
                return self.pipeline(command)
            case Function():
                self.functions[command.name] = command.body
                return True
            case Test() | ArithmeticCommand() | ArithmeticFor():
                raise UnpredictableError
            case _:
                self.redirects(command.redirects)
                return self.compound(command)

    def compound(self, command: Group | For | Loop | If | Case) -> bool:
        status = True
        match command:
            case Group():
                known = dict(self.functions)
                status = self.script(command.body)
                if command.subshell:
                    self.functions = known
            case If():
                status = self.branch(command)
            case Loop():
                while self.script(command.condition) is not command.until:
                    status = self.script(command.body)
            case For():
                status = self.loop_over(command)
            case Case():
                status = self.case(command)
        return status

    def branch(self, choice: If) -> bool:
        for condition, body in choice.branches:
            if self.script(condition):
                return self.script(body)
        return choice.otherwise is None or self.script(choice.otherwise)

    def pipeline(self, pipeline: Pipeline) -> bool:
        status = True
        several = len(pipeline.commands) > 1
        if several:
            self.prediction.ordered = False
        for command in pipeline.commands:
            known = dict(self.functions)
            status = self.command(command)
            if several:
                self.functions = known
        return status is not pipeline.negated

    def loop_over(self, loop: For) -> bool:
        status = True
        for word in loop.words or ():
            for _ in self.arguments(word):
                status = self.script(loop.body)
        return status

    def case(self, case: Case) -> bool:
        subject = self.value(case.subject)
        for arm in case.arms:
            for pattern in arm.patterns:
                if any(isinstance(each, Glob) and "[" in each.text for each in pattern.segments):
                    raise UnpredictableError
                if fnmatch.fnmatchcase(subject, self.pattern(pattern)):
                    return self.script(arm.body)
        return True

    def pattern(self, word: Word) -> str:
        return "".join(
            each.text if isinstance(each, Glob) else _glob_quoted(self.segment(each))
            for each in word.segments
        )

    def simple(self, command: SimpleCommand) -> bool:
        argv = [argument for word in command.words for argument in self.arguments(word)]
        self.redirects(command.redirects)
        for assignment in command.assignments:
            self.assignment(assignment)
        if not argv:
            if command.assignments or command.words or _has_substitution(command):
                raise UnpredictableError  # the status is that of the last substitution
            return True
        if command.assignments and argv[0] in self.functions:
            raise UnpredictableError
        if argv[0] in self.functions:
            return self.command(self.functions[argv[0]])
        if argv[0] in {":", ".", "["}:
            raise UnpredictableError
        if argv[0] not in PROGRAMS:
            return False
        self.prediction.argvs.append(tuple(argv))
        return argv[0] != "no"

    def assignment(self, assignment: Assignment) -> None:
        self.value(assignment.value)
        for word in assignment.elements or ():
            self.arguments(word)
        if assignment.name in {"PATH", "HOME", "IFS"}:
            raise UnpredictableError

    def redirects(self, redirects: tuple[Redirect, ...]) -> None:
        if len(redirects) > 1 and any(each.operator in {">&", "<&"} for each in redirects):
            raise UnpredictableError
        for redirect in redirects:
            if isinstance(redirect.target, Heredoc):
                self.value(redirect.target.body)
            else:
                target = self.value(redirect.target)
                if redirect.operator != "<<<" and not _opens(redirect, target):
                    raise UnpredictableError

    def arguments(self, word: Word) -> list[str]:
        """Return the arguments that a word becomes; values hold nothing that would be split."""
        text = self.value(word)
        if any(isinstance(each, Glob) for each in word.segments):
            pattern = "".join(
                each.text if isinstance(each, Literal | Glob) else "*" for each in word.segments
            )
            if "/" in pattern or fnmatch.fnmatchcase("out", pattern):
                raise UnpredictableError
        quoted = any(_is_quoted(each) for each in word.segments)
        return [text] if text or quoted else []

    def value(self, word: Word) -> str:
        return "".join(self.segment(each) for each in word.segments)

    def segment(self, segment: Segment) -> str:
        match segment:
            case Literal() | Glob():
                return segment.text
            case Tilde(user=""):
                return HOME
            case Substitution():
                if segment.opener not in {"$(", "`"}:
                    raise UnpredictableError
                self.prediction.ordered = False
                known = dict(self.functions)
                self.script(segment.script)
                self.functions = known
                return ""
            case Variable():
                return self.variable(segment)
            case Arithmetic() if segment.text.strip().isdigit():
                return str(int(segment.text))
        raise UnpredictableError

    def variable(self, variable: Variable) -> str:
        if variable.name != "u":
            raise UnpredictableError
        operator = variable.operator
        if operator == "length":
            return "0"
        if operator in {":-", "-"} and variable.argument is not None:
            value = self.value(variable.argument)
            if not variable.quoted and not value.isalnum():
                raise UnpredictableError
            return value
        if operator in {None, ":+", "+", ":", "^", "^^", ",", ",,", "@Q", "@A", "@U"}:
            return ""
        if operator in {"#", "##", "%", "%%", "/", "//"} and variable.argument is not None:
            return ""
        raise UnpredictableError


def _opens(redirect: Redirect, target: str) -> bool:
    if isinstance(redirect.target, Word) and redirect.target.literal is None:
        return False
    if redirect.operator in {">&", "<&"}:
        return redirect.operator == ">&" and target in {"1", "2"}
    if target == "/dev/null":
        return True
    return redirect.operator != "<" and target.startswith("out/") and target.count("/") == 1


def _is_quoted(segment: Segment) -> bool:
    return isinstance(segment, Literal | Variable | Substitution | Arithmetic) and segment.quoted


def _has_substitution(command: SimpleCommand) -> bool:
    return any(
        isinstance(each, Substitution)
        for redirect in command.redirects
        if isinstance(redirect.target, Word)
        for each in redirect.target.segments
    )


def _glob_quoted(text: str) -> str:
    return "".join(f"[{each}]" if each in "*?[" else each for each in text)


def names_marker(node: object) -> bool:
    """Return whether a tree names the marker program, or a program that it leaves open."""
    if isinstance(node, SimpleCommand) and node.words:
        name = node.words[0].literal
        if name is None or name == MARKER:
            return True
    if isinstance(node, tuple):
        return any(names_marker(each) for each in node)
    names = getattr(type(node), "__slots__", ())
    return any(names_marker(getattr(node, name)) for name in names)
