"""A hard link is a write by another name: linking to a file is judged as a write of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionEngine,
    PermissionMode,
)
from agentscope_like.tool import Bash

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY


async def decide(work: Path, command: str, mode: str, *deny: str) -> PermissionBehavior:
    """Return what is decided in a project with public and protected files."""
    for name in ("secrets/k", "pub/a.txt"):
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).write_text("x")
    policy = PermissionContext.from_rules(
        mode=PermissionMode(mode), deny=deny, working_directories=[work]
    )
    engine = PermissionEngine(policy)
    return (await engine.check_permission(Bash(cwd=work), {"command": command})).behavior


@pytest.mark.parametrize("mode", ["accept_edits", "bypass"])
@pytest.mark.parametrize(
    "command",
    [
        "ln secrets/k pub/hl",
        "ln -f secrets/k pub/hl",
        "ln -t pub secrets/k",
        "gln secrets/k pub/hl",
        "cp -l secrets/k pub/hl",
        "cp --link secrets/k pub/hl",
        "cp -al secrets pub/copy",
        "cd secrets && ln k ../pub/hl",
    ],
)
async def test_a_rule_against_writing_forbids_another_name(
    tmp_path: Path, mode: str, command: str
) -> None:
    """Under `deny Write(secrets/**)` nothing gets a second name through which it is written."""
    assert await decide(tmp_path, command, mode, "Write(secrets/**)") is DENY


@pytest.mark.parametrize(
    "command", ["cp secrets/k pub/copy", "ln pub/a.txt pub/b.txt", "cp -l pub/a.txt pub/c.txt"]
)
async def test_other_copies_and_links_are_edits_as_before(tmp_path: Path, command: str) -> None:
    """A copy has a content of its own, and a link among public files is an edit of them."""
    assert await decide(tmp_path, command, "accept_edits", "Write(secrets/**)") is ALLOW


@pytest.mark.parametrize("command", ["ln secrets/k pub/hl", "cp -al secrets pub/copy"])
async def test_a_rule_against_reading_still_speaks_of_the_source(
    tmp_path: Path, command: str
) -> None:
    """What may not be read gets no other name by which it could be."""
    assert await decide(tmp_path, command, "bypass", "Read(secrets/**)") is DENY


@pytest.mark.parametrize("command", ["ln ~/.bashrc here", "cp -l /etc/passwd here"])
async def test_a_link_to_what_lies_outside_asks(tmp_path: Path, command: str) -> None:
    """An accepted edit makes no name inside the project for a file outside of it."""
    assert await decide(tmp_path, command, "accept_edits") is ASK
