"""What held commands leave in `/tmp` is found by the file tools at the path that they gave it."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.checkpoint import CheckpointStore
from agentscope_like.message import ToolCallBlock, ToolCallState, ToolResponse, ToolResultState
from agentscope_like.tool import Edit, Glob, Grep, Read, Toolkit, Write
from tests.tool.builtin.held.held_kit import Scene, text_of

PLACES = ("/tmp", "/var/tmp")


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test a home of its own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def name() -> Iterator[str]:
    """Return a name that nothing has among the host's temporary files, and remove it there."""
    found = f"held-{os.getpid()}-{time.monotonic_ns()}"
    yield found
    for place in PLACES:
        path = Path(place, found)
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def on_host(path: str) -> str | None:
    """Return what a file of the host has; None if there is none."""
    return Path(path).read_text() if os.path.lexists(path) else None


def host_file(path: str, text: str) -> str:
    """Make a file on the host, and return its path."""
    Path(path).write_text(text)
    return path


class Session(Scene):
    """A scene with the file tools in its toolkit; calls run where they are allowed."""

    def __init__(self, top: Path, mode: str = "accept_edits", **rules: list[str]) -> None:
        super().__init__(top, mode, **rules)
        kept = [kind(cwd=self.project) for kind in (Read, Glob, Grep)]
        self.toolkit = Toolkit([self.bash, *kept, Write(cwd=self.project), Edit(cwd=self.project)])

    async def held(self, *lines: str) -> str:
        """Run a script held and return what it printed."""
        text, response = await self.run(self.call(self.script("work.sh", *lines)))
        assert response is not None
        assert response.metadata["confinement"] == "held"
        return text

    async def use(self, tool: str, **arguments: Any) -> tuple[ToolCallBlock, str, bool]:
        """Call a tool; return the call, its text, and whether it succeeded."""
        call = ToolCallBlock(id=f"{tool}-{arguments}", name=tool, input=json.dumps(arguments))
        found: ToolResponse | None = None
        async for item in self.toolkit.call_tool(call, self.state):
            if isinstance(item, ToolResponse):
                found = item
        if found is None:
            return call, "", False
        return call, text_of(found.content), found.state is ToolResultState.SUCCESS


@pytest.mark.parametrize("place", PLACES)
async def test_what_a_held_command_left_is_read_by_its_path(
    tmp_path: Path, name: str, place: str
) -> None:
    """The host has no such file; what the host alone has is read as ever."""
    one, path = Session(tmp_path), f"{place}/{name}"
    await one.held(f"echo made > {path}")
    _, text, is_fine = await one.use("Read", file_path=path)
    assert is_fine
    assert text.split() == ["1", "made"]
    assert on_host(path) is None
    host_file(f"{path}-host", "of the host\n")
    try:
        _, text, _ = await one.use("Read", file_path=f"{path}-host")
        assert "of the host" in text
    finally:
        os.unlink(f"{path}-host")


async def test_the_file_of_the_session_comes_before_the_one_of_the_host(
    tmp_path: Path, name: str
) -> None:
    """Of one path a read, a search and a proven read see the same; another session the host's."""
    one, path = Session(tmp_path), f"/tmp/{name}"
    host_file(path, "of the host\n")
    _, text, _ = await one.use("Read", file_path=path)
    assert "of the host" in text
    await one.held(f"echo of the session > {path}")
    _, text, _ = await one.use("Read", file_path=path)
    assert "of the session" in text
    _, text, _ = await one.use("Grep", pattern="of the", path=path, output_mode="content")
    assert text.splitlines() == [f"{path}:1:of the session"]
    text, _ = await one.run(one.call(f"cat {path}"))
    assert text == "of the session\n"
    other = Session(tmp_path)
    _, text, _ = await other.use("Read", file_path=path)
    assert "of the host" in text


async def test_what_a_command_on_the_host_wrote_last_is_read(tmp_path: Path, name: str) -> None:
    """A held try left a part of a file; then the host's is seen, and its neighbour still."""
    one = Session(tmp_path, allow=[f"Bash(cp whole.txt /tmp/{name})"])
    (one.project / "whole.txt").write_text("whole\n")
    await one.held(f"echo part > /tmp/{name}; echo neighbour > /tmp/{name}-own")
    _, response = await one.run(one.call(f"cp whole.txt /tmp/{name}"))
    assert response is not None
    assert response.metadata["confinement"] != "held"
    _, text, _ = await one.use("Read", file_path=f"/tmp/{name}")
    assert "whole" in text
    text, _ = await one.run(one.call(f"cat /tmp/{name}"))
    assert text == "whole\n"
    _, text, _ = await one.use("Read", file_path=f"/tmp/{name}-own")
    assert "neighbour" in text


