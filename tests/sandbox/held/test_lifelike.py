"""Commands of everyday development end held as they do plainly, and show no secret."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from agentscope_like.sandbox.held import held_objection
from tests.sandbox.held.lifelike import (
    SECRET,
    Compared,
    EverydayCommand,
    Lifelike,
    compared_as_other_user,
    compared_here,
    everyday_commands,
)

COMMANDS = int(os.environ.get("LIFELIKE_COMMANDS", "24"))
"""How many of the commands are compared as each user; more take minutes."""

LEAST_SAME = 0.99

_OBJECTION = held_objection(Path(tempfile.gettempdir(), "layers-tried"), [], home="/nowhere")

pytestmark = [
    pytest.mark.skipif(_OBJECTION is not None, reason=f"nothing can be held here: {_OBJECTION}"),
    pytest.mark.timeout(3600 if COMMANDS > 100 else 600),
    pytest.mark.slow,
]


def chosen(count: int, start: int = 0) -> list[EverydayCommand]:
    """Return commands from all over the list."""
    rows = everyday_commands()
    return rows[start :: max(1, len(rows) // count)]


@pytest.fixture(scope="module")
def here() -> list[Compared]:
    """Compare commands as this user."""
    return compared_here(chosen(COMMANDS))


@pytest.fixture(scope="module")
def by_other_user(here: list[Compared]) -> list[Compared]:
    """Compare others as a user without rights, after the modules are loaded."""
    if not here or os.geteuid() != 0:
        pytest.skip("only root can become another user")
    return compared_as_other_user(chosen(COMMANDS, start=1))


@pytest.mark.parametrize("user", ["here", "by_other_user"])
def test_commands_end_the_same(user: str, request: pytest.FixtureRequest) -> None:
    """At least 99 % of what is installed has the same status, and leaves the same files."""
    ran = [row for row in request.getfixturevalue(user) if not row.missing]
    different = [row for row in ran if not row.is_same]
    assert len(ran) - len(different) >= LEAST_SAME * len(ran), different
    assert len(ran) > COMMANDS // 3


@pytest.mark.parametrize("user", ["here", "by_other_user"])
def test_no_output_has_the_secret(user: str, request: pytest.FixtureRequest) -> None:
    """Nothing that runs held prints what is in a credential of the project."""
    assert [row.command for row in request.getfixturevalue(user) if row.shows_secret] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.usefixtures("here")  # loads the modules
def test_a_clone_without_hard_links_works_for_every_user() -> None:
    """As a user without rights one with hard links fails, and says that they are the reason."""
    commands = ("git clone -q . copies/shop", "git clone -q --no-hardlinks . copies/shop")
    linked, copied = compared_as_other_user([EverydayCommand(each, "git") for each in commands])
    assert copied.is_same
    assert linked.is_same or "hardlink different from source" in linked.output


@pytest.mark.parametrize(
    "command",
    [
        "cat .env",
        "grep -r API_KEY . || true",
        "python3 -c 'print(open(\".env\").read())'",
        "cp .env copy && cat copy",
        "tar cf all.tar . && tar xOf all.tar ./.env",
    ],
)
def test_a_secret_is_shown_only_plainly(command: str) -> None:
    """The same commands print the secret where nothing hides it."""
    with Lifelike() as project:
        assert SECRET in project.plainly(command).output
        held = project.held(command)
        assert SECRET not in held.output
        assert held.status is not None


@pytest.mark.parametrize(
    ("command", "change"),
    [
        ("echo x > made", "made"),
        ("rm README.md", "README.md"),
        ("chmod +x scripts/lib.sh", "scripts/lib.sh"),
        ("git add todo.txt", ".git/index"),
    ],
)
def test_a_change_is_seen(command: str, change: str) -> None:
    """What a command leaves is different from what is there without it, as the comparison sees."""
    with Lifelike() as project:
        before, after = project.plainly("true").files, project.held(command).files
        assert before.get(change) != after.get(change)
