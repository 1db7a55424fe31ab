"""Locating many paths at once says of each what locating it alone says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_like.paths import FileKind, FileLookups, PathError, locate

_NAMES = ("a", "b", "loop", "out", "up", "file", "gone", ".hidden", "..", ".", "")
_PATHS = st.lists(st.sampled_from(_NAMES), min_size=1, max_size=5).map("/".join)


@pytest.fixture(scope="module")
def tree() -> Iterator[Path]:
    """Return a directory with files, directories, and links to all of them and around."""
    with TemporaryDirectory() as name:
        root = Path(name).resolve() / "root"
        for folder in (root, root / "a", root / "a" / ".hidden"):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "b").mkdir(exist_ok=True)
            (folder / "file").write_text("")
            (folder / "loop").symlink_to("loop")
            (folder / "up").symlink_to("..")
            (folder / "out").symlink_to("/")
        (root / "b" / "a").symlink_to(root / "a" / "file")
        (root / "b" / "file").symlink_to("../a/gone")
        yield root


@given(paths=st.lists(_PATHS, min_size=2, max_size=6), follow=st.booleans())
def test_what_is_remembered_changes_no_answer(tree: Path, paths: list[str], follow: bool) -> None:
    """Symlinks, loops, dots, what is missing and what is no directory included."""
    folders = FileLookups(directory=str(tree), home=str(tree))
    for path in (f"{tree}/{path}" for path in (*paths, *paths)):
        alone = locate(path, directory=str(tree), home=str(tree), follow=follow)
        assert folders.locate(path, follow=follow) == alone


@pytest.mark.parametrize("path", ["file", "b/file", "~/file", "~", "/", "/file", "/tmp"])
def test_paths_of_other_shapes_are_located_alike(tree: Path, path: str) -> None:
    """Relative ones, the home and the root."""
    folders = FileLookups(directory=str(tree), home=str(tree))
    found = [folders.locate(path) for _ in range(3)]
    assert found == [locate(path, directory=str(tree), home=str(tree))] * 3


@pytest.mark.parametrize("name", ["x\ny", "x" * 5000])
def test_a_path_that_no_one_can_judge_is_refused_each_time(tree: Path, name: str) -> None:
    """In its last name or in a folder, and beside one that can be judged."""
    folders = FileLookups(directory=str(tree), home=str(tree))
    for path in (f"{tree}/{name}", f"{tree}/{name}/file") * 3:
        with pytest.raises(PathError):
            folders.locate(path)
    assert folders.locate(f"{tree}/file").kind is FileKind.FILE


def test_a_folder_that_several_paths_share_is_looked_at_once(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the third file in it on, there is one look at the file system for each."""
    import os

    looked: list[str] = []
    lstat = os.lstat

    def count(path: str) -> os.stat_result:
        looked.append(path)
        return lstat(path)

    monkeypatch.setattr(os, "lstat", count)
    folders = FileLookups(directory=str(tree), home=str(tree))
    for number in range(2):
        folders.locate(f"{tree}/a/{number}")
    looked.clear()
    folders.locate(f"{tree}/a/3")
    assert looked == [f"{tree}/a/3"]
