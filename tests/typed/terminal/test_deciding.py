"""A command for the terminal is decided as Bash decides it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from agentscope_like.exception import ConfigurationError, GrantError
from agentscope_like.message import ToolCallBlock
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
    check_rules,
)
from agentscope_like.tool import Bash, Toolkit
from agentscope_like.typed import ToolDefinition
from agentscope_like.typed.tools.terminal import BashTool, TerminalTool
from tests.record import RECORDED, read_record, world
from tests.typed.kit import state_in
from tests.typed.terminal.kit import Session

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY
MANY = 500


def told(decision: PermissionDecision) -> tuple[object, ...]:
    """Return all that a decision says, whichever tool's name is in it."""
    message = decision.message.replace("terminal", "Bash")
    reason = (decision.decision_reason or "").replace("terminal", "Bash")
    suggested = [str(rule).replace("terminal", "Bash") for rule in decision.suggested_rules or ()]
    return (
        *(decision.behavior, message, reason, decision.bypass_immune),
        *(decision.row, decision.place, suggested),
    )


def engine_of(mode: str, *rules: str) -> PermissionEngine:
    engine = PermissionEngine(PermissionContext(mode=PermissionMode(mode)))
    for rule in rules:
        engine.add_rule(rule)
    return engine


@pytest.mark.parametrize("situation", RECORDED, ids=lambda each: str(each.name))
async def test_decisions_are_those_about_bash(situation: object) -> None:
    """Behaviour, message, row, place and suggestions are the same, rules for Bash included."""
    mode, rules = situation.mode, situation.rules  # type: ignore[attr-defined]
    commands = random.Random(1).sample(sorted(read_record()), MANY)
    with world() as work:
        terminal, bash = TerminalTool(cwd=work), Bash(cwd=work)
        ours, theirs = engine_of(mode, *rules), engine_of(mode, *rules)
        for command in commands:
            if not command.strip():
                continue
            expected = await theirs.check_permission(bash, {"command": command})
            found = await ours.check_permission(terminal, {"command": command})
            assert told(found) == told(expected), command


async def test_it_is_decided_where_the_terminal_is(make_session: Callable[..., Session]) -> None:
    """A relative path means another file after `cd`."""
    session = make_session(mode="accept_edits")
    directory = Path(session.tool.cwd)
    (directory / ".git" / "hooks").mkdir(parents=True)
    assert (await session("touch pre-commit")).state == "finished"
    assert (await session("cd .git/hooks")).output == ""
    assert (await session("touch pre-commit")).state == "asking"
    assert session.tool.workplace(session.state).directory == str(directory / ".git/hooks")


@pytest.mark.parametrize("name", ["Bash", "terminal"])
@pytest.mark.parametrize("pattern", ["(touch:*)", ""])
@pytest.mark.parametrize("behavior", [ALLOW, ASK, DENY])
async def test_rules_for_bash_and_for_the_terminal_hold(
    tmp_path: Path, name: str, pattern: str, behavior: PermissionBehavior
) -> None:
    """Those with a pattern and those without; also one that is added after a first decision."""
    for added_later in (False, True):
        tool, engine = TerminalTool(cwd=tmp_path), engine_of("default")
        if added_later:
            await engine.check_permission(tool, {"command": "touch a"})
        engine.add_rule(f"{behavior.value} {name}{pattern}")
        decision = await engine.check_permission(tool, {"command": "touch a"})
        assert decision.behavior is behavior
        assert str(decision.rule) == f"{behavior.value} {name}{pattern}"
        other = await engine.check_permission(tool, {"command": "mkdir a"})
        assert (other.rule is None) == bool(pattern)


async def test_a_rule_for_the_terminal_is_none_for_bash(tmp_path: Path) -> None:
    """Sharing goes one way only."""
    engine = engine_of("default", "allow terminal(touch:*)")
    assert (await engine.check_permission(Bash(cwd=tmp_path), {"command": "touch a"})).rule is None


async def test_rules_of_the_file_tools_hold(tmp_path: Path) -> None:
    """What may not be read may not be shown by a command."""
    (tmp_path / "private").mkdir()
    engine = engine_of("bypass", "deny Read(private/**)")
    tool = TerminalTool(cwd=tmp_path)
    assert (await engine.check_permission(tool, {"command": "cat private/x"})).behavior is DENY
    assert (await engine.check_permission(tool, {"command": "cat other/x"})).behavior is ALLOW


def test_a_toolkit_without_bash_takes_rules_for_it(tmp_path: Path) -> None:
    """A rule for a tool that nobody has is refused as before."""
    context = engine_of("default", "allow Bash(ls:*)").context
    check_rules(context, {"terminal": TerminalTool(cwd=tmp_path)})
    with pytest.raises(Exception, match="not a tool of this toolkit"):
        check_rules(context, {"other": BashTool(cwd=tmp_path, name="other").judge})


def test_a_rule_that_cannot_match_is_refused(tmp_path: Path) -> None:
    """As Bash refuses it."""
    with pytest.raises(ConfigurationError):
        TerminalTool(cwd=tmp_path).validate_rule("")


def test_no_class_of_others_shares_the_rules_of_bash() -> None:
    """A package's tool would be allowed what a person allowed Bash."""
    with pytest.raises(ConfigurationError, match="also_ruled_as"):
        type(
            "SlyTool",
            (ToolDefinition,),
            {"__module__": "elsewhere", "also_ruled_as": ("Bash",), "description": "x"},
        )


