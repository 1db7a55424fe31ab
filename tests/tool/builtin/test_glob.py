"""What Glob finds."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_like.paths import PathRuleIndex, locate
from agentscope_like.tool.builtin.search.glob import MAX_RESULTS
from tests.tool.builtin.file_kit import Workspace

TREE = [
    "a.py",
    "b.txt",
    ".hidden.py",
    "src/a.py",
    "src/deep/b.py",
    "src/deep/[x].ts",
    ".github/ci.yml",
    ".git/config.py",
    "node_modules/m/index.py",
    "src/__pycache__/c.py",
]


def _tree(workspace: Workspace) -> None:
    for name in TREE:
        workspace.file(name)
        os.utime(workspace.root / name, ns=(0, 0))


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", [".hidden.py", "a.py"]),
        ("**/*.py", [".hidden.py", "a.py", "src/a.py", "src/deep/b.py"]),
        ("src/**", ["src/a.py", "src/deep/[x].ts", "src/deep/b.py"]),
        ("src/", ["src/a.py", "src/deep/[x].ts", "src/deep/b.py"]),
        ("src/*/*.{py,ts}", ["src/deep/[x].ts", "src/deep/b.py"]),
        ("src/*", ["src/a.py"]),
        ("./a.py", ["a.py"]),
        ("src/deep/\\[x\\].ts", ["src/deep/[x].ts"]),
        ("[ab].*", ["a.py", "b.txt"]),
        (".github/*", [".github/ci.yml"]),
        ("node_modules/**", ["node_modules/m/index.py"]),
        (".git/*", [".git/config.py"]),
        ("**/__pycache__/*", ["src/__pycache__/c.py"]),
        ("{root}/src/*.py", ["src/a.py"]),
        ("{root}/b.txt", ["b.txt"]),
    ],
)
async def test_globs(workspace: Workspace, pattern: str, found: list[str]) -> None:
    """`*` stays in a name, `**` does not, hidden files count, dependencies only when named."""
    _tree(workspace)
    said = await workspace.glob(pattern.replace("{root}", str(workspace.root)))
    assert said.split("\n") == found


async def test_the_last_modified_comes_first(workspace: Workspace) -> None:
    """Newest first; files of one moment in the order of their paths."""
    for age, name in enumerate(["new", "b", "a", "old"]):
        path = workspace.file(name)
        os.utime(path, ns=(0, 10**9 * (5 if name == "new" else 1 if name == "old" else 3)))
        assert age >= 0
    assert (await workspace.glob("*")).split("\n") == ["new", "a", "b", "old"]


async def test_a_search_elsewhere_shows_absolute_paths(
    workspace: Workspace, tmp_path: Path
) -> None:
    """Each line can be given to Read as it is."""
    (tmp_path / "other.txt").write_text("x")
    said = await workspace.glob("*.txt", path="..")
    assert said == str(tmp_path / "other.txt")
    workspace.file("sub/a.txt", "x")
    assert await workspace.glob("*.txt", path="sub") == "sub/a.txt"


async def test_symlinks_are_not_followed(workspace: Workspace, tmp_path: Path) -> None:
    """Neither out of the searched directory nor round in circles; a root may be one itself."""
    workspace.file("real/a.txt")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.txt").write_text("x")
    (workspace.root / "out").symlink_to(tmp_path / "outside")
    (workspace.root / "real/loop").symlink_to("..")
    (workspace.root / "file.txt").symlink_to(tmp_path / "outside/secret.txt")
    assert await workspace.glob("**/*.txt") == "real/a.txt"
    (workspace.root / "link").symlink_to("real")
    assert await workspace.glob("*.txt", path="link") == "real/a.txt"


async def test_many_results_are_cut_and_that_is_said(workspace: Workspace) -> None:
    """As many as the limit are all shown, one more is counted."""
    for number in range(MAX_RESULTS):
        workspace.file(f"{number}.txt")
    assert len((await workspace.glob("*.txt")).split("\n")) == MAX_RESULTS
    workspace.file("more.txt")
    listed, _, note = (await workspace.glob("*.txt")).partition("\n\n")
    assert len(listed.split("\n")) == MAX_RESULTS
    assert f"of {MAX_RESULTS + 1} files" in note


async def test_credentials_are_left_out_and_counted(workspace: Workspace) -> None:
    """How many there are is said; a search of the credentials' own place shows them."""
    workspace.file(".env", "x")
    workspace.file("deep/.env.local", "x")
    workspace.file(".env.example", "x")
    workspace.file(".ssh/id_rsa", "x")
    listed, _, note = (await workspace.glob("**/.*")).partition("\n\n")
    assert listed == ".env.example"
    assert note.startswith("(2 credential files left out")
    assert "id_rsa" in await workspace.glob("*", path=".ssh")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"pattern": "*", "path": "missing"}, "does not exist"),
        ({"pattern": "*", "path": "a.py"}, "is not a directory"),
        ({"pattern": "*", "path": "a\0"}, "U+0000"),
        ({"pattern": "../*"}, "`..`"),
        ({"pattern": ""}, "empty"),
        ({"pattern": "{" + "{a,b}" * 20 + "}"}, "over 256 paths"),
        ({"pattern": "!a"}, "negation"),
        ({"pattern": "{/etc,src}/*"}, "root"),
    ],
)
async def test_what_cannot_be_searched_is_a_clear_error(
    workspace: Workspace, arguments: dict[str, str], said: str
) -> None:
    """The error says what to write instead."""
    _tree(workspace)
    assert said in await workspace.fail(workspace.glob_tool, **arguments)


async def test_nothing_found_is_no_error(workspace: Workspace) -> None:
    """The answer names the directory and the glob."""
    said = await workspace.glob("*.rs")
    assert said == f"No file below {workspace.root} matches *.rs."


async def test_a_name_that_cannot_be_shown_is_escaped(workspace: Workspace) -> None:
    """A line end in a name does not become a line of its own."""
    workspace.file("a\nb.txt")
    (workspace.root / os.fsdecode(b"\xff.txt")).touch()
    assert sorted((await workspace.glob("*.txt")).split("\n")) == ["\\udcff.txt", "a\\nb.txt"]


NAMES = st.sampled_from(["a", "b.py", ".c", "d.d", "A"])
PARTS = st.sampled_from(["a", "*", "**", "*.py", "?", "[ab]*", "{a,b.py}", ".*", "d.d"])


@settings(max_examples=80, deadline=None)
@given(
    paths=st.lists(st.lists(NAMES, min_size=1, max_size=4), max_size=8),
    pattern=st.lists(PARTS, min_size=1, max_size=4),
)
def test_pruning_loses_nothing(
    tmp_path_factory: pytest.TempPathFactory, paths: list[list[str]], pattern: list[str]
) -> None:
    """What is found is what the rule language, asked about each file, says."""
    root = tmp_path_factory.mktemp("glob")
    for names in paths:
        path = root.joinpath(*names)
        if not any(parent.is_file() for parent in path.parents) and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    glob = "/".join(pattern)
    index = PathRuleIndex([glob], strict=True)
    directory = locate(str(root), directory="/")
    expected = {
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.is_file() and index.match(locate(str(path), directory="/"), [directory]) is not None
    }
    said = asyncio.run(Workspace(root).glob(glob))
    assert (set() if said.startswith("No file") else set(said.split("\n"))) == expected
