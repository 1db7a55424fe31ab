"""What is opened is what was judged, whatever is swapped in between."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from agentscope_like.paths import locate
from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.file_system.host_file_system import HOST_FILES
from agentscope_like.tool.builtin.file_system.protocol import read_whole
from agentscope_like.tool.builtin.file_system.safe_open import open_regular
from agentscope_like.tool.builtin.files.text_diff import unified_diff
from tests.tool.builtin.file_kit import Workspace


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a directory with `d/a.txt` in it."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d/a.txt").write_text("mine")
    return tmp_path.resolve()


def test_a_regular_file_is_opened(place: Path) -> None:
    """The plain case."""
    with open_regular(str(place / "d/a.txt")) as file:
        assert file.read() == b"mine"


@pytest.mark.parametrize("swapped", ["d/a.txt", "d"])
def test_a_symlink_that_was_swapped_in_is_not_followed(place: Path, swapped: str) -> None:
    """Neither as the file nor as a directory on the way."""
    location = locate("d/a.txt", directory=str(place))
    os.rename(place / swapped, place / "moved")
    (place / swapped).symlink_to(place / "moved")
    with pytest.raises(FileToolError, match=r"replaced"):
        read_whole(HOST_FILES, location)
    again = locate("d/a.txt", directory=str(place))
    assert read_whole(HOST_FILES, again).data == b"mine"


@pytest.mark.parametrize("kind", ["fifo", "directory"])
def test_what_is_no_file_by_now_does_not_block(place: Path, kind: str) -> None:
    """A FIFO that took the file's name is refused at once, with nobody at its other end."""
    location = locate("d/a.txt", directory=str(place))
    (place / "d/a.txt").unlink()
    if kind == "fifo":
        os.mkfifo(place / "d/a.txt")
    else:
        (place / "d/a.txt").mkdir()
    started = time.monotonic()
    failed = threading.Event()

    def read() -> None:
        with pytest.raises(FileToolError):
            read_whole(HOST_FILES, location)
        failed.set()

    threading.Thread(target=read, daemon=True).start()
    assert failed.wait(10)
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a\n", "a\n", ""),
        ("", "a\n", "@@ -0,0 +1 @@\n+a\n"),
        ("a\n", "", "@@ -1 +0,0 @@\n-a\n"),
        ("a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"),
        ("a\r\nb\r\n", "a\r\nc\r\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"),
    ],
)
def test_differences(before: str, after: str, expected: str) -> None:
    """The unified format, line ends shown alike."""
    head = "--- f\n+++ f\n" if expected else ""
    assert unified_diff(before, after, "f") == head + expected


@pytest.mark.parametrize("name", ["Read", "Write", "Edit", "Glob", "Grep"])
async def test_a_call_is_for_the_file_that_was_decided_about(
    workspace: Workspace, name: str
) -> None:
    """A path that leads elsewhere when the call runs than when it was decided is refused."""
    workspace.file("a/file", "x")
    workspace.file("b/file", "x")
    (workspace.root / "link").symlink_to("a")
    arguments: dict[str, dict[str, object]] = {
        "Read": {"file_path": "link/file"},
        "Write": {"file_path": "link/file", "content": "y"},
        "Edit": {"file_path": "link/file", "old_string": "x", "new_string": "y"},
        "Glob": {"pattern": "*", "path": "link"},
        "Grep": {"pattern": "x", "path": "link"},
    }
    tool = workspace.tools[name]
    await workspace.read("a/file")
    basis = tool.decision_basis(dict(arguments[name]))
    (workspace.root / "link").unlink()
    (workspace.root / "link").symlink_to("b")
    said = await workspace.fail(tool, **arguments[name], _decision_basis=basis)
    assert "no longer leads where it did when the call was decided" in said
    (workspace.root / "link").unlink()
    (workspace.root / "link").symlink_to("a")
    await workspace.succeed(tool, **arguments[name], _decision_basis=basis)
    assert (workspace.root / "b" / "file").read_text() == "x"
