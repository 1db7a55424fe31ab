"""Mutation testing of the permission layer: is there a test for each of its rules?

    python -m benchmarks.mutation [--size 500] [--seed 1]

A random sample of small changes to the code and the tables of `paths`, `shell` and `permission`,
each judged by the tests that run the changed line, in a copy of the project. What no test notices
is written to `build/mutants/report.md`. `--again build/mutants/report.json` judges only the
survivors of an earlier run.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.mutation.judge import PACKAGES, BrokenSuiteError, Judge, Outcome
from benchmarks.mutation.mutant import Mutant
from benchmarks.mutation.python_source import python_mutants
from benchmarks.mutation.report import Judged, identity, read_survivors, summary, write_report
from benchmarks.mutation.rule_data import rule_mutants

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
_NICENESS = 10
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
    print(f"{len(mutants):,} mutants in {', '.join(PACKAGES)}", flush=True)
    if options.again is None:
        size = min(options.size, len(mutants))
        sample = random.Random(options.seed).sample(mutants, size)
        return [(mutant, mutant.diff(root)) for mutant in sample]
    survivors = read_survivors(options.again)
    wanted = {file for file, _ in survivors}
    diffs = [(mutant, mutant.diff(root)) for mutant in mutants if mutant.file in wanted]
    again = {identity(*pair): pair for pair in diffs if identity(*pair) in survivors}
    return list(again.values())


def judge_all(judge: Judge, mutants: Sequence[tuple[Mutant, str]], folder: Path) -> None:
    """Judge each mutant, and keep the report up to date."""
    judged: list[Judged] = []
    for mutant, diff in mutants:
        verdict = judge.judge(mutant)
        judged.append(Judged(mutant, diff, verdict))
        if verdict.outcome is not Outcome.KILLED:
            print(f"{verdict.outcome}: {mutant.file}:{mutant.lines[0]} {mutant.operator}")
        if len(judged) % 20 == 0:
            print(summary(judged), flush=True)
            write_report(folder, judged)
    print(f"{summary(judged)}; see {write_report(folder, judged)}")


def main() -> None:
    """Judge a sample, and report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=500, help="how many mutants (500)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (1)")
    parser.add_argument("--only", default="", help="a part of the names of the files to mutate")
    parser.add_argument("--again", type=Path, help="a report.json, to judge its survivors again")
    parser.add_argument("--report", type=Path, default=ROOT / "build" / "mutants", help="a folder")
    options = parser.parse_args()
    os.nice(_NICENESS)
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        copy = Path(name).resolve()
        for part in _COPIED:
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, copy / part)
            else:
                shutil.copy2(ROOT / part, copy / part)
        mutants = chosen(options, copy)
        judge = Judge(copy, test_files(copy))
        print(f"running the tests of {len(test_files(copy))} files without a mutant", flush=True)
        try:
            judge.learn()
        except BrokenSuiteError as error:
            sys.exit(str(error))
        judge_all(judge, mutants, options.report)


if __name__ == "__main__":
    main()
