"""`Bash` in a toolkit: the kernel keeps a command to what was decided about it."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agentscope_like.event import ToolResultEndEvent
from agentscope_like.exception import ConfigurationError
from agentscope_like.message import TextBlock, ToolCallBlock, ToolResponse, ToolResultState
from agentscope_like.permission import PermissionContext, PermissionMode
from agentscope_like.permission.command import PreparedCommand
from agentscope_like.sandbox import isolation
from agentscope_like.sandbox.isolation.profile import Confine, Profile, reading
from agentscope_like.sandbox.isolation.scope import Scope, ScopeKind, edit_scope
from agentscope_like.state import AgentState
from agentscope_like.tool import Bash, Toolkit
from agentscope_like.tool.builtin.bash.confiner import Confiner
from agentscope_like.tool.builtin.bash.environment.inherited_environment import in_english
from tests.agent.kit import agent_of, events_of
from tests.sandbox.kit import require_bubblewrap


class Mistaken(Confiner):
    """Takes every command for a read, as if the proof were wrong."""

    profile: Profile = reading()

    async def scope(self, call: PreparedCommand) -> Scope:
        """Return the scope of a read."""
        del call
        return Scope(ScopeKind.READ, self.profile)


@pytest.fixture
def mistaken(monkeypatch: pytest.MonkeyPatch) -> type[Mistaken]:
    """Have what is needed to confine every command as a read."""
    require_bubblewrap()
    monkeypatch.setattr("agentscope_like.tool.builtin.bash.bash_tool.Confiner", Mistaken)
    return Mistaken


async def run(
    command: str, directory: Path, *, mode: str = "bypass", confine: Confine = "auto"
) -> ToolResponse:
    """Let a model's call through, and return its result."""
    toolkit = Toolkit(tools=[Bash(cwd=directory, confine=confine)])
    state = AgentState(permission_context=PermissionContext(mode=PermissionMode(mode)))
    block = ToolCallBlock(id="1", name="Bash", input=json.dumps({"command": command}))
    items = [item async for item in toolkit.call_tool(block, state)]
    assert isinstance(items[-1], ToolResponse)
    return items[-1]


def text(response: ToolResponse) -> str:
    """Return the text of a result."""
    return "".join(block.text for block in response.content if isinstance(block, TextBlock))


@pytest.mark.parametrize(
    ("command", "mode", "kind"),
    [
        ("ls", "default", "read"),
        ("ls", "explore", "read"),
        ("ls", "bypass", "read"),
        ("touch a", "accept_edits", "edit"),
        ("touch a", "dont_ask", "edit"),
        ("touch a", "bypass", "stated"),
        ("touch a; python3 -c 1", "bypass", "host"),
        ("df .", "default", "host"),
    ],
)
async def test_the_result_says_how_it_was_confined(
    tmp_path: Path, command: str, mode: str, kind: str
) -> None:
    """Whatever is confined succeeds at what was decided, and programs find out how it was."""
    require_bubblewrap()
    response = await run(command, tmp_path, mode=mode)
    assert response.state is ToolResultState.SUCCESS, text(response)
    assert response.metadata["confinement"] == kind
    assert "violation" not in response.metadata
    assert (await run(command, tmp_path, mode=mode, confine="off")).metadata["confinement"] == "off"


async def test_more_than_was_decided_fails_and_says_so(
    mistaken: type[Mistaken], tmp_path: Path
) -> None:
    """Nothing is written; the model is told what happened, and programs find it, too."""
    del mistaken
    response = await run("echo x > made", tmp_path)
    assert not (tmp_path / "made").exists()
    assert response.state is ToolResultState.ERROR
    assert "not decided to, and the kernel refused" in text(response)
    assert response.metadata["violation"]["kind"] == "write"
    assert "made: Read-only file system" in response.metadata["violation"]["evidence"]


async def test_a_violation_is_recorded(mistaken: type[Mistaken], tmp_path: Path) -> None:
    """It is in the event of the call's end and in the state that a session stores."""
    del mistaken
    command = ToolCallBlock(id="c1", name="Bash", input='{"command": "ls; touch made"}')
    policy = PermissionContext(mode=PermissionMode.BYPASS)
    agent = agent_of(
        [Bash(cwd=tmp_path)],
        [command],
        (TextBlock(text="Done."),),
        state=AgentState(permission_context=policy),
    )
    events = await events_of(agent, "Go.")
    (end,) = [each for each in events if isinstance(each, ToolResultEndEvent)]
    stored = AgentState.model_validate_json(agent.state.model_dump_json())
    (result,) = [
        block
        for message in stored.context
        for block in message.content
        if block.type == "tool_result"
    ]
    for metadata in (end.metadata, result.metadata):
        assert metadata["confinement"] == "read"
        assert metadata["violation"] == {
            "kind": "write",
            "evidence": "touch: cannot touch 'made': Read-only file system",
        }


