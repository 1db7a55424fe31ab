"""Judges mutants by the tests that run what they change.

First each mutant alone is shown to the few test files that are likeliest to notice it. The mutants
that are left go into one copy together, and all other files run once: where a test fails, it runs
again with each of them alone, and what it notices is taken out. What no test notices is shown to
mypy, which is one of the tests.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, TypeAlias

from benchmarks.mutation.known_tests import KnownTests
from benchmarks.mutation.mutant import Mutant
from benchmarks.mutation.worker import PACKAGES, PRELOADED, Task, Traced, run_tests, trace_tests

__all__ = ["BrokenSuiteError", "Judge", "Outcome", "Verdict", "apart", "judge_together"]

_FIRST = 60
"""How many seconds the tests take that a mutant is shown to alone."""

_TOGETHER = 8
"""How many test files run in one process with all mutants that are left."""

_FAILURES = 25
"""How many failures are looked at before the mutants that they notice are taken out."""

_HUNG = 1800
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(list(PRELOADED))
_HEADER = re.compile(rb"^\[.*\]", re.MULTILINE)
_WORD = re.compile(r"[\w.-]{2,}")


class BrokenSuiteError(Exception):
    """A test fails without any mutant."""


class Outcome(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    TIMED_OUT = "timed out"
    SURVIVED = "survived"


class Verdict(NamedTuple):
    """What became of a mutant, the test that noticed it, and the seconds that took."""

    outcome: Outcome
    test: str
    seconds: float


class _Ran(NamedTuple):
    """The tests that failed, and whether the process came to its end."""

    failed: tuple[str, ...]
    outcome: Outcome | None = None

    @property
    def verdict(self) -> tuple[Outcome, str] | None:
        if self.outcome is not None:
            return self.outcome, "the process ended"
        return (Outcome.KILLED, self.failed[0]) if self.failed else None


Seeing: TypeAlias = dict[Mutant, frozenset[str]]
"""The test files that run the lines of each mutant."""

Found: TypeAlias = dict[Mutant, tuple[Outcome, str]]
"""What became of mutants, and the tests that noticed them."""


class Judge:
    """Judges mutants in a copy of the project.

    Args:
        copy: The directory of the copy, whose files are changed and restored.
        known: What is known of the tests.
        cache: The cache of mypy.
    """

    def __init__(self, copy: Path, known: KnownTests, cache: Path) -> None:
        self._copy = copy
        self._cache = cache
        self._known = known

    def learn(self, tests: Sequence[str]) -> None:
        """Run these test files without a mutant."""
        receiver, sender = _PROCESSES.Pipe(duplex=False)
        process = _PROCESSES.Process(target=trace_tests, args=(self._copy, tests, sender))
        process.start()
        sender.close()
        with suppress(EOFError):
            while True:
                traced: Traced = receiver.recv()
                self._known.learn(traced)
        process.join()

    def judge_alone(self, mutant: Mutant) -> Verdict | None:
        """Return what the likeliest tests say, or None where none of them notices the mutant."""
        first: list[str] = []
        for test in self._known.in_order(mutant):
            if first and self._known.taken([*first, test]) > _FIRST:
                break
            first.append(test)
        self._known.shown[mutant] = frozenset(first)
        started = time.monotonic()
        verdict = self._run([mutant], first).verdict
        self._known.remember(mutant, first, verdict[1] if verdict else "")
        return Verdict(*verdict, time.monotonic() - started) if verdict else None

    def failing(self, tests: Sequence[str]) -> frozenset[str]:
        """Return which of the tests that noticed something fail without a mutant, too."""
        return (
            frozenset(self._run([], sorted(set(tests)), len(tests)).failed)
            if tests
            else frozenset()
        )

    def sift(
        self,
        group: Sequence[Mutant],
        tests: Sequence[str],
        seeing: Seeing,
        found: Found,
    ) -> None:
        """Find the mutants of the group that these files notice."""
        while left := [mutant for mutant in group if mutant not in found]:
            ran = self._run(left, tests, _FAILURES)
            if ran.verdict is None:
                return
            failed = ran.failed if ran.outcome is None else tests
            new = self._noticed(left, failed, seeing) or self._noticed(left, tests, seeing)
            found.update(new)
            if not new:
                return

    def _noticed(
        self,
        mutants: Sequence[Mutant],
        tests: Sequence[str],
        seeing: Seeing,
    ) -> Found:
        found: Found = {}
        unexplained = dict.fromkeys(tests)
        first = tests[0].partition("::")[0]
        for mutant in sorted(mutants, key=lambda each: -self._known.promise(each, first)):
            own = [test for test in unexplained if test.partition("::")[0] in seeing[mutant]]
            if not own:
                continue
            ran = self._run([mutant], own, len(own) if "::" in own[0] else 1)
            if verdict := ran.verdict:
                found[mutant] = verdict
                for test in ran.failed:
                    unexplained.pop(test, None)
        return found

    def sift_types(self, group: Sequence[Mutant], found: Found) -> None:
        """Find the mutants of the group that mypy notices.

        Raises:
            BrokenSuiteError: mypy complains without any mutant.
        """
        left = [each for each in group if each not in found and each.file.endswith(".py")]
        with self._changed(left):
            if not left or not self._mistyped():
                return
        if wrong := self._mistyped():
            raise BrokenSuiteError(f"The types do not hold without a mutant: {wrong}")
        for mutant in left:
            with self._changed([mutant]):
                if self._mistyped():
                    found[mutant] = (Outcome.KILLED, "mypy")

    def _mistyped(self) -> str:
        """Return what mypy says against the package, or nothing."""
        packages = [f"--package={package.replace('/', '.')}" for package in PACKAGES]
        command = [sys.executable, "-m", "mypy", f"--cache-dir={self._cache}", *packages]
        done = subprocess.run(command, cwd=self._copy, capture_output=True, text=True, check=False)
        return done.stdout if done.returncode else ""

    def _run(self, mutants: Sequence[Mutant], tests: Sequence[str], most: int = 1) -> _Ran:
        hints = frozenset().union(*(_hints(each, self._copy) for each in mutants))
        task = Task(self._copy, tests, self._known.limits, most, self._known.failing, hints)
        receiver, sender = _PROCESSES.Pipe(duplex=False)
        process = _PROCESSES.Process(target=run_tests, args=(task, sender))
        with self._changed(mutants):
            process.start()
            sender.close()
            try:
                if not receiver.poll(_HUNG):
                    return _Ran((), Outcome.TIMED_OUT)
                return _Ran(tuple(receiver.recv()))
            except EOFError:
                process.join()
                is_slow = process.exitcode == -signal.SIGPROF
                return _Ran((), Outcome.TIMED_OUT if is_slow else Outcome.KILLED)
            finally:
                if process.pid is not None:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
                process.join()

    @contextmanager
    def _changed(self, mutants: Sequence[Mutant]) -> Iterator[None]:
        """Put the mutants into the copy, and restore it afterwards."""
        before = {mutant.file: self._copy / mutant.file for mutant in mutants}
        kept = {path: (path.read_bytes(), path.stat()) for path in before.values()}
        try:
            for mutant in sorted(mutants, key=lambda each: -each.start):
                path = before[mutant.file]
                path.write_bytes(mutant.applied(path.read_bytes()))
            yield
        finally:
            for path, (source, stat) in kept.items():
                path.write_bytes(source)
                os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def judge_together(
    judges: Sequence[Judge], known: KnownTests, mutants: Sequence[Mutant]
) -> dict[Mutant, Verdict]:
    """Return what all other tests say of the mutants that the likeliest did not notice."""
    verdicts: dict[Mutant, Verdict] = {}
    for group in apart(mutants):
        verdicts.update(_judge_group(judges, known, group))
    return verdicts


def _judge_group(
    judges: Sequence[Judge], known: KnownTests, group: Sequence[Mutant]
) -> dict[Mutant, Verdict]:
    started = time.monotonic()
    seeing = {mutant: frozenset(known.in_order(mutant)) for mutant in group}
    others = frozenset().union(*(seeing[mutant] - known.shown[mutant] for mutant in group))
    left = [test for test in known.tests if test in others]
    parts = iter([left[start : start + _TOGETHER] for start in range(0, len(left), _TOGETHER)])
    found: Found = {}

    def sift(judge: Judge) -> None:
        for tests in parts:
            judge.sift(group, tests, seeing, found)

    with ThreadPoolExecutor(len(judges)) as pool:
        list(pool.map(sift, judges))
    judges[0].sift_types(group, found)
    seconds = (time.monotonic() - started) / len(group)
    verdicts = {}
    for mutant in group:
        outcome, test = found.get(mutant, (Outcome.SURVIVED, ""))
        known.remember(mutant, seeing[mutant], test)
        if not seeing[mutant]:
            test = "no test runs this line"
        verdicts[mutant] = Verdict(outcome, test, seconds)
    return verdicts


def apart(mutants: Sequence[Mutant]) -> list[list[Mutant]]:
    """Return the mutants in groups of which no two change the same statement or table."""
    groups: list[list[Mutant]] = []
    for mutant in mutants:
        fitting = (group for group in groups if not any(_overlap(mutant, each) for each in group))
        group = next(fitting, None)
        if group is None:
            groups.append(group := [])
        group.append(mutant)
    return groups


def _overlap(one: Mutant, other: Mutant) -> bool:
    return one.file == other.file and (
        (one.start <= other.end and other.start <= one.end)
        or (one.lines[0] <= other.lines[1] and other.lines[0] <= one.lines[1])
    )


def _hints(mutant: Mutant, copy: Path) -> frozenset[str]:
    """Return words that the names of tests of a changed table are likely to have."""
    if not mutant.file.endswith(".toml"):
        return frozenset()
    source = (copy / mutant.file).read_bytes()
    removed = source[mutant.start : mutant.end].decode()
    headers = [found[0].decode() for found in _HEADER.finditer(source[: mutant.start])]
    found = _WORD.findall(removed if len(removed) < 100 else "")
    found += _WORD.findall(headers[-1])[1:] if headers else []
    return frozenset(found)
