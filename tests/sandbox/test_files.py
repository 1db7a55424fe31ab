"""The file methods of a sandbox on this host never leave its mounts."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from agentscope_like.exception import SandboxPathError
from agentscope_like.sandbox import SandboxHandle, VolumeMount
from agentscope_like.sandbox.files.host_files import HostFiles
from agentscope_like.sandbox.mount import MountTable
from tests.sandbox.kit import local, passthrough


@pytest.fixture
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory that no sandbox has, with a secret in it."""
    place = tmp_path_factory.mktemp("outside")
    (place / "secret").write_text("secret")
    return place


async def test_trap_symlinks_do_not_lead_out(
    on_host: SandboxHandle, tmp_path: Path, outside: Path
) -> None:
    """A link to a file or directory outside is refused, to read, write, list and remove below."""
    (tmp_path / "file").symlink_to(outside / "secret")
    (tmp_path / "dir").symlink_to(outside)
    (tmp_path / "up").symlink_to("../" * 20 + str(outside).lstrip("/"))
    (tmp_path / "chain").symlink_to("dir")
    for path in ("file", "dir/secret", "up/secret", "chain/secret", f"{outside}/secret", "../x"):
        with pytest.raises(SandboxPathError, match="outside"):
            await on_host.read_file(path)
        with pytest.raises(SandboxPathError, match="outside"):
            await on_host.write_file(path, "overwritten")
    for path in ("dir", "up", str(outside), "/etc", ".."):
        with pytest.raises(SandboxPathError):
            await on_host.list_dir(path)
        with pytest.raises(SandboxPathError):
            await on_host.execute_command("true", workdir=path)
    with pytest.raises(SandboxPathError):
        await on_host.delete_file("dir/secret")
    with pytest.raises(SandboxPathError):
        await on_host.file_exists("dir/secret")
    assert (outside / "secret").read_text() == "secret"
    assert sorted(os.listdir(outside)) == ["secret"]


async def test_symlinks_inside_are_followed(on_host: SandboxHandle, tmp_path: Path) -> None:
    """A link that stays inside works, relative, absolute and over several; removing takes it."""
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "real" / "deep" / "file").write_text("found")
    (tmp_path / "relative").symlink_to("real/deep")
    (tmp_path / "absolute").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "back").symlink_to("../absolute/deep/file")
    for path in ("relative/file", "absolute/deep/file", "real/back", "relative/../deep/file"):
        assert await on_host.read_file(path) == "found"
    await on_host.write_file("real/back", "changed")
    assert (tmp_path / "real" / "deep" / "file").read_text() == "changed"
    assert (tmp_path / "real" / "back").is_symlink()
    await on_host.delete_file("real/back")
    assert (tmp_path / "real" / "deep" / "file").exists()


async def test_a_loop_of_symlinks_is_an_error(on_host: SandboxHandle, tmp_path: Path) -> None:
    """Links in a circle end in an error, not in a loop."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(SandboxPathError, match="symlinks"):
        await on_host.read_file("a")


async def test_trap_a_symlink_that_changes_while_it_is_followed(
    tmp_path: Path, outside: Path
) -> None:
    """However often a name is swapped for a link meanwhile, nothing outside is read or written."""
    inner, aside = tmp_path / "inner", tmp_path / "aside"
    inner.mkdir()
    (inner / "secret").write_text("harmless")
    files = HostFiles(MountTable([VolumeMount(str(tmp_path), "/w")]), "/w")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            with suppress(OSError):
                os.rename(inner, aside)
            with suppress(OSError):
                os.symlink(outside, inner)
            with suppress(OSError):
                os.unlink(inner)
            shutil.rmtree(inner, ignore_errors=True)  # what was written meanwhile
            with suppress(OSError):
                os.rename(aside, inner)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for _ in range(2000):
            try:
                assert files.read("inner/secret") != b"secret"
                files.write("inner/new", b"x", append=False)
            except (SandboxPathError, FileNotFoundError):
                continue
    finally:
        stop.set()
        swapper.join()
    assert sorted(os.listdir(outside)) == ["secret"]


async def test_trap_prefixes_are_compared_by_component(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """`/data` does not give `/database`, on neither side of a mount."""
    base = tmp_path_factory.mktemp("base")
    for name in ("work", "workshop", "data", "database"):
        (base / name).mkdir()
        (base / name / "file").write_text(name)
    mounts = [VolumeMount(str(base / "data"), str(base / "data"))]
    async with passthrough(workspace=str(base / "work"), volume_mounts=mounts) as sandbox:
        assert await sandbox.read_file(f"{base}/data/file") == "data"
        assert await sandbox.read_file("file") == "work"
        for name in ("database", "workshop"):
            with pytest.raises(SandboxPathError):
                await sandbox.read_file(f"{base}/{name}/file")


async def test_trap_paths_are_translated_both_ways(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Commands and file methods know a place by the same path; the longest mount counts (4.2)."""
    work, data, inner = (tmp_path_factory.mktemp(name) for name in ("work", "data", "inner"))
    (data / "file").write_text("data")
    (data / "in" / "ner").mkdir(parents=True)
    (inner / "file").write_text("inner")
    mounts = [
        VolumeMount(str(inner), "/virtual/data/in/ner"),
        VolumeMount(str(data), "/virtual/data", read_only=True),
    ]
    async with local(
        workspace=str(work), virtual_workspace="/virtual/work", volume_mounts=mounts
    ) as sandbox:
        assert sandbox.workspace_path == "/virtual/work"
        assert sandbox.host_workspace_path == str(work)
        await sandbox.write_file("/virtual/work/new", "new")
        assert (work / "new").read_text() == "new"
        await sandbox.write_file("/virtual/data/in/ner/new", "new")
        assert (inner / "new").read_text() == "new"
        done = await sandbox.execute_command(
            "pwd; cat /virtual/data/file /virtual/data/in/ner/file new", workdir="/virtual/work"
        )
        assert done.stdout == "/virtual/work\ndatainnernew", done.stderr
        assert await sandbox.read_file("/virtual/data/in/ner/file") == "inner"
        with pytest.raises((SandboxPathError, FileNotFoundError)):
            await sandbox.read_file(str(work / "new"))
        assert not (await sandbox.execute_command(f"ls {work}")).success


