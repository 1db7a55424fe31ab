"""What Write and Edit do to a file, and what they leave alone."""

from __future__ import annotations

import asyncio
import codecs
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agentscope_like.message import ToolResultState
from agentscope_like.state import AgentState
from agentscope_like.tool import Edit, Write
from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.file_system import host_file_system
from agentscope_like.tool.builtin.files.substitution import substitute
from agentscope_like.tool.builtin.tool_results import CancelCheck, off_loop
from tests.tool.builtin.file_kit import Workspace, text_of

# Reading first


@pytest.mark.parametrize("tool", ["Write", "Edit"])
async def test_an_existing_file_must_have_been_read(workspace: Workspace, tool: str) -> None:
    """Unread it is refused and left alone; once read, the same call works."""
    path = workspace.file("a.txt", "old\n")
    arguments = {"file_path": "a.txt"} | (
        {"content": "new\n"} if tool == "Write" else {"old_string": "old", "new_string": "new"}
    )
    said = await workspace.fail(workspace.tools[tool], **arguments)
    assert "was not read" in said
    assert path.read_text() == "old\n"
    await workspace.read("a.txt")
    await workspace.succeed(workspace.tools[tool], **arguments)
    assert path.read_text() == "new\n"


@pytest.mark.parametrize("tool", ["Write", "Edit"])
async def test_a_file_that_changed_since_it_was_read_is_refused(
    workspace: Workspace, tool: str
) -> None:
    """Only its content counts: touched but equal, it may be changed."""
    path = workspace.file("a.txt", "old\n")
    await workspace.read("a.txt")
    path.write_text("odd\n")
    os.utime(path, ns=(0, 0))
    arguments = {"file_path": "a.txt"} | (
        {"content": "new\n"} if tool == "Write" else {"old_string": "o", "new_string": "n"}
    )
    assert "Read it again" in await workspace.fail(workspace.tools[tool], **arguments)
    assert path.read_text() == "odd\n"
    path.write_text("old\n")
    await workspace.succeed(workspace.tools[tool], **arguments)


async def test_a_new_file_needs_no_reading(workspace: Workspace) -> None:
    """Write makes the file and its directories, as the umask has it; it may then be edited."""
    assert await workspace.write("a/b/c.txt", "x\n") == "Created a/b/c.txt (1 line)."
    path = workspace.root / "a/b/c.txt"
    assert path.read_bytes() == b"x\n"
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()
    assert (await workspace.edit("a/b/c.txt", "x", "y")).state is ToolResultState.SUCCESS
    assert (await workspace.edit("a/b/c.txt", "y", "z")).state is ToolResultState.SUCCESS
    assert path.read_bytes() == b"z\n"
    assert sorted(os.listdir(path.parent)) == ["c.txt"]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


async def test_without_a_state_nothing_existing_is_changed(workspace: Workspace) -> None:
    """Nobody knows what was read, so only new files are written."""
    path = workspace.file("a.txt", "x")
    for tool, arguments in (
        (Write(cwd=workspace.root), {"content": "y"}),
        (Edit(cwd=workspace.root), {"old_string": "x", "new_string": "y"}),
    ):
        (chunk,) = [chunk async for chunk in tool(file_path="a.txt", **arguments)]
        assert chunk.state is ToolResultState.ERROR
    (chunk,) = [chunk async for chunk in Write(cwd=workspace.root)(file_path="b", content="y")]
    assert chunk.state is ToolResultState.SUCCESS
    assert path.read_text() == "x"


async def test_the_read_state_survives_being_saved(workspace: Workspace) -> None:
    """What was read before a session was saved may be edited after it was resumed."""
    workspace.file("a.txt", "x")
    await workspace.read("a.txt")
    workspace.state = AgentState.model_validate_json(workspace.state.model_dump_json())
    assert (await workspace.edit("a.txt", "x", "y")).state is ToolResultState.SUCCESS


