"""What is known of the test files: the lines they run, what they take, and what they noticed.

It is kept beside the reports, so that a file that has not changed is not run again for it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path, PurePath

from benchmarks.mutation.mutant import Mutant
from benchmarks.mutation.worker import PACKAGES, Lines, Traced

__all__ = ["KnownTests"]

_OWN = 8
"""How many failures a test file with a word of the changed one's name is credited with."""

_SOON, _LATE = 3, 12
_LIMIT = 15
_SLOWER = 3
"""How many times longer a test may take than all tests of its file took before."""


class KnownTests:
    """The test files of a copy of the project.

    Args:
        copy: The copy.
        tests: The files, relative to it.

    Attributes:
        tests: These files.
        failing: Tests that fail without any mutant, as on a machine with too much to do.
        shown: The files that each mutant was shown to alone, where none of them noticed it.
    """

    def __init__(self, copy: Path, tests: Sequence[str]) -> None:
        self.tests = tuple(tests)
        self.failing: frozenset[str] = frozenset()
        self.shown: dict[Mutant, frozenset[str]] = {}
        self._imported: Lines = {}
        self._reached: dict[str, Lines | None] = {}
        self._seconds: dict[str, float] = {}
        self._hashes = {test: _hash([copy / test]) for test in tests}
        folders = [copy / package for package in PACKAGES]
        self._sources = _hash(path for folder in folders for path in folder.rglob("*.*"))
        self._runs: Counter[tuple[str, str]] = Counter()
        self._kills: Counter[tuple[str, str]] = Counter()

    @property
    def unknown(self) -> list[str]:
        """The files that nothing is known of."""
        return [test for test in self.tests if test not in self._reached]

    @property
    def limits(self) -> dict[str, float]:
        """The seconds of the processor that a single test of each file may take."""
        return {test: _LIMIT + _SLOWER * taken for test, taken in self._seconds.items()}

    def learn(self, traced: Traced) -> None:
        """Take down what was seen of a file, or, under no name, of the import."""
        if not traced.test:
            self._imported = traced.lines or {}
            return
        self.failing |= frozenset(traced.failed)
        self._seconds[traced.test] = max(traced.seconds, 0.05)
        self._reached[traced.test] = traced.lines

    def taken(self, tests: Iterable[str]) -> float:
        """Return the seconds that these files take."""
        return sum(self._seconds[test] for test in tests)

    def in_order(self, mutant: Mutant) -> list[str]:
        """Return the files that run the changed lines, the best chance per second first."""
        users = _users(mutant.file)
        first, last = mutant.lines
        changed = frozenset(range(first, last + 1))
        if users != (mutant.file,) or changed & self._imported.get(mutant.file, frozenset()):
            seeing = [test for test in self.tests if self._runs_any(test, users)]
            seeing = seeing or list(self.tests)
        else:
            seeing = [test for test in self.tests if self._runs_one(test, mutant.file, changed)]
        return sorted(seeing, key=lambda test: -self.promise(mutant, test))

    def remember(self, mutant: Mutant, tests: Iterable[str], failed: str) -> None:
        """Take down that these files ran with a mutant, and which test noticed it, if one did."""
        for test in tests:
            for place in _places(mutant):
                self._runs[place, test] += 1
                self._kills[place, test] += failed.startswith(test)
            if failed.startswith(test):
                return

    def _runs_any(self, test: str, files: Iterable[str]) -> bool:
        lines = self._reached[test]
        return lines is None or any(map(lines.get, files))

    def _runs_one(self, test: str, file: str, changed: frozenset[int]) -> bool:
        lines = self._reached[test]
        return lines is None or bool(lines.get(file, frozenset()) & changed)

    def promise(self, mutant: Mutant, test: str) -> float:
        """Return how likely the test file is to fail soon, going by what it has done.

        A long file fails early where it fails, so that more than some seconds make no difference.
        """
        path = PurePath(mutant.file)
        kills = sum(self._kills[place, test] for place in _places(mutant))
        runs = sum(self._runs[place, test] for place in _places(mutant))
        name = PurePath(test).stem
        is_its_own = any(word in name for word in (*path.stem.split("_"), path.parent.name))
        return (
            (kills + 1 + _OWN * is_its_own)
            / (runs + 2 + _OWN)
            / (_SOON + min(self._seconds[test], _LATE))
        )

    # Between runs

    def load(self, file: Path) -> None:
        """Take over what is known of files that have not changed since."""
        if not file.exists():
            return
        kept = json.loads(file.read_text("utf-8"))
        for counter, name in ((self._runs, "runs"), (self._kills, "kills")):
            counter.update({(place, test): number for place, test, number in kept[name]})
        if kept["sources"] != self._sources:
            return
        self._imported = _as_lines(kept["imported"]) or {}
        for test, (hashed, seconds, lines) in kept["tests"].items():
            if self._hashes.get(test) == hashed:
                self.learn(Traced(test, _as_lines(lines), seconds, ()))
        self.failing = frozenset(kept["failing"])

    def save(self, file: Path) -> None:
        """Keep what is known for a later run."""
        kept = {
            "sources": self._sources,
            "failing": sorted(self.failing),
            "imported": _as_lists(self._imported),
            "tests": {
                test: (self._hashes[test], self._seconds[test], _as_lists(self._reached[test]))
                for test in self._reached
            },
            "runs": [(*key, number) for key, number in self._runs.items()],
            "kills": [(*key, number) for key, number in self._kills.items()],
        }
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(kept), "utf-8")


def _places(mutant: Mutant) -> tuple[str, str]:
    return mutant.file, PurePath(mutant.file).parent.name


def _hash(paths: Iterable[Path]) -> str:
    found = sha256()
    for path in sorted(paths):
        if path.suffix in {".py", ".toml"}:
            found.update(path.read_bytes())
    return found.hexdigest()


def _as_lists(lines: Lines | None) -> dict[str, list[int]] | None:
    return None if lines is None else {file: sorted(numbers) for file, numbers in lines.items()}


def _as_lines(lists: dict[str, list[int]] | None) -> Lines | None:
    return None if lists is None else {file: frozenset(numbers) for file, numbers in lists.items()}


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
    f"{_SENSITIVE}/private_files.toml": (f"{_SENSITIVE}/sensitive_paths.py",),
}
