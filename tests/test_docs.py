"""Every code block of the README and of the documentation runs and prints what it says."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

import pytest

from agentscope_like.sandbox.isolation.bubblewrap import bubblewrap_objection

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS_A_KEY = "OPENAI_API_KEY=..."


class Block(NamedTuple):
    """A fenced block and the line of the page that it begins on."""

    language: str
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    """Return the fenced blocks of a page."""
    text = page.read_text()
    return [
        Block(found[1], found[2], text.count("\n", 0, found.start()) + 2)
        for found in FENCE.finditer(text)
    ]


def with_output(blocks: list[Block]) -> Iterator[tuple[Block, str | None]]:
    """Yield each Python block with the text block that follows it, its output."""
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        if block.language == "python":
            shows = following is not None and following.language == "text"
            yield block, following.text if shows and following else None


def compiled(block: Block, page: Path) -> CodeType:
    """Return the block's code, in which `await` may stand at top level."""
    source = "\n" * (block.line - 1) + block.text
    code = compile(source, str(page), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    assert isinstance(code, CodeType)
    return code


PYTHON_PAGES = [page for page in PAGES if any(b.language == "python" for b in blocks_of(page))]


@pytest.mark.parametrize("page", PYTHON_PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_python_of_a_page_runs_as_printed(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks of a page run one after the other, and print what the page shows."""
    if "agentscope_like.sandbox" in page.read_text() and (reason := bubblewrap_objection()):
        pytest.skip(f"needs bubblewrap: {reason}")
    monkeypatch.chdir(tmp_path)
    module = ModuleType("__page__")
    monkeypatch.setitem(sys.modules, "__page__", module)
    namespace = vars(module)
    for block, expected in with_output(blocks_of(page)):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            running = eval(compiled(block, page), namespace)
            if inspect.iscoroutine(running):
                asyncio.run(running)
        if expected is not None:
            assert printed.getvalue() == expected, f"{page.name}:{block.line}"


def commands() -> list[tuple[str, str | None]]:
    """Return the commands of all pages with the output that is shown, if any."""
    found: list[tuple[str, str | None]] = []
    for page in PAGES:
        for block in blocks_of(page):
            if block.language == "console":
                for entry in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                    command, _, output = entry.partition("\n")
                    found.append((command, output or None))
    return found


@pytest.mark.parametrize(("command", "output"), commands())
def test_a_command_of_the_documentation_works(
    command: str, output: str | None, tmp_path: Path
) -> None:
    """A command runs and prints what is shown; one that needs a key says so in one sentence."""
    if command.startswith("make "):
        assert f"\n{shlex.split(command)[1]}:" in (ROOT / "Makefile").read_text()
        return
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "COLUMNS": "100",
    }
    environment.pop("OPENAI_API_KEY", None)
    runnable = command.removeprefix(NEEDS_A_KEY).strip().replace(".venv/bin/", "")
    done = subprocess.run(
        ["bash", "-c", runnable],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert "Traceback" not in done.stderr
    if command.startswith(NEEDS_A_KEY):
        assert done.returncode != 0
        assert "OPENAI_API_KEY" in done.stderr + done.stdout
    elif output is not None:
        assert done.stdout == output
    else:
        assert done.returncode in (0, 1, 2), done.stderr


def test_every_block_is_of_a_kind_that_is_run() -> None:
    """No page holds a block that nobody would notice to be wrong."""
    kinds = {block.language for page in PAGES for block in blocks_of(page)}
    assert kinds <= {"python", "text", "console", "json", "toml"}


def test_the_readme_s_code_passes_a_strict_type_check(tmp_path: Path) -> None:
    """Who copies the README's example into a typed project gets no error."""
    code = "\n".join(b.text for b in blocks_of(ROOT / "README.md") if b.language == "python")
    example = tmp_path / "example.py"
    example.write_text(code)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(example)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_package_index_shows_no_broken_picture_or_link() -> None:
    """The description that a package carries has no relative picture or link, and its code."""
    done = subprocess.run(
        [sys.executable, "-m", "hatch_fancy_pypi_readme"],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
        check=True,
    )
    assert re.findall(r"\]\((?!https?://)", done.stdout) == []
    assert "```python" in done.stdout
