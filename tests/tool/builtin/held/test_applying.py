"""What a held run changed is applied, and undone by the tools that undo other changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentscope_like.checkpoint import CheckpointStore
from agentscope_like.message import ToolResultState
from agentscope_like.permission import (
    AdditionalWorkingDirectory,
    PermissionBehavior,
    PermissionContext,
    PermissionMode,
)
from agentscope_like.sandbox.layer import ApplyError, Layer
from agentscope_like.tool.builtin.held import (
    AppliedChanges,
    Verdict,
    apply_changes,
    judge_outcome,
    settle_layer,
)
from tests.checkpoint.undo_kit import Undo, text_of
from tests.sandbox.layer.layers import NEEDS_LAYERS
from tests.tool.builtin.held.runs import changes_of, make_project, make_repository, ran, tree

pytestmark = NEEDS_LAYERS


class World:
    """A project, a store of checkpoints, and the tools that undo."""

    def __init__(self, folder: Path, *, most_file_bytes: int = 64_000_000) -> None:
        self.project = folder / "project"
        self.layers = folder / "layers"
        make_project(self.project)
        self.store = CheckpointStore(folder / "data" / "c.db", most_file_bytes=most_file_bytes)
        self.undo = Undo(self.project, self.store)

    def ran(self, script: str, *others: Path) -> Layer:
        """Run a script on a layer."""
        return ran(self.layers, [self.project, *others], script)

    def apply(self, layer: Layer) -> AppliedChanges:
        """Apply what it changed, as a call of the session that undoes."""
        return apply_changes(
            layer,
            changes_of(layer, self.store),
            checkpoints=self.store,
            session_id=self.undo.state.session_id,
            call_id="call-1",
            summary="Ran a script",
        )


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Make a small project."""
    world = World(tmp_path)
    yield world
    world.store.close()


@pytest.mark.parametrize(
    "script",
    [
        "mkdir -p d/e; echo x > d/e/new; echo y > new",
        "echo x >> a.txt; printf '\\000\\001' > image.bin",
        "rm notes.txt; rm tool.sh",
        "mv a.txt b.txt; mv src moved",
        "chmod 755 a.txt; chmod 600 tool.sh; chmod 700 src",
        "echo x >> tool.sh; chmod 700 tool.sh",
        "ln -s a.txt new; ln -sfn src/inner link; ln -sf src/b.py notes.txt",
        "rm link; echo x > link",
        "rmdir empty; mkdir other; chmod 750 other",
        "rm -r src; echo f > src",
        "rm a.txt; mkdir a.txt; echo x > a.txt/x; chmod 711 a.txt",
        "rm -r src; ln -s empty src",
        "mv src other; ln -s other src; rm other/b.py",
        "rm -r src; ln -s empty src; rmdir empty; ln -s src empty",
    ],
)
async def test_a_run_is_undone_and_done_again(world: World, script: str) -> None:
    """After the restoration all is as before; after that one's restoration, as applied."""
    before = tree(world.project)
    layer = world.ran(script)
    assert tree(world.project) == before
    applied = world.apply(layer)
    after = tree(world.project)
    assert after != before
    assert (applied.undo, applied.cannot_undo) == ("all", ())
    assert applied.checkpoint is not None
    assert not layer.folder.exists()
    kept = world.store.get(applied.checkpoint)
    assert kept is not None
    assert (kept.state, kept.call_id, kept.summary) == ("done", "call-1", "Ran a script")
    undone = await world.undo("Restore", checkpoint=applied.checkpoint, when="before")
    assert tree(world.project) == before, text_of(undone)
    number = undone.metadata["checkpoint"]
    again = await world.undo("Restore", checkpoint=number, when="before")
    assert tree(world.project) == after, text_of(again)


async def test_one_file_of_a_run_is_undone(world: World) -> None:
    """A file, a symlink and a removed file, each by itself."""
    before = tree(world.project)
    number = world.apply(
        world.ran("echo x >> a.txt; rm notes.txt; ln -sfn a.txt link; echo n > new; rm -r src")
    ).checkpoint
    after = tree(world.project)
    for name in ("a.txt", "notes.txt", "link", "new"):
        await world.undo("Restore", checkpoint=number, when="before", file_path=name)
        now = tree(world.project)
        assert now.get(name) == before.get(name)
        changed = {path for path in {*now, *after} if now.get(path) != after.get(path)}
        assert changed == {name}
        after = now
    await world.undo("Restore", checkpoint=number, when="before", file_path="src/inner/c.py")
    assert (world.project / "src/inner/c.py").read_text() == "c\n"
    assert not (world.project / "src/b.py").exists()


