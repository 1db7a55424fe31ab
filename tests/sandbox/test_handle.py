"""What every sandbox promises to the tools that use it, whatever it is."""

from __future__ import annotations

import asyncio
import inspect
import os
import time
import uuid
import zipfile
from pathlib import Path

import pytest

from agentscope_like.exception import SandboxPathError, ToolArgumentError
from agentscope_like.sandbox import FileInfo, SandboxHandle
from agentscope_like.sandbox.host.passthrough import PassthroughSandbox
from agentscope_like.sandbox.isolation.local import LocalSandbox
from agentscope_like.sandbox.ssh.ssh_sandbox import SSHSandbox
from tests.sandbox.kit import is_running, until

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", [LocalSandbox, PassthroughSandbox, SSHSandbox])
def test_sage_x_02_every_kind_is_called_alike(kind: type[SandboxHandle]) -> None:
    """No kind takes other arguments than the interface says, or returns something else."""
    for name, method in inspect.getmembers(SandboxHandle, inspect.isfunction):
        if not name.startswith("_"):
            assert inspect.signature(getattr(kind, name)) == inspect.signature(method), name


async def test_sage_x_12_says_what_it_is(sandbox: SandboxHandle, tmp_path: Path) -> None:
    """A sandbox has a type, a name and a workspace, which commands start in."""
    assert sandbox.sandbox_type in {"local", "passthrough", "remote"}
    assert sandbox.sandbox_id
    assert sandbox.workspace_path == str(tmp_path)
    assert (await sandbox.execute_command("pwd")).stdout == f"{tmp_path}\n"


async def test_sage_x_14_a_result_says_all_of_a_command(sandbox: SandboxHandle) -> None:
    """Output and error are apart, and a status other than 0 is a result, not an exception."""
    done = await sandbox.execute_command("echo out; echo err >&2; exit 3")
    assert (done.success, done.return_code) == (False, 3)
    assert (done.stdout, done.stderr) == ("out\n", "err\n")
    assert done.execution_time > 0
    done = await sandbox.execute_command("true")
    assert (done.success, done.return_code, done.timed_out) == (True, 0, False)


async def test_a_command_that_fails_runs_once(sandbox: SandboxHandle, tmp_path: Path) -> None:
    """A failing command is not taken for a failing isolation and run again elsewhere (4.5, 1)."""
    done = await sandbox.execute_command(
        "echo ran >> runs; echo Operation not permitted >&2; false"
    )
    assert done.return_code == 1
    assert (tmp_path / "runs").read_text() == "ran\n"


async def test_sage_x_13_workdir_and_variables_are_kept(
    sandbox: SandboxHandle, tmp_path: Path
) -> None:
    """A command starts where it is told, with the variables that it is given, quotes and all."""
    (tmp_path / "a b").mkdir()
    value = 'it\'s "$HOME"\n`x`'
    done = await sandbox.execute_command(
        'pwd; printf %s "$VALUE"', workdir="a b", env_vars={"VALUE": value}
    )
    assert done.stdout == f"{tmp_path}/a b\n{value}"


async def test_a_workdir_that_is_not_there_is_refused(shipped: SandboxHandle) -> None:
    """A command never runs in another directory than it was told; nothing runs instead."""
    with pytest.raises((SandboxPathError, FileNotFoundError)):
        await shipped.execute_command("touch ran", workdir="nowhere")
    assert not await shipped.file_exists("ran")


@pytest.mark.parametrize(
    ("command", "variables"),
    [("echo a\0b", {}), ("true", {"A=B": "c"}), ("true", {"A": "b\0"}), ("x" * 200_000, {})],
)
async def test_what_no_process_can_be_given_is_refused(
    shipped: SandboxHandle, command: str, variables: dict[str, str]
) -> None:
    """NUL characters, names that are none and commands that are too long are errors at once."""
    with pytest.raises(ToolArgumentError):
        await shipped.execute_command(command, env_vars=variables)