async def test_more_than_was_decided_fails_though_it_succeeds(
    mistaken: type[Mistaken], tmp_path: Path
) -> None:
    """What comes after the attempt does not hide it; one that tried nothing succeeds."""
    del mistaken
    response = await run("touch made; echo x > made; echo done", tmp_path)
    assert response.state is ToolResultState.ERROR
    assert response.metadata["exit_code"] == 0
    assert response.metadata["violation"]["evidence"].startswith("touch: cannot touch 'made'")
    assert "done\n[The command tried to write" in text(response)
    (tmp_path / "log").write_text("touch: cannot touch 'x': Read-only file system\n")
    assert (await run("cat log", tmp_path)).state is ToolResultState.SUCCESS


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {}),
        ({"LANG": "en_US.UTF-8", "LC_TIME": "de_DE"}, {"LANG": "en_US.UTF-8", "LC_TIME": "de_DE"}),
        ({"LC_ALL": "C", "LANGUAGE": "de"}, {"LC_ALL": "C", "LANGUAGE": "de"}),
        ({"LC_ALL": "de", "LC_TIME": "fr", "A": "b"}, {"LANG": "de", "LC_MESSAGES": "C", "A": "b"}),
        ({"LANG": "de", "LC_TIME": "fr"}, {"LANG": "de", "LC_TIME": "fr", "LC_MESSAGES": "C"}),
        ({"LANG": "en", "LANGUAGE": "de:en"}, {"LANG": "en", "LC_MESSAGES": "C"}),
        ({"LANG": "enm"}, {"LANG": "enm", "LC_MESSAGES": "C"}),
    ],
)
def test_only_messages_change_their_language(
    given: dict[str, str], expected: dict[str, str]
) -> None:
    """What the user's language says of all else stays, and all of it where that is English."""
    assert in_english(given) == expected


