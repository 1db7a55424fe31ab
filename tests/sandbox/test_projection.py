"""Reading a directory of the host: what belongs to it, and what only seems to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentscope_like.sandbox import SandboxHandle
from agentscope_like.sandbox.files.projection import files_below, read_below


def tree(root: Path) -> Path:
    """Make a directory with files, links and what is neither."""
    (root / "in" / "deep").mkdir(parents=True)
    (root / "out").mkdir()
    (root / "out" / "key").write_text("secret")
    (root / "in" / "b").write_text("b")
    (root / "in" / "a").write_text("a")
    (root / "in" / "deep" / "run").write_text("run")
    (root / "in" / "deep" / "run").chmod(0o755)
    (root / "in" / "same").symlink_to("deep/run")
    (root / "in" / "key").symlink_to("../out/key")
    (root / "in" / "up").symlink_to("..")
    (root / "in" / "deeper").symlink_to("deep")
    (root / "in" / "loop").symlink_to("loop")
    os.mkfifo(root / "in" / "pipe")
    return root / "in"


def test_files_and_links_to_them_are_listed(tmp_path: Path) -> None:
    """Sorted; of links only those to a file inside, with where it lies."""
    root = tree(tmp_path)
    assert list(files_below(str(root))) == [
        ("a", "a"),
        ("b", "b"),
        ("same", "deep/run"),
        ("deep/run", "deep/run"),
    ]
    assert [path for path, _ in files_below(str(root), skip={"deep", "a"})] == ["b", "same"]


def test_a_directory_may_have_too_much(tmp_path: Path) -> None:
    """Entries are counted, whatever they are."""
    root = tree(tmp_path)
    assert len(list(files_below(str(root), most=10))) == 4
    with pytest.raises(OSError, match="over 9 files and directories"):
        list(files_below(str(root), most=9))


@pytest.mark.parametrize(
    "path", ["key", "up/out/key", "same", "deeper/run", "loop", "pipe", "deep"]
)
def test_no_link_is_followed_when_a_file_is_read(tmp_path: Path, path: str) -> None:
    """Not as the last name, and not on the way; nothing waits for a pipe, nothing is left open."""
    root = tree(tmp_path)
    before = os.listdir("/proc/self/fd")
    with pytest.raises(OSError):  # noqa: PT011 - the system says which
        read_below(str(root), path)
    assert os.listdir("/proc/self/fd") == before
    assert read_below(str(root), "deep/run").content == b"run"


def test_a_file_is_read_with_what_it_is(tmp_path: Path) -> None:
    """Its bytes, up to a limit, and whether it can be executed."""
    root = str(tree(tmp_path))
    assert read_below(root, "deep/run", 3).is_executable
    assert not read_below(root, "a").is_executable
    with pytest.raises(OSError, match="over 2 bytes"):
        read_below(root, "deep/run", 2)


async def test_a_copy_can_be_executed_where_the_file_can(
    sandbox: SandboxHandle, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """One file, or those of a directory, which may itself be named by a link."""
    root = tree(tmp_path_factory.mktemp("host"))
    (root.parent / "link").symlink_to(root)
    (root / "deep" / "run").write_text("#!/bin/sh\necho ran\n")
    await sandbox.copy_from_host(root / "deep" / "run", "bin/run")
    assert (await sandbox.execute_command("bin/run")).stdout == "ran\n"
    await sandbox.copy_from_host(root.parent / "link", "copy")
    done = await sandbox.execute_command("copy/same; copy/deep/run; find copy -type f | wc -l")
    assert done.stdout.split() == ["ran", "ran", "4"]
    with pytest.raises(FileNotFoundError):
        await sandbox.copy_from_host(root / "nothing", "copy")
