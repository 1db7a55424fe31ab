"""Listing, searching and reading a workspace (rows TT-95 to TT-107 of seed 001)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.profile import WorkspacePolicy
from tests.workspace.desk import Desk

HIDDEN = (
    "input/prompt.txt",
    "tool-results/call.json",
    "model-responses/1.json",
    "checkpoints/note.txt",
    "events.jsonl",
)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return an empty workspace."""
    return Desk(tmp_path / "work")


async def test_tt_95_a_directory_or_file_is_listed(desk: Desk) -> None:
    """A directory and a file are listed; a missing and a hidden one are recoverable errors."""
    desk.put("output/a.md", "a")
    desk.put("input/prompt.txt", "secret")
    assert (await desk("list_files", path="output")).metadata["entries"] == ["output/a.md"]
    assert (await desk("list_files", path="output/a.md")).metadata["entries"] == ["output/a.md"]
    assert (await desk("list_files", path="output/b")).code == "workspace.file_not_found"
    assert (await desk("list_files", path="input")).code == "workspace.not_visible"


async def test_tt_96_depth_is_two_and_at_most_four(desk: Desk) -> None:
    """By default three names are shown from the root; more than four deep is an error."""
    desk.put("output/1/2/3/4/5.md", "")
    listed = (await desk("list_files")).metadata["entries"]
    assert "output/1/2/" in listed
    assert "output/1/2/3/" not in listed
    assert "output/1/2/3/4/" in (await desk("list_files", depth=4)).metadata["entries"]
    for depth in (0, 5):
        assert (await desk("list_files", depth=depth)).is_error


async def test_tt_96_at_most_two_hundred_entries(desk: Desk) -> None:
    """A long list is cut and says so; each root is in it, and hidden storage takes no room."""
    for number in range(250):
        desk.put(f"output/{number}.md", "")
        desk.put(f"checkpoints/{number}/file", "")
    answer = await desk("list_files")
    assert len(answer.metadata["entries"]) == 200
    assert answer.metadata["truncated"]
    assert {"output/", "persist/"} <= set(answer.metadata["entries"])
    assert not (await desk("list_files", path="scratch")).metadata["truncated"]


async def test_tt_97_a_profile_narrows_the_roots(tmp_path: Path) -> None:
    """There are five roots, and a policy shows fewer, never others."""
    all_roots = (await Desk(tmp_path / "a")("list_files")).metadata["entries"]
    assert all_roots == ["output/", "persist/", "plan/", "scratch/", "summaries/"]
    narrow = Desk(tmp_path / "b", policy=WorkspacePolicy(visible_roots=("output",)))
    narrow.put("plan/a.md", "plan")
    assert (await narrow("list_files")).metadata["entries"] == ["output/"]
    assert (await narrow("read_file", path="plan/a.md")).code == "workspace.not_visible"
    assert (await narrow("search_files", query="plan")).metadata["refs"] == []
    with pytest.raises(ValueError, match="no root 'input'"):
        WorkspacePolicy(visible_roots=("input",))


@pytest.mark.parametrize("path", [None, "", ".", "./"])
async def test_tt_98_no_path_is_the_root(desk: Desk, path: str | None) -> None:
    """Nothing, the empty path, `.` and `./` are the root of the workspace."""
    desk.put("output/a.md", "")
    assert (await desk("list_files", path=path)) == (await desk("list_files"))
    assert "output/a.md" in (await desk("list_files", path=path)).metadata["entries"]


async def test_tt_99_search_needs_a_query(desk: Desk) -> None:
    """`query` is required and not blank; `path` limits the search to a file or directory."""
    desk.put("output/a.md", "moon")
    desk.put("plan/a.md", "moon")
    assert (await desk("search_files")).is_error
    assert (await desk("search_files", query="  ")).code == "workspace.invalid_query"
    found = await desk("search_files", query="moon")
    assert found.metadata["refs"] == ["workspace:output/a.md#L1-L1", "workspace:plan/a.md#L1-L1"]
    for path in ("plan", "plan/a.md"):
        one = await desk("search_files", query="moon", path=path)
        assert one.metadata["refs"] == ["workspace:plan/a.md#L1-L1"]


async def test_tt_100_limits_of_a_search(desk: Desk) -> None:
    """20 hits and 2 lines around each by default; over 50 hits or 5 lines is an error."""
    desk.put("output/a.md", "\n".join("moon" if n % 12 == 6 else f"{n}" for n in range(800)))
    assert len((await desk("search_files", query="moon")).metadata["refs"]) == 20
    most = await desk("search_files", query="moon", limit=50, context_lines=5)
    assert len(most.metadata["refs"]) == 50
    first = await desk("search_files", query="moon", limit=1)
    assert first.metadata["refs"] == ["workspace:output/a.md#L5-L9"]
    assert first.text.splitlines()[1:] == ["5 | 4", "6 | 5", "7 | moon", "8 | 7", "9 | 8"]
    bare = await desk("search_files", query="moon", limit=1, context_lines=0)
    assert bare.metadata["refs"] == ["workspace:output/a.md#L7-L7"]
    wrong: list[dict[str, int]] = [
        {"limit": 51},
        {"limit": 0},
        {"context_lines": 6},
        {"context_lines": -1},
    ]
    for arguments in wrong:
        assert (await desk("search_files", query="moon", **arguments)).is_error


