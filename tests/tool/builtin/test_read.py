"""What Read shows, and what it refuses."""

from __future__ import annotations

import asyncio
import base64
import codecs
import os
import socket
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_like.message import Base64Source, ToolResultState
from agentscope_like.tool import Read
from agentscope_like.tool.builtin.files.line_window import MAX_WINDOW_CHARACTERS
from tests.tool.builtin.file_kit import Workspace, text_of

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


async def test_lines_are_shown_with_their_numbers(workspace: Workspace) -> None:
    """A line is its number, a tab and its text."""
    workspace.file("a.txt", "one\n\tindented\n")
    assert await workspace.read("a.txt") == "     1\tone\n     2\t\tindented"


@pytest.mark.parametrize(
    ("offset", "limit", "shown", "note"),
    [
        (1, 2, ["a", "b"], "(Lines 1 to 2 of 5. Continue with `offset=3`.)"),
        (4, 2000, ["d", "e"], ""),
        (2, 3, ["b", "c", "d"], "(Lines 2 to 4 of 5. Continue with `offset=5`.)"),
        (5, 1, ["e"], ""),
    ],
)
async def test_a_window_of_lines(
    workspace: Workspace, offset: int, limit: int, shown: list[str], note: str
) -> None:
    """`offset` is the first line's number, `limit` how many; what follows is said."""
    workspace.file("a.txt", "a\nb\nc\nd\ne")
    lines = "\n".join(f"{number:6d}\t{line}" for number, line in enumerate(shown, offset))
    expected = f"{lines}\n\n{note}" if note else lines
    assert await workspace.read("a.txt", offset=offset, limit=limit) == expected


async def test_an_offset_past_the_end_is_told_the_number_of_lines(workspace: Workspace) -> None:
    """The error says how many lines there are."""
    workspace.file("a.txt", "a\nb\n")
    said = await workspace.fail(workspace.read_tool, file_path="a.txt", offset=3)
    assert said.startswith("a.txt has 2 lines; there is no line 3.")
    workspace.file("b.txt", "a")
    said = await workspace.fail(workspace.read_tool, file_path="b.txt", offset=9)
    assert said.startswith("b.txt has 1 line; there is no line 9.")


async def test_an_empty_file_is_said_to_be_empty(workspace: Workspace) -> None:
    """An empty file is no error."""
    workspace.file("a.txt")
    assert await workspace.read("a.txt") == "(a.txt is empty.)"


async def test_a_long_line_is_cut_and_that_is_said(workspace: Workspace) -> None:
    """A line of the limit is whole, one more character is cut."""
    workspace.file("a.txt", "x" * 2000 + "\n" + "y" * 2001 + "\n")
    first, second = (await workspace.read("a.txt")).split("\n")
    assert first == "     1\t" + "x" * 2000
    assert second == "     2\t" + "y" * 2000 + " [cut: 2,001 characters in all]"


async def test_a_window_is_bounded_in_characters(workspace: Workspace) -> None:
    """Many long lines end the window early, at a whole line, and say where to go on."""
    workspace.file("a.txt", ("x" * 1999 + "\n") * 100)
    said = await workspace.read("a.txt")
    shown = MAX_WINDOW_CHARACTERS // 1999
    assert len(said) < MAX_WINDOW_CHARACTERS * 1.1
    assert said.endswith(f"(Lines 1 to {shown} of 100. Continue with `offset={shown + 1}`.)")


