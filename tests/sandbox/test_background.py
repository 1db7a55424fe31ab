"""Commands in the background: what they say is read once and wholly, and they never outlive it."""

from __future__ import annotations

import asyncio
import os
import uuid
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_like.exception import ToolArgumentError
from agentscope_like.sandbox import SandboxConfig, SandboxHandle, SandboxType
from agentscope_like.sandbox.host.background import complete_length
from tests.sandbox.kit import MyRemoteSandbox, ended, is_running, local, passthrough, until


def zombies() -> list[str]:
    """Return the children of this process that have ended and were not reaped."""
    found = []
    for thread in Path("/proc/self/task").iterdir():
        for child in (thread / "children").read_text().split():
            status = Path(f"/proc/{child}/stat").read_text()
            if status.rpartition(") ")[2].startswith("Z"):
                found.append(status)
    return found


async def _said_something(sandbox: SandboxHandle, task_id: str) -> None:
    for _ in range(2000):
        if await sandbox.get_background_output_size(task_id):
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the task says nothing")


async def test_sage_x_23_a_task_runs_and_ends(shipped: SandboxHandle) -> None:
    """A task has output in its order, a size, and an exit status once it has ended."""
    assert shipped.supports_background
    await shipped.write_file("dir/go", "")
    task = await shipped.start_background(
        "echo $X; echo err >&2; while [ -e go ]; do sleep 0.01; done; exit 7", "dir", {"X": "out"}
    )
    assert await shipped.is_background_alive(task)
    assert await shipped.get_background_exit_code(task) is None
    await shipped.delete_file("dir/go")
    assert await ended(shipped, task) == 7
    assert await shipped.read_background_output(task) == "out\nerr\n"
    assert await shipped.get_background_output_size(task) == 8
    assert await shipped.read_background_output(task, max_bytes=4) == "err\n"


async def test_sage_p_15_and_19_offsets_are_bytes_and_nothing_is_lost_or_twice(
    shipped: SandboxHandle,
) -> None:
    """Read in whatever pieces, while it runs and after, a task's output is what it said."""
    task = await shipped.start_background("for i in 1 2 3 4 5; do printf 'aé€😀'; sleep 0.02; done")
    text, offset, sizes = "", 0, (1, 3, 5, 7)
    for count in range(10_000):
        alive = await shipped.is_background_alive(task)
        piece, offset = await shipped.read_background_output_range(task, offset, sizes[count % 4])
        text += piece
        if not alive and not piece:
            break
        await asyncio.sleep(0.001)
    assert text == "aé€😀" * 5
    assert offset == len(text.encode())


async def test_sage_p_16_the_last_of_much_output_arrives(on_host: SandboxHandle) -> None:
    """More than a megabyte that comes with the end is read to its last byte (2.2)."""
    task = await on_host.start_background("head -c 3000000 /dev/zero | tr '\\0' x; printf end")
    await ended(on_host, task)
    total, offset, last = 0, 0, ""
    while True:
        piece, offset = await on_host.read_background_output_range(task, offset)
        if not piece:
            break
        total, last = total + len(piece), piece
    assert total == offset == 3_000_003
    assert last.endswith("xend")


async def test_bytes_that_are_no_text_do_not_stop_the_reading(on_host: SandboxHandle) -> None:
    """What is not UTF-8 is shown as such and passed over; a cut character at the end, too."""
    task = await on_host.start_background(r"printf 'a\377b\342\202'")
    assert await ended(on_host, task) == 0
    text, offset = await on_host.read_background_output_range(task, 0)
    assert (text, offset) == ("a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}", 5)
    assert await on_host.read_background_output_range(task, offset) == ("", 5)


@given(st.text(max_size=8), st.integers(min_value=0, max_value=3))
def test_only_a_character_that_is_cut_is_kept_back(text: str, cut: int) -> None:
    """All that is whole is returned at once, and what is kept back is part of one character."""
    data = text.encode(errors="surrogatepass") if text.isascii() else text.encode(errors="replace")
    data = data[: len(data) - cut] if cut else data
    length = complete_length(data)
    assert len(data) - length < 4
    data[:length].decode()