async def test_two_directories_are_applied_and_undone_at_once(world: World, tmp_path: Path) -> None:
    """All changes of a run have one checkpoint."""
    other = tmp_path / "aside"
    make_project(other)
    world.undo.state.permission_context.working_directories[str(other)] = (
        AdditionalWorkingDirectory(path=str(other), source="test")
    )
    before = tree(other), tree(world.project)
    applied = world.apply(world.ran(f"rm notes.txt; echo x > {world.project}/a.txt", other))
    assert applied.files == 2
    assert not (other / "notes.txt").exists()
    assert (world.project / "a.txt").read_text() == "x\n"
    await world.undo("Restore", checkpoint=applied.checkpoint, when="before")
    assert (tree(other), tree(world.project)) == before


def test_times_are_applied_to_the_nanosecond(world: World) -> None:
    """A build that compares times finds those of the run."""
    times = "2001-02-03 04:05:06.123456789Z"
    world.apply(world.ran(f"echo x > new; touch -d '{times}' new; touch -d '{times}' a.txt"))
    for name in ("new", "a.txt"):
        assert (world.project / name).stat().st_mtime_ns == 981173106_123456789


async def test_what_a_person_changed_since_is_not_undone_unseen(world: World) -> None:
    """As for every checkpoint, the file has to be read first; nothing else is restored either."""
    number = world.apply(world.ran("echo x >> a.txt; rm notes.txt")).checkpoint
    (world.project / "a.txt").write_text("by a person\n")
    now = tree(world.project)
    refused = await world.undo("Restore", checkpoint=number, when="before")
    assert refused.state is ToolResultState.ERROR
    assert "read it before" in text_of(refused)
    assert tree(world.project) == now
    await world.undo("Read", file_path="a.txt")
    await world.undo("Restore", checkpoint=number, when="before")
    assert world.undo.read("a.txt") == "a\n"
    assert world.undo.read("notes.txt") == "mine\n"


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda top: ((top / "link").unlink(), (top / "link").symlink_to("notes.txt")),
        lambda top: ((top / "a.txt").unlink(), (top / "a.txt").mkdir()),
        lambda top: ((top / "a.txt").unlink(), (top / "a.txt").symlink_to("notes.txt")),
        lambda top: (
            (top / "made" / "in").unlink(),
            (top / "made").rmdir(),
            (top / "made").write_text("mine\n"),
        ),
    ],
)
async def test_what_a_person_put_in_a_place_stays(
    world: World, meanwhile: Callable[[Path], object]
) -> None:
    """A symlink, directory or file in the place of another one is not replaced."""
    number = world.apply(
        world.ran("echo x >> a.txt; ln -sfn a.txt link; mkdir made; echo x > made/in")
    ).checkpoint
    meanwhile(world.project)
    now = tree(world.project)
    refused = await world.undo("Restore", checkpoint=number, when="before")
    assert refused.state is ToolResultState.ERROR
    assert "by others" in text_of(refused)
    assert tree(world.project) == now


async def test_other_changes_of_a_person_stay(world: World) -> None:
    """Permission bits that were changed since, and files in directories that the run made."""
    number = world.apply(world.ran("chmod 755 a.txt; echo x >> tool.sh; mkdir d; echo 1 > d/x"))
    (world.project / "a.txt").chmod(0o600)
    (world.project / "tool.sh").chmod(0o711)
    (world.project / "d" / "mine").write_text("mine\n")
    await world.undo("Restore", checkpoint=number.checkpoint, when="before")
    now = tree(world.project)
    assert now["a.txt"] == ("-", 0o600, b"a\n")
    assert now["tool.sh"] == ("-", 0o711, b"#!/bin/sh\n")
    assert [path for path in now if path.startswith("d")] == ["d", "d/mine"]


def test_nothing_is_applied_or_kept_where_something_else_changed(world: World) -> None:
    """The layer stays, and there is no checkpoint."""
    layer = world.ran("echo x >> a.txt; rm notes.txt")
    held = changes_of(layer, world.store)
    (world.project / "a.txt").write_text("by a person\n")
    now = tree(world.project)
    with pytest.raises(ApplyError, match="changed since the run began"):
        apply_changes(layer, held, checkpoints=world.store)
    assert tree(world.project) == now
    assert world.store.page() == []
    assert settle_layer(layer, world.store) is None
    assert layer.folder.exists()