# What is kept


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"a\r\nb\r\n", "c\nd\n", b"c\r\nd\r\n"),
        (b"a\rb\r", "c\nd", b"c\rd"),
        (b"a\nb\n", "c\nd", b"c\nd"),
        (b"a\r\nb\n", "c\nd\n", b"c\nd\n"),
        (b"a\r\nb\r\n", "c\r\nd\n", b"c\r\nd\n"),
        (codecs.BOM_UTF8 + b"a", "b", codecs.BOM_UTF8 + b"b"),
        (codecs.BOM_UTF8 + b"a", "\ufeffb", codecs.BOM_UTF8 + b"b"),
        ("é\n".encode("utf-16"), "€\n", "€\n".encode("utf-16")),
        (b"caf\xe9", "th\xe9", b"th\xe9"),
        (b"", "\r\n \t", b"\r\n \t"),
    ],
)
async def test_write_keeps_line_ends_encoding_and_mark(
    workspace: Workspace, before: bytes, content: str, after: bytes
) -> None:
    r"""`\n` becomes the file's line end where it has only one; the encoding stays."""
    path = workspace.file("a.txt", before)
    await workspace.read("a.txt")
    await workspace.write("a.txt", content)
    assert path.read_bytes() == after


@pytest.mark.parametrize("mode", [0o644, 0o755, 0o600, 0o664])
async def test_the_mode_is_kept(workspace: Workspace, mode: int) -> None:
    """A script stays executable, a private file private."""
    path = workspace.file("a.sh", "x\n")
    path.chmod(mode)
    await workspace.read("a.sh")
    await workspace.edit("a.sh", "x", "y")
    assert path.stat().st_mode & 0o7777 == mode


async def test_a_set_id_bit_is_dropped(workspace: Workspace) -> None:
    """As the kernel does when such a file is written."""
    path = workspace.file("a", "x\n")
    path.chmod(0o4755)
    await workspace.read("a")
    await workspace.edit("a", "x", "y")
    assert path.stat().st_mode & 0o7777 == 0o755


async def test_a_symlink_stays_a_symlink(workspace: Workspace) -> None:
    """The file that it leads to is replaced, and reading through it counts."""
    target = workspace.file("real.txt", "x\n")
    link = workspace.root / "link.txt"
    link.symlink_to("real.txt")
    await workspace.read("link.txt")
    await workspace.write("link.txt", "y\n")
    assert link.is_symlink()
    assert target.read_text() == "y\n"


async def test_other_hard_links_keep_their_content(workspace: Workspace) -> None:
    """A hard link cannot be used to reach a file elsewhere."""
    path = workspace.file("a.txt", "x\n")
    other = workspace.root / "other.txt"
    other.hardlink_to(path)
    await workspace.read("a.txt")
    await workspace.write("a.txt", "y\n")
    assert (path.read_text(), other.read_text()) == ("y\n", "x\n")


# The report


async def test_the_metadata_carries_the_difference(workspace: Workspace) -> None:
    """A unified difference that `patch` can apply, the path, and how many places changed."""
    before = "".join(f"line {number}\n" for number in range(40)) + "last"
    path = workspace.file("a.txt", before)
    copy = workspace.root.parent / "copy.txt"
    copy.write_text(before)
    await workspace.read("a.txt")
    chunk = await workspace.edit("a.txt", "9\n", "nine\nand more\n", every=True)
    assert text_of(chunk) == "Edited a.txt in 4 places."
    assert chunk.metadata["file_path"] == str(path)
    assert chunk.metadata["occurrences"] == 4
    diff = chunk.metadata["diff"]
    assert diff.startswith("--- a.txt\n+++ a.txt\n@@ -7,7 +7,8 @@\n line 6\n")
    assert diff.count("@@ -") == 4
    if _has_patch():
        command = ["patch", "-s", str(copy)]
        await asyncio.to_thread(subprocess.run, command, input=diff.encode(), check=True)
        assert copy.read_bytes() == path.read_bytes()


def _has_patch() -> bool:
    return any((Path(place) / "patch").exists() for place in os.defpath.split(":"))


async def test_the_difference_of_much_text_is_bounded(workspace: Workspace) -> None:
    """A megabyte that changes as a whole is compared quickly, and the cut is said."""
    workspace.file("a.txt", "old line\n" * 100_000)
    await workspace.read("a.txt")
    chunk = await workspace.run(
        workspace.write_tool, file_path="a.txt", content="new line\n" * 100_000
    )
    assert chunk.metadata["diff"].endswith("... the rest of the difference is left out\n")
    assert len(chunk.metadata["diff"]) < 210_000


# Edit


