"""Writing and patching files of a workspace (rows TT-108 to TT-124 of seed 001)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentscope_like.profile import WorkspacePolicy
from tests.workspace.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return an empty workspace."""
    return Desk(tmp_path / "work")


def _is(desk: Desk, path: str) -> str:
    return (desk.root / path).read_bytes().decode()


async def test_tt_108_only_below_a_writable_root(tmp_path: Path) -> None:
    """`path` and `content` are required; what is only visible, and a root itself, is refused."""
    policy = WorkspacePolicy(writable_roots=("output",))
    desk = Desk(tmp_path / "work", policy=policy)
    assert (await desk("write_file", path="output/a.md")).is_error
    assert (await desk("write_file", content="x")).is_error
    for path in ("plan/a.md", "output", "."):
        answer = await desk("write_file", path=path, content="x")
        assert answer.code == "workspace.not_writable", path
    assert not (await desk("write_file", path="output/new/a.md", content="x")).is_error
    assert _is(desk, "output/new/a.md") == "x"


async def test_tt_109_mode_is_replace_or_append(desk: Desk) -> None:
    """`replace` is the default; another mode is a recoverable error that changes nothing."""
    for content in ("one", "two"):
        await desk("write_file", path="output/a.md", content=content)
    assert _is(desk, "output/a.md") == "two"
    assert (await desk("write_file", path="output/a.md", content="x", mode="insert")).is_error
    assert _is(desk, "output/a.md") == "two"


async def test_tt_110_replace_needs_the_whole_file_read(desk: Desk) -> None:
    """An existing file is replaced only after all of it was read, as it is now."""
    desk.put("output/a.md", "one\ntwo\n")
    write = {"path": "output/a.md", "content": "new"}
    assert (await desk("write_file", **write)).code == "workspace.read_required"
    await desk("read_file", path="output/a.md", start_line=1, line_count=1)
    assert (await desk("write_file", **write)).code == "workspace.read_required"
    await desk("read_file", path="output/a.md")
    desk.put("output/a.md", "changed by another")
    assert (await desk("write_file", **write)).code == "workspace.stale_file"
    assert _is(desk, "output/a.md") == "changed by another"
    await desk("read_file", path="output/a.md")
    assert not (await desk("write_file", **write)).is_error
    assert _is(desk, "output/a.md") == "new"


async def test_tt_111_append_adds_exactly(desk: Desk) -> None:
    """Nothing is put between the old text and the new one."""
    desk.put("output/a.md", "one")
    await desk("write_file", path="output/a.md", content="two\n", mode="append")
    await desk("write_file", path="output/a.md", content="", mode="append")
    assert _is(desk, "output/a.md") == "onetwo\n"
    desk.put("output/b.bin", b"\xff")
    answer = await desk("write_file", path="output/b.bin", content="x", mode="append")
    assert answer.code == "workspace.not_text"


async def test_tt_112_append_creates_a_missing_file(desk: Desk) -> None:
    """A missing file is made, with the directories that lead to it."""
    await desk("write_file", path="plan/new/a.md", content="x", mode="append")
    assert _is(desk, "plan/new/a.md") == "x"


async def test_tt_113_what_was_written_is_known(desk: Desk) -> None:
    """After a write the text may be patched; after an append only where all was known before."""
    await desk("write_file", path="output/a.md", content="one ")
    await desk("write_file", path="output/a.md", content="two", mode="append")
    patched = await desk("apply_patch", path="output/a.md", old_string="e t", new_string="e-t")
    assert not patched.is_error
    assert _is(desk, "output/a.md") == "one-two"
    desk.put("output/b.md", "unseen ")
    await desk("write_file", path="output/b.md", content="two", mode="append")
    unseen = await desk("apply_patch", path="output/b.md", old_string="two", new_string="2")
    assert unseen.code == "workspace.read_required"


async def test_tt_09_and_114_a_write_makes_a_checkpoint(desk: Desk) -> None:
    """Each write is one checkpoint of that file, from which what it was comes back."""
    first = await desk("write_file", path="output/a.md", content="one")
    await desk("write_file", path="output/a.md", content="two")
    refused = await desk("write_file", path="input/a.md", content="x")
    assert refused.is_error
    store = desk.workspace.checkpoints
    assert [each.summary for each in store.page()] == [
        "Replaced output/a.md.",
        "Created output/a.md.",
    ]
    (restored,) = store.restoration(first.metadata["checkpoint"])
    assert restored.wanted is not None
    assert restored.wanted.data == b"one"
    assert os.stat(store.path).st_mode & 0o777 == 0o600


