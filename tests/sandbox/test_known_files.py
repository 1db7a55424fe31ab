"""Files of a sandbox by what was known of them: the same in each kind, and no other file."""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from agentscope_like.sandbox import SandboxHandle, VolumeMount
from agentscope_like.sandbox.files.file_status import FileStatus
from tests.sandbox.kit import local


def digest(data: bytes) -> str:
    """Return the SHA-256 of data."""
    return hashlib.sha256(data).hexdigest()


async def known(sandbox: SandboxHandle, path: Path | str) -> FileStatus:
    """Return what a sandbox knows of one name."""
    (found,) = await sandbox.stat_files([str(path)])
    return found


async def test_a_status_is_what_the_system_says(sandbox: SandboxHandle, tmp_path: Path) -> None:
    """Kind, mode, identity, size and time are the file's; a symlink is told with its target."""
    (tmp_path / "it's a file\n").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("no such place\n")
    os.mkfifo(tmp_path / "pipe")
    paths = [f"{tmp_path}/{name}" for name in ("it's a file\n", "link", "pipe", "none", "")]
    file, link, pipe, none, place = await sandbox.stat_files(paths)
    there = os.lstat(paths[0])
    assert (file.st_mode, file.st_dev, file.st_ino) == (there.st_mode, there.st_dev, there.st_ino)
    assert (file.st_size, file.st_mtime_ns) == (5, there.st_mtime_ns)
    assert (file.st_uid, file.st_gid) == (there.st_uid, there.st_gid)
    assert link.is_link
    assert link.target == "no such place\n"
    assert stat.S_ISFIFO(pipe.st_mode)
    assert place.is_directory
    with pytest.raises(FileNotFoundError):
        none.required()
    for below in (f"{paths[0]}/x", f"{tmp_path}/none/x"):
        with pytest.raises(FileNotFoundError):
            (await known(sandbox, below)).required()


async def test_many_names_are_told_at_once(sandbox: SandboxHandle, tmp_path: Path) -> None:
    """As many as fit into no single command come back in their order."""
    paths = [f"{tmp_path}/{'x' * 200}{number}" for number in range(400)]
    Path(paths[7]).touch()
    found = await sandbox.stat_files(paths)
    assert [status.path for status in found] == paths
    assert [number for number, status in enumerate(found) if not status.error] == [7]


async def test_directories_are_listed_together(sandbox: SandboxHandle, tmp_path: Path) -> None:
    """Each entry has its kind and time; what is no directory, or a symlink to one, is None."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / ".hid\nden").touch()
    (tmp_path / "a" / "sub").mkdir()
    (tmp_path / "a" / "link").symlink_to("sub")
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "to-a").symlink_to("a")
    names = ("a", "empty", "file", "none", "to-a")
    a, *others = await sandbox.scan_dirs([f"{tmp_path}/{name}" for name in names])
    assert others == [[], None, None, None]
    assert a is not None
    assert {(Path(each.path).name, stat.S_IFMT(each.st_mode)) for each in a} == {
        (".hid\nden", stat.S_IFREG),
        ("sub", stat.S_IFDIR),
        ("link", stat.S_IFLNK),
    }
    for each in a:
        assert each.st_mtime_ns == os.lstat(each.path).st_mtime_ns


async def test_more_entries_than_one_answer_holds(sandbox: SandboxHandle, tmp_path: Path) -> None:
    """Directories with much in them are listed whole, by as many commands as it takes."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for number in range(1500):
            (tmp_path / name / f"{digest(str(number).encode())}-{number}").touch()
    found = await sandbox.scan_dirs([f"{tmp_path}/a", f"{tmp_path}/b"])
    assert [len(entries or ()) for entries in found] == [1500, 1500]


@pytest.mark.parametrize("size", [0, 1, 700_001])
async def test_a_known_file_is_read_and_replaced(
    sandbox: SandboxHandle, tmp_path: Path, size: int
) -> None:
    """Whatever bytes it holds; its mode stays, and nothing is left beside it."""
    path = tmp_path / "a 'file'"
    before, after = os.urandom(size), os.urandom(size + 1)
    path.write_bytes(before)
    path.chmod(0o640)
    file = await known(sandbox, path)
    assert await sandbox.read_known_file(file) == before
    now = await sandbox.replace_known_file(file, digest(before), after)
    assert path.read_bytes() == after
    assert now.identity == (path.stat().st_dev, path.stat().st_ino)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == [path.name]
    assert await sandbox.read_known_file(now) == after


def _another(path: Path) -> None:
    os.replace(path, path.with_name("old"))
    path.write_bytes(b"before")


def _linked(path: Path) -> None:
    os.replace(path, path.with_name("old"))
    path.symlink_to("old")


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _parent_linked(path: Path) -> None:
    os.rename(path.parent, path.parent.with_name("elsewhere"))
    path.parent.symlink_to("elsewhere")


async def test_a_replaced_file_keeps_its_extended_attributes(
    sandbox: SandboxHandle, tmp_path: Path
) -> None:
    """They are the user's as well; mode, content and size are those that they should be."""
    path = tmp_path / "file"
    path.write_bytes(b"before")
    path.chmod(0o640)
    try:
        os.setxattr(path, "user.origin", b"https://example.org")
    except OSError:
        pytest.skip("needs a file system with extended attributes")
    (file,) = await sandbox.stat_files([str(path)])
    now = await sandbox.replace_known_file(file, digest(b"before"), b"after it")
    assert now.st_ino == path.stat().st_ino != file.st_ino
    assert os.getxattr(path, "user.origin") == b"https://example.org"
    assert (path.read_bytes(), path.stat().st_mode & 0o7777) == (b"after it", 0o640)