async def test_tt_101_hidden_run_storage_is_never_searched(desk: Desk) -> None:
    """Storage of the run is neither listed, searched nor read, however it is named."""
    for path in HIDDEN:
        desk.put(path, "moon")
    desk.put("output/a.md", "moon")
    found = await desk("search_files", query="moon")
    assert found.metadata["refs"] == ["workspace:output/a.md#L1-L1"]
    listed = (await desk("list_files", depth=4)).text
    calls: list[tuple[str, dict[str, Any]]] = [
        ("read_file", {}),
        ("list_files", {}),
        ("search_files", {"query": "moon"}),
        ("write_file", {"content": "x"}),
    ]
    for path in HIDDEN:
        assert path.partition("/")[0] not in listed
        for tool, arguments in calls:
            answer = await desk(tool, path=path, **arguments)
            assert answer.code == "workspace.not_visible", (tool, path)
            assert (await desk(tool, path=f"output/../{path}", **arguments)).is_error


async def test_tt_102_only_text_is_searched_and_nothing_is_fine(desk: Desk) -> None:
    """Files that are no UTF-8 text are named and spoil nothing; no hit is a normal result."""
    desk.put("output/a.md", "moon")
    desk.put("output/b.bin", b"moon\0moon")
    desk.put("output/c.txt", "moon é".encode("latin-1"))
    os.symlink("/etc/hosts", desk.root / "output" / "link")
    found = await desk("search_files", query="moon")
    assert found.metadata["refs"] == ["workspace:output/a.md#L1-L1"]
    assert sorted(found.metadata["skipped"]) == ["output/b.bin", "output/c.txt"]
    nothing = await desk("search_files", query="sun")
    assert not nothing.is_error
    assert nothing.metadata["refs"] == []


async def test_tt_102_any_word_is_found_the_best_line_first(desk: Desk) -> None:
    """A line with more of the words comes first, and scripts without blanks are searched."""
    desk.put("output/a.md", "the moon\n\n\n\n\nthe full moon\n\n\n\n\n月が綺麗\n")
    found = await desk("search_files", query="full moon", context_lines=0)
    assert found.metadata["refs"] == [
        "workspace:output/a.md#L6-L6",
        "workspace:output/a.md#L1-L1",
    ]
    assert (await desk("search_files", query="綺麗")).metadata["refs"]


async def test_tt_103_a_directory_cannot_be_read(desk: Desk) -> None:
    """`path` has to be a file: a directory, a missing and a binary file are recoverable."""
    desk.put("output/b.bin", b"\0")
    desk.put("output/c.txt", b"\xff")
    desk.put("output/a.md", "text")
    assert (await desk("read_file", path="output")).code == "workspace.path_is_directory"
    assert (await desk("read_file", path=".")).code == "workspace.path_is_directory"
    assert (await desk("read_file", path="output/no")).code == "workspace.file_not_found"
    assert (await desk("read_file", path="output/b.bin")).code == "workspace.not_text"
    assert (await desk("read_file", path="output/c.txt")).code == "workspace.not_text"
    assert (await desk("read_file", path="output/a.md")).text == "1 | text"


async def test_tt_104_lines_or_characters_choose_a_part(desk: Desk) -> None:
    """Lines from 1, characters from 0, never both; out of the file is an error."""
    desk.put("output/a.md", "one\ntwo\nthree\nfour\n")
    lines = await desk("read_file", path="output/a.md", start_line=2, line_count=2)
    assert lines.text.splitlines()[:2] == ["2 | two", "3 | three"]
    assert lines.metadata["truncated"]
    characters = await desk("read_file", path="output/a.md", start_char=4, max_chars=5)
    assert characters.text.startswith("two\nt")
    assert (characters.metadata["start_char"], characters.metadata["end_char"]) == (4, 9)
    for mixed in ({"start_line": 1, "start_char": 0}, {"line_count": 1, "max_chars": 1}):
        answer = await desk("read_file", path="output/a.md", **mixed)
        assert answer.code == "workspace.invalid_range"
    for outside in ({"start_line": 5}, {"start_char": 19}):
        answer = await desk("read_file", path="output/a.md", **outside)
        assert answer.code == "workspace.invalid_range"
    for wrong in ({"start_line": 0}, {"start_char": -1}, {"line_count": 0}, {"max_chars": 0}):
        assert (await desk("read_file", path="output/a.md", **wrong)).is_error


