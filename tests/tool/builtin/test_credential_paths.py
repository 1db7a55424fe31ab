"""A person is asked before a command or a file tool shows what a known credential file holds."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionEngine,
    PermissionMode,
)
from agentscope_like.tool import Bash, Read

pytestmark = pytest.mark.slow

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY
HOME = "/nonexistent/home/u"
TABLE = Path(__file__).parents[2] / "permission" / "sensitive.toml"
ENTRIES = tomllib.loads(TABLE.read_text("utf-8"))["read"]
FILES = [
    each for each in ENTRIES if not each["does"].startswith(("is a", "shows the memory", "belongs"))
]
ANYWHERE = {"/etc/krb5.keytab", "/etc/rndc.key", "/etc/rsyncd.secrets"}
"""Paths of the system whose last name is a credential's in any directory."""

IDS = [each["does"].replace(" ", "-") for each in FILES]


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the home a path that exists nowhere."""
    monkeypatch.setenv("HOME", HOME)


def places(path: str, project: Path) -> list[str]:
    """Return where a path of the table may be: in the system, in the home, in the project."""
    if path[0] in "/~":
        return [path.replace("~", HOME, 1)]
    return [f"{HOME}/{path}", f"{project}/{path}", f"{project}/a/b/{path}"]


async def decided(
    path: str, project: Path, mode: PermissionMode
) -> tuple[PermissionBehavior, PermissionBehavior]:
    """Return what is decided about showing a file with `cat`, and with Read."""
    engine = PermissionEngine(PermissionContext(mode=mode))
    command = {"command": f"cat {shlex.quote(path)}"}
    by_command = await engine.check_permission(Bash(cwd=project), command)
    by_tool = await engine.check_permission(Read(), {"file_path": path})
    return by_command.behavior, by_tool.behavior


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (PermissionMode.EXPLORE, ASK),
        (PermissionMode.ACCEPT_EDITS, ASK),
        (PermissionMode.DONT_ASK, DENY),
    ],
)
@pytest.mark.parametrize("entry", FILES, ids=IDS)
async def test_a_credential_is_not_shown_unasked(
    entry: dict[str, list[str]], tmp_path: Path, mode: PermissionMode, expected: PermissionBehavior
) -> None:
    """Wherever the table knows it, in each mode in which other files are read without a word."""
    for path in entry["sensitive"]:
        for place in places(path, tmp_path):
            assert await decided(place, tmp_path, mode) == (expected, expected), place


@pytest.mark.parametrize("entry", FILES, ids=IDS)
async def test_its_neighbours_are_read(entry: dict[str, list[str]], tmp_path: Path) -> None:
    """A file of a similar name is read as any other, unless it is hidden in a home."""
    for path in entry.get("harmless", ()):
        for place in places(path, tmp_path):
            if place.startswith(f"{HOME}/."):
                continue
            found = await decided(place, tmp_path, PermissionMode.EXPLORE)
            assert found == (ALLOW, ALLOW), place


async def searched(command: str, project: Path) -> PermissionBehavior:
    """Return what is decided about a command where everything else is read without a word."""
    engine = PermissionEngine(PermissionContext(mode=PermissionMode.EXPLORE))
    return (await engine.check_permission(Bash(cwd=project), {"command": command})).behavior


@pytest.mark.parametrize("entry", FILES, ids=IDS)
async def test_a_credential_in_an_unknown_directory_asks(
    entry: dict[str, list[str]], tmp_path: Path
) -> None:
    """What a path ends with tells it; but one of the system is not below a known directory."""
    for path in entry["sensitive"]:
        end = path.removeprefix("~/").removeprefix("/")
        assert await searched(f'cat "$x"/{shlex.quote(end)}', tmp_path) is ASK, path
        deeper = await searched(f'cat "$x"/q/{shlex.quote(end)}', tmp_path)
        is_only_there = path.startswith("/") and path not in ANYWHERE
        assert deeper is (ALLOW if is_only_there else ASK), path


@pytest.mark.parametrize("entry", FILES, ids=IDS)
async def test_a_directory_of_credentials_in_an_unknown_one_is_not_searched(
    entry: dict[str, list[str]], tmp_path: Path
) -> None:
    """All below a directory that only holds credentials is not read where its end is known."""
    for path in entry["sensitive"]:
        directory, _, name = path.removeprefix("~/").removeprefix("/").rpartition("/")
        if name == "x" and directory:
            found = await searched(f'grep -r k "$x"/{shlex.quote(directory)}', tmp_path)
            assert found is not ALLOW, path


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ("src", ALLOW),
        ("a/b", ALLOW),
        ("u", ASK),
        ("home", ASK),
        ("..", ASK),
        ("*", ASK),
        ("h*", ASK),
    ],
)
async def test_another_directory_in_an_unknown_one_is_searched(
    end: str, expected: PermissionBehavior, tmp_path: Path
) -> None:
    """Unless it may be the home, or one above it, or any."""
    assert await searched(f'grep -r k "$x"/{end}', tmp_path) is expected