async def test_tt_115_nothing_else_can_be_written(desk: Desk, tmp_path: Path) -> None:
    """Files of the system, of others and of installed skills are out of reach."""
    skill = tmp_path / "skills" / "SKILL.md"
    skill.parent.mkdir()
    skill.write_text("skill")
    for path in ("/etc/hosts", str(skill), "../skills/SKILL.md", "output/../../skills/SKILL.md"):
        answer = await desk("write_file", path=path, content="x", mode="append")
        assert answer.code == "workspace.invalid_path"
    assert skill.read_text() == "skill"


async def test_tt_116_what_a_patch_needs(desk: Desk) -> None:
    """The three texts are required; an empty old text, and no change, are recoverable errors."""
    await desk("write_file", path="output/a.md", content="a a")
    assert (await desk("apply_patch", path="output/a.md", old_string="a")).is_error
    for old, new in (("", "x"), ("a", "a")):
        answer = await desk("apply_patch", path="output/a.md", old_string=old, new_string=new)
        assert answer.code == "workspace.patch_invalid"
    once = await desk("apply_patch", path="output/a.md", old_string="a", new_string="b")
    assert once.code == "workspace.patch_not_unique"


async def test_tt_117_only_text_that_was_read(desk: Desk) -> None:
    """A part that was read may be patched, and the patch is then known too; the rest may not."""
    desk.put("output/a.md", "one\ntwo\nthree\n")
    await desk("read_file", path="output/a.md", start_line=2, line_count=1)
    patch = {"path": "output/a.md"}
    assert not (await desk("apply_patch", old_string="two", new_string="2nd", **patch)).is_error
    assert not (await desk("apply_patch", old_string="2nd", new_string="second", **patch)).is_error
    across = await desk("apply_patch", old_string="second\nthree", new_string="x", **patch)
    assert across.code == "workspace.text_not_read"
    assert _is(desk, "output/a.md") == "one\nsecond\nthree\n"


async def test_tt_118_exactly_and_once(desk: Desk) -> None:
    """Case and blanks count; a text that overlaps itself is there more than once."""
    await desk("write_file", path="output/a.md", content="One two aaa")
    for old, code in (
        ("one", "workspace.patch_not_found"),
        ("One  two", "workspace.patch_not_found"),
        ("aa", "workspace.patch_not_unique"),
    ):
        answer = await desk("apply_patch", path="output/a.md", old_string=old, new_string="x")
        assert answer.code == code, old
    await desk("apply_patch", path="output/a.md", old_string="One two", new_string="x")
    assert _is(desk, "output/a.md") == "x aaa"


async def test_tt_119_no_match_is_recoverable(desk: Desk) -> None:
    """Nothing is changed, no checkpoint is made, and a file that is known may be tried again."""
    await desk("write_file", path="output/a.md", content="one")
    patch = {"path": "output/a.md", "new_string": "x"}
    assert (await desk("apply_patch", old_string="two", **patch)).code == (
        "workspace.patch_not_found"
    )
    assert len(desk.workspace.checkpoints.page()) == 1
    assert not (await desk("apply_patch", old_string="one", **patch)).is_error


async def test_tt_120_several_matches_are_recoverable(desk: Desk) -> None:
    """The answer tells how many there are, and more text around one is tried at once."""
    await desk("write_file", path="output/a.md", content="a1 a2 a3")
    answer = await desk("apply_patch", path="output/a.md", old_string="a", new_string="b")
    assert answer.code == "workspace.patch_not_unique"
    assert "3 times" in answer.text
    await desk("apply_patch", path="output/a.md", old_string="a2", new_string="b2")
    assert _is(desk, "output/a.md") == "a1 b2 a3"


async def test_tt_121_a_version_that_changed_is_recoverable(desk: Desk) -> None:
    """A file that another program changed is read in full before it is patched."""
    await desk("write_file", path="output/a.md", content="one\ntwo\n")
    desk.put("output/a.md", "one\ntwo\nthree\n")
    patch = {"path": "output/a.md", "old_string": "one", "new_string": "1"}
    assert (await desk("apply_patch", **patch)).code == "workspace.stale_file"
    await desk("read_file", path="output/a.md", start_line=1, line_count=1)
    assert (await desk("apply_patch", **patch)).code == "workspace.full_read_required"
    await desk("read_file", path="output/a.md")
    assert not (await desk("apply_patch", **patch)).is_error
    assert _is(desk, "output/a.md") == "1\ntwo\nthree\n"


