"""Runs the tests that can see a mutant, in a fresh process that ends at the first failure.

What they do not notice is shown to mypy, which is one of the tests. The processes are forked from a
server that has imported pytest and the libraries, but nothing of the project, so that a mutant
costs little more than its tests.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from multiprocessing.connection import Connection
from pathlib import Path, PurePath
from typing import NamedTuple, TypeAlias

from benchmarks.mutation.mutant import Mutant

__all__ = ["PACKAGES", "BrokenSuiteError", "Judge", "Outcome", "Verdict"]

PACKAGES = ("agentscope_like/paths", "agentscope_like/shell", "agentscope_like/permission")
"""What is changed: all that a decision is made by."""

_PRELOADED = (
    *("pytest", "_pytest.terminal", "pytest_asyncio.plugin", "pytest_timeout", "hypothesis"),
    *("_hypothesis_pytestplugin", "hypothesis.strategies", "coverage", "pydantic", "msgspec"),
    *("wcmatch.glob", "jsonschema_rs", "docstring_parser"),
)
_MOST_MEMORY = 4 * 1024**3
_ONE_TEST = 20
_SECONDS_BEYOND = 20
_SLOWER = 3
"""How many times longer the tests may take than before, on a machine that does other work."""

_MOST_EXAMPLES = 25
_ALONE = 4
"""How many test files are tried one by one; what no test of theirs notices, few others do."""

_OWN = 8
"""How many failures a test file that is named like the changed one is credited with."""

_SETTINGS = "_hypothesis_internal_use_settings"

Lines: TypeAlias = Mapping[str, frozenset[int]]
"""The executed lines of each file of the package."""


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


class Judge:
    """Judges mutants in a copy of the project.

    Args:
        copy: The directory of the copy, whose files are changed and restored.
        tests: The test files to run, relative to it.
    """

    def __init__(self, copy: Path, tests: Sequence[str]) -> None:
        self._copy = copy
        self._tests = tuple(tests)
        self._processes = multiprocessing.get_context("forkserver")
        self._processes.set_forkserver_preload(list(_PRELOADED))
        self._imported: Lines = {}
        self._reached: dict[str, Lines] = {}
        self._seconds: dict[str, float] = {}
        self._runs: Counter[tuple[str, str]] = Counter()
        self._kills: Counter[tuple[str, str]] = Counter()

    def learn(self) -> None:
        """Run each test file without a mutant, and remember what it takes and which lines it runs.

        Raises:
            BrokenSuiteError: A test fails.
        """
        if wrong := self._mistyped():
            raise BrokenSuiteError(f"The types do not hold without a mutant: {wrong}")
        self._imported, _ = self._traced(())
        for test in self._tests:
            started = time.monotonic()
            lines, failed = self._traced((test,))
            self._seconds[test] = time.monotonic() - started
            if failed:
                raise BrokenSuiteError(f"{failed} fails without a mutant: mend it first.")
            self._reached[test] = {
                file: ran - self._imported.get(file, frozenset()) for file, ran in lines.items()
            }

    def judge(self, mutant: Mutant) -> Verdict:
        """Return what becomes of the mutant; the copy is restored before."""
        tests = self._in_order(mutant)
        if not tests:
            return Verdict(Outcome.SURVIVED, "no test runs this line", 0.0)
        limit = _SLOWER * sum(self._seconds[test] for test in tests) + _SECONDS_BEYOND
        path = self._copy / mutant.file
        source, before = path.read_bytes(), path.stat()
        path.write_bytes(mutant.applied(source))
        started = time.monotonic()
        try:
            failed = self._run(tests, limit)
            if failed == "" and path.suffix == ".py" and self._mistyped():
                failed = "mypy"
        finally:
            path.write_bytes(source)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        self._remember(mutant, tests, failed)
        seconds = time.monotonic() - started
        if failed is None:
            return Verdict(Outcome.TIMED_OUT, "", seconds)
        return Verdict(Outcome.KILLED if failed else Outcome.SURVIVED, failed, seconds)

    def _in_order(self, mutant: Mutant) -> list[str]:
        """Return the test files that run the changed lines, the best chance per second first."""
        users = _users(mutant.file)
        first, last = mutant.lines
        changed = frozenset(range(first, last + 1))
        none: frozenset[int] = frozenset()
        if users != (mutant.file,) or changed & self._imported.get(mutant.file, none):
            seeing = [t for t in self._tests if any(map(self._reached[t].get, users))]
            seeing = seeing or list(self._tests)
        else:
            seeing = [t for t in self._tests if self._reached[t].get(mutant.file, none) & changed]
        return sorted(seeing, key=lambda test: -self._promise(mutant, test))

    def _promise(self, mutant: Mutant, test: str) -> float:
        """Return how likely the test file is to fail in a second, going by what it has done."""
        path = PurePath(mutant.file)
        places = (mutant.file, path.parent.name)
        kills = sum(self._kills[place, test] for place in places)
        runs = sum(self._runs[place, test] for place in places)
        is_its_own = any(
            name in test for name in (f"test_{path.stem}.", f"test_{path.parent.name}.")
        )
        return (kills + 1 + _OWN * is_its_own) / (runs + 2 + _OWN) / self._seconds[test]

    def _remember(self, mutant: Mutant, tests: Iterable[str], failed: str | None) -> None:
        for test in tests:
            for place in (mutant.file, PurePath(mutant.file).parent.name):
                self._runs[place, test] += 1
                self._kills[place, test] += bool(failed and failed.startswith(test))
            if failed and failed.startswith(test):
                return

    def _mistyped(self) -> str:
        """Return what mypy says against the package, or nothing."""
        packages = [f"--package={package.replace('/', '.')}" for package in PACKAGES]
        command = [sys.executable, "-m", "mypy", *packages]
        done = subprocess.run(command, cwd=self._copy, capture_output=True, text=True, check=False)
        return done.stdout if done.returncode else ""

    def _run(self, tests: Sequence[str], limit: float) -> str | None:
        """Return the first test that fails, nothing where none does, None where time runs out."""
        receiver, sender = self._processes.Pipe(duplex=False)
        process = self._processes.Process(target=_work, args=(self._copy, tests, sender))
        process.start()
        sender.close()
        try:
            in_time = receiver.poll(limit)
            if not in_time:
                return None
            answer: str = receiver.recv()
        except EOFError:
            return "the process ended"
        else:
            return answer
        finally:
            if process.pid is not None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.join()

    def _traced(self, tests: Sequence[str]) -> tuple[Lines, str]:
        receiver, sender = self._processes.Pipe(duplex=False)
        process = self._processes.Process(target=_work_traced, args=(self._copy, tests, sender))
        process.start()
        sender.close()
        try:
            answer: tuple[Lines, str] = receiver.recv()
        except EOFError:
            raise BrokenSuiteError(f"{' '.join(tests) or 'the import'} ended early.") from None
        finally:
            process.join()
        return answer


def _users(file: str) -> tuple[str, ...]:
    """Return the modules by which a test sees `file`: what reads a table, or starts a program."""
    if not file.endswith(".toml"):
        return (*_READERS.get(file, ()), file)
    beside = f"{file.removesuffix('.toml')}.py"
    is_program = file.startswith(f"{_CATALOG}/")
    readers = _READERS.get(beside, _READERS.get(file, ()))
    return (*readers, beside, *([f"{_CATALOG}/compiler.py"] if is_program else []))


_CATALOG = "agentscope_like/shell/catalog"
_SENSITIVE = "agentscope_like/paths/sensitive"
_READERS = {
    f"{_CATALOG}/traits.py": ("agentscope_like/shell/analysis.py",),
    f"{_CATALOG}/steered_by.toml": (f"{_CATALOG}/steering.py",),
    f"{_SENSITIVE}/sensitive.toml": (f"{_SENSITIVE}/sensitive_paths.py",),
    f"{_SENSITIVE}/removal.toml": (f"{_SENSITIVE}/critical_removal.py",),
}


# In the process of a mutant


def _work(copy: Path, tests: Sequence[str], answer: Connection) -> None:
    _settle(copy)
    answer.send(_first_failure(tests))


def _work_traced(copy: Path, tests: Sequence[str], answer: Connection) -> None:
    import coverage

    _settle(copy, writes_bytecode=True)
    tracer = coverage.Coverage(
        data_file=None,
        config_file=False,
        include=[str(copy / package / "*") for package in PACKAGES],
    )
    with tracer.collect():
        _import_all(copy)
        failed = _first_failure(tests)
    data = tracer.get_data()
    lines = {
        str(Path(file).relative_to(copy)): frozenset(data.lines(file) or ())
        for file in data.measured_files()
    }
    answer.send((lines, failed))


def _settle(copy: Path, *, writes_bytecode: bool = False) -> None:
    """Make the copy the project that this process and its children import."""
    os.setsid()
    os.chdir(copy)
    os.environ["PYTHONPATH"] = str(copy)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["SHELL_ORACLE_EXAMPLES"] = str(_MOST_EXAMPLES * 2)
    sys.dont_write_bytecode = not writes_bytecode
    sys.path.insert(0, str(copy))
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        if name != __name__:
            del sys.modules[name]
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    _register_profile()


def _register_profile() -> None:
    from hypothesis import Phase, settings

    settings.register_profile(
        "mutation",
        database=None,
        deadline=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
    )
    settings.load_profile("mutation")


def _import_all(copy: Path) -> None:
    import importlib

    for path in sorted(path for package in PACKAGES for path in (copy / package).rglob("*.py")):
        name = ".".join(path.relative_to(copy).with_suffix("").parts)
        importlib.import_module(name.removesuffix(".__init__"))


def _first_failure(tests: Sequence[str]) -> str:
    """Return the first test that fails, or nothing."""
    import pytest

    import agentscope_like

    if not Path(agentscope_like.__file__ or "").is_relative_to(Path.cwd()):
        raise BrokenSuiteError(f"{agentscope_like.__file__} was imported, not the copy.")
    options = ["-q", "-x", "--assert=plain", "--tb=no", "--capture=no", "-p", "no:cacheprovider"]
    options += ["-p", "no:xdist", f"--timeout={_ONE_TEST}", "--basetemp=.basetemp"]
    alone = [[test] for test in tests[:_ALONE]]
    for together in filter(None, [*alone, tests[_ALONE:]]):
        watcher = _Watcher()
        if pytest.main([*options, *together], plugins=[watcher]) != pytest.ExitCode.OK:
            return watcher.failed or f"{together[0]}::cannot be collected"
    return ""


class _Watcher:
    """A plugin of pytest that tries fewer examples, and remembers the test that failed."""

    failed = ""

    def pytest_collection_modifyitems(self, items: Sequence[object]) -> None:
        from hypothesis import settings

        for item in items:
            test = getattr(item, "obj", None)
            own = getattr(test, _SETTINGS, None)
            if own is not None:
                fewer = min(own.max_examples, _MOST_EXAMPLES)
                setattr(test, _SETTINGS, settings(own, max_examples=fewer))

    def pytest_runtest_logreport(self, report: object) -> None:
        if getattr(report, "failed", False) and not self.failed:
            self.failed = str(getattr(report, "nodeid", ""))

    pytest_collectreport = pytest_runtest_logreport