# Input


@pytest.mark.parametrize("mode", ["default", "accept_edits"])
@pytest.mark.parametrize("rules", [(), ("allow Bash",), ("allow terminal", "allow Bash(yes:*)")])
async def test_text_for_a_program_asks(
    make_session: Callable[..., Session], mode: str, rules: tuple[str, ...]
) -> None:
    """Whatever rules allow: what the program does with it is not known."""
    session = make_session(*rules, mode=mode)
    started = await session("sleep 60")
    assert started.observation.is_running
    typed = await session.type("yes")
    assert typed.state == "asking"
    assert typed.call.decision is not None
    assert "`sleep 60`" in typed.call.decision.message
    assert (await session.type("\n")).state == "asking"
    assert (await session.type("C-z")).state == "asking"


@pytest.mark.parametrize("mode", ["explore", "dont_ask"])
async def test_where_nobody_is_asked_no_text_is_typed(
    make_session: Callable[..., Session], mode: str
) -> None:
    """It is denied; the program runs on."""
    session = make_session(mode=mode)
    await session("sleep 60")
    assert "denied" in (await session.type("yes")).text.lower()
    assert (await session()).observation.is_running


async def test_text_that_a_rule_forbids_as_a_command_is_denied(
    make_session: Callable[..., Session],
) -> None:
    """A shell that runs would run it; other text is typed."""
    session = make_session("deny Bash(rm:*)")
    await session("cat")
    assert (await session.type("rm -rf build")).response.state == "denied"  # type: ignore[union-attr]
    assert "hello" in (await session.type("hello")).output


@pytest.mark.parametrize("mode", ["default", "explore", "dont_ask", "accept_edits"])
async def test_keys_that_only_look_or_end_do_not_ask(
    make_session: Callable[..., Session], mode: str
) -> None:
    """Nothing, the end of the input and an interruption are typed in every mode."""
    session = make_session(mode=mode)
    await session("cat")
    assert (await session()).observation.is_running
    assert (await session.type("C-d")).observation.exit_code == 0
    await session("sleep 60")
    assert (await session("C-c")).observation.exit_code == 130
    await session("sleep 60")
    assert "was ended" in (await session(reset=True)).text


async def test_rules_for_commands_concern_no_key_whenever_they_are_added(tmp_path: Path) -> None:
    """A key is no command, and neither the first rule nor a later one is about it."""
    terminal, engine = TerminalTool(cwd=tmp_path), engine_of("default")
    for rule in ("deny Bash(rm:*)", "deny Bash(git push:*)", "ask Bash(make:*)", "ask Bash(npm:*)"):
        engine.add_rule(rule)
        key = await engine.check_permission(terminal, {"command": "C-c", "is_input": True})
        assert key.behavior is ALLOW, key.message
    pushed = await engine.check_permission(terminal, {"command": "git push"})
    assert pushed.behavior is DENY


async def test_a_rule_that_forbids_the_terminal_forbids_its_keys(
    make_session: Callable[..., Session],
) -> None:
    """A rule without a pattern is about all calls."""
    session = make_session("deny terminal")
    assert (await session("C-c")).response.state == "denied"  # type: ignore[union-attr]


# What a decision rests on


async def decided(session: Session, **arguments: object) -> object:
    call = ToolCallBlock(id="c", name="terminal", input=json.dumps(arguments))
    return (await session.toolkit.decide(call, session.state)).grant


async def test_a_decision_about_input_is_for_that_program(session: Session) -> None:
    """It does not hold for the next program."""
    await session("cat")
    grant = await decided(session, command="yes", is_input=True)
    await session("C-d")
    await session("cat")
    with pytest.raises(GrantError):
        [item async for item in session.toolkit.run(grant, session.state)]  # type: ignore[arg-type]
    assert "yes" not in (await session()).output


@pytest.mark.parametrize("between", ["export name=src", "mkdir d && cd d"])
async def test_a_decision_is_for_the_state_that_it_was_made_in(
    session: Session, between: str
) -> None:
    """Another directory, or another value of a variable, is another command."""
    grant = await decided(session, command='touch "$name"x')
    await session(between)
    with pytest.raises(GrantError):
        [item async for item in session.toolkit.run(grant, session.state)]  # type: ignore[arg-type]


async def test_nothing_runs_without_a_decision(tmp_path: Path) -> None:
    """A call beside the toolkit is refused."""
    (tool,) = TerminalTool.create(working_dir=tmp_path)
    with pytest.raises(GrantError, match="without a decision"):
        await tool(command="touch made")
    assert not (tmp_path / "made").exists()


def test_the_names_of_the_seed_are_there(tmp_path: Path) -> None:
    """`execute_bash` is the terminal by another name, with rules for that name."""
    (tool,) = BashTool.create(working_dir=tmp_path)
    assert tool.name == "execute_bash"
    rule = PermissionRule.parse("allow execute_bash(npm run:*)")
    context = PermissionContext()
    context.table(ALLOW).add(rule)
    check_rules(context, {tool.name: tool})
    assert Toolkit(tools=[tool]) is not None
    assert state_in().permission_context is not None