async def test_tt_121_the_same_size_and_time_deceive_nobody(desk: Desk) -> None:
    """Versions are compared by their content."""
    await desk("write_file", path="output/a.md", content="one")
    file = desk.root / "output/a.md"
    status = file.stat()
    file.write_text("0ne")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    answer = await desk("apply_patch", path="output/a.md", old_string="one", new_string="two")
    assert answer.code == "workspace.stale_file"


async def test_tt_122_replace_all_needs_a_full_read(desk: Desk) -> None:
    """Every match is replaced, in a file that was read in full."""
    desk.put("output/a.md", "a\na\na\n")
    patch = {"path": "output/a.md", "old_string": "a", "new_string": "bb"}
    await desk("read_file", path="output/a.md", start_line=1, line_count=2)
    partial = await desk("apply_patch", replace_all=True, **patch)
    assert partial.code == "workspace.text_not_read"
    await desk("read_file", path="output/a.md")
    answer = await desk("apply_patch", replace_all=True, **patch)
    assert answer.metadata["occurrences"] == 3
    assert _is(desk, "output/a.md") == "bb\nbb\nbb\n"


async def test_tt_123_a_patch_makes_a_checkpoint(desk: Desk) -> None:
    """The checkpoint holds what the file was before the patch."""
    written = await desk("write_file", path="output/a.md", content="one")
    patched = await desk("apply_patch", path="output/a.md", old_string="one", new_string="two")
    assert patched.metadata["checkpoint"] > written.metadata["checkpoint"]
    (restored,) = desk.workspace.checkpoints.restoration(written.metadata["checkpoint"])
    assert restored.wanted is not None
    assert restored.wanted.data == b"one"


async def test_tt_124_one_file_per_call(desk: Desk) -> None:
    """A patch changes the file that it names and no other, and takes no list of them."""
    for path in ("output/a.md", "output/b.md"):
        await desk("write_file", path=path, content="one")
    await desk("apply_patch", path="output/a.md", old_string="one", new_string="two")
    assert _is(desk, "output/b.md") == "one"
    many = await desk(
        "apply_patch", path=["output/a.md", "output/b.md"], old_string="o", new_string="x"
    )
    assert many.is_error


async def test_an_argument_that_is_not_known_is_refused(desk: Desk) -> None:
    """The nearest name that there is is told."""
    answer = await desk("write_file", path="output/a.md", content="x", contents="y")
    assert answer.is_error
    assert "content" in answer.text
    assert not (desk.root / "output/a.md").exists()


async def test_a_child_sees_what_both_policies_show(desk: Desk) -> None:
    """A child task works on the same files, within both policies, and has read nothing."""
    await desk("write_file", path="output/a.md", content="one")
    policy = WorkspacePolicy(visible_roots=("output", "plan"), writable_roots=("plan",))
    child = Desk(desk.root, workspace=desk.workspace.for_child(policy))
    assert (await child("list_files")).metadata["entries"] == ["output/", "output/a.md", "plan/"]
    assert (await child("read_file", path="output/a.md")).text == "1 | one"
    answer = await child("write_file", path="output/a.md", content="x")
    assert answer.code == "workspace.not_writable"
    await desk("write_file", path="plan/a.md", content="of the parent")
    unread = await child("write_file", path="plan/a.md", content="x")
    assert unread.code == "workspace.read_required"
    grandchild = Desk(desk.root, workspace=child.workspace.for_child(WorkspacePolicy()))
    assert grandchild.workspace.writable_roots == ("plan",)


async def test_a_deny_rule_of_a_file_tool_holds_here_too(tmp_path: Path) -> None:
    """A rule that forbids a file forbids it to the workspace's tools; one about a tool does not."""
    root = tmp_path / "work"
    desk = Desk(root, rules=(f"deny Write({root}/output/kept/**)", "deny Edit"))
    assert await desk.decided("write_file", path="output/kept/a.md", content="x") == "deny"
    assert await desk.decided("write_file", path="output/a.md", content="x") == "allow"
    own = Desk(root, rules=("deny workspace.write_file(plan/**)",))
    assert await own.decided("write_file", path="plan/a.md", content="x") == "deny"
    assert await own.decided("write_file", path="output/a.md", content="x") == "allow"
