"""Read shows the text of PDF pages, whatever the document holds."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.message import TextBlock
from agentscope_like.state import AgentState
from agentscope_like.tool import Read, Write
from agentscope_like.tool.builtin.files import pdf_pages, pdf_worker
from tests.tool.builtin.file_kit import Workspace

SMALL = ["Hello one", "Hello two", "three"]


def stream(data: bytes, entries: str = "") -> bytes:
    """Return the body of a stream object."""
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), entries.encode(), data)


def document(bodies: list[bytes]) -> bytes:
    """Return a PDF document of these objects, the first of which is the catalogue."""
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(bodies) + 1
    return (
        out
        + b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
        + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(out))
    )


def pdf_of(contents: list[bytes]) -> bytes:
    """Return a document with one page for each content stream."""
    count, font = len(contents), 3 + 2 * len(contents)
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(count))
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>".encode(),
    ]
    for number, content in enumerate(contents):
        page = (
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 {font} 0 R >> >> /Contents {4 + 2 * number} 0 R >>"
        )
        bodies += [page.encode(), content]
    return document([*bodies, b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"])


def pdf(texts: list[str]) -> bytes:
    """Return a document whose pages show these texts."""
    return pdf_of([stream(f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()) for text in texts])


@pytest.mark.parametrize(
    ("pages", "shown"),
    [
        (
            None,
            "--- Page 1/3 ---\nHello one\n\n--- Page 2/3 ---\nHello two\n\n--- Page 3/3 ---\nthree",
        ),
        ("2", "--- Page 2/3 ---\nHello two"),
        ("2-3", "--- Page 2/3 ---\nHello two\n\n--- Page 3/3 ---\nthree"),
        ("3-9", "--- Page 3/3 ---\nthree"),
    ],
)
async def test_pages_are_shown_as_text(workspace: Workspace, pages: str | None, shown: str) -> None:
    """All pages of a short document, or those that were asked for, as far as there are any."""
    workspace.file("a.pdf", pdf(SMALL))
    assert await workspace.succeed(workspace.read_tool, file_path="a.pdf", pages=pages) == shown


@pytest.mark.parametrize(
    ("pages", "said"),
    [
        ("5", "a.pdf has 3 pages; there is no page 5"),
        ("x", "give a page or a range"),
        ("1,3", "give a page or a range"),
        ("2-", "give a page or a range"),
        ("3-2", "a range goes up"),
        ("0", "the first page is 1"),
        ("1-25", "asks for 25 pages: at most 20"),
        ("9" * 40, "give a page or a range"),
    ],
)
async def test_pages_that_are_not_there_are_refused(
    workspace: Workspace, pages: str, said: str
) -> None:
    """The error tells the model what to ask for."""
    workspace.file("a.pdf", pdf(SMALL))
    assert said in await workspace.fail(workspace.read_tool, file_path="a.pdf", pages=pages)


async def test_a_long_document_needs_pages(workspace: Workspace) -> None:
    """More than ten pages are not shown unasked, and more than twenty never at once."""
    workspace.file("a.pdf", pdf([f"text {number}" for number in range(1, 31)]))
    said = await workspace.fail(workspace.read_tool, file_path="a.pdf")
    assert "30 pages: say which to show with `pages`" in said
    shown = await workspace.succeed(workspace.read_tool, file_path="a.pdf", pages="11-30")
    assert shown.count("--- Page") == 20
    assert "text 30" in shown


async def test_a_model_that_takes_documents_gets_them_whole_or_pages(workspace: Workspace) -> None:
    """Without `pages` the document; with `pages` the text of these."""
    workspace.file("a.pdf", pdf(SMALL))
    tool = Read(model_input_types=["application/pdf"], cwd=workspace.root)
    whole = await tool(file_path="a.pdf")
    assert [block.type for block in whole.content] == ["text", "data"]  # type: ignore[union-attr]
    assert "Hello two" in await workspace.succeed(tool, file_path="a.pdf", pages="2")


async def test_a_document_that_was_shown_may_be_replaced(workspace: Workspace) -> None:
    """It counts as read."""
    path = workspace.file("a.pdf", pdf(SMALL))
    state = AgentState()
    await workspace.read_tool(file_path="a.pdf", _agent_state=state)
    chunk = await Write(cwd=workspace.root)(file_path="a.pdf", content="x", _agent_state=state)
    assert path.read_text() == "x", chunk


async def test_without_the_extra_the_model_is_told(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What to install, and what else would do."""
    workspace.file("a.pdf", pdf(SMALL))
    monkeypatch.setattr(pdf_pages, "_search_path", list)
    said = await workspace.fail(workspace.read_tool, file_path="a.pdf")
    assert "agentscope_like[pdf]" in said
    assert "pdftotext" in said


