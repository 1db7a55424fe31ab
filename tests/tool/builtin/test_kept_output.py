"""Copies of long output: what a full disk costs, how many are kept, and who reads them back."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentscope_like.message import ToolCallBlock, ToolResponse
from agentscope_like.middleware import DirectoryOutputStore
from agentscope_like.permission import PermissionBehavior
from agentscope_like.state import AgentState
from agentscope_like.tool import Bash, Read, Toolkit
from agentscope_like.tool.builtin.bash import host_shell
from tests.tool.kit import text_of

LONG = "seq 100000"


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """Give a directory on a disk of 64 KiB."""
    (place := tmp_path / "full").mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


async def run(toolkit: Toolkit, state: AgentState, command: str) -> ToolResponse:
    """Run a command and return its response."""
    last: object = None
    arguments = f'{{"command": "{command}"}}'
    async for item in toolkit.call_tool(ToolCallBlock(id="1", name="Bash", input=arguments), state):
        last = item
    assert isinstance(last, ToolResponse)
    return last


def file_of(response: ToolResponse) -> Path:
    """Return the file that a result names."""
    return Path(response.metadata["output_file"])


def exist(*paths: str | Path) -> list[bool]:
    """Return which of these there are."""
    return [Path(each).exists() for each in paths]


async def read_decision(
    toolkit: Toolkit, state: AgentState, path: object
) -> PermissionBehavior | None:
    """Return what is decided about reading a file."""
    call = ToolCallBlock(id="2", name="Read", input=f'{{"file_path": "{path}"}}')
    return (await toolkit.decide(call, state)).behavior


async def test_a_full_disk_costs_the_copy_and_not_the_command(tmp_path: Path, full: Path) -> None:
    """The command runs to its end, and the result says that the copy is not whole."""
    toolkit = Toolkit([Bash(cwd=tmp_path, outputs=full)])
    done = await run(toolkit, AgentState(), LONG)
    assert done.metadata["exit_code"] == 0
    assert "No space left on device" in text_of(done)
    assert text_of(done).rstrip().endswith("100000")


async def test_no_directory_for_copies_costs_the_copy_and_not_the_command(tmp_path: Path) -> None:
    """Where nothing can be written at all, the result says that nothing was kept."""
    (tmp_path / "file").touch()
    toolkit = Toolkit([Bash(cwd=tmp_path, outputs=tmp_path / "file" / "below")])
    done = await run(toolkit, AgentState(), LONG)
    assert done.metadata["exit_code"] == 0
    assert done.metadata["output_file"] is None
    assert "could not be kept: Not a directory" in text_of(done)


async def test_copies_have_a_total_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest copies go when there is too much."""
    monkeypatch.setattr(host_shell, "MAX_TOTAL_BYTES", 1_000_000)
    kept = tmp_path / "kept"
    toolkit, state = Toolkit([Bash(cwd=tmp_path, outputs=kept)]), AgentState()
    files = [file_of(await run(toolkit, state, LONG)) for _ in range(4)]
    assert exist(files[0], files[-1]) == [False, True]
    assert sum(each.stat().st_size for each in kept.iterdir()) < 2_000_000


async def test_stored_outputs_have_a_total_limit(tmp_path: Path) -> None:
    """The store of what is over the limit of tokens keeps the newest."""
    store = DirectoryOutputStore(tmp_path / "store", max_total_bytes=150)
    places = [await store.append(f"key{number}", "x" * 100) for number in range(4)]
    assert exist(*places) == [False, False, True, True]


async def test_what_a_session_was_shown_is_read_back_unasked(tmp_path: Path) -> None:
    """Reading the copy that a result names is not asked about; another file is."""
    kept = tmp_path / "kept"
    toolkit = Toolkit([Bash(cwd=tmp_path, outputs=kept), Read(cwd=tmp_path)])
    state = AgentState()
    path = file_of(await run(toolkit, state, LONG))
    assert await read_decision(toolkit, state, path) is PermissionBehavior.ALLOW
    (kept / "other.txt").write_text("x")
    (kept / "link.txt").symlink_to("/etc/hosts")
    for other in ("other.txt", "link.txt"):
        assert await read_decision(toolkit, state, kept / other) is PermissionBehavior.ASK
    assert await read_decision(toolkit, AgentState(), path) is PermissionBehavior.ASK
    path.unlink()
    path.symlink_to("/etc/hosts")
    assert await read_decision(toolkit, state, path) is PermissionBehavior.ASK


async def test_it_lives_as_long_as_the_session(tmp_path: Path) -> None:
    """A session that is resumed by another process still finds what its results name."""
    kept, state = tmp_path / "kept", AgentState()
    path = file_of(await run(Toolkit([Bash(cwd=tmp_path, outputs=kept)]), state, LONG))
    resumed = AgentState.model_validate_json(state.model_dump_json())
    toolkit = Toolkit([Bash(cwd=tmp_path, outputs=kept), Read(cwd=tmp_path)])
    assert path.read_text().endswith("100000\n")
    assert await read_decision(toolkit, resumed, path) is PermissionBehavior.ALLOW