@pytest.mark.parametrize("swap", [_another, _linked, _pipe, Path.unlink, _parent_linked])
async def test_another_file_of_the_same_name_is_not_taken(
    sandbox: SandboxHandle, tmp_path: Path, swap: Callable[[Path], None]
) -> None:
    """Replaced, removed, or behind a symlink by now: it is neither read nor written."""
    (tmp_path / "dir").mkdir()
    path = tmp_path / "dir" / "file"
    path.write_bytes(b"before")
    file = await known(sandbox, path)
    swap(path)
    names = {name for _, _, files in os.walk(tmp_path) for name in files}
    with pytest.raises(OSError, match=r"."):
        await sandbox.read_known_file(file)
    with pytest.raises(OSError, match=r"."):
        await sandbox.replace_known_file(file, digest(b"before"), b"after")
    for place, _, files in os.walk(tmp_path):
        assert all(
            Path(place, name).read_bytes() == b"before"
            for name in files
            if Path(place, name).is_file()
        )
    assert {name for _, _, files in os.walk(tmp_path) for name in files} == names


async def test_changed_content_is_not_overwritten(sandbox: SandboxHandle, tmp_path: Path) -> None:
    """The same file with another content, of the same length, is left as it is."""
    path = tmp_path / "file"
    path.write_bytes(b"before")
    file = await known(sandbox, path)
    path.write_bytes(b"theirs")
    with pytest.raises(OSError, match=r"."):
        await sandbox.replace_known_file(file, digest(b"before"), b"after")
    assert path.read_bytes() == b"theirs"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("size", [3, 100_001])
async def test_a_file_is_created_with_its_directories(
    sandbox: SandboxHandle, tmp_path: Path, size: int
) -> None:
    """Nothing is ever overwritten, not even a broken symlink; what was made for it is removed."""
    data = os.urandom(size)
    path = tmp_path / "a" / "b c" / "file"
    made = await sandbox.create_file(str(path), data)
    assert path.read_bytes() == data
    assert made.identity == (path.stat().st_dev, path.stat().st_ino)
    assert stat.S_IMODE(path.stat().st_mode) & ~0o022 == 0o644
    with pytest.raises(FileExistsError):
        await sandbox.create_file(str(path), b"x")
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        await sandbox.create_file(f"{tmp_path}/link", b"x")
    with pytest.raises(OSError, match=r"."):
        await sandbox.create_file(f"{tmp_path}/link/x", b"x")
    with pytest.raises(OSError, match=r"."):
        await sandbox.create_file(f"{tmp_path}/new/{'x' * 300}/y", b"x")
    assert path.read_bytes() == data
    assert sorted(os.listdir(tmp_path)) == ["a", "link"]
    assert os.listdir(path.parent) == ["file"]


async def test_a_home_is_what_commands_have(sandbox: SandboxHandle) -> None:
    """`~` is the sandbox's, not this process's, where the two differ."""
    home = (await sandbox.execute_command('printf %s "$HOME"')).stdout
    assert await sandbox.home_path() == home


async def test_what_lies_outside_cannot_be_said(
    on_host: SandboxHandle, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Of a file that is not mounted, a sandbox of this host knows nothing; the way to it is."""
    secret = tmp_path_factory.mktemp("outside") / "secret"
    secret.write_text("x")
    assert (await known(on_host, "/")).is_directory
    with pytest.raises(PermissionError, match="outside"):
        (await known(on_host, secret)).required()
    with pytest.raises(PermissionError):
        await on_host.read_known_file(FileStatus.of(str(secret), secret.stat()))
    with pytest.raises(OSError, match=r"."):
        await on_host.create_file(f"{secret.parent}/new", b"")
    assert os.listdir(secret.parent) == ["secret"]


async def test_a_read_only_mount_is_not_written(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It is known and read, by the path it has in the sandbox."""
    data = tmp_path_factory.mktemp("data")
    (data / "file").write_bytes(b"data")
    mounts = [VolumeMount(str(data), "/data/deep", read_only=True)]
    async with local(workspace=str(tmp_path), volume_mounts=mounts) as sandbox:
        assert (await known(sandbox, "/data")).is_directory
        file = await known(sandbox, "/data/deep/file")
        assert await sandbox.read_known_file(file) == b"data"
        with pytest.raises(OSError, match=r"[Rr]ead-only"):
            await sandbox.replace_known_file(file, digest(b"data"), b"x")
        with pytest.raises(OSError, match=r"."):
            await sandbox.create_file("/data/deep/new/file", b"x")
    assert os.listdir(data) == ["file"]


async def test_a_pipe_is_not_waited_for(sandbox: SandboxHandle, tmp_path: Path) -> None:
    """What became a pipe since it was known is refused at once."""
    os.mkfifo(tmp_path / "pipe")
    file = await known(sandbox, tmp_path / "pipe")
    async with asyncio.timeout(10):
        with pytest.raises(OSError, match=r"."):
            await sandbox.read_known_file(file)
