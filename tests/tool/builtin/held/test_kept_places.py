"""Layers and checkpoints hold secrets: wherever they are, no model sees what is in them."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.checkpoint import CheckpointStore
from agentscope_like.message import ToolCallBlock, ToolCallState, ToolResponse
from agentscope_like.permission import PermissionBehavior
from agentscope_like.tool import Bash, Glob, Grep, Read, Toolkit, Write
from tests.sandbox.held.world import place_of_worlds
from tests.tool.builtin.held.held_kit import Scene, text_of

SECRET = "word-of-a-layer"


@pytest.fixture
def top() -> Iterator[Path]:
    """Return a directory that held commands see as it is, unlike one in /tmp."""
    path = Path(tempfile.mkdtemp(prefix="kept-", dir=place_of_worlds()))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def store(top: Path) -> Iterator[CheckpointStore]:
    """Return a store of checkpoints in a directory beside the project that has no known name."""
    (top / "data" / "elsewhere").mkdir(parents=True)
    with closing(CheckpointStore(top / "data" / "elsewhere" / "kept.db")) as made:
        yield made


@pytest.fixture
def scene(top: Path, monkeypatch: pytest.MonkeyPatch, store: CheckpointStore) -> Scene:
    """Return a scene whose layers and checkpoints lie beside the project, with neighbours."""
    monkeypatch.setenv("HOME", str(top / "home"))
    made = Scene(top, "accept_edits", allow=["Bash", "Read", "Write", "Glob", "Grep"])
    made.store = top / "data" / "layers"
    bash = made.new_bash(checkpoints=store)
    made.bash, made.toolkit = bash, Toolkit([*_file_tools(made.project), bash])
    (made.store / "0123456789abcdef").mkdir(parents=True)
    (made.store / "0123456789abcdef" / "run.json").write_text(SECRET)
    (top / "data" / "elsewhere" / "other").write_text("neighbour\n")
    return made


def _file_tools(directory: Path) -> list[Any]:
    return [kind(cwd=directory) for kind in (Read, Write, Glob, Grep)]


async def used(scene: Scene, tool: str, **arguments: Any) -> tuple[ToolCallBlock, str]:
    """Call a tool; return the call and its whole text."""
    call = ToolCallBlock(id=f"{tool}-{arguments}", name=tool, input=json.dumps(arguments))
    text = ""
    async for item in scene.toolkit.call_tool(call, scene.state):
        if isinstance(item, ToolResponse):
            text = text_of(item.content)
    return call, text


def is_denied(call: ToolCallBlock) -> bool:
    """Return whether nothing ran and nobody was asked."""
    decision = call.decision
    assert decision is not None
    return decision.behavior is PermissionBehavior.DENY and call.state is ToolCallState.FINISHED


async def test_file_tools_are_denied_both(scene: Scene, top: Path) -> None:
    """Reading, searching and writing there is denied, by a link as well; beside it is allowed."""
    layer, database = scene.store / "0123456789abcdef", top / "data" / "elsewhere" / "kept.db"
    (scene.project / "link").symlink_to(layer)
    for path in (layer / "run.json", database, f"{database}-wal", scene.project / "link/run.json"):
        call, _ = await used(scene, "Read", file_path=str(path))
        assert is_denied(call), path
    call, _ = await used(scene, "Write", file_path=str(layer / "new"), content="x")
    assert is_denied(call)
    call, _ = await used(scene, "Grep", pattern="word", path=str(layer))
    assert is_denied(call)
    _, text = await used(scene, "Read", file_path=str(top / "data" / "elsewhere" / "other"))
    assert "neighbour" in text


async def test_a_search_above_leaves_them_out(scene: Scene, top: Path) -> None:
    """Glob and Grep find the neighbour, and nothing of what is kept."""
    wanted = {"pattern": "word|neighbour", "path": str(top / "data"), "output_mode": "content"}
    _, text = await used(scene, "Grep", **wanted)
    assert SECRET not in text
    assert "other:1:neighbour" in text
    _, text = await used(scene, "Glob", pattern="**/*", path=str(top / "data"))
    assert "run.json" not in text
    assert "kept.db" not in text
    assert "elsewhere/other" in text


async def test_commands_about_them_are_denied(scene: Scene, top: Path) -> None:
    """Whatever allow rule there is; the same of a neighbour runs."""
    for command in (
        f"cat {scene.store}/0123456789abcdef/run.json",
        f"cat {scene.store}/*/run.json",
        f"cp {top}/data/elsewhere/kept.db here",
        f"cd {scene.store} && rm -r 0123456789abcdef",
        f"echo x > {top}/data/elsewhere/kept.db",
    ):
        call, text = await used(scene, "Bash", command=command)
        assert is_denied(call), command
        assert SECRET not in text
    _, text = await used(scene, "Bash", command=f"cat {top}/data/elsewhere/other")
    assert text == "neighbour\n"


async def test_confined_commands_do_not_see_them(scene: Scene, top: Path) -> None:
    """A search from above, proven to read, and a held command find only the neighbour."""
    _, text = await used(scene, "Bash", command=f"grep -rE 'word|neighbour' {top}/data || true")
    assert SECRET not in text
    assert "neighbour" in text
    if not str(top).startswith("/tmp/"):
        await held_commands_see_only_the_neighbour(scene, top)


async def held_commands_see_only_the_neighbour(scene: Scene, top: Path) -> None:
    """Run a script held that looks into both."""
    finds = f"cat {top}/data/layers/*/run.json {top}/data/elsewhere/*"
    scene.state.permission_context.allow_rules.clear()
    call, text = await used(scene, "Bash", command=scene.script("look.sh", finds))
    assert call.state is ToolCallState.FINISHED
    assert SECRET not in text
    assert "SQLite" not in text
    assert "neighbour" in text


async def test_checkpoints_alone_are_kept_as_well(scene: Scene, store: CheckpointStore) -> None:
    """Of a Bash that holds no commands and has checkpoints; one without has nothing to keep."""
    for checkpoints, is_kept in ((store, True), (None, False)):
        bash = Bash(cwd=scene.project, checkpoints=checkpoints)
        scene.toolkit = Toolkit([bash, *_file_tools(scene.project)])
        for tool, name in (("Bash", "command"), ("Read", "file_path")):
            path = os.fspath(store.path)
            call, _ = await used(scene, tool, **{name: path if tool == "Read" else f"cat {path}"})
            assert is_denied(call) is is_kept