async def test_sage_x_13_a_timeout_ends_all_and_keeps_the_output(shipped: SandboxHandle) -> None:
    """When its time is up, a command is ended with all it started, and what it said is kept."""
    mark = uuid.uuid4().hex
    started = time.monotonic()
    done = await shipped.execute_command(
        f"echo before; (exec -a {mark} sleep 60) & (setsid bash -c 'exec -a {mark} sleep 60') & "
        "sleep 60; echo after",
        timeout=0.7,
    )
    assert time.monotonic() - started < 10
    assert done.timed_out
    assert not done.success
    assert done.return_code == -1
    assert done.stdout == "before\n"
    assert "timeout of 0.7 s" in done.stderr
    assert await until(lambda: not is_running(mark))


@pytest.mark.parametrize("stubborn", ["", "trap '' TERM; "])
async def test_a_timeout_ends_what_left_both_session_and_environment(
    shipped: SandboxHandle, stubborn: str
) -> None:
    """It is known by its parents, also once these have ended; a stranger's process lives on."""
    mark, stranger = uuid.uuid4().hex, uuid.uuid4().hex
    process = await asyncio.create_subprocess_exec("bash", "-c", f"exec -a {stranger} sleep 60")
    script = f"{stubborn}sleep 60 & exec -a {mark} sleep 60"
    command = f'env -i setsid bash -c "{script}" & sleep 60'
    try:
        assert (await shipped.execute_command(command, timeout=1)).timed_out
        assert await until(lambda: not is_running(mark))
        assert is_running(stranger)
    finally:
        process.kill()
        await process.wait()


async def test_trap_output_is_not_waited_for_when_a_survivor_holds_it(
    shipped: SandboxHandle,
) -> None:
    """A process in the background does not keep its command from returning (4.5, 4)."""
    mark = uuid.uuid4().hex
    started = time.monotonic()
    done = await shipped.execute_command(f"(exec -a {mark} sleep 60) & echo done", timeout=30)
    assert time.monotonic() - started < 10
    assert done.stdout == "done\n"
    assert await until(lambda: not is_running(mark))


async def test_cancelling_ends_all(shipped: SandboxHandle) -> None:
    """A cancelled command leaves no process behind, not even one in a session of its own."""
    mark = uuid.uuid4().hex
    running = asyncio.create_task(
        shipped.execute_command(f"(setsid bash -c 'exec -a {mark} sleep 60') & sleep 60")
    )
    assert await until(lambda: is_running(mark))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await until(lambda: not is_running(mark))


async def test_trap_much_output_neither_stalls_nor_fills_memory(shipped: SandboxHandle) -> None:
    """Of output beyond a megabyte the beginning and the end are kept, at full speed (4.5, 4)."""
    started = time.monotonic()
    done = await shipped.execute_command("echo first; head -c 5000000 /dev/zero; echo last", "", 30)
    assert time.monotonic() - started < 15
    assert done.stdout.startswith("first\n")
    assert done.stdout.endswith("last\n")
    assert "bytes left out" in done.stdout
    assert len(done.stdout) < 1_100_000


async def test_standard_input_is_empty(shipped: SandboxHandle) -> None:
    """A command that reads its standard input finds its end, and does not wait."""
    assert (await shipped.execute_command("cat; echo end", timeout=20)).stdout == "end\n"


async def test_sage_x_16_files_come_back_as_they_were_written(sandbox: SandboxHandle) -> None:
    """Text and bytes survive, directories are made, and appending appends."""
    data = os.urandom(400_000)
    await sandbox.write_file("deep/er/data.bin", data)
    assert await sandbox.read_bytes("deep/er/data.bin") == data
    await sandbox.write_file("text.txt", "grün\n")
    await sandbox.write_file("text.txt", "mehr\n", append=True)
    assert await sandbox.read_file("text.txt") == "grün\nmehr\n"
    await sandbox.write_file("text.txt", "")
    assert await sandbox.read_file("text.txt") == ""


async def test_sage_x_18_commands_and_files_see_the_same(sandbox: SandboxHandle) -> None:
    """What a command writes can be read, what is written a command finds, and modes stay."""
    await sandbox.execute_command("printf '#!/bin/sh\\necho one' > tool; chmod +x tool")
    assert await sandbox.read_file("tool") == "#!/bin/sh\necho one"
    await sandbox.write_file("tool", "#!/bin/sh\necho two\n")
    assert (await sandbox.execute_command("./tool")).stdout == "two\n"