@pytest.mark.parametrize(
    ("inside", "host"),
    [
        ("/w", "/host/work"),
        ("/w/a/b", "/host/work/a/b"),
        ("/w/../w/a", "/host/work/a"),
        ("/w/data/x", "/host/data/x"),
        ("/w/database", "/host/work/database"),
        ("/wx", None),
        ("/", None),
    ],
)
def test_the_table_translates(inside: str, host: str | None) -> None:
    """The longest mount point that is a path's ancestor, or itself, says where it is."""
    table = MountTable([VolumeMount("/host/work", "/w"), VolumeMount("/host/data", "/w/data")])
    assert table.to_host(inside) == host
    if host is not None:
        assert table.to_inside(host) == os.path.normpath(inside)
    assert table.to_inside("/host/workshop") is None


async def test_sage_x_17_a_read_only_mount_is_read_only(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Neither a command nor a file method writes there; both read, and write beside it."""
    data = tmp_path_factory.mktemp("data")
    (data / "file").write_text("data")
    mounts = [VolumeMount(str(data), "/data", read_only=True)]
    async with local(workspace=str(tmp_path), volume_mounts=mounts) as sandbox:
        for path in ("/data/file", "/data/new", "/data/dir/new"):
            with pytest.raises((SandboxPathError, FileNotFoundError)):
                await sandbox.write_file(path, "x")
        with pytest.raises(SandboxPathError):
            await sandbox.delete_file("/data/file")
        done = await sandbox.execute_command("cat /data/file; touch new; echo x > /data/file")
        assert done.stdout == "data"
        assert "Read-only file system" in done.stderr
        assert (tmp_path / "new").exists()
    assert sorted(os.listdir(data)) == ["file"]
    assert (data / "file").read_text() == "data"


async def test_sage_x_09_allowed_paths_are_reached_and_no_others(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Commands and file methods reach an allowed directory at its own path, and not its sister."""
    allowed, sister = tmp_path_factory.mktemp("allowed"), tmp_path_factory.mktemp("sister")
    (sister / "file").touch()
    async with local(workspace=str(tmp_path), allowed_paths=[str(allowed)]) as sandbox:
        await sandbox.write_file(f"{allowed}/one", "1")
        assert (await sandbox.execute_command("cp one two; cat two", str(allowed))).stdout == "1"
        with pytest.raises(SandboxPathError):
            await sandbox.read_file(f"{sister}/file")
        assert not (await sandbox.execute_command(f"ls {sister}/file")).success
    assert sorted(os.listdir(allowed)) == ["one", "two"]


async def test_what_is_no_regular_file_does_not_hang(
    on_host: SandboxHandle, tmp_path: Path
) -> None:
    """A pipe that nobody writes to is refused at once, to read and to write."""
    os.mkfifo(tmp_path / "pipe")
    async with asyncio.timeout(10):
        with pytest.raises(SandboxPathError, match="regular"):
            await on_host.read_file("pipe")
        with pytest.raises(SandboxPathError):
            await on_host.write_file("pipe", "x")
        with pytest.raises(SandboxPathError):
            await on_host.write_file("pipe", "x", append=True)


async def test_a_write_is_whole_or_not_at_all(on_host: SandboxHandle, tmp_path: Path) -> None:
    """A file is replaced at once, keeps its mode, and nothing else is left in its directory."""
    (tmp_path / "file").write_text("before")
    (tmp_path / "file").chmod(0o640)
    with (tmp_path / "file").open() as reading:
        await on_host.write_file("file", "after")
        assert reading.read() == "before"
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["file"]
    with pytest.raises(SandboxPathError, match="NUL"):
        await on_host.write_file("a\0b", "")
