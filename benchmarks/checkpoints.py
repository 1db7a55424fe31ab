"""What checkpoints cost as they grow in number: `python -m benchmarks.checkpoints`.

In a project of 5,000 files, the time of one more checkpoint, of a page of the list and of the
restoration of one file, after few checkpoints and after 10,000 more.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from agentscope_like.bridge import run
from agentscope_like.checkpoint import CheckpointStore, FileChange, FileVersion, recorded
from agentscope_like.message import ToolCallBlock, ToolResponse
from agentscope_like.permission import PermissionContext, PermissionMode
from agentscope_like.state import AgentState
from agentscope_like.tool import Restore, Toolkit

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
        "one file restored, decided and written": lambda number: run(
            _restore(store, project, 3 if number % 2 else 8)
        ),
    }
    return {name: median(_times(operation)) for name, operation in operations.items()}


async def _restore(store: CheckpointStore, project: Path, checkpoint: int) -> None:
    """Restore one file through the guarded call path."""
    policy = PermissionContext.from_rules(
        mode=PermissionMode.ACCEPT_EDITS, working_directories=[project]
    )
    state = AgentState(session_id="s", permission_context=policy)
    arguments = json.dumps({"checkpoint": checkpoint, "file_path": str(project / "7.txt")})
    call = ToolCallBlock(id=str(time.perf_counter_ns()), name="Restore", input=arguments)
    async for item in Toolkit(tools=[Restore(store, cwd=project)]).call_tool(call, state):
        if isinstance(item, ToolResponse) and item.state != "success":
            raise RuntimeError(f"nothing was restored: {item}")


def _times(operation: Callable[[int], object]) -> list[float]:
    times = []
    for number in range(RUNS):
        start = time.perf_counter()
        operation(number)
        times.append(time.perf_counter() - start)
    return times


if __name__ == "__main__":
    main()