async def test_searches_find_both_in_one_place(tmp_path: Path, name: str) -> None:
    """Glob and Grep in /tmp list the session's files and the host's, by their paths there."""
    one = Session(tmp_path, allow=["Glob", "Grep"])
    host, own = f"/tmp/{name}-host.txt", f"/tmp/{name}-own.txt"
    host_file(host, "word of the host\n")
    try:
        await one.held(f"mkdir -p /tmp/{name}/a", f"echo word > {own}; echo word > /tmp/{name}/a/b")
        _, text, _ = await one.use("Glob", pattern=f"/tmp/{name}*")
        assert sorted(text.split()) == [host, own]
        _, text, _ = await one.use("Glob", pattern="**/*", path=f"/tmp/{name}")
        assert text == f"/tmp/{name}/a/b"
        wanted = {"pattern": "word", "path": "/tmp", "glob": f"./{name}*", "output_mode": "content"}
        _, text, _ = await one.use("Grep", **wanted)
        assert text.splitlines() == [f"{host}:1:word of the host", f"{own}:1:word"]
        _, text, _ = await one.use("Grep", pattern="word", path=f"/tmp/{name}")
        assert text == f"/tmp/{name}/a/b"
    finally:
        os.unlink(host)


async def test_a_change_goes_to_the_file_of_the_session(tmp_path: Path, name: str) -> None:
    """Edit and Write change what the next held command sees, and nothing of the host."""
    one, path = Session(tmp_path, allow=["Write(/tmp/**)", "Edit(/tmp/**)"]), f"/tmp/{name}"
    await one.held(f"mkdir {path}; echo one > {path}/a")
    await one.use("Read", file_path=f"{path}/a")
    _, _, is_fine = await one.use("Edit", file_path=f"{path}/a", old_string="one", new_string="two")
    assert is_fine
    _, _, is_fine = await one.use("Write", file_path=f"{path}/new/b", content="three\n")
    assert is_fine
    assert await one.held(f"cat {path}/a {path}/new/b") == "two\nthree\n"
    assert on_host(path) is None
    _, _, is_fine = await one.use("Write", file_path=f"{path}-host", content="four\n")
    assert is_fine
    assert on_host(f"{path}-host") == "four\n"
    os.unlink(f"{path}-host")


async def test_rules_and_questions_speak_of_the_path_in_tmp(tmp_path: Path, name: str) -> None:
    """A deny rule of it forbids, a change outside of the project asks, its neighbour is allowed."""
    one = Session(tmp_path, deny=[f"Read(/tmp/{name}/secret)"], allow=[f"Write(/tmp/{name}/mine)"])
    await one.held(f"mkdir /tmp/{name}; cd /tmp/{name}; echo a > open; echo b > secret")
    call, text, _ = await one.use("Read", file_path=f"/tmp/{name}/secret")
    assert call.state is ToolCallState.FINISHED
    assert text.startswith("Denied:")
    _, text, is_fine = await one.use("Read", file_path=f"/tmp/{name}/open")
    assert is_fine
    _, text, _ = await one.use("Grep", pattern="[ab]", path=f"/tmp/{name}", output_mode="content")
    assert f"/tmp/{name}/open:1:a" in text
    assert "secret:" not in text
    call, _, _ = await one.use("Write", file_path=f"/tmp/{name}/more", content="c\n")
    assert call.state is ToolCallState.ASKING
    assert call.decision is not None
    assert f"create `/tmp/{name}/more`" in call.decision.message
    _, _, is_fine = await one.use("Write", file_path=f"/tmp/{name}/mine", content="c\n")
    assert is_fine