@pytest.mark.parametrize(
    ("content", "old", "new", "said"),
    [
        ("a\nb\n", "", "x", "`old_string` is empty"),
        ("a\nb\n", "a", "a", "equal"),
        ("a\r\nb\r\n", "a\r\n", "a\n", "equal"),
        ("total = 1\n", "totl = 1", "x", "1\ttotal = 1"),
        ("a\nb\n", "     1\ta", "x", "line numbers"),
        ("a\nb\na\n", "a", "x", "2 times (lines 1, 3)"),
        ("aaa", "aa", "x", "2 times (lines 1, 1)"),
        ("x\n" * 20, "x", "y", "20 times (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...)"),
        ("", "a", "b", "is not in a.txt"),
    ],
)
async def test_an_edit_that_cannot_be_made_says_why(
    workspace: Workspace, content: str, old: str, new: str, said: str
) -> None:
    """The error helps to find the right `old_string`; the file is left alone."""
    path = workspace.file("a.txt", content)
    await workspace.read("a.txt")
    chunk = await workspace.edit("a.txt", old, new)
    assert chunk.state is ToolResultState.ERROR
    assert said in text_of(chunk)
    assert path.read_bytes() == content.encode()


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\n", b"x\r\ny\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "b", "x\ny", b"a\r\nx\r\ny\r\nc\r\n"),
        (b"a\rb\rc", "b\n", "x\ny\n", b"a\rx\ry\rc"),
        (b"a\nb\r\nc\n", "b", "x\ny", b"a\nx\r\ny\r\nc\n"),
        (b"a\nb\r\nc\n", "c\n", "x\ny\n", b"a\nb\r\nx\ny\n"),
        (b"a\r\nb", "b", "x\ny", b"a\r\nx\r\ny"),
        (b"a\r\nb\n", "a\r\n", "x\r\ny\n", b"x\r\ny\nb\n"),
        (b"a\nb\n", "a\r\nb", "x\r\ny", b"x\ny\n"),
        (b"a\r\nb\r\n", "\n", "", b"ab"),
        (codecs.BOM_UTF8 + b"a\n", "a", "b", codecs.BOM_UTF8 + b"b\n"),
        ("aé\n".encode("utf-16"), "é", "€", "a€\n".encode("utf-16")),
        (b"caf\xe9 \xff", "caf\xe9", "th\xe9", b"th\xe9 \xff"),
    ],
)
async def test_an_edit_takes_the_line_ends_of_its_place(
    workspace: Workspace, before: bytes, old: str, new: str, after: bytes
) -> None:
    r"""`\n` in `old_string` stands for any line end; what is put in gets the one in use there."""
    path = workspace.file("a.txt", before)
    await workspace.read("a.txt")
    chunk = await workspace.edit("a.txt", old, new, every=old == "\n")
    assert chunk.state is ToolResultState.SUCCESS, text_of(chunk)
    assert path.read_bytes() == after


PIECES = st.text(st.sampled_from("ab \té€\n\r"), max_size=12)


@settings(max_examples=400, deadline=None)
@given(head=PIECES, middle=PIECES, tail=PIECES, new=PIECES, every=st.booleans())
def test_nothing_outside_of_an_edit_changes(
    head: str, middle: str, tail: str, new: str, *, every: bool
) -> None:
    r"""Whatever the mix of line ends: the text before and after the place stays exactly."""
    text = f"{head}<{middle}>{tail}"
    old = f"<{middle}>".replace("\r\n", "\n").replace("\r", "\n")
    assume(old != new)
    changed = substitute(text, old, f"[{new}]", "a.txt", every=every)
    assert changed.text.startswith(f"{head}[")
    assert changed.text.endswith(f"]{tail}")
    put = changed.text[len(head) : len(changed.text) - len(tail)]
    assert put.replace("\r\n", "\n").replace("\r", "\n") == f"[{new}]".replace(
        "\r\n", "\n"
    ).replace("\r", "\n")


@settings(max_examples=200, deadline=None)
@given(text=PIECES, old=PIECES, new=PIECES)
def test_replacing_all_is_what_str_replace_does(text: str, old: str, new: str) -> None:
    r"""For texts whose only line end is `\n`, it is the standard library's replacement."""
    text, old, new = (piece.replace("\r", "") for piece in (text, old, new))
    try:
        changed = substitute(text, old, new, "a.txt", every=True)
    except FileToolError:
        assert not old or old == new or old not in text
    else:
        assert changed.text == text.replace(old, new)
        assert len(changed.lines) == text.count(old)