@pytest.mark.parametrize(
    ("data", "text", "note"),
    [
        ("é\n".encode(), "é", ""),
        (codecs.BOM_UTF8 + b"x\n", "x", ""),
        (codecs.BOM_UTF16_LE + "é€".encode("utf-16-le"), "é€", "UTF-16-LE"),
        (codecs.BOM_UTF16_BE + "é€".encode("utf-16-be"), "é€", "UTF-16-BE"),
        (codecs.BOM_UTF32_LE + "é€".encode("utf-32-le"), "é€", "UTF-32-LE"),
        (b"caf\xe9\n", "café", "not UTF-8"),
        (b"a\r\nb\rc\n", "a\n     2\tb\n     3\tc", ""),
    ],
)
async def test_encodings(workspace: Workspace, data: bytes, text: str, note: str) -> None:
    """Text is shown whatever its encoding, and an unusual one is said."""
    workspace.file("a.txt", data)
    shown, _, notes = (await workspace.read("a.txt")).partition("\n\n")
    assert shown == f"     1\t{text}"
    assert note in notes
    assert bool(note) is bool(notes)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x7fELF\0\0", "an ELF program or library of 6 bytes"),
        (b"a\0b", "binary data of 3 bytes"),
        (codecs.BOM_UTF16_LE + b"a", "not valid in it"),
    ],
)
async def test_what_is_no_text_is_refused(workspace: Workspace, data: bytes, kind: str) -> None:
    """A binary file is refused with its kind and size."""
    workspace.file("a", data)
    assert kind in await workspace.fail(workspace.read_tool, file_path="a")


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0abc", "image/jpeg"),
        (b"GIF89a123", "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
async def test_an_image_is_handed_over(workspace: Workspace, data: bytes, media_type: str) -> None:
    """An image is known by its first bytes, whatever its name."""
    workspace.file("picture", data)
    source = (await workspace.data("picture")).source
    assert isinstance(source, Base64Source)
    assert source.media_type == media_type
    assert base64.b64decode(source.data) == data


@pytest.mark.parametrize(
    ("types", "shown"),
    [(None, True), (["image"], True), (["image/png"], True), (["image/gif"], False), ([], False)],
)
async def test_a_model_gets_only_what_it_can_take(
    workspace: Workspace, types: list[str] | None, shown: bool
) -> None:
    """`model_input_types` says which media are handed over; the description agrees."""
    workspace.file("a.png", PNG)
    tool = Read(model_input_types=types, cwd=workspace.root)
    chunk = await workspace.run(tool, file_path="a.png")
    assert (chunk.state is ToolResultState.SUCCESS) is shown
    assert ("Images" in tool.description) is shown


async def test_a_document_is_refused_with_a_way_out_or_handed_over(workspace: Workspace) -> None:
    """A PDF is handed over whole to models that can take it."""
    workspace.file("a.pdf", b"%PDF-1.7\n...")
    tool = Read(model_input_types=["application/pdf"], cwd=workspace.root)
    assert "application/pdf" in await workspace.succeed(tool, file_path="a.pdf")


async def test_pages_are_for_documents(workspace: Workspace) -> None:
    """A text file has no pages."""
    workspace.file("a.txt", "x")
    said = await workspace.fail(workspace.read_tool, file_path="a.txt", pages="1")
    assert "has no pages" in said


def _nothing(path: Path) -> None:
    pass


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _broken(path: Path) -> None:
    path.symlink_to("nowhere")


def _socket(path: Path) -> None:
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(f"/proc/self/fd/{directory}/{path.name}")
    finally:
        os.close(directory)


HARD_PROBLEMS: list[tuple[Callable[[Path], object], str, str]] = [
    (_nothing, "x", "does not exist"),
    (Path.mkdir, "x", "is a directory"),
    (os.mkfifo, "x", "named pipe"),
    (_socket, "x", "socket"),
    (_loop, "x", "circle"),
    (_broken, "x", "broken symlink"),
    (Path.touch, "x/y", "does not exist"),
    (_nothing, "n" * 256, "too long"),
    (_nothing, "n/" * 3000, "characters long"),
    (_nothing, "a\0b", "U+0000"),
    (_nothing, "a\nb", "U+000A"),
    (_nothing, "a\ud800", "U+D800"),
    (_nothing, "", "empty"),
    (_nothing, "/dev/zero", "device"),
]


@pytest.mark.parametrize(("make", "path", "said"), HARD_PROBLEMS)
async def test_what_cannot_be_read_is_a_clear_error(
    workspace: Workspace, make: Callable[[Path], object], path: str, said: str
) -> None:
    """Each kind of path that is no file has its own sentence, and nothing waits or crashes."""
    make(workspace.root / "x")
    async with asyncio.timeout(10):
        assert said in await workspace.fail(workspace.read_tool, file_path=path)


@pytest.mark.parametrize(("path", "locked"), [("a.txt", "a.txt"), ("d/a.txt", "d")])
async def test_permission_denied_is_a_clear_error(
    unprivileged: Workspace, path: str, locked: str
) -> None:
    """A file, or a directory on the way, that may not be read says so."""
    unprivileged.file(path, "x")
    (unprivileged.root / locked).chmod(0)
    said = await unprivileged.fail(unprivileged.read_tool, file_path=path)
    assert "permission denied" in said
    (unprivileged.root / locked).chmod(0o700)
    assert await unprivileged.read(path) == "     1\tx"


async def test_a_missing_file_is_told_its_neighbour(workspace: Workspace) -> None:
    """A misspelled name is answered with the name that there is."""
    workspace.file("settings.py", "x")
    said = await workspace.fail(workspace.read_tool, file_path="setings.py")
    assert "did you mean 'settings.py'?" in said


@pytest.mark.parametrize("spelled", ["a.txt", "./a.txt", "sub/../a.txt", "{root}/a.txt"])
async def test_paths_are_taken_against_the_tools_directory(
    workspace: Workspace, spelled: str
) -> None:
    """A relative path is one of the tool's directory, wherever the process is."""
    workspace.file("a.txt", "x")
    (workspace.root / "sub").mkdir()
    assert await workspace.read(spelled.format(root=workspace.root)) == "     1\tx"


async def test_a_read_is_remembered_by_digest_and_lines(workspace: Workspace) -> None:
    """The read state knows the file's bytes and which lines were shown, never the content."""
    path = workspace.file("a.txt", "secret\nb\nc\n")
    await workspace.read("a.txt", offset=2, limit=1)
    context = workspace.state.tool_context
    entry = await context.get_cache(str(path))
    assert entry is not None
    assert entry.seen == ((2, 2),)
    assert "secret" not in workspace.state.model_dump_json()
    path.write_text("other")
    assert await context.get_cache(str(path)) is None


async def test_only_the_last_files_are_remembered(workspace: Workspace) -> None:
    """`max_cache_files` bounds the read state; the oldest reading is forgotten first."""
    workspace.state.tool_context.max_cache_files = 2
    for name in ("a", "b", "c"):
        workspace.file(name, name)
        await workspace.read(name)
    remembered = [
        Path(entry.file_path).name for entry in workspace.state.tool_context.read_file_cache
    ]
    assert remembered == ["b", "c"]


async def test_a_large_file_is_read_in_pieces(workspace: Workspace) -> None:
    """A window far into a file of many megabytes needs a fraction of its size in memory."""
    line = "x" * 99 + "\n"
    workspace.file("a.txt", line * 300_000)
    tracemalloc.start()
    try:
        said = await workspace.read("a.txt", offset=299_999, limit=1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert said.startswith("299999\t" + "x" * 99 + "\n\n(Lines 299,999 to 299,999 of 300,000.")
    assert peak < 8 * 1024 * 1024


async def test_without_a_state_reading_works_and_is_forgotten(workspace: Workspace) -> None:
    """A program may call Read by itself."""
    workspace.file("a.txt", "x")
    chunks = [chunk async for chunk in Read(cwd=workspace.root)(file_path="a.txt")]
    assert [text_of(chunk) for chunk in chunks] == ["     1\tx"]


@settings(max_examples=60, deadline=None)
@given(
    lines=st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0\ufeff"), max_size=9)
    ),
    ends=st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=1, max_size=4),
    codec=st.sampled_from(["utf-8", "utf-16"]),
    offset=st.integers(1, 5),
    limit=st.integers(1, 5),
)
def test_any_window_of_any_text(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[str],
    ends: list[str],
    codec: str,
    offset: int,
    limit: int,
) -> None:
    """What is shown are the file's lines, whatever their ends and encoding."""
    root = tmp_path_factory.mktemp("read")
    text = "".join(line + ends[index % len(ends)] for index, line in enumerate(lines))
    (root / "a").write_bytes(text.encode(codec))
    every = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[:-1]
    wanted = every[offset - 1 : offset - 1 + limit]

    async def read() -> str:
        workspace = Workspace(root)
        return text_of(
            await workspace.run(workspace.read_tool, file_path="a", offset=offset, limit=limit)
        )

    said = asyncio.run(read())
    if wanted:
        shown = "\n".join(f"{number:6d}\t{line}" for number, line in enumerate(wanted, offset))
        assert said == shown or said.startswith(f"{shown}\n\n(")
    else:
        assert "empty" in said or "there is no line" in said
