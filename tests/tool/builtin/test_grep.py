"""What Grep finds, with ripgrep and without it."""

from __future__ import annotations

import asyncio
import codecs
import os
import shutil
import stat
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.message import ToolResultState
from agentscope_like.tool.builtin.content_search import find_ripgrep, search_process
from tests.tool.builtin.file_kit import Workspace, text_of

HAS_RIPGREP = shutil.which("rg") is not None
needs_ripgrep = pytest.mark.skipif(not HAS_RIPGREP, reason="ripgrep is not installed")


@pytest.fixture(params=[pytest.param("ripgrep", marks=needs_ripgrep), "python"], autouse=True)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run each test with both engines."""
    if request.param == "python":
        monkeypatch.setattr(
            "agentscope_like.tool.builtin.content_search.find_ripgrep", lambda *avoid: None
        )
    return str(request.param)


@pytest.fixture
def project(workspace: Workspace) -> Workspace:
    """Return a small project."""
    workspace.file("src/main.py", "import os\n\n\ndef main():\n    return Main\n")
    workspace.file("src/util.ts", "export const main = 1;\n")
    workspace.file("README.md", "# Main\nThe main thing.\n")
    workspace.file(".github/ci.yml", "on: main\n")
    workspace.file(".git/HEAD", "main\n")
    workspace.file("node_modules/m/index.js", "main\n")
    workspace.file(".gitignore", "src/\n")
    return workspace


GREPS: list[tuple[dict[str, Any], str]] = [
    ({}, ".github/ci.yml\nREADME.md\nsrc/main.py\nsrc/util.ts"),
    ({"i": True, "output_mode": "count", "path": "README.md"}, "README.md:2"),
    ({"case_insensitive": True, "path": "src", "output_mode": "count"},
     "src/main.py:2\nsrc/util.ts:1"),
    ({"glob": "*.{py,md}"}, "README.md\nsrc/main.py"),
    ({"glob": "src/*.ts"}, "src/util.ts"),
    ({"glob": "node_modules/**"}, "node_modules/m/index.js"),
    ({"path": ".git"}, ".git/HEAD"),
    ({"type": "py"}, "src/main.py"),
    ({"type": "py", "glob": "*.ts"}, "No matches found."),
    ({"head_limit": 1}, ".github/ci.yml\n\n(Results 1 to 1 of 4. Continue with `offset=1`.)"),
    ({"head_limit": 2, "offset": 2}, "src/main.py\nsrc/util.ts\n\n(Results 3 to 4 of 4.)"),
    ({"head_limit": 0}, ".github/ci.yml\nREADME.md\nsrc/main.py\nsrc/util.ts"),
    ({"offset": 9}, "(There are only 4 results: use a smaller `offset`.)"),
    ({"output_mode": "content", "path": "src"},
     "src/main.py:4:def main():\nsrc/util.ts:1:export const main = 1;"),
    ({"output_mode": "content", "path": "src/main.py", "n": False}, "src/main.py:def main():"),
    ({"output_mode": "content", "path": "src/main.py", "-A": 1},
     "src/main.py:4:def main():\nsrc/main.py-5-    return Main"),
    ({"output_mode": "content", "path": "src/main.py", "-B": 1},
     "src/main.py-3-\nsrc/main.py:4:def main():"),
    ({"output_mode": "content", "path": "README.md", "context": 1},
     "README.md-1-# Main\nREADME.md:2:The main thing."),
    ({"output_mode": "content", "-C": 1, "-A": 0, "path": "README.md"},
     "README.md-1-# Main\nREADME.md:2:The main thing."),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "expected"), GREPS)
async def test_what_is_shown(project: Workspace, arguments: dict[str, Any], expected: str) -> None:
    """Modes, filters, context and pages; `.gitignore` hides nothing, `.git` is passed over."""
    assert await project.grep("main", **arguments) == expected


async def test_groups_of_context_are_kept_apart(workspace: Workspace) -> None:
    """`--` stands between lines that do not follow each other."""
    workspace.file("a", "x\n1\n2\n3\nx\n4\nx\n")
    said = await workspace.grep("x", output_mode="content", **{"-A": 1})
    assert said == "a:1:x\na-2-1\n--\na:5:x\na-6-4\na:7:x"


@pytest.mark.parametrize(
    ("pattern", "content", "found"),
    [
        ("--version", "use --version\n", True),
        ("-e", "-e\n", True),
        ("--pre=/bin/sh", "x\n", False),
        (r"\bfoo\b", "a foo b\n", True),
        ("^b$", "a\nb\nc\n", True),
        ("b$", "b\r\n", True),
        (r"a\.b", "axb\n", False),
        (r"[[:digit:]]+x", "12x\n", True),
        (r"\w+é", "café\n", True),
        ("é", codecs.BOM_UTF16_LE + "é".encode("utf-16-le"), True),
        ("^x", codecs.BOM_UTF8 + b"x", True),
        ("x", b"x\xff\n", True),
        ("x", b"x\0\n", False),
        ("x", b"x" + b"\n" * 200_000 + b"\0", False),
        ("x", b"x" + b"\n" * 200_000, True),
        ("(?i)FOO", "foo\n", True),
        (r"(?P<name>f)oo", "foo\n", True),
        (r"(?<name>f)oo", "foo\n", True),
        (r"[^\n]x", "ax", True),
        (r"\\n", r"a\nb", True),
        (r"\x{e9}", "é", True),
    ],
)
async def test_patterns(
    workspace: Workspace, pattern: str, content: str | bytes, *, found: bool
) -> None:
    """A pattern is never an option; both engines read it alike, whatever the encoding."""
    workspace.file("a", content)
    assert (await workspace.grep(pattern) == "a") is found


async def test_matches_over_several_lines(workspace: Workspace) -> None:
    """With `multiline`, every line that a match touches is shown and counted."""
    workspace.file("a", "x\nbegin\nmiddle\nend\ny\n")
    pattern = "begin.*?end"
    assert await workspace.grep(pattern) == "No matches found."
    said = await workspace.grep(pattern, multiline=True, output_mode="content")
    assert said == "a:2:begin\na:3:middle\na:4:end"
    assert await workspace.grep(pattern, multiline=True, output_mode="count") == "a:3"
    assert await workspace.grep("x\\nb", multiline=True) == "a"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"pattern": "("}, "not a valid regular expression"),
        ({"pattern": "a{2,1}"}, "not a valid regular expression"),
        ({"pattern": "a(?=b)"}, "`(?=`"),
        ({"pattern": r"(a)\1"}, r"`\1`"),
        ({"pattern": "a\nb"}, "set `multiline`"),
        ({"pattern": r"a\nb"}, "set `multiline`"),
        ({"pattern": r"a[\n]b"}, "set `multiline`"),
        ({"pattern": "trailing\\"}, "not a valid regular expression"),
        ({"pattern": "a\0"}, "NUL"),
        ({"pattern": "\ud800"}, "surrogate"),
        ({"pattern": "x" * 10_001}, "longer than"),
        ({"pattern": "x", "type": "pyhton"}, "did you mean 'python'?"),
        ({"pattern": "x", "glob": "../*"}, "`..`"),
        ({"pattern": "x", "path": "missing"}, "does not exist"),
        ({"pattern": "x", "path": "pipe"}, "named pipe"),
        ({"pattern": "x", "-X": 1}, "no argument '-X'"),
    ],
)
async def test_what_cannot_be_searched_is_a_clear_error(
    workspace: Workspace, arguments: dict[str, Any], said: str
) -> None:
    """Both engines refuse the same, and say what to do instead."""
    os.mkfifo(workspace.root / "pipe")
    workspace.file("a", "x")
    async with asyncio.timeout(10):
        assert said in await workspace.fail(workspace.grep_tool, **arguments)


async def test_special_files_and_symlinks_are_not_opened(
    workspace: Workspace, tmp_path: Path
) -> None:
    """A FIFO in the tree blocks nothing, and a symlink leads nowhere."""
    os.mkfifo(workspace.root / "pipe")
    (tmp_path / "outside").write_text("x")
    (workspace.root / "link").symlink_to(tmp_path / "outside")
    workspace.file("a", "x")
    async with asyncio.timeout(10):
        assert await workspace.grep("x") == "a"


async def test_credentials_are_left_out_and_give_nothing_away(workspace: Workspace) -> None:
    """Whether they match or not, the answer is the same; one that was agreed to is searched."""
    workspace.file(".env", "KEY=topsecret\n")
    workspace.file("a", "topsecret\n")
    for mode in ("content", "files_with_matches", "count"):
        said = await workspace.grep("topsecret", output_mode=mode)
        assert said.startswith("a")
        assert ".env" not in said
        other = await workspace.grep("topsecret|KEY", output_mode=mode)
        assert other == said
        assert "1 credential file left out" in said
    assert await workspace.grep("topsecret", path=".env") == ".env"


async def test_a_long_line_is_cut_and_that_is_said(workspace: Workspace) -> None:
    """A line of the limit is whole."""
    workspace.file("a", "x" * 500 + "\n" + "x" * 501 + "\n")
    first, second = (await workspace.grep("x", output_mode="content")).split("\n")
    assert first == "a:1:" + "x" * 500
    assert second == "a:2:" + "x" * 500 + " [cut: 501 characters in all]"


async def test_more_files_than_fit_a_command_line(workspace: Workspace) -> None:
    """Beyond that, the whole tree is searched, and the answer is the same."""
    for number in range(1200):
        workspace.file(f"{'directory' * 10}/{number}.txt", f"n{number}\n")
    workspace.file("node_modules/n7.txt", "n7\n")
    workspace.file(".env", "n7\n")
    said = await workspace.grep("^n7$")
    assert said.startswith(f"{'directory' * 10}/7.txt\n\n(1 credential")


@pytest.mark.parametrize(("name", "shown"), [("-f", "-f"), ("a\nb", "a\\nb"), ("a:1", "a:1")])
async def test_odd_names(workspace: Workspace, name: str, shown: str) -> None:
    """A file's name is never an option, and cannot forge a line."""
    workspace.file(name, "x\n")
    workspace.file("other", "y\n")
    assert await workspace.grep("x") == shown
    assert await workspace.grep("x", output_mode="count") == f"{shown}:1"
    assert await workspace.grep("x", output_mode="content") == f"{shown}:1:x"


