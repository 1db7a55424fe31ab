"""What a command line really runs, told by bash, and what the reader's tree says it runs.

`BashOracle` runs text with a real bash whose PATH holds only stub programs that log their
arguments. `predict` walks a tree as bash would run it with the same stubs. Where both speak, they
must say the same.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agentscope_like.permission.shell.tree import (
    Arithmetic,
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
    Tilde,
    Variable,
    Word,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentscope_like.permission.shell.tree import Command, Segment

__all__ = ["BASH", "HOME", "MARKER", "PROGRAMS", "BashOracle", "Unpredictable", "names_marker", "predict"]

BASH = shutil.which("bash")

MARKER = "evil"
PROGRAMS = ("a", "b", "c", "no", "in", "12", MARKER)
HOME = "/home/stub"

_STUB = """#!/bin/sh
printf '%s\\0' "$#" "${0##*/}" "$@" >>"$STUB_LOG"
[ "${0##*/}" != no ]
"""

_WAIT_DESCRIPTOR = 200


class BashOracle:
    """Runs commands with stub programs and tells which of them ran, with which arguments."""

    def __init__(self, directory: Path) -> None:
        self._programs = directory / "programs"
        self._programs.mkdir()
        self._work = directory / "work"
        self._log = directory / "log"
        for name in PROGRAMS:
            stub = self._programs / name
            stub.write_text(_STUB)
            stub.chmod(0o755)

    @staticmethod
    def accepts(command: str) -> bool:
        """Return whether bash can parse a command."""
        arguments = [BASH or "bash", "--norc", "--noprofile", "-n", "-c", "--", command]
        done = subprocess.run(arguments, env={"LC_ALL": "C.UTF-8"}, capture_output=True, check=False)
        return done.returncode == 0 and b"warning" not in done.stderr

    def run(self, command: str, *, timeout: float = 5) -> list[tuple[str, ...]] | None:
        """Return the argument vectors that the stubs saw, in order; None after a timeout."""
        shutil.rmtree(self._work, ignore_errors=True)
        (self._work / "out").mkdir(parents=True)
        self._log.write_bytes(b"")
        environment = {
            "PATH": str(self._programs),
            "STUB_LOG": str(self._log),
            "HOME": HOME,
            "LC_ALL": "C.UTF-8",
        }
        reading, writing = os.pipe()
        os.dup2(writing, _WAIT_DESCRIPTOR)
        os.close(writing)
        process = subprocess.Popen(
            [BASH or "bash", "--norc", "--noprofile", "-c", "--", command],
            cwd=self._work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(_WAIT_DESCRIPTOR,),
            start_new_session=True,
            restore_signals=False,  # a closed pipe must not end its writer
        )
        os.close(_WAIT_DESCRIPTOR)
        try:
            process.wait(timeout)
            os.read(reading, 1)  # returns when the last child has closed its end
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            os.close(reading)
        return list(self._records())

    def _records(self) -> Iterator[tuple[str, ...]]:
        fields = self._log.read_bytes().decode(errors="surrogateescape").split("\0")
        index = 0
        while index + 1 < len(fields):
            count = int(fields[index]) + 1
            yield tuple(fields[index + 1 : index + 1 + count])
            index += count + 1


class Unpredictable(Exception):
    """The tree holds something whose outcome only bash can know."""


@dataclass
class Prediction:
    """The argument vectors that a tree says will run, and whether their order is certain."""

    argvs: list[tuple[str, ...]] = field(default_factory=list)
    ordered: bool = True


def predict(script: Script) -> Prediction:
    """Walk a tree as bash would with the stubs, where every variable is unset.

    Raises:
        Unpredictable: The outcome depends on more than the tree and the stubs.
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
            raise Unpredictable
        match command:
            case SimpleCommand():
                return self.simple(command)
            case Pipeline():
                return self.pipeline(command)
            case Function(name=name, body=body):
                self.functions[name] = body
                return True
        self.redirects(command.redirects)
        match command:
            case Group():
                known = dict(self.functions)
                status = self.script(command.body)
                if command.subshell:
                    self.functions = known
                return status
            case If():
                for condition, body in command.branches:
                    if self.script(condition):
                        return self.script(body)
                return command.otherwise is None or self.script(command.otherwise)
            case Loop():
                status = True
                while self.script(command.condition) is not command.until:
                    status = self.script(command.body)
                return status
            case For():
                return self.loop_over(command)
            case Case():
                return self.case(command)
        raise Unpredictable

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
                    raise Unpredictable
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
                raise Unpredictable  # the status is that of the last substitution
            return True
        if command.assignments and argv[0] in self.functions:
            raise Unpredictable
        if argv[0] in self.functions:
            return self.command(self.functions[argv[0]])
        if argv[0] in {":", ".", "["}:
            raise Unpredictable
        if argv[0] not in PROGRAMS:
            return False
        self.prediction.argvs.append(tuple(argv))
        return argv[0] != "no"

    def assignment(self, assignment: Assignment) -> None:
        self.value(assignment.value)
        if assignment.name in {"PATH", "HOME", "IFS"}:
            raise Unpredictable

    def redirects(self, redirects: tuple[Redirect, ...]) -> None:
        closed = False
        for redirect in redirects:
            duplicates = redirect.operator in {">&", "<&"}
            if closed and duplicates:
                raise Unpredictable
            closed = closed or duplicates
            if isinstance(redirect.target, Heredoc):
                self.value(redirect.target.body)
            else:
                target = self.value(redirect.target)
                if redirect.operator != "<<<" and not _opens(redirect, target):
                    raise Unpredictable

    def arguments(self, word: Word) -> list[str]:
        """Return the arguments that a word becomes; values hold nothing that would be split."""
        text = self.value(word)
        if any(isinstance(each, Glob) for each in word.segments):
            pattern = "".join(
                each.text if isinstance(each, Literal | Glob) else "*" for each in word.segments
            )
            if "/" in pattern or fnmatch.fnmatchcase("out", pattern):
                raise Unpredictable
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
                    raise Unpredictable
                self.prediction.ordered = False
                known = dict(self.functions)
                self.script(segment.script)
                self.functions = known
                return ""
            case Variable():
                return self.variable(segment)
            case Arithmetic() if segment.text.strip().isdigit():
                return str(int(segment.text))
        raise Unpredictable

    def variable(self, variable: Variable) -> str:
        if variable.name != "u":
            raise Unpredictable
        operator = variable.operator
        if operator == "length":
            return "0"
        if operator in {":-", "-"} and variable.argument is not None:
            value = self.value(variable.argument)
            if not variable.quoted and not value.isalnum():
                raise Unpredictable
            return value
        if operator in {None, ":+", "+", ":", "^", "^^", ",", ",,"}:
            return ""
        if operator in {"#", "##", "%", "%%", "/", "//"} and variable.argument is not None:
            return ""
        raise Unpredictable


def _opens(redirect: Redirect, target: str) -> bool:
    if redirect.operator in {">&", "<&"}:
        return redirect.operator == ">&" and target in {"1", "2", "-"}
    if target == "/dev/null":
        return True
    return redirect.operator not in {"<"} and target.startswith("out/")


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