async def test_sage_x_16_directories_are_listed(sandbox: SandboxHandle) -> None:
    """Names of every kind are listed with what they are, hidden ones on request."""
    awkward = "a b\n'\"$x%s"
    await sandbox.write_file(awkward, "12345")
    await sandbox.write_file("dir/.hidden", "")
    await sandbox.execute_command("ln -s dir link")
    at = sandbox.workspace_path
    assert await sandbox.list_dir() == [
        FileInfo(awkward, f"{at}/{awkward}", is_dir=False, size=5),
        FileInfo("dir", f"{at}/dir", is_dir=True, size=0),
        FileInfo("link", f"{at}/link", is_dir=False, size=0),
    ]
    assert await sandbox.list_dir("dir") == []
    names = [info.name for info in await sandbox.list_dir(f"{at}/dir", include_hidden=True)]
    assert names == [".hidden"]


async def test_what_is_not_there_is_not_found(sandbox: SandboxHandle) -> None:
    """A missing file is FileNotFoundError; a directory is no file, and a file no directory."""
    await sandbox.write_file("dir/file", "")
    for path in ("nothing", "dir/nothing"):
        with pytest.raises(FileNotFoundError):
            await sandbox.read_file(path)
    with pytest.raises(FileNotFoundError):
        await sandbox.list_dir("nothing")
    with pytest.raises(FileNotFoundError):
        await sandbox.delete_file("nothing")
    with pytest.raises(SandboxPathError):
        await sandbox.read_file("dir")
    with pytest.raises(SandboxPathError):
        await sandbox.write_file("dir", "")
    with pytest.raises(SandboxPathError):
        await sandbox.list_dir("dir/file")
    assert not await sandbox.file_exists("nothing")
    assert await sandbox.file_exists("dir")
    await sandbox.delete_file("dir/file")
    assert not await sandbox.file_exists("dir/file")


async def test_sage_s_11_a_directory_of_the_host_is_copied_in(
    sandbox: SandboxHandle, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A skill can be put into any sandbox by its interface; no link brings in what it names."""
    skill = tmp_path_factory.mktemp("skill")
    (skill / "scripts").mkdir()
    (skill / "SKILL.md").write_text("# Skill")
    (skill / "scripts" / "run.sh").write_text("echo ran")
    (skill / "passwd").symlink_to("/etc/passwd")
    await sandbox.copy_from_host(skill, "skills/mine")
    assert await sandbox.read_file("skills/mine/SKILL.md") == "# Skill"
    done = await sandbox.execute_command("bash scripts/run.sh", workdir="skills/mine")
    assert done.stdout == "ran\n"
    assert not await sandbox.file_exists("skills/mine/passwd")


async def test_sage_x_15_python_runs_in_an_environment_of_its_own(sandbox: SandboxHandle) -> None:
    """A program runs in the sandbox's virtual environment, in the directory that it is told."""
    await sandbox.write_file("dir/data.txt", "42")
    done = await sandbox.execute_python(
        "import sys\nprint(open('data.txt').read(), sys.prefix != sys.base_prefix)", workdir="dir"
    )
    assert done.success, done.error
    assert done.output == "42 True\n"
    assert done.error is None
    failed = await sandbox.execute_python("print('so far')\n1/0")
    assert not failed.success
    assert failed.output == "so far\n"
    assert "ZeroDivisionError" in (failed.error or "")


async def test_sage_x_15_requirements_are_installed_without_a_shell_s_eyes(
    shipped: SandboxHandle, tmp_path: Path
) -> None:
    """A requirement is a word, never a piece of a command line or an option (5.1, 19)."""
    wheel = tmp_path / "tiny_thing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny_thing.py", "ANSWER = 42\n")
        about = "tiny_thing-1.0.dist-info"
        archive.writestr(
            f"{about}/METADATA", "Metadata-Version: 2.1\nName: tiny_thing\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{about}/RECORD", "")
    done = await shipped.execute_python(
        "import tiny_thing; print(tiny_thing.ANSWER)", requirements=[str(wheel)], timeout=55
    )
    assert done.success, done.error
    assert done.output == "42\n"
    assert done.installed_packages == (str(wheel),)
    for requirement in ("--index-url=http://localhost", "x; touch hacked; $(touch hacked)"):
        refused = await shipped.execute_python("print(1)", requirements=[requirement], timeout=30)
        assert not refused.success
        assert refused.error
    assert not (tmp_path / "hacked").exists()
