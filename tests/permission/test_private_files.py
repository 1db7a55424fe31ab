"""Hidden files of a home ask before they are read, unless they are known to hold no secret."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentscope_like import AgentState, Bash, PermissionContext, Read, ToolCallBlock, Toolkit
from agentscope_like.permission import PermissionBehavior, PermissionMode


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home with hidden files, and a project in it."""
    home = tmp_path / "home"
    for path in (".tool/token", ".config/tool/auth", ".bashrc", ".config/nvim/init.lua", "plain"):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text("x\n")
    for project in ("project", ".dotfiles"):
        (home / project).mkdir()
        (home / project / ".settings").write_text("x\n")
    (home / "project" / "link").symlink_to(home / ".tool" / "token")
    monkeypatch.setenv("HOME", str(home))
    return home


async def _decided(tool: str, arguments: dict[str, str], directory: Path) -> PermissionBehavior:
    policy = PermissionContext.from_rules(
        mode=PermissionMode.ACCEPT_EDITS, working_directories=[directory]
    )
    toolkit = Toolkit(tools=[Bash(cwd=str(directory)), Read(cwd=str(directory))])
    call = ToolCallBlock(id="1", name=tool, input=json.dumps(arguments))
    decided = await toolkit.decide(call, AgentState(permission_context=policy))
    assert decided.behavior is not None
    return decided.behavior


@pytest.mark.parametrize(
    ("command", "behavior"),
    [
        ("cat ~/.tool/token", "ask"),
        ("head -3 ~/.config/tool/*", "ask"),
        ("cat link", "ask"),
        ("grep -n key ~/.config/tool/auth", "ask"),
        ("cat ~/.bashrc", "allow"),
        ("cat ~/.config/nvim/init.lua", "allow"),
        ("ls -la ~/.tool ~/.config/tool", "allow"),
        ("cat ~/plain", "allow"),
        ("cat .settings", "allow"),
    ],
)
async def test_of_commands(home: Path, command: str, behavior: str) -> None:
    """Its content is private; its name, its neighbours and the project's own files are not."""
    assert await _decided("Bash", {"command": command}, home / "project") == behavior


@pytest.mark.parametrize(
    ("path", "behavior"),
    [(".tool/token", "ask"), ("project/link", "ask"), (".bashrc", "allow"), ("plain", "allow")],
)
async def test_of_files(home: Path, path: str, behavior: str) -> None:
    """Read decides alike."""
    decided = await _decided("Read", {"file_path": str(home / path)}, home / "project")
    assert decided == behavior


async def test_of_projects(home: Path) -> None:
    """A project in a hidden directory is read unasked; a home is no project of its hidden files."""
    own = home / ".dotfiles"
    assert await _decided("Bash", {"command": "cat .settings"}, own) == "allow"
    outside = {"command": "cat ../.dotfiles/.settings"}
    assert await _decided("Bash", outside, home / "project") == "ask"
    assert await _decided("Bash", {"command": "cat ~/.tool/token"}, home) == "ask"
