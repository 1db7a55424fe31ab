"""What checkpoints cost as they grow in number: `python -m benchmarks.checkpoints`.

In a project of 5,000 files, the time of one more checkpoint, of a page of the list and of the
restoration of one file, after few checkpoints and after 10,000 more.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from agentscope_like.checkpoint import CheckpointStore, FileChange, FileVersion, recorded

FILES = 5_000
CHECKPOINTS = 10_000
RUNS = 50


def main() -> None:
    """Measure, and print a table."""
    with tempfile.TemporaryDirectory() as directory:
        project = Path(directory, "project")
        project.mkdir()
        for number in range(FILES):
            (project / f"{number}.txt").write_text("old\n")
        store = CheckpointStore(Path(directory, "data", "checkpoints.db"))
        _change_many(store, project, 100)
        few = _measured(store, project)
        _change_many(store, project, CHECKPOINTS)
        many = _measured(store, project)
        store.close()
    print(f"| operation | after 100, ms | after {CHECKPOINTS + 100:,}, ms |")
    print("|---|---:|---:|")
    for name, figure in few.items():
        print(f"| {name} | {figure * 1e3:.2f} | {many[name] * 1e3:.2f} |")


def _change_many(store: CheckpointStore, project: Path, count: int) -> None:
    for number in range(count):
        _change(store, project / f"{number % FILES}.txt", f"{number}\n")


def _change(store: CheckpointStore, path: Path, text: str) -> int:
    before, after = FileVersion(path.read_bytes()), FileVersion(text.encode())
    with recorded(store, [FileChange(str(path), before, after)], session_id="s") as number:
        path.write_text(text)
    return number


def _measured(store: CheckpointStore, project: Path) -> dict[str, float]:
    path = project / "7.txt"
    operations: dict[str, Callable[[int], object]] = {
        "one more checkpoint": lambda run: _change(store, path, f"run {run}\n"),
        "a page of 50": lambda _: store.page(session_id="s"),
        "what restores one file": lambda _: store.restoration(3, [str(path)], session_id="s"),
    }
    return {name: median(_times(run)) for name, run in operations.items()}


def _times(run: Callable[[int], object]) -> list[float]:
    times = []
    for number in range(RUNS):
        start = time.perf_counter()
        run(number)
        times.append(time.perf_counter() - start)
    return times


if __name__ == "__main__":
    main()
