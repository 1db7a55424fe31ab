"""Runs tests in a process of its own, which the judge starts for a mutant, or for several.

The processes are forked from a server that has imported pytest and the libraries, but nothing of
the project, so that a mutant costs little more than its tests. What a test may take is counted in
time of the processor: other work on the machine makes no test fail.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from itertools import groupby
from math import inf
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import pytest

__all__ = ["PACKAGES", "PRELOADED", "Lines", "Task", "Traced", "run_tests", "trace_tests"]

PACKAGES = ("agentscope_like/paths", "agentscope_like/shell", "agentscope_like/permission")
"""What is changed: all that a decision is made by."""

PRELOADED = (
    *("pytest", "_pytest.terminal", "pytest_asyncio.plugin", "pytest_timeout", "hypothesis"),
    *("_hypothesis_pytestplugin", "hypothesis.strategies", "coverage", "pydantic", "msgspec"),
    *("wcmatch.glob", "jsonschema_rs", "docstring_parser"),
)
_MOST_MEMORY = 4 * 1024**3
_MOST_EXAMPLES = 25
_MOST_FAILURES = 5
_ASLEEP = 300
"""How many seconds a test may take where it waits for something that does not come."""

_WATCHED = 4
_ONE_WATCHED = 8
"""How many seconds a test file, and a single test of it, are watched for."""

_LONG = 60

_SETTINGS = "_hypothesis_internal_use_settings"
_KIT = "tests.permission.kit"

Lines: TypeAlias = Mapping[str, frozenset[int]]
"""The executed lines of each file of the package."""


class Task(NamedTuple):
    """The tests to run.

    Attributes:
        copy: The copy of the project.
        tests: The names of files or of tests, those of one file side by side.
        limits: The seconds of the processor that a single test of a file may take.
        most: How many failures are enough.
        but: Tests that fail without any mutant, and are not run.
        hints: Words: a test that has one of them in its name is run before others of its file.
    """

    copy: Path
    tests: Sequence[str]
    limits: Mapping[str, float]
    most: int = 1
    but: frozenset[str] = frozenset()
    hints: frozenset[str] = frozenset()


class Traced(NamedTuple):
    """What was seen of a test file.

    Attributes:
        test: The file.
        lines: The lines that it runs; None where it takes too long to be watched to its end.
        seconds: What it takes.
        failed: The tests of it that fail.
    """

    test: str
    lines: Lines | None
    seconds: float
    failed: tuple[str, ...]


def run_tests(task: Task, answer: Connection) -> None:
    """Send the names of the tests that fail."""
    _settle(task.copy)
    failures: list[str] = []
    for file, names in groupby(task.tests, key=lambda test: test.partition("::")[0]):
        watcher = _Watcher(task.limits[file], task.hints)
        most = task.most - len(failures)
        failures += _failures(list(names), watcher, most, task.but)
        if len(failures) >= task.most:
            break
    signal.setitimer(signal.ITIMER_PROF, 0)
    answer.send(failures)


def trace_tests(copy: Path, tests: Sequence[str], answer: Connection) -> None:
    """Send the lines that importing runs, under no name, and a `Traced` for each of the files.

    Each file runs in a child of one process that has imported the package.
    """
    import coverage

    _settle(copy, writes_bytecode=True)
    tracer = coverage.Coverage(
        data_file=None,
        config_file=False,
        include=[str(copy / package / "*") for package in PACKAGES],
    )
    with tracer.collect():
        _import_all(copy)
    answer.send(Traced("", _lines(tracer, copy), 0.0, ()))
    for test in tests:
        child = os.fork()
        if child:
            _, status = os.waitpid(child, 0)
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
                answer.send(Traced(test, None, _LONG, ()))
            continue
        started = _seconds()
        tracer.erase()
        with tracer.collect():
            watcher = _Watcher(_ONE_WATCHED, frozenset(), _WATCHED)
            failed = _failures([test], watcher, _MOST_FAILURES)
        lines = None if watcher.share < 1 else _lines(tracer, copy)
        seconds = (_seconds() - started) / watcher.share
        answer.send(Traced(test, lines, seconds, tuple(failed)))
        answer.close()
        os._exit(0)


def _lines(tracer: object, copy: Path) -> Lines:
    data = tracer.get_data()  # type: ignore[attr-defined]
    return {
        str(Path(file).relative_to(copy)): frozenset(data.lines(file) or ())
        for file in data.measured_files()
    }


def _seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


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
    importlib.import_module(_KIT)


def _failures(
    tests: list[str], watcher: _Watcher, most: int, but: frozenset[str] = frozenset()
) -> list[str]:
    """Return the tests of one file that fail."""
    import pytest

    options = ["-q", "--assert=plain", "--tb=no", "--capture=no", "-p", "no:cacheprovider"]
    options += ["-p", "no:xdist", f"--timeout={_ASLEEP}", "--basetemp=.basetemp"]
    options += [
        f"--deselect={test}" for test in but if test.startswith(tests[0].partition("::")[0])
    ]
    ended = pytest.main([*options, f"--maxfail={most}", *tests], plugins=[watcher])
    import agentscope_like

    if not Path(agentscope_like.__file__ or "").is_relative_to(Path.cwd()):
        return [f"{agentscope_like.__file__} was imported, not the copy."]
    harmless = {
        pytest.ExitCode.OK,
        pytest.ExitCode.INTERRUPTED,
        pytest.ExitCode.NO_TESTS_COLLECTED,
    }
    if ended not in harmless and not watcher.failed:
        return [tests[0].partition("::")[0]]
    return watcher.failed


class _Watcher:
    """A plugin of pytest that tries fewer examples, and remembers the tests that failed."""

    def __init__(self, limit: float, hints: frozenset[str], watched: float = inf) -> None:
        self.failed: list[str] = []
        self._items: list[pytest.Item] = []
        self._begun = 0
        self._ends = _seconds() + watched
        self._limit = limit
        self._hints = hints

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        from hypothesis import settings

        self._items = items

        for item in items:
            test = getattr(item, "obj", None)
            own = getattr(test, _SETTINGS, None)
            if own is not None:
                fewer = min(own.max_examples, _MOST_EXAMPLES)
                setattr(test, _SETTINGS, settings(own, max_examples=fewer))
        if self._hints:
            items.sort(key=lambda item: not self._is_hinted(str(getattr(item, "name", ""))))

    def _is_hinted(self, name: str) -> bool:
        return any(hint in name for hint in self._hints)

    @property
    def share(self) -> float:
        """Which part of the tests has begun."""
        return self._begun / len(self._items) if self._items else 1

    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        if _seconds() > self._ends:
            item.session.shouldstop = "long enough"
        self._begun += 1
        signal.setitimer(signal.ITIMER_PROF, self._limit)

    def pytest_runtest_logreport(self, report: object) -> None:
        name = str(getattr(report, "nodeid", ""))
        if getattr(report, "failed", False) and name not in self.failed:
            self.failed.append(name)

    pytest_collectreport = pytest_runtest_logreport