@pytest.fixture
def german(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Have a user whose programs speak German, as far as their translations are installed."""
    place = tmp_path_factory.mktemp("locales")
    if shutil.which("localedef") is None:
        pytest.skip("needs localedef (Debian: apt-get install locales)")
    made = ["localedef", "-i", "de_DE", "-f", "UTF-8", str(place / "de_DE.UTF-8")]
    if subprocess.run(made, check=False, capture_output=True).returncode:
        pytest.skip("needs the German locale's source (Debian: apt-get install locales)")
    monkeypatch.setenv("LOCPATH", str(place))


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize(
    "language",
    [{"LC_ALL": "de_DE.UTF-8"}, {"LANG": "de_DE.UTF-8"}, {"LANG": "C.UTF-8", "LANGUAGE": "de"}],
)
async def test_a_violation_is_noticed_whatever_the_user_s_language(
    mistaken: type[Mistaken],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    language: dict[str, str],
) -> None:
    """Programs complain in English, and go on to sort and to spell as the user does."""
    del mistaken
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in language.items():
        monkeypatch.setenv(name, value)
    for command in ("touch made", "echo x > made", "touch made; echo done"):
        response = await run(command, tmp_path)
        assert "violation" in response.metadata, text(response)
    if "LANGUAGE" not in language:
        sorting = await run("printf 'b\\nB\\na\\nä\\n' | sort", tmp_path)
        assert text(sorting).split() == ["a", "ä", "b", "B"]


@pytest.mark.parametrize(
    "command",
    [
        "kill -9 {pid}",
        "kill -9 -1",
        "python3 -c 'import os; os.kill({pid}, 9)'",
        "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 9))'",
        "exec 3<>/dev/tcp/127.0.0.1/9",
        "ipcmk -Q && false",
    ],
)
async def test_processes_and_networks_are_out_of_reach(
    mistaken: type[Mistaken], tmp_path: Path, command: str
) -> None:
    """A command that was taken for a read neither ends anybody nor reaches anybody."""
    del mistaken
    response = await run(command.format(pid=os.getpid()), tmp_path)
    assert response.state is ToolResultState.ERROR


async def test_who_looks_for_processes_does_not_find_what_confines_it(tmp_path: Path) -> None:
    """A command that sees the host's processes finds as many as it does unconfined."""
    require_bubblewrap()
    search = "pgrep -fc no-such-process-anywhere"
    response = await run(search, tmp_path, mode="default")
    assert response.metadata["confinement"] == "read"
    assert text(response) == text(await run(search, tmp_path, mode="default", confine="off"))
    assert str(os.getpid()) in text(await run("ps -e -o pid", tmp_path, mode="default"))
    assert text(await run("ps -o args= -p $$", tmp_path, mode="default")).endswith("-p $$\n")


async def test_a_time_limit_holds_among_the_host_s_processes(tmp_path: Path) -> None:
    """`timeout` ends what it started, though nobody else there could be ended."""
    require_bubblewrap()
    response = await run("ps > /dev/null; timeout 0.1 sleep 20", tmp_path, mode="default")
    assert response.metadata["exit_code"] == 124
    assert response.metadata["duration"] < 10


async def test_what_cannot_be_confined_does_not_run(
    mistaken: type[Mistaken], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no way back to the host: the result says why, and that nothing was run."""
    monkeypatch.setattr(mistaken, "profile", Profile(read=("/",), write=("/nowhere",), native=True))
    response = await run("echo ran > made; echo ran", tmp_path)
    assert response.state is ToolResultState.ERROR
    assert not (tmp_path / "made").exists()
    assert "was not run" in text(response)
    assert "/nowhere" in response.metadata["not_confined"]
    assert "exit_code" not in response.metadata


async def test_a_machine_without_bubblewrap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Commands run as ever there, which is logged once; those that must be confined do not run."""
    monkeypatch.setattr(isolation, "bubblewrap_objection", lambda **_: "no bwrap today")
    monkeypatch.setattr(
        "agentscope_like.sandbox.isolation.confinement.bubblewrap_objection",
        lambda **_: "no bwrap today",
    )
    bash = Bash(cwd=tmp_path)
    with caplog.at_level(logging.WARNING, "agentscope_like"):
        for _ in range(2):
            chunks = [chunk async for chunk in bash.call("echo ran")]
            assert chunks[-1].metadata["confinement"] == "off"
    assert [record.message for record in caplog.records].count(
        "commands are decided but not confined: no bwrap today"
    ) == 1
    response = await run("echo ran", tmp_path, confine="require")
    assert "not run" in text(response)
    assert "no bwrap today" in response.metadata["not_confined"]


def test_another_word_is_refused() -> None:
    """A misspelt setting does not switch anything off."""
    with pytest.raises(ConfigurationError, match="off"):
        Bash(confine="of")  # type: ignore[arg-type]


async def test_a_model_cannot_say_how_it_is_confined(tmp_path: Path) -> None:
    """The policy comes from the session: an argument of that name is refused."""
    toolkit = Toolkit(tools=[Bash(cwd=tmp_path)])
    forged = {"command": "ls", "_permission_context": {"mode": "bypass"}, "confine": "off"}
    block = ToolCallBlock(id="1", name="Bash", input=json.dumps(forged))
    items = [item async for item in toolkit.call_tool(block, AgentState())]
    assert isinstance(items[-1], ToolResponse)
    assert items[-1].state is ToolResultState.ERROR


async def test_an_edit_leaves_what_is_sensitive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git's own files and others of the kind stay as they are, whatever an edit turns out to do."""
    require_bubblewrap()

    class Mistaken(Confiner):
        async def scope(self, call: PreparedCommand) -> Scope:
            return edit_scope(call.analysis, call.surroundings)

    monkeypatch.setattr("agentscope_like.tool.builtin.bash.bash_tool.Confiner", Mistaken)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").touch()
    response = await run("mkdir a; touch a/b; mv a/b c; date > .git/config", tmp_path)
    assert response.metadata["violation"]["evidence"].endswith("Read-only file system")
    assert sorted(os.listdir(tmp_path)) == [".git", "a", "c"]
    assert (tmp_path / ".git" / "config").read_text() == ""


async def test_temporary_files_are_forgotten(tmp_path: Path) -> None:
    """A proven read that needs room, such as sort's, has it, and leaves nothing."""
    require_bubblewrap()
    (tmp_path / "long").write_text("".join(f"{number}\n" for number in range(100_000, 0, -1)))
    response = await run("sort -n -S 64K long | head -1", tmp_path, mode="default")
    assert text(response) == "1\n"
    assert response.metadata["confinement"] == "read"
    assert not [name for name in os.listdir("/dev/shm") if name.startswith("sort")]
