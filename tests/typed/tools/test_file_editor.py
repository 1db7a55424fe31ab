"""FileEditorTool: each command does what it says, and is decided by what it does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentscope_like.exception import GrantError
from agentscope_like.message import ToolCallBlock
from agentscope_like.state import AgentState
from agentscope_like.tool import Edit, Read, Toolkit, Write
from agentscope_like.typed.tools import FileEditorTool
from tests.typed.kit import state_in
from tests.typed.tools.kit import call, decided

CHANGES: list[dict[str, Any]] = [
    {"command": "create", "file_text": "x"},
    {"command": "str_replace", "old_str": "a", "new_str": "b"},
    {"command": "insert", "insert_line": 0, "new_str": "x"},
    {"command": "undo_edit"},
]


def editor(cwd: Path) -> FileEditorTool:
    """Return a file editor that works in a directory."""
    (tool,) = FileEditorTool.create(working_dir=cwd)
    return tool


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give a file of three lines."""
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo\nthree\n")
    return path


def content(file: Path) -> str:
    """Return what is in a file."""
    return file.read_bytes().decode()


def put(file: Path, text: str = "") -> None:
    """Write a file, and make its directory."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())


def lead(link: Path, to: Path) -> None:
    """Make a symlink lead to a file."""
    link.unlink(missing_ok=True)
    link.symlink_to(to)


def writing(cwd: Path) -> AgentState:
    """Return a session in which edits run."""
    return state_in("accept_edits", cwd=cwd)


async def test_each_command_does_what_it_says(file: Path) -> None:
    """View, replace, insert, undo twice, create; each answer says what came of it."""
    tool, state = editor(file.parent), writing(file.parent)
    seen = await call(tool, state, command="view", path="a.txt")
    assert seen.text == "     1\tone\n     2\ttwo\n     3\tthree"
    edited = await call(
        tool, state, command="str_replace", path="a.txt", old_str="two", new_str="2"
    )
    assert edited.ok
    assert "-two\n+2\n" in edited.facts["diff"]
    await call(tool, state, command="insert", path="a.txt", insert_line=0, new_str="zero")
    assert content(file) == "zero\none\n2\nthree\n"
    assert (await call(tool, state, command="undo_edit", path="a.txt")).ok
    assert content(file) == "one\n2\nthree\n"
    assert (await call(tool, state, command="undo_edit", path="a.txt")).ok
    assert content(file) == "one\ntwo\nthree\n"
    last = await call(tool, state, command="undo_edit", path="a.txt")
    assert not last.ok
    assert "no edit of a.txt left" in last.text
    assert (await call(tool, state, command="create", path="new/b.txt", file_text="b")).ok
    assert content(file.parent / "new/b.txt") == "b"


@pytest.mark.parametrize(
    ("before", "line", "new", "after"),
    [
        ("a\nb\n", 0, "x", "x\na\nb\n"),
        ("a\nb\n", 1, "x\n", "a\nx\nb\n"),
        ("a\nb\n", 2, "x", "a\nb\nx\n"),
        ("a\nb", 2, "x", "a\nb\nx"),
        ("", 0, "x", "x\n"),
        ("a\r\nb\r\n", 1, "x\ny", "a\r\nx\r\ny\r\nb\r\n"),
    ],
)
async def test_lines_are_inserted_with_the_line_ends_of_the_file(
    tmp_path: Path, before: str, line: int, new: str, after: str
) -> None:
    """After any line, at the beginning and at the end, in each form of line end."""
    file = tmp_path / "a.txt"
    put(file, before)
    tool, state = editor(tmp_path), writing(tmp_path)
    await call(tool, state, command="view", path="a.txt")
    done = await call(tool, state, command="insert", path="a.txt", insert_line=line, new_str=new)
    assert done.ok, done.text
    assert content(file) == after


async def test_view_is_decided_as_read_is(file: Path) -> None:
    """Whatever the mode, the path and the rules for Read."""
    tool, twin = editor(file.parent), Read(cwd=file.parent)
    for mode in ("default", "accept_edits", "explore", "bypass", "dont_ask"):
        for path in ("a.txt", "~/.ssh/id_rsa", "/etc/hosts", "missing", "a\0b"):
            for rule in ("allow Read(a.txt)", "deny Read(*.txt)", "ask Read"):
                state = state_in(mode, rule, cwd=file.parent)
                mine = await decided(tool, state, command="view", path=path)
                theirs = await decided(twin, state, file_path=path)
                assert mine.behavior is theirs.behavior, (mode, path, rule)
                assert mine.bypass_immune is theirs.bypass_immune


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change["command"])
async def test_changes_are_decided_as_write_is(file: Path, change: dict[str, Any]) -> None:
    """Whatever the mode, the path and the rules for Write."""
    tool, twin = editor(file.parent), Write(cwd=file.parent)
    for mode in ("default", "accept_edits", "explore", "bypass", "dont_ask"):
        for path in ("a.txt", ".git/hooks/pre-commit", "/etc/hosts", "new", "a\0b"):
            for rule in ("allow Write(a.txt)", "deny Write(*.txt)", "ask Write", "allow Read"):
                state = state_in(mode, rule, cwd=file.parent)
                mine = await decided(tool, state, path=path, **change)
                theirs = await decided(twin, state, file_path=path, content="x")
                assert mine.behavior is theirs.behavior, (mode, path, rule)
                assert mine.bypass_immune is theirs.bypass_immune


async def test_rules_for_edit_hold_for_edits_and_make_no_files(file: Path) -> None:
    """A rule that lets Edit change a file lets `str_replace`, and not `create`."""
    tool, twin = editor(file.parent), Edit(cwd=file.parent)
    state = state_in("default", "allow Edit(a.txt)", cwd=file.parent)
    arguments = {"file_path": "a.txt", "old_string": "a", "new_string": "b"}
    assert (await decided(twin, state, **arguments)).behavior == "allow"
    said = [(await decided(tool, state, path="a.txt", **change)).behavior for change in CHANGES]
    assert said == ["ask", "allow", "allow", "allow"]


async def test_a_rule_that_lets_the_editor_read_lets_it_change_nothing(file: Path) -> None:
    """`allow Read` does not reach the commands that write."""
    tool, state = editor(file.parent), state_in("default", "allow Read", cwd=file.parent)
    assert (await decided(tool, state, command="view", path="a.txt")).behavior == "allow"
    for change in CHANGES:
        assert (await decided(tool, state, path="a.txt", **change)).behavior == "ask"


async def test_undo_is_refused_where_the_file_changed_since(file: Path) -> None:
    """What another program wrote is not lost."""
    tool, state = editor(file.parent), writing(file.parent)
    await call(tool, state, command="view", path="a.txt")
    await call(tool, state, command="str_replace", path="a.txt", old_str="two", new_str="2")
    put(file, "by another\n")
    undone = await call(tool, state, command="undo_edit", path="a.txt")
    assert "changed since its last edit" in undone.text
    assert content(file) == "by another\n"


async def test_a_file_is_viewed_before_it_is_changed(file: Path) -> None:
    """An edit of what the model has not seen is refused, and it is told what to do."""
    tool, state = editor(file.parent), writing(file.parent)
    change = {"command": "str_replace", "path": "a.txt", "old_str": "two", "new_str": "2"}
    assert "View it first" in (await call(tool, state, **change)).text
    await call(tool, state, command="view", path="a.txt")
    assert (await call(tool, state, **change)).ok


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"command": "create", "file_text": "x"}, "overwrites nothing"),
        ({"command": "str_replace", "old_str": "nowhere"}, "`old_str` is not in a.txt"),
        ({"command": "str_replace", "old_str": "e", "new_str": "x"}, "until it is unique."),
        ({"command": "insert", "insert_line": 9, "new_str": "x"}, "from 0 to 3"),
        ({"command": "insert", "new_str": "x"}, "`insert` needs `insert_line`"),
        ({"command": "view", "old_str": "x"}, "`view` takes no `old_str`"),
        ({"command": "view", "view_range": [7, 9]}, "smaller `view_range`"),
        ({"command": "view", "view_range": [3, 2]}, "two line numbers"),
        ({"command": "delete"}, "command"),
    ],
)
async def test_an_error_says_what_to_do(file: Path, arguments: dict[str, Any], told: str) -> None:
    """Nothing is changed, and the model reads what to do in the words of this tool."""
    tool, state = editor(file.parent), writing(file.parent)
    await call(tool, state, command="view", path="a.txt")
    answer = await call(tool, state, path="a.txt", **arguments)
    assert not answer.ok
    assert told in answer.text
    assert not any(word in answer.text for word in ("old_string", "new_string", "replace_all"))
    assert content(file) == "one\ntwo\nthree\n"


async def test_a_window_of_a_file_is_viewed(file: Path) -> None:
    """From a line to a line, and what is said below them names the editor's own argument."""
    tool, state = editor(file.parent), writing(file.parent)
    shown = await call(tool, state, command="view", path="a.txt", view_range=[1, 2])
    assert shown.text.startswith("     1\tone\n     2\ttwo\n\n(")
    assert "Continue with `view_range` [3, -1]" in shown.text
    shown = await call(tool, state, command="view", path="a.txt", view_range=[3, -1])
    assert shown.text == "     3\tthree"