async def test_the_project_brings_no_library_of_its_own(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted module of its name, where Python looks first, is not what the worker runs."""
    workspace.file("a.pdf", pdf(SMALL))
    workspace.file("pypdf/__init__.py", "raise SystemExit('planted')\n")
    monkeypatch.chdir(workspace.root)
    for entry in ("", str(workspace.root)):
        monkeypatch.setattr(sys, "path", [entry, *sys.path])
    assert "Hello two" in await workspace.succeed(workspace.read_tool, file_path="a.pdf")


def test_the_library_is_never_loaded_here() -> None:
    """Neither by importing Read nor by what shows the pages: only the worker loads it."""
    code = (
        "import sys; from agentscope_like.tool import Read; "
        "from agentscope_like.tool.builtin.files import pdf_pages; Read(); "
        "sys.exit('pypdf' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


SELF_REFERENCE = document(
    [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 3 >>",
    ]
)
HOSTILE: dict[str, Callable[[], bytes]] = {  # made by the test: collecting one takes no time
    "garbage": lambda: b"%PDF-1.4\ngarbage",
    "nothing": lambda: b"%PDF-",
    "a page tree that holds itself": lambda: SELF_REFERENCE,
    "a stream that unpacks to 400 MB": lambda: pdf_of(
        [stream(zlib.compress(bytes(400_000_000), 9), "/Filter /FlateDecode")]
    ),
    "brackets without end": lambda: pdf_of([stream(b"[" * 2_000_000)]),
    "a length that is a lie": lambda: pdf(SMALL).replace(b"/Length 4", b"/Length 99999999999"),
    "a page count that is a lie": lambda: pdf(SMALL).replace(b"/Count 3", b"/Count 999999999"),
    "objects inside each other": lambda: document(
        [b"<< /Type /Catalog /Pages " + b"[" * 200_000 + b" >>"]
    ),
}


@pytest.mark.parametrize("made", HOSTILE.values(), ids=HOSTILE)
async def test_a_hostile_document_is_an_error_for_the_model(
    workspace: Workspace, made: Callable[[], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call ends with a result, within its time; nothing is raised, and nothing runs on."""
    monkeypatch.setattr(pdf_pages, "SECONDS", 5)
    workspace.file("a.pdf", made())
    begun = time.monotonic()
    chunk = await workspace.read_tool(file_path="a.pdf")
    assert time.monotonic() - begun < 15
    (block,) = chunk.content  # type: ignore[union-attr]
    assert isinstance(block, TextBlock)
    assert chunk.state == "error" or "--- Page 1" in block.text  # type: ignore[union-attr]
    assert "Traceback" not in block.text


async def test_time_memory_and_output_are_limited(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document that needs more of one of them is refused; the same one passes with enough."""
    workspace.file("a.pdf", pdf(["word " * 2_000] * 10))
    for name, value, said in (
        ("SECONDS", 0, "it takes too"),
        ("MEMORY_BYTES", 30_000_000, "a.pdf cannot be read"),
        ("OUTPUT_BYTES", 1_000, "its text is too long"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(pdf_pages, name, value)
            assert said in await workspace.fail(workspace.read_tool, file_path="a.pdf"), name
    assert "word" in await workspace.succeed(workspace.read_tool, file_path="a.pdf")


async def test_the_worker_gets_no_secrets_and_leaves_nothing(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its environment is bare, it runs isolated, and a cancelled call ends it."""
    pid = tmp_path / "pid"
    spy = tmp_path / "spy.py"
    spy.write_text(
        "import os, sys, time\n"
        "told = f'{os.getpid()} {sorted(os.environ)} {sys.flags.isolated}'\n"
        f"open({str(pid)!r}, 'w').write(told)\n"
        "time.sleep(60)\n"
    )
    monkeypatch.setenv("API_TOKEN", "secret")
    monkeypatch.setattr(pdf_worker, "__file__", str(spy))
    workspace.file("a.pdf", pdf(SMALL))
    running = asyncio.ensure_future(_read(workspace.read_tool, "a.pdf"))
    await asyncio.to_thread(_wait_for, pid)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    number, _, rest = pid.read_text().partition(" ")
    assert rest == "['LC_ALL', 'PATH'] 1"
    with pytest.raises(ProcessLookupError):
        os.kill(int(number), 0)


async def _read(tool: Read, path: str) -> Any:
    return await tool(file_path=path)


def _wait_for(path: Path) -> None:
    while not path.exists() or not path.read_text():
        time.sleep(0.05)