@settings(max_examples=60, deadline=None)
@given(
    lines=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)),
    ends=st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=1, max_size=3),
    tail=st.sampled_from(["", "\n", "\r\n", " ", "\x1a"]),
    form=st.sampled_from([("utf-8", b""), ("utf-8", codecs.BOM_UTF8), ("utf-16-le", None)]),
)
def test_an_edit_of_a_file_keeps_every_other_byte(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[str],
    ends: list[str],
    tail: str,
    form: tuple[str, bytes | None],
) -> None:
    """From disk to disk: encodings, marks, line ends and trailing bytes are kept."""
    codec, mark = form
    mark = codecs.BOM_UTF16_LE if mark is None else mark
    body = "".join(line + ends[index % len(ends)] for index, line in enumerate(lines))
    assume("@" not in body and "\ufeff" not in body)
    path = tmp_path_factory.mktemp("edit") / "a"
    before, after = (mark + f"{body}@{put}{tail}".encode(codec) for put in ("old", "new"))
    path.write_bytes(before)

    async def edit() -> None:
        workspace = Workspace(path.parent)
        await workspace.read("a")
        assert (await workspace.edit("a", "@old", "@new")).state is ToolResultState.SUCCESS

    asyncio.run(edit())
    assert path.read_bytes() == after


# Hard problems


@pytest.mark.parametrize("tool", ["Write", "Edit"])
@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("directory", "is a directory"),
        ("fifo", "named pipe"),
        ("broken", "broken symlink"),
        ("loop", "circle"),
        ("below a file", "not a directory"),
        ("long name", "too long"),
        ("nul", "U+0000"),
        ("device", "device"),
    ],
)
async def test_what_cannot_be_written_is_a_clear_error(
    workspace: Workspace, tool: str, kind: str, said: str
) -> None:
    """Each kind of path has its own sentence; nothing waits, and nothing is left behind."""
    path = workspace.root / "x"
    names = {"below a file": "x/y", "long name": "n" * 256, "nul": "x\0", "device": "/dev/null"}
    if kind == "directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "broken":
        path.symlink_to("nowhere")
    elif kind == "loop":
        path.symlink_to("x")
    else:
        path.touch()
    arguments = {"content": "y"} if tool == "Write" else {"old_string": "x", "new_string": "y"}
    if (tool, kind) == ("Edit", "below a file"):
        said = "does not exist"
    async with asyncio.timeout(10):
        name = names.get(kind, "x")
        assert said in await workspace.fail(workspace.tools[tool], file_path=name, **arguments)
    assert os.listdir(workspace.root) == ["x"]


async def test_a_read_only_file_is_not_replaced(workspace: Workspace) -> None:
    """Replacing needs no right to write the file, but is held back all the same."""
    path = workspace.file("a.txt", "x")
    path.chmod(0o444)
    await workspace.read("a.txt")
    assert "is read-only" in text_of(await workspace.edit("a.txt", "x", "y"))
    assert path.read_text() == "x"


async def test_a_read_only_directory_is_a_clear_error(unprivileged: Workspace) -> None:
    """A directory that takes no new file says so, and stays as it was."""
    unprivileged.file("d/a.txt", "x")
    await unprivileged.read("d/a.txt")
    directory = unprivileged.root / "d"
    directory.chmod(0o555)
    assert "permission denied" in text_of(await unprivileged.edit("d/a.txt", "x", "y"))
    said = await unprivileged.fail(unprivileged.write_tool, file_path="d/b.txt", content="y")
    assert "permission denied" in said
    assert os.listdir(directory) == ["a.txt"]
    directory.chmod(0o755)
    assert (await unprivileged.edit("d/a.txt", "x", "y")).state is ToolResultState.SUCCESS


async def test_a_directory_that_may_not_be_listed_can_be_written(unprivileged: Workspace) -> None:
    """To write a file needs no right to list its directory."""
    unprivileged.file("d/a.txt", "x")
    directory = unprivileged.root / "d"
    directory.chmod(0o300)
    await unprivileged.read("d/a.txt")
    assert (await unprivileged.edit("d/a.txt", "x", "y")).state is ToolResultState.SUCCESS
    directory.chmod(0o700)
    assert os.listdir(directory) == ["a.txt"]