async def test_a_ripgrep_in_the_workspace_is_not_run(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies where an agent writes is no tool of ours, even first on PATH."""
    fake = workspace.file("bin/rg", "#!/bin/sh\ntouch ran\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{fake.parent}:bin:{os.environ['PATH']}")
    assert find_ripgrep("/elsewhere") == str(fake.resolve())
    assert find_ripgrep(str(workspace.root)) is None
    await workspace.grep("x")
    assert not list(workspace.root.rglob("ran"))


async def test_a_search_that_takes_too_long_is_stopped(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    """The process is killed, the loop stays free, and the model is told to narrow the search."""
    if engine == "ripgrep":
        pytest.skip("ripgrep's patterns take linear time")
    workspace.file("a", "a" * 40 + "b\n")
    plain = search_process.run_search
    monkeypatch.setattr(
        "agentscope_like.tool.builtin.content_search.host_search.run_search",
        lambda *args, **kwargs: plain(*args, **(kwargs | {"seconds": 0.5})),
    )
    started = time.monotonic()
    task = asyncio.ensure_future(workspace.run(workspace.grep_tool, pattern="(a+)+$"))
    ticks = 0
    while not task.done():
        await asyncio.sleep(0.01)
        ticks += 1
    chunk = await task
    assert chunk.state is ToolResultState.ERROR
    assert "took too long" in text_of(chunk)
    assert time.monotonic() - started < 10
    assert ticks > 10


async def test_a_cancelled_search_leaves_no_process(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelling ends the search program before it returns."""
    sleeper = workspace.root.parent / "sleeper"
    sleeper.write_text("#!/bin/sh\nexec sleep 60\n")
    sleeper.chmod(0o755)
    monkeypatch.setattr(
        "agentscope_like.tool.builtin.content_search.find_ripgrep", lambda *avoid: str(sleeper)
    )
    started: list[subprocess.Popen[bytes]] = []
    has_started = threading.Event()
    plain = subprocess.Popen

    def popen(*args: Any, **kwargs: Any) -> subprocess.Popen[bytes]:
        started.append(plain(*args, **kwargs))
        has_started.set()
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", popen)
    workspace.file("a", "x")
    task = asyncio.ensure_future(workspace.run(workspace.grep_tool, pattern="x"))
    assert await asyncio.to_thread(has_started.wait, 10)
    task.cancel()
    async with asyncio.timeout(10):
        with pytest.raises(asyncio.CancelledError):
            await task
    assert started[0].returncode is not None
