"""What a rule lets run besides what the person saw who gave it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.permission import (
    AdditionalWorkingDirectory,
    PermissionBehavior,
    PermissionDecision,
    PermissionEngine,
)
from agentscope_like.tool import Bash
from tests.tool.builtin.bash_kit import context_of, decide

ALLOW, ASK = PermissionBehavior.ALLOW, PermissionBehavior.ASK

TABLES = tomllib.loads(Path(__file__).with_name("widenings.toml").read_text("utf-8"))


def cases(table: str, key: str, column: str) -> list[Any]:
    """Return each row's key with the commands of one of its columns."""
    return [(row[key], row[column]) for row in TABLES[table] if row.get(column)]


def count(table: str, column: str) -> int:
    """Return how many commands stand in a column."""
    return sum(len(row.get(column, ())) for row in TABLES[table])


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a small project, in a home of its own."""
    work = tmp_path / "work"
    for name in ("src", "build", "evil"):
        (work / name).mkdir(parents=True)
    for name in ("a.py", "package.json", "Makefile"):
        (work / name).write_text("{}\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    return work


async def accepted(command: str, work: Path) -> list[str]:
    """Return all rules that a question about the command offers, as an allowing rule is written."""
    offered = (await decide(command, work)).suggested_rules or []
    return [f"allow {rule.rule_content}" for rule in offered]


async def under(command: str, then: str, work: Path) -> PermissionDecision:
    """Decide about a command once all that was offered for another was accepted."""
    return await decide(then, work, await accepted(command, work))


def test_there_are_many_of_each_kind() -> None:
    """A widening is asked about, and it has a neighbour that runs."""
    assert count("accept", "asks") + count("allow", "asks") > 500
    assert count("accept", "runs") + count("allow", "runs") > 90


@pytest.mark.parametrize(("command", "others"), cases("accept", "command", "asks"))
async def test_accepted_rules_allow_no_more_than_was_seen(
    work: Path, command: str, others: list[str]
) -> None:
    """Other input, options, operands, directories and redirections are asked about again."""
    for then in others:
        assert (await under(command, then, work)).behavior is ASK, then


@pytest.mark.parametrize("command", [row["command"] for row in TABLES["accept"]])
async def test_accepted_rules_spare_the_same_question(work: Path, command: str) -> None:
    """What was asked about is not asked about again."""
    assert (await decide(command, work)).behavior is ASK
    assert (await under(command, command, work)).behavior is ALLOW


@pytest.mark.parametrize(("command", "others"), cases("accept", "command", "runs"))
async def test_accepted_rules_allow_the_same_among_reads(
    work: Path, command: str, others: list[str]
) -> None:
    """The same command runs beside what only reads."""
    for then in others:
        assert (await under(command, then, work)).behavior is ALLOW, then


@pytest.mark.parametrize(("rule", "commands"), cases("allow", "rule", "asks"))
async def test_a_rule_covers_nothing_that_it_does_not_name(
    work: Path, rule: str, commands: list[str]
) -> None:
    """What chooses code, a directory or a destination asks, and what is fed or written."""
    for command in commands:
        assert (await decide(command, work, (f"allow {rule}",))).behavior is ASK, command


@pytest.mark.parametrize(("rule", "commands"), cases("allow", "rule", "runs"))
async def test_a_rule_covers_operands_and_harmless_options(
    work: Path, rule: str, commands: list[str]
) -> None:
    """What the person who wrote `NAME:*` meant still runs."""
    for command in commands:
        assert (await decide(command, work, (f"allow {rule}",))).behavior is ALLOW, command


@pytest.mark.parametrize(
    ("rule", "command"),
    [("rm:*", "rm *.py"), ("mytool:*", "mytool *"), ("= black *.py", "black *.py")],
)
@pytest.mark.parametrize("name", ["--config=evil.py", "-v.py"])
async def test_a_glob_may_become_an_option(work: Path, rule: str, command: str, name: str) -> None:
    """What a glob matches counts when it is decided about: a file may be called like an option."""
    assert (await decide(command, work, (f"allow {rule}",))).behavior is ALLOW
    (work / name).touch()
    assert (await decide(command, work, (f"allow {rule}",))).behavior is ASK


async def test_a_glob_may_become_a_setting(work: Path) -> None:
    """`make *` beside a file `SHELL=evil` chooses the shell."""
    assert (await decide("make *", work, ("allow make:*",))).behavior is ALLOW
    (work / "SHELL=evil").touch()
    assert (await decide("make *", work, ("allow make:*",))).behavior is ASK


async def test_a_rule_holds_where_the_session_works(work: Path) -> None:
    """Another working directory counts as well; what is below one or outside of them does not."""
    bash = Bash(cwd=work)
    context = context_of(("allow make:*", "allow = cd src && npm test"))
    other = work.parent / "other"
    other.mkdir()
    for path in (work, other):
        context.working_directories[str(path)] = AdditionalWorkingDirectory(
            path=str(path), source="test"
        )
    engine = PermissionEngine(context)
    for command, behavior in [
        ("make", ALLOW),
        (f"cd {other} && make", ALLOW),
        (f"cd {work} && make", ALLOW),
        ("cd src && make", ASK),
        (f"cd {work.parent} && make", ASK),
        ("cd src && npm test", ALLOW),
        ("cd build && npm test", ASK),
        ("npm test", ASK),
    ]:
        decision = await engine.check_permission(bash, {"command": command})
        assert decision.behavior is behavior, command


async def test_a_session_that_went_elsewhere_is_there(work: Path) -> None:
    """A rule for `make` is not one for `make` in a directory that a call before went to."""
    bash = Bash(cwd=work)
    engine = PermissionEngine(context_of(("allow make:*", "allow = cd src && npm test")))
    async for _ in bash.call("cd src"):
        pass
    for command, behavior in [("make", ASK), ("npm test", ALLOW), ("npm test -x", ASK)]:
        decision = await engine.check_permission(bash, {"command": command})
        assert decision.behavior is behavior, command