@pytest.mark.parametrize(
    ("before", "content", "said"),
    [
        (None, "a\ud800", "half of a surrogate pair (U+D800) at character 1"),
        (b"caf\xe9", "\u20ac", "latin-1, which has no '€'"),
    ],
)
async def test_text_that_no_file_can_hold_is_refused(
    workspace: Workspace, before: bytes | None, content: str, said: str
) -> None:
    """What cannot be encoded leaves the file, or its absence, as it was."""
    if before is not None:
        workspace.file("a.txt", before)
        await workspace.read("a.txt")
    said_now = await workspace.fail(workspace.write_tool, file_path="a.txt", content=content)
    assert said in said_now
    path = workspace.root / "a.txt"
    assert (path.read_bytes() if path.exists() else None) == before


async def test_a_failed_write_removes_the_directories_it_made(workspace: Workspace) -> None:
    """What was made on the way goes again; what was there before stays."""
    (workspace.root / "there").mkdir()
    name = "there/a/b/" + "n" * 256
    await workspace.fail(workspace.write_tool, file_path=name, content="x")
    assert [path.name for path in workspace.root.rglob("*")] == ["there"]


# Races


def _meddle(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Have `act` done at the last cancel_check before a file is put in place."""

    async def meddled(work: Callable[[CancelCheck], Any]) -> Any:
        def meddling(cancel_check: CancelCheck) -> Any:
            def act_first() -> None:
                act()
                cancel_check()

            return work(act_first)

        return await off_loop(meddling)

    monkeypatch.setattr(host_file_system, "off_loop", meddled)


async def test_a_file_that_changes_while_it_is_written_is_kept(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another writer between the check and the replacement wins; the model is told to read."""
    path = workspace.file("a.txt", "mine\n")
    await workspace.read("a.txt")
    _meddle(monkeypatch, lambda: path.write_text("theirs\n"))
    said = text_of(await workspace.edit("a.txt", "mine", "new"))
    assert "changed in the meantime" in said
    assert path.read_text() == "theirs\n"
    assert os.listdir(workspace.root) == ["a.txt"]


async def test_a_file_made_meanwhile_is_not_overwritten(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Making a new file never replaces one that another process has just made."""
    path = workspace.root / "a.txt"
    _meddle(monkeypatch, lambda: path.write_text("theirs\n"))
    said = await workspace.fail(workspace.write_tool, file_path="a.txt", content="mine\n")
    assert "created by another program" in said
    assert path.read_text() == "theirs\n"
    assert os.listdir(workspace.root) == ["a.txt"]


async def test_a_symlink_swapped_in_is_not_written_through(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that turns into a symlink while it is written leaves the link's target alone."""
    outside = workspace.root.parent / "outside.txt"
    outside.write_text("mine\n")
    path = workspace.file("a.txt", "mine\n")
    await workspace.read("a.txt")

    def swap() -> None:
        path.unlink()
        path.symlink_to(outside)

    _meddle(monkeypatch, swap)
    assert (await workspace.edit("a.txt", "mine", "new")).state is ToolResultState.ERROR
    assert outside.read_text() == "mine\n"


async def test_two_edits_at_once_lose_nothing(workspace: Workspace) -> None:
    """Of two agents that edit one version, one succeeds and one is told to read again."""
    workspace.file("a.txt", "one two\n")
    other = Workspace(workspace.root)
    await workspace.read("a.txt")
    await other.read("a.txt")
    chunks = await asyncio.gather(
        workspace.edit("a.txt", "one", "1"), other.edit("a.txt", "two", "2")
    )
    states = sorted(chunk.state for chunk in chunks)
    assert states == [ToolResultState.ERROR, ToolResultState.SUCCESS]
    assert (workspace.root / "a.txt").read_text() in ("1 two\n", "one 2\n")


async def test_a_cancelled_write_has_ended_when_the_cancellation_arrives(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing goes on in the background, and no temporary file is left."""
    path = workspace.file("a.txt", "x\n")
    await workspace.read("a.txt")
    loop = asyncio.get_running_loop()
    running = asyncio.ensure_future(workspace.edit("a.txt", "x", "y"))

    def cancel() -> None:
        asyncio.run_coroutine_threadsafe(_cancel(), loop).result()

    async def _cancel() -> None:
        running.cancel()
        await asyncio.sleep(0)

    _meddle(monkeypatch, cancel)
    with pytest.raises(asyncio.CancelledError):
        await running
    assert path.read_text() == "x\n"
    assert os.listdir(workspace.root) == ["a.txt"]
