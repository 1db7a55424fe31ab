"""GlobTool and GrepTool are judged, and search, as Glob and Grep do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.tool import Glob, Grep
from agentscope_like.typed.tools import GlobTool, GrepTool
from tests.typed.kit import state_in
from tests.typed.tools.kit import call, decided

TOOLS: list[Any] = [
    pytest.param(lambda cwd: GlobTool.create(working_dir=cwd)[0], "**/*", id="glob"),
    pytest.param(lambda cwd: GrepTool.create(working_dir=cwd)[0], "token", id="grep"),
]
Make = Callable[[Path], Any]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Give a directory with sources, and with secrets of the project's own."""
    for name in ("src/a.py", "src/b.txt", "secrets/key.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("token = 1\n")
    return tmp_path


@pytest.mark.parametrize(("make", "pattern"), TOOLS)
@pytest.mark.parametrize("rule", ["deny Read(secrets/**)", "deny Read(**/key.txt)"])
async def test_what_is_denied_to_read_is_left_out(
    tree: Path, make: Make, pattern: str, rule: str
) -> None:
    """The search runs, and finds only what may be read."""
    answer = await call(make(tree), state_in("explore", rule, cwd=tree), pattern=pattern)
    assert answer.ok
    assert "src/a.py" in answer.text
    assert "key.txt" not in answer.text
    free = await call(make(tree), state_in("explore", cwd=tree), pattern=pattern)
    assert "secrets/key.txt" in free.text


@pytest.mark.parametrize(("make", "pattern"), TOOLS)
async def test_they_are_decided_as_the_built_in_ones(tree: Path, make: Make, pattern: str) -> None:
    """In every mode, inside and outside, with rules for the built-in tool: the same answer."""
    tool = make(tree)
    twin = {"glob": Glob, "grep": Grep}[tool.name](cwd=tree)
    for mode in ("default", "accept_edits", "explore", "bypass", "dont_ask"):
        for path in (".", "src", "/", "~/.ssh", "missing", "a\0b"):
            for rule in (f"allow {twin.name}(src/**)", f"deny {twin.name}", "ask Read(src/**)"):
                state = state_in(mode, rule, cwd=tree)
                mine = await decided(tool, state, pattern=pattern, path=path)
                theirs = await decided(twin, state, pattern=pattern, path=path)
                assert mine.behavior is theirs.behavior, (mode, path, rule)
                assert mine.bypass_immune is theirs.bypass_immune


@pytest.mark.parametrize(("make", "pattern"), TOOLS)
async def test_their_own_rules_have_patterns(tree: Path, make: Make, pattern: str) -> None:
    """A rule for the tool's own name allows one directory and not another."""
    tool = make(tree)
    state = state_in("default", f"allow {tool.name}(read:src/**)", cwd=tree)
    inside = await decided(tool, state, pattern=pattern, path="src")
    assert inside.behavior == "allow"
    outside = await decided(tool, state, pattern=pattern, path="secrets")
    assert outside.behavior == "ask"
    assert [str(rule) for rule in outside.suggested_rules or ()][:1] == [
        f"allow {tool.name}(read:secrets/**)"
    ]


@pytest.mark.parametrize(("make", "pattern"), TOOLS)
async def test_a_class_of_one_s_own_is_judged_as_any_typed_tool(
    tree: Path, make: Make, pattern: str
) -> None:
    """Whoever extends a ready-made tool does not take over what is known of it."""
    tool = make(tree)
    extended: Any = type("Extended", (type(tool),), {"description": "Searches."})
    (other,) = extended.create(working_dir=tree)
    state = state_in("accept_edits", cwd=tree)
    assert (await decided(tool, state, pattern=pattern)).behavior == "allow"
    assert (await decided(other, state, pattern=pattern)).behavior == "ask"
    (trusted,) = extended.create(working_dir=tree, trust=True)
    assert (await decided(trusted, state, pattern=pattern)).behavior == "allow"


async def test_a_search_says_what_it_found_as_data(tree: Path) -> None:
    """The observation counts files and matches, beside the text for the model."""
    state = state_in("explore", cwd=tree)
    (glob,), (grep,) = GlobTool.create(working_dir=tree), GrepTool.create(working_dir=tree)
    found = await call(glob, state, pattern="src/*.py")
    assert (found.text, found.facts["total_files"]) == ("src/a.py", 1)
    found = await call(
        grep, state, pattern="TOKEN", include="*.py", ignore_case=True, output_mode="content"
    )
    assert found.text == "src/a.py:1:token = 1"
    assert (found.facts["files"], found.facts["matches"]) == (1, 1)
    broken = await call(grep, state, pattern="(")
    assert not broken.ok
    assert broken.facts["is_error"] is True