def test_a_damaged_layer_leaves_no_checkpoint(world: World) -> None:
    """What was kept before the applying failed is forgotten with it."""
    layer = world.ran("echo x >> a.txt; echo n > new")
    held = changes_of(layer, world.store)
    (layer.folder / "0" / "upper" / "new").write_text("z\n")
    before = tree(world.project)
    with pytest.raises(ApplyError, match="damaged"):
        apply_changes(layer, held, checkpoints=world.store)
    assert tree(world.project) == before
    assert world.store.page() == []


async def test_overwriting_asks_where_nothing_is_kept(world: World) -> None:
    """What git does not have is a plain change with checkpoints, and a loss without them."""
    policy = PermissionContext.from_rules(
        mode=PermissionMode.ACCEPT_EDITS, working_directories=[world.project]
    )
    layer = world.ran("echo x >> notes.txt")
    kept = await judge_outcome(changes_of(layer, world.store), policy)
    assert kept.verdict is Verdict.APPLY
    unkept = await judge_outcome(changes_of(layer, None), policy)
    assert unkept.verdict is Verdict.ASK
    assert "not kept for undo" in unkept.reasons[0].because
    removed = await judge_outcome(changes_of(world.ran("rm notes.txt"), world.store), policy)
    assert removed.verdict is Verdict.ASK


def test_without_checkpoints_it_is_said_that_nothing_is_kept(world: World) -> None:
    """The changes are applied all the same: whoever decided knew it."""
    layer = world.ran("echo x >> a.txt")
    applied = apply_changes(layer, changes_of(layer, None), checkpoints=None)
    assert world.undo.read("a.txt") == "a\nx\n"
    assert (applied.checkpoint, applied.undo) == (None, "nothing")
    assert "cannot be undone" in applied.text


async def test_what_is_too_large_is_named_and_the_rest_undone(tmp_path: Path) -> None:
    """The restoration says again what stays as it is; that file by itself is refused."""
    world = World(tmp_path, most_file_bytes=4)
    applied = world.apply(world.ran("echo x >> notes.txt; echo y >> a.txt; echo long-text > new"))
    assert applied.undo == "some"
    assert applied.cannot_undo == ("Not kept, so that it cannot be undone: notes.txt.",)
    number = applied.checkpoint
    alone = await world.undo("Restore", checkpoint=number, when="before", file_path="notes.txt")
    assert "too large to be kept" in text_of(alone)
    undone = await world.undo("Restore", checkpoint=number, when="before")
    assert "stays as it is: notes.txt" in text_of(undone)
    assert world.undo.read("notes.txt") == "mine\nx\n"
    assert world.undo.read("a.txt") == "a\n"
    assert world.undo.read("new") is None
    world.store.close()


async def test_git_and_caches_are_applied_and_not_kept(world: World) -> None:
    """They are counted and said; an undo leaves them as they are."""
    make_repository(world.project)
    applied = world.apply(
        world.ran(
            "git add image.bin; mkdir node_modules; echo 1 > node_modules/x; echo x >> notes.txt"
        )
    )
    assert applied.files == 1
    assert applied.in_git > 0
    assert applied.in_caches == 2
    assert applied.undo == "some"
    assert applied.cannot_undo == ("What changed in .git and caches cannot be undone.",)
    kept = world.store.get(applied.checkpoint or 0)
    assert kept is not None
    assert kept.paths == (str(world.project / "notes.txt"),)
    await world.undo("Restore", checkpoint=applied.checkpoint, when="before")
    assert world.undo.read("notes.txt") == "mine\n"
    assert (world.project / ".git" / "index").exists()
    assert (world.project / "node_modules" / "x").exists()


def test_a_run_of_caches_alone_needs_no_checkpoint(world: World) -> None:
    """Tests that only write caches do not fill the list of checkpoints."""
    applied = world.apply(world.ran("mkdir node_modules; echo 1 > node_modules/x"))
    assert (applied.files, applied.in_caches, applied.checkpoint) == (0, 2, None)
    assert world.store.page() == []


@pytest.mark.parametrize(("target", "asks"), [("/etc", True), ("../x", True), ("src", False)])
async def test_a_link_that_leaves_the_project_is_not_made_again_unasked(
    world: World, target: str, *, asks: bool
) -> None:
    """Its restoration is decided like a write where it leads."""
    applied = world.apply(world.ran(f"ln -s {target} new"))
    undone = await world.undo("Restore", checkpoint=applied.checkpoint, when="before")
    assert not (world.project / "new").is_symlink()
    number = undone.metadata["checkpoint"]
    decision = await world.undo.decided("Restore", checkpoint=number, when="before")
    expected = PermissionBehavior.ASK if asks else PermissionBehavior.ALLOW
    assert decision.behavior is expected
