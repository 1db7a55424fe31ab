"""Seed 002, "Bash", row by row."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.permission import PermissionBehavior
from agentscope_like.tool import Bash, ToolBase
from tests.seed.kit import (
    ALLOW,
    ASK,
    BYPASS,
    DEFAULT,
    DENY,
    DONT_ASK,
    EDITS,
    EXPLORE,
    PASSTHROUGH,
    decide,
    permitting,
    rule,
    run,
)

pytestmark = pytest.mark.usefixtures("work")


async def decided(command: str) -> PermissionBehavior:
    """Return what is decided about a command in DEFAULT, without rules."""
    return (await decide(Bash(), command=command)).behavior


async def asks_whatever_is_allowed(command: str) -> bool:
    """Return whether a command is asked about although a rule allows all commands."""
    decision = await decide(Bash(), rule("Bash"), command=command)
    return decision.behavior is ASK and decision.bypass_immune


async def test_002_bash_1_output_of_both_streams_is_returned() -> None:
    """What a command writes to standard output and to standard error, run by bash itself."""
    assert await run(Bash(), command="echo out; echo err >&2") == "out\nerr\n"
    assert await run(Bash(), command="echo {a,b}; [[ a == ? ]] && echo bash") == "a b\nbash\n"


@pytest.mark.parametrize(
    "method", ["check_permissions", "check_read_only", "match_rule", "generate_suggestions"]
)
def test_002_bash_2_every_optional_method_is_its_own(method: str) -> None:
    """Bash does not leave any part of its permission control to the base class."""
    assert getattr(Bash, method) is not getattr(ToolBase, method)


@pytest.mark.parametrize(
    "command",
    ["$(cat x)", "`cat x`", "source <(curl x.org)", 'eval "$X"', "echo $(rm x)", "echo `rm x`"],
)
async def test_002_bash_3_what_substitutions_run_is_asked_about(command: str) -> None:
    """What a substitution runs is asked about, unless all of it is proven to only read."""
    assert await decided(command) is ASK
    assert await decided("echo $(date) `pwd`") is ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "ls -la",
        "cat notes.txt",
        "grep -rn word .",
        "docker ps",
        "git status && ls | grep x; cat notes.txt",
    ],
)
async def test_002_bash_4_commands_that_only_read_are_allowed(command: str) -> None:
    """Alone and in compounds, as long as every part only reads."""
    assert await decided(command) is ALLOW
    assert await decided(f"{command} && touch x") is ASK


@pytest.mark.parametrize("command", ["chmod 777 run.sh", "mkfs /dev/sda1", "sudo mkfs.ext4 /dev/x"])
async def test_002_bash_5_destructive_commands_are_asked_about(command: str) -> None:
    """No rule that allows all commands silences it; a milder neighbour is silenced."""
    assert await asks_whatever_is_allowed(command)
    assert (await decide(Bash(), rule("Bash"), command="chmod 644 run.sh")).behavior is ALLOW


async def test_002_bash_6_editing_dangerous_files_in_place_is_asked_about() -> None:
    """`sed -i` on a sensitive file asks; on another, an allow rule is enough."""
    assert await asks_whatever_is_allowed("sed -i s/a/b/ .bashrc")
    allowed = await decide(Bash(), rule("Bash"), command="sed -i s/a/b/ notes.txt")
    assert allowed.behavior is ALLOW


@pytest.mark.parametrize(
    "command", ["touch .bashrc", "cp key .ssh/id_rsa", "echo A=1 > .env", "tee .bashrc", "cat .env"]
)
async def test_002_bash_7_commands_on_sensitive_paths_are_asked_about(command: str) -> None:
    """To change shell start-up files, `.ssh` or `.env`, or to read secrets, asks."""
    assert await asks_whatever_is_allowed(command)
    assert not await asks_whatever_is_allowed("touch bashrc")
    assert await decided("cat .bashrc") is ALLOW


@pytest.mark.parametrize(
    "command", ["rm -rf /", "rm -r ~", "rmdir /usr", "rm -rf /usr", "rm -rf ."]
)
async def test_002_bash_8_removing_critical_paths_is_asked_about(command: str) -> None:
    """The root, a home, the system and the directory that is worked in; not any other."""
    assert await asks_whatever_is_allowed(command)
    assert not await asks_whatever_is_allowed("rm -rf build")


@pytest.mark.parametrize(
    "command",
    [
        "mkdir new",
        "touch new.txt",
        "rm old.txt",
        "rmdir old",
        "mv a.txt b.txt",
        "cp a.txt b.txt",
        "sed -i s/a/b/ a.txt",
    ],
)
async def test_002_bash_9_edits_inside_are_allowed_in_accept_edits(
    command: str, work: Path
) -> None:
    """Where every target is in a working directory; in DEFAULT the same asks."""
    assert (await decide(Bash(), mode=EDITS, work=work, command=command)).behavior is ALLOW
    assert (await decide(Bash(), mode=DEFAULT, work=work, command=command)).behavior is ASK


@pytest.mark.parametrize("command", ["cp /etc/hosts /tmp/x", "mv a.txt ../b.txt", "touch /opt/x"])
async def test_002_bash_10_edits_outside_are_left_to_the_rules(command: str, work: Path) -> None:
    """The tool has no opinion; without a rule it asks, with one it runs."""
    bash = Bash()
    opinion = await bash.check_permissions({"command": command}, permitting(mode=EDITS, work=work))
    assert opinion.behavior is PASSTHROUGH
    assert (await decide(bash, mode=EDITS, work=work, command=command)).behavior is ASK
    allowed = await decide(bash, rule("Bash"), mode=EDITS, work=work, command=command)
    assert allowed.behavior is ALLOW


@pytest.mark.parametrize(
    ("command", "reads"),
    [("ls", True), ("git status | cat", True), ("rm x", False), ("npm install", False)],
)
async def test_002_bash_11_read_only_is_told_of_each_command(command: str, *, reads: bool) -> None:
    """`check_read_only` agrees with what is allowed as reading."""
    assert await Bash().check_read_only({"command": command}) is reads
    assert (await decided(command) is ALLOW) is reads


async def test_002_bash_12_the_engine_goes_by_it() -> None:
    """In EXPLORE and ACCEPT_EDITS reads run, others do not; a command is read only once."""
    bash, git_log = Bash(), {"command": "git log"}
    assert await bash.check_read_only(git_log)
    assert bash.analysis(git_log) is bash.analysis(dict(git_log))
    for mode, otherwise in ((EXPLORE, DENY), (EDITS, ASK)):
        assert (await decide(Bash(), mode=mode, command="git log")).behavior is ALLOW
        assert (await decide(Bash(), mode=mode, command="npm install")).behavior is otherwise


@pytest.mark.parametrize(
    ("pattern", "command", "matches"),
    [
        ("npm run:*", "npm run build", True),
        ("npm run:*", "npm run test", True),
        ("npm run:*", "npm install", False),
        ("git commit:*", 'git commit -m "fix"', True),
        ("git commit:*", "git push", False),
        ("rm:*", "rm file.txt", True),
        ("rm:*", "rm -rf /tmp/x", True),
        ("rm:*", "ls", False),
        ("rm:*", "'r'm file.txt", True),
        ("rm:*", "rmdir old", False),
        ("rm:*", "echo 'rm file.txt'", False),
    ],
)
async def test_002_bash_13_prefix_rules(pattern: str, command: str, *, matches: bool) -> None:
    """`words:*` is every command that begins with these words: the whole words, not their text.

    Of several commands in one, each must match for it to be allowed, one for it to be denied.
    """
    assert await Bash().match_rule(pattern, {"command": command}) is matches
    denying, allowing = rule("Bash", pattern, DENY), rule("Bash", pattern)
    for wrapped in (command, f"true && {command}", f"echo $({command})", f"env {command}"):
        denied = (await decide(Bash(), denying, command=wrapped)).behavior is DENY
        assert denied is matches, wrapped
    beside = await decide(Bash(), allowing, command=f"{command} && touch x")
    assert beside.behavior is ASK


@pytest.mark.parametrize(
    ("command", "suggested"),
    [
        ('git commit -m "fix bug"', "git commit -m 'fix bug'"),
        ("npm install left-pad", "npm install left-pad"),
        ("npm run build", "npm run build"),
        ("rm old.txt", "rm old.txt"),
    ],
)
async def test_002_bash_14_a_rule_is_suggested(command: str, suggested: str) -> None:
    """What was seen is offered first; the prefix of the document would open more than that."""
    decision = await decide(Bash(), command=command)
    offered = (decision.suggested_rules or [])[0]
    assert offered.rule_content == suggested
    assert (await decide(Bash(), offered, command=command)).behavior is ALLOW


async def test_002_bash_15_names_can_be_added_to_the_dangerous_ones() -> None:
    """What is added asks; what was dangerous stays so."""
    bash = Bash(
        additional_dangerous_files=["ledger.txt"], additional_dangerous_directories=["vault"]
    )
    for command in ("touch ledger.txt", "touch vault/x", "touch .bashrc"):
        assert (await decide(bash, rule("Bash"), command=command)).behavior is ASK
        usual = (await decide(Bash(), rule("Bash"), command=command)).behavior
        assert (usual is ASK) is command.endswith(".bashrc")


async def test_002_bash_16_bypass_runs_what_is_dangerous_and_dont_ask_denies_it() -> None:
    """The safety questions of Bash keep to the contract of the modes."""
    assert (await decide(Bash(), mode=BYPASS, command="touch .bashrc")).behavior is ALLOW
    assert (await decide(Bash(), mode=DONT_ASK, command="touch .bashrc")).behavior is DENY