async def test_tt_104_no_more_than_the_limits(desk: Desk) -> None:
    """80,000 characters, 1,200 lines and, for a whole file, 256 KiB; over them is an error."""
    desk.put("output/wide.md", "é" * 80_001)
    desk.put("output/long.md", "x\n" * 1_201)
    desk.put("output/fits.md", "x\n" * 1_200)
    desk.put("output/big.md", "y" * (256 * 1024 + 1))
    assert not (await desk("read_file", path="output/fits.md")).is_error
    assert not (await desk("read_file", path="output/wide.md")).is_error
    for path in ("output/long.md", "output/big.md"):
        assert (await desk("read_file", path=path)).code == "workspace.read_too_large"
    whole_line = await desk("read_file", path="output/wide.md", start_line=1, line_count=1)
    assert whole_line.code == "workspace.read_too_large"
    most = await desk("read_file", path="output/wide.md", start_char=0, max_chars=80_000)
    assert most.metadata["end_char"] == 80_000
    assert most.text.startswith("é" * 80_000)
    for wrong in ({"max_chars": 80_001}, {"line_count": 1_201}):
        assert (await desk("read_file", path="output/wide.md", **wrong)).is_error


async def test_tt_105_lines_have_numbers(desk: Desk) -> None:
    """Lines are shown with their numbers in the file; characters are shown as they are."""
    desk.put("output/a.md", "one\r\n\r\ntwo")
    answer = await desk("read_file", path="output/a.md")
    assert answer.text.splitlines() == ["1 | one", "2 | ", "3 | two", r"[Lines end with \r\n.]"]
    assert (await desk("read_file", path="output/a.md", start_char=0)).text == "one\r\n\r\ntwo"
    desk.put("output/empty.md", "")
    assert (await desk("read_file", path="output/empty.md")).text == "The file is empty."


async def test_tt_106_numbers_do_not_match(desk: Desk) -> None:
    """A patch with the numbers that a read shows changes nothing; without them it does."""
    desk.put("output/a.md", "one\ntwo\n")
    await desk("read_file", path="output/a.md")
    patch = {"path": "output/a.md", "old_string": "2 | two", "new_string": "2 | three"}
    assert (await desk("apply_patch", **patch)).code == "workspace.patch_not_found"
    answer = await desk("apply_patch", path="output/a.md", old_string="two", new_string="three")
    assert not answer.is_error
    assert (desk.root / "output/a.md").read_text() == "one\nthree\n"


async def test_tt_107_a_failed_patch_needs_a_full_read(desk: Desk) -> None:
    """An unread file cannot be patched; after a patch failed on a part, all has to be read."""
    desk.put("output/a.md", "one\ntwo\nthree\n")
    patch = {"path": "output/a.md", "new_string": "2"}
    unread = await desk("apply_patch", old_string="two", **patch)
    assert unread.code == "workspace.read_required"
    await desk("read_file", path="output/a.md", start_line=1, line_count=1)
    beyond = await desk("apply_patch", old_string="two", **patch)
    assert beyond.code == "workspace.text_not_read"
    again = await desk("apply_patch", old_string="one", **patch)
    assert again.code == "workspace.full_read_required"
    await desk("read_file", path="output/a.md", start_line=1, line_count=2)
    assert (await desk("apply_patch", old_string="one", **patch)).is_error
    await desk("read_file", path="output/a.md")
    assert not (await desk("apply_patch", old_string="two", **patch)).is_error


async def test_parts_that_were_read_make_up_the_whole(desk: Desk) -> None:
    """A file read in parts that join is known in full, also where no read takes it whole."""
    desk.put("output/a.md", "".join(f"{n}\n" for n in range(2_000)))
    for start in (1, 1_001):
        await desk("read_file", path="output/a.md", start_line=start, line_count=1_000)
    answer = await desk("write_file", path="output/a.md", content="new")
    assert not answer.is_error


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../x", "output/../../x", "~/x", "C:\\x", "output\\a", "output/a\0"]
)
async def test_a_path_out_of_the_workspace_is_refused(desk: Desk, path: str) -> None:
    """No spelling leads out; strange names below a root are names."""
    assert (await desk("read_file", path=path)).code == "workspace.invalid_path"
    assert (await desk("write_file", path=path, content="x")).code == "workspace.invalid_path"
    assert not (await desk("write_file", path="output/~x..md", content="x")).is_error


async def test_symlinks_are_refused(desk: Desk, tmp_path: Path) -> None:
    """A symlink in the workspace is followed by no tool, whether it leads out or not."""
    (tmp_path / "outside.txt").write_text("secret")
    desk.put("output/real.md", "text")
    os.symlink(tmp_path / "outside.txt", desk.root / "output/out")
    os.symlink("real.md", desk.root / "output/in")
    os.symlink(tmp_path, desk.root / "output/up")
    for path in ("output/out", "output/in", "output/up/outside.txt", "output/up/new.txt"):
        assert (await desk("read_file", path=path)).code == "workspace.invalid_path"
        answer = await desk("write_file", path=path, content="x", mode="append")
        assert answer.code == "workspace.invalid_path"
    assert (await desk("list_files", path="output")).metadata["entries"] == ["output/real.md"]
    assert (tmp_path / "outside.txt").read_text() == "secret"
    assert not (tmp_path / "new.txt").exists()
