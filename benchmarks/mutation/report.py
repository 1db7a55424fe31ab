"""What became of a sample of mutants: a summary, and a table of those that no test noticed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.mutation.judge import Outcome, Verdict
from benchmarks.mutation.mutant import Mutant

__all__ = ["Judged", "read_survivors", "summary", "write_report"]


class Judged(NamedTuple):
    """A mutant, its diff, and what became of it."""

    mutant: Mutant
    diff: str
    verdict: Verdict


def summary(judged: Sequence[Judged]) -> str:
    """Return the numbers in one line."""
    counts = Counter(each.verdict.outcome for each in judged)
    noticed = counts[Outcome.KILLED] + counts[Outcome.TIMED_OUT]
    share = noticed / len(judged) if judged else 0.0
    parts = ", ".join(f"{counts[outcome]} {outcome}" for outcome in Outcome)
    return f"{len(judged)} mutants: {parts} ({share:.1%} noticed)"


def write_report(folder: Path, judged: Sequence[Judged]) -> Path:
    """Write `report.md` for people and `report.json` for `--again`; return the former."""
    folder.mkdir(parents=True, exist_ok=True)
    survivors = [each for each in judged if each.verdict.outcome is Outcome.SURVIVED]
    sections = [f"# Mutants\n\n{summary(judged)}\n", _table(judged), "## Survivors\n"]
    for each in sorted(survivors, key=lambda each: (each.mutant.file, each.mutant.start)):
        where = f"{each.mutant.file}:{each.mutant.lines[0]}"
        note = f" ({each.verdict.test})" if each.verdict.test else ""
        sections.append(
            f"### {where}\n\n{each.mutant.operator}{note}\n\n```diff\n{each.diff}\n```\n"
        )
    report = folder / "report.md"
    report.write_text("\n".join(sections), "utf-8")
    rows = [
        {
            "file": each.mutant.file,
            "line": each.mutant.lines[0],
            "operator": each.mutant.operator,
            "diff": each.diff,
            "outcome": each.verdict.outcome,
            "test": each.verdict.test,
            "seconds": round(each.verdict.seconds, 2),
        }
        for each in judged
    ]
    (folder / "report.json").write_text(json.dumps(rows, indent=1), "utf-8")
    return report


def read_survivors(file: Path) -> frozenset[tuple[str, str]]:
    """Return the files and changed lines of the survivors that a `report.json` lists."""
    return frozenset(
        (row["file"], _changed(row["diff"]))
        for row in json.loads(file.read_text("utf-8"))
        if row["outcome"] == Outcome.SURVIVED
    )


def identity(mutant: Mutant, diff: str) -> tuple[str, str]:
    """Return what a mutant is known by when lines have moved."""
    return mutant.file, _changed(diff)


def _changed(diff: str) -> str:
    return "\n".join(line for line in diff.splitlines() if not line.startswith("@@"))


def _table(judged: Iterable[Judged]) -> str:
    by_file: dict[str, Counter[Outcome]] = {}
    for each in judged:
        by_file.setdefault(each.mutant.file, Counter())[each.verdict.outcome] += 1
    rows = ["| file | killed | timed out | survived |", "|---|---:|---:|---:|"]
    for file, counts in sorted(by_file.items()):
        rows.append(f"| {file} | " + " | ".join(str(counts[outcome]) for outcome in Outcome) + " |")
    return "\n".join(rows) + "\n"