async def test_a_task_is_killed_with_all_that_came_of_it(shipped: SandboxHandle) -> None:
    """Killing ends the tree; asked to end, a command may still do its last."""
    mark = uuid.uuid4().hex
    task = await shipped.start_background(
        f"trap 'echo bye; exit 5' TERM; (setsid bash -c 'exec -a {mark} sleep 60') & "
        "echo on; while :; do sleep 0.05; done"
    )
    await _said_something(shipped, task)
    await shipped.kill_background(task)
    assert not await shipped.is_background_alive(task)
    assert "bye" in await shipped.read_background_output(task)
    assert await until(lambda: not is_running(mark))
    assert await shipped.get_background_exit_code(task) == 5
    forced = await shipped.start_background("trap '' TERM; while :; do sleep 0.05; done")
    await shipped.kill_background(forced, force=True)
    assert not await shipped.is_background_alive(forced)


async def test_a_task_that_will_not_end_is_killed(isolated: SandboxHandle) -> None:
    """SIGTERM is a request; after two seconds it is not one any more."""
    task = await isolated.start_background("trap '' TERM; echo on; while :; do sleep 0.05; done")
    await _said_something(isolated, task)
    await isolated.kill_background(task)
    assert await isolated.get_background_exit_code(task) == 137


async def test_trap_no_zombies_are_left(on_host: SandboxHandle) -> None:
    """Every child is reaped, whether it ended, was killed or ran out of time."""
    await on_host.execute_command("true")
    await on_host.execute_command("sleep 60", timeout=0.1)
    first = await on_host.start_background("true")
    second = await on_host.start_background("sleep 60")
    await ended(on_host, first)
    await on_host.kill_background(second, force=True)
    assert zombies() == []


async def test_a_sandbox_does_not_know_another_s_tasks(tmp_path: Path) -> None:
    """A task can be read and ended only by the sandbox that started it (5.1, 2)."""
    async with passthrough(workspace=str(tmp_path)) as one:
        async with passthrough(workspace=str(tmp_path)) as other:
            task = await one.start_background("sleep 60")
            for use in (other.read_background_output, other.kill_background):
                with pytest.raises(ToolArgumentError, match="no background task"):
                    await use(task)
        assert await one.is_background_alive(task)
        await one.cleanup_background(task)
        with pytest.raises(ToolArgumentError):
            await one.is_background_alive(task)


@pytest.mark.parametrize("make", [local, passthrough])
async def test_closing_ends_what_runs_and_removes_what_was_written(make: type) -> None:
    """A closed sandbox leaves no process and no file of its own on the host."""
    mark = uuid.uuid4().hex
    sandbox = make()
    async with sandbox:
        await sandbox.start_background(f"exec -a {mark} sleep 60")
        assert await until(lambda: is_running(mark))
        place = sandbox.host_workspace_path
        assert os.path.isdir(place)
    assert not is_running(mark)
    assert not os.path.exists(os.path.dirname(place))


async def test_trap_a_command_does_not_see_the_log_of_another(isolated: SandboxHandle) -> None:
    """What the host reads as output is out of reach of what runs inside (4.5, 3)."""
    task = await isolated.start_background("echo secret; sleep 60")
    await _said_something(isolated, task)
    found = await isolated.execute_command(
        "find / -xdev -name '*.log'; find /run /tmp -name '*.log'"
    )
    assert found.stdout == ""


async def test_sage_p_17_a_provider_without_a_background_says_so() -> None:
    """By default there is no range to read, and the error says what to do instead."""
    config = SandboxConfig(mode=SandboxType.REMOTE, remote_provider="mine", workspace="/")
    sandbox = MyRemoteSandbox(config)
    assert not sandbox.supports_background
    with pytest.raises(NotImplementedError, match="execute_command"):
        await sandbox.read_background_output_range("x", 0)
    with pytest.raises(NotImplementedError):
        await sandbox.start_background("true")