async def test_a_directory_is_listed_without_what_is_denied(file: Path) -> None:
    """Two levels of files; those that Read may not have are left out."""
    for name in ("src/b.py", "src/deep/c.py", "secrets/key"):
        put(file.parent / name)
    state = state_in("explore", "deny Read(secrets/**)", cwd=file.parent)
    shown = await call(editor(file.parent), state, command="view", path=".")
    files, _, note = shown.text.partition("\n\n")
    assert sorted(files.split()) == ["a.txt", "src/b.py"]
    assert "a rule" in note


async def test_a_symlink_that_was_swapped_is_not_followed(file: Path) -> None:
    """What was decided about one file is not done to another."""
    link, other = file.parent / "link", file.parent / "other.txt"
    lead(link, file)
    put(other, "two\n")
    tool, state = editor(file.parent), writing(file.parent)
    await call(tool, state, command="view", path="link")
    await call(tool, state, command="view", path="other.txt")
    toolkit = Toolkit([tool])
    arguments = '{"command": "str_replace", "path": "link", "old_str": "two", "new_str": "2"}'
    block = ToolCallBlock(id="c", name=tool.name, input=arguments)
    decision = await toolkit.decide(block, state)
    lead(link, other)
    assert decision.grant is not None
    with pytest.raises(GrantError):
        [item async for item in toolkit.run(decision.grant, state)]
    assert (content(file), content(other)) == ("one\ntwo\nthree\n", "two\n")


def test_changes_of_one_file_wait_for_each_other(file: Path) -> None:
    """Each change needs its file for itself, by whatever name; what only views says nothing."""
    tool = editor(file.parent)
    lead(file.parent / "link", file)
    paths = ("a.txt", "link", "other.txt")
    said = [tool.resources({"path": path, **change}) for path in paths for change in CHANGES[1:2]]
    assert said[0] == said[1] != said[2]
    assert said[0] is not None
    assert said[0].keys == (f"file:{file}",)
    assert tool.resources({"command": "view", "path": "a.txt"}) is None


async def test_the_history_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit the oldest edits cannot be undone, and later ones can."""
    monkeypatch.setattr("agentscope_like.typed.tools.file_editor.history.MAX_EDITS", 2)
    file = tmp_path / "a.txt"
    put(file, "0")
    tool, state = editor(tmp_path), writing(tmp_path)
    await call(tool, state, command="view", path="a.txt")
    for number in range(4):
        change = {"old_str": str(number), "new_str": str(number + 1)}
        assert (await call(tool, state, command="str_replace", path="a.txt", **change)).ok
    undone = [(await call(tool, state, command="undo_edit", path="a.txt")).ok for _ in range(3)]
    assert (undone, content(file)) == ([True, True, False], "2")