async def test_a_link_that_leads_out_is_decided_about_as_what_it_leads_to(
    tmp_path: Path, name: str
) -> None:
    """One to a credential asks, one to a denied file is denied, one to a neighbour is read."""
    secret = tmp_path / "project" / "denied.txt"
    one = Session(tmp_path, deny=[f"Read({secret})"])
    secret.write_text("kept secret\n")
    (one.home / ".ssh").mkdir()
    (one.home / ".ssh" / "id_rsa").write_text("PRIVATE\n")
    (one.project / "open.txt").write_text("open\n")
    links = {"key": one.home / ".ssh/id_rsa", "no": secret, "yes": one.project / "open.txt"}
    await one.held(
        f"mkdir /tmp/{name}",
        *(f"ln -s {to} /tmp/{name}/{link}" for link, to in links.items()),
        f"ln -s yes /tmp/{name}/again; ln -s {one.home}/.ssh /tmp/{name}/keys",
    )
    for each in ("key", "keys/id_rsa"):
        call, text, _ = await one.use("Read", file_path=f"/tmp/{name}/{each}")
        assert call.state is ToolCallState.ASKING
        assert "PRIVATE" not in text
    _, text, _ = await one.use("Read", file_path=f"/tmp/{name}/no")
    assert text.startswith("Denied:")
    for each in ("yes", "again"):
        _, text, is_fine = await one.use("Read", file_path=f"/tmp/{name}/{each}")
        assert is_fine
        assert "open" in text
    call, text, _ = await one.use("Write", file_path=f"/tmp/{name}/keys/new", content="x")
    assert call.state is ToolCallState.ASKING
    assert not (one.home / ".ssh" / "new").exists()
    _, text, _ = await one.use("Grep", pattern=".", path=f"/tmp/{name}", output_mode="content")
    assert "PRIVATE" not in text


async def test_a_link_that_is_put_in_the_way_after_the_decision_is_not_followed(
    tmp_path: Path, name: str
) -> None:
    """What was decided is read, or nothing is."""
    one, path = Session(tmp_path), f"/tmp/{name}"
    (one.home / "kept").write_text("of the home\n")
    await one.held(f"mkdir {path}; echo fine > {path}/a")
    call = ToolCallBlock(id="1", name="Read", input=json.dumps({"file_path": f"{path}/a"}))
    decided = await one.toolkit.decide(call, one.state)
    assert decided.grant is not None
    await one.held(f"rm {path}/a; ln -s {one.home}/kept {path}/a")
    with pytest.raises(Exception, match="changed since"):
        await one.finished(decided)


async def test_what_is_no_regular_file_is_not_read(tmp_path: Path, name: str) -> None:
    """A named pipe that a held command made blocks nothing."""
    one = Session(tmp_path, allow=["Read(/tmp/**)"])
    await one.held(f"mkfifo /tmp/{name}")
    _, text, is_fine = await one.use("Read", file_path=f"/tmp/{name}")
    assert not is_fine
    assert "named pipe" in text


async def test_files_below_the_project_in_tmp_are_those_of_the_project(
    tmp_path: Path, name: str
) -> None:
    """Where the project itself is in /tmp, its files are no temporary ones."""
    os.mkdir(f"/tmp/{name}")
    one = Session(Path("/tmp", name))
    (one.project / "a.txt").write_text("of the project\n")
    await one.held(f"echo own > /tmp/{name}-own", "echo new > b.txt")
    _, text, _ = await one.use("Read", file_path=f"/tmp/{name}/project/b.txt")
    assert "new" in text
    _, text, _ = await one.use("Read", file_path=f"/tmp/{name}-own")
    assert "own" in text
    text, _ = await one.run(one.call(f"cat /tmp/{name}-own a.txt /tmp/{name}/project/b.txt"))
    assert text == "own\nof the project\nnew\n"


async def test_no_checkpoint_is_made_of_a_temporary_file(tmp_path: Path, name: str) -> None:
    """What undoes a change restores files of the host, and of those alone there is a checkpoint."""
    one = Session(tmp_path, allow=["Write(/tmp/**)"])
    with closing(CheckpointStore(tmp_path / "c.db")) as store:
        write = Write(cwd=one.project, checkpoints=store)
        one.toolkit = Toolkit([write, Read(cwd=one.project), one.bash])
        await one.held(f"mkdir /tmp/{name}")
        await one.use("Write", file_path=f"/tmp/{name}/a", content="temporary\n")
        assert store.get(1) is None
        await one.use("Write", file_path=str(one.project / "a"), content="kept\n")
        assert store.get(1) is not None


async def test_a_toolkit_without_held_commands_sees_the_host_alone(
    tmp_path: Path, name: str
) -> None:
    """A file tool finds temporary files of its own toolkit's Bash, added before it or after."""
    one = Session(tmp_path)
    await one.held(f"echo made > /tmp/{name}")
    for tools, is_found in (([Read()], False), ([Read(), one.bash], True), ([one.bash], True)):
        one.toolkit = Toolkit(tools)
        if len(tools) == 1 and is_found:
            await one.toolkit.add_tool(Read())
        _, text, is_fine = await one.use("Read", file_path=f"/tmp/{name}")
        assert is_fine is is_found, text
