"""Mutation testing of the permission layer: is there a test for each of its rules?

    python -m benchmarks.mutation [--size 500] [--seed 1]

A random sample of small changes to the code and the tables of `paths`, `shell` and `permission`, in
copies of the project: each is judged by the likeliest of the tests that run the changed line, and
those that these do not notice together by all others. What no test notices is written to
`build/mutants/report.md`; what is known of the tests is kept beside it for the next run.
`--again build/mutants/report.json` judges only the survivors of an earlier run.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from queue import Queue

from benchmarks.mutation.judge import BrokenSuiteError, Judge, Outcome, Verdict, judge_together
from benchmarks.mutation.known_tests import KnownTests
from benchmarks.mutation.mutant import Mutant
from benchmarks.mutation.python_source import python_mutants
from benchmarks.mutation.report import Judged, identity, read_survivors, summary, write_report
from benchmarks.mutation.rule_data import changes_data, rule_mutants
from benchmarks.mutation.worker import PACKAGES

ROOT = Path(__file__).resolve().parents[2]
TESTS = (
    "tests/permission",
    "tests/cli/test_check.py",
    "tests/oracle/test_corpus.py",
    "tests/tool/builtin/test_bash_file_rules.py",
    "tests/tool/builtin/test_bash_git.py",
    "tests/tool/builtin/test_bash_git_files.py",
    "tests/tool/builtin/test_bash_git_remembered.py",
    "tests/tool/builtin/test_bash_grant.py",
    "tests/tool/builtin/test_bash_hidden_names.py",
    "tests/tool/builtin/test_bash_links.py",
    "tests/tool/builtin/test_bash_path.py",
    "tests/tool/builtin/test_bash_permissions.py",
    "tests/tool/builtin/test_bash_rules.py",
    "tests/tool/builtin/test_bash_secrets.py",
    "tests/tool/builtin/test_bash_showing.py",
    "tests/tool/builtin/test_bash_spellings.py",
    "tests/tool/builtin/test_bash_steering.py",
    "tests/tool/builtin/test_bash_ways.py",
    "tests/tool/builtin/test_credential_paths.py",
    "tests/tool/builtin/test_edit_previews.py",
    "tests/tool/builtin/test_file_permissions.py",
    "tests/tool/builtin/test_search_rules.py",
    "tests/tool/builtin/test_second_reader.py",
    "tests/tool/builtin/test_work_tree.py",
    "tests/test_named_paths.py",
    "tests/test_record.py",
)
FOLDER = ROOT / "build" / "mutants"
_NICENESS = 5
_COPIED = ("agentscope_like", "tests", "benchmarks", "pyproject.toml")


def all_mutants(root: Path) -> Iterator[Mutant]:
    """Yield every mutant of the permission layer, file by file."""
    for path in sorted(path for package in PACKAGES for path in (root / package).rglob("*")):
        file = str(path.relative_to(root))
        if path.suffix == ".py":
            yield from python_mutants(file, path.read_bytes())
        elif path.suffix == ".toml":
            yield from rule_mutants(file, path.read_bytes())


def test_files(root: Path) -> list[str]:
    """Return the test files that decide, relative to `root`."""
    found: list[Path] = []
    for name in TESTS:
        path = root / name
        found += sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
    return [str(path.relative_to(root)) for path in found]


def chosen(options: argparse.Namespace, root: Path) -> list[tuple[Mutant, str]]:
    """Return the mutants to judge, with their diffs."""
    mutants = [mutant for mutant in all_mutants(root) if options.only in mutant.file]
    print(f"about {len(mutants):,} mutants in {', '.join(PACKAGES)}", flush=True)
    if options.again is None:
        random.Random(options.seed).shuffle(mutants)
        real = (mutant for mutant in mutants if is_real(mutant, root))
        return [(mutant, mutant.diff(root)) for mutant in islice(real, options.size)]
    survivors = read_survivors(options.again)
    wanted = {file for file, _ in survivors}
    diffs = [(mutant, mutant.diff(root)) for mutant in mutants if mutant.file in wanted]
    again = {identity(*pair): pair for pair in diffs if identity(*pair) in survivors}
    return list(again.values())


def is_real(mutant: Mutant, root: Path) -> bool:
    """Return whether the file says something else with the mutant, and can be read."""
    if not mutant.file.endswith(".toml"):
        return True
    return changes_data(mutant, (root / mutant.file).read_bytes())


def learn(judges: Sequence[Judge], known: KnownTests) -> None:
    """Run the test files that nothing is known of, some in each copy."""
    if unknown := known.unknown:
        print(f"running the tests of {len(unknown)} files without a mutant", flush=True)
        shares = [unknown[start :: len(judges)] for start in range(len(judges))]
        with ThreadPoolExecutor(len(judges)) as pool:
            list(pool.map(Judge.learn, judges, shares))
    if known.failing:
        print("not run, as they fail without a mutant:", *sorted(known.failing))
    if known.unknown:
        raise BrokenSuiteError(f"{' '.join(known.unknown)} ended early.")


def judge_all(
    judges: Sequence[Judge],
    known: KnownTests,
    mutants: Sequence[tuple[Mutant, str]],
    folder: Path,
) -> list[Judged]:
    """Judge each mutant alone, then those that are left together, and write the report."""
    judged: list[Judged] = []
    left: list[tuple[Mutant, str]] = []
    free = Queue[Judge]()
    for judge in judges:
        free.put(judge)

    def alone(mutant: Mutant) -> Verdict | None:
        judge = free.get()
        try:
            return judge.judge_alone(mutant)
        finally:
            free.put(judge)

    with ThreadPoolExecutor(len(judges)) as pool:
        for pair, verdict in zip(mutants, pool.map(alone, dict(mutants)), strict=True):
            if verdict is None:
                left.append(pair)
            else:
                judged.append(Judged(*pair, verdict))
    print(f"{summary(judged)} by the likeliest tests, {len(left)} are left", flush=True)
    write_report(folder, judged)
    together = judge_together(judges, known, [mutant for mutant, _ in left])
    judged += [Judged(*pair, together[pair[0]]) for pair in left]
    write_report(folder, judged)
    failing = judges[0].failing([each.verdict.test for each in judged if "::" in each.verdict.test])
    judged = [
        each._replace(verdict=Verdict(Outcome.SURVIVED, each.verdict.test, each.verdict.seconds))
        if each.verdict.test in failing
        else each
        for each in judged
    ]
    print(f"{summary(judged)}; see {write_report(folder, judged)}")
    return judged


def main() -> None:
    """Judge a sample, and report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=500, help="how many mutants (500)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (1)")
    parser.add_argument("--only", default="", help="a part of the names of the files to mutate")
    parser.add_argument("--again", type=Path, help="a report.json, to judge its survivors again")
    parser.add_argument("--report", type=Path, default=FOLDER, help="a folder")
    parser.add_argument("--workers", type=int, default=2, help="how many at a time (2)")
    options = parser.parse_args()
    os.nice(_NICENESS)
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        copies = [Path(name).resolve() / str(number) for number in range(options.workers)]
        for copy in copies:
            copy_project(copy)
        mutants = chosen(options, copies[0])
        known = KnownTests(copies[0], test_files(copies[0]))
        known.load(FOLDER / "tests.json")
        judges = [Judge(copy, known, FOLDER / "types") for copy in copies]
        try:
            learn(judges, known)
            known.save(FOLDER / "tests.json")
            judge_all(judges, known, mutants, options.report)
        except BrokenSuiteError as error:
            sys.exit(str(error))
        finally:
            known.save(FOLDER / "tests.json")


def copy_project(copy: Path) -> None:
    """Copy all that the tests need."""
    for part in _COPIED:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, copy / part)
        else:
            shutil.copy2(ROOT / part, copy / part)


if __name__ == "__main__":
    main()
