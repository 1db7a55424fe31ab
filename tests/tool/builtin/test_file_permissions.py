"""What the file tools permit, through the engine: forbidden calls and their allowed neighbours."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.event import ConfirmResult
from agentscope_like.exception import ConfigurationError
from agentscope_like.message import ToolCallState
from agentscope_like.permission import PermissionBehavior, PermissionMode, PermissionRule, RuleError
from agentscope_like.tool import Edit, Glob, Grep, Read, Toolkit, Write
from tests.tool.builtin.file_kit import Workspace
from tests.tool.kit import call_of, outcome
from tests.tool.kit import text_of as response_text

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY
DEFAULT, EDITS, EXPLORE, BYPASS, DONT_ASK = (
    PermissionMode.DEFAULT,
    PermissionMode.ACCEPT_EDITS,
    PermissionMode.EXPLORE,
    PermissionMode.BYPASS,
    PermissionMode.DONT_ASK,
)


def rule(tool: str, content: str, behavior: PermissionBehavior = ALLOW) -> PermissionRule:
    """Return a rule."""
    return PermissionRule(tool_name=tool, rule_content=content, behavior=behavior)


def test_the_tools_are_what_the_contract_says() -> None:
    """Names and flags are those of the contract."""
    flags = {
        tool.name: (tool.is_read_only, tool.is_concurrency_safe, tool.is_state_injected)
        for tool in (Read(), Write(), Edit(), Glob(), Grep())
    }
    assert flags == {
        "Read": (True, True, True),
        "Write": (False, False, True),
        "Edit": (False, False, True),
        "Glob": (True, True, False),
        "Grep": (True, True, False),
    }


WRITES = [
    # path, mode, decision
    ("src/a.py", DEFAULT, ASK),
    ("src/a.py", EDITS, ALLOW),
    ("src/a.py", DONT_ASK, ALLOW),
    ("src/a.py", EXPLORE, DENY),
    ("src/a.py", BYPASS, ALLOW),
    ("src/../a.py", EDITS, ALLOW),
    ("../a.py", EDITS, ASK),
    ("../a.py", DONT_ASK, DENY),
    ("../project/a.py", EDITS, ALLOW),
    ("../project-2/a.py", EDITS, ASK),
    ("out/a.py", EDITS, ASK),
    ("in/a.py", EDITS, ALLOW),
    (".bashrc", EDITS, ASK),
    ("bashrc", EDITS, ALLOW),
    (".git/config", EDITS, ASK),
    (".git/config", BYPASS, ALLOW),
    (".git/config", DONT_ASK, DENY),
    (".github", EDITS, ALLOW),
    (".env", EDITS, ASK),
    (".ENV", EDITS, ASK),
    (".env.example", EDITS, ALLOW),
    ("harmless.txt", EDITS, ASK),
    ("a\0b", EDITS, DENY),
    ("", DEFAULT, DENY),
]


@pytest.mark.parametrize("tool", ["Write", "Edit"])
@pytest.mark.parametrize(("path", "mode", "expected"), WRITES)
async def test_writing(
    workspace: Workspace,
    tool: str,
    path: str,
    mode: PermissionMode,
    expected: PermissionBehavior,
) -> None:
    """Edits inside the directory are part of the work where the mode says so, never sensitive ones.

    `out` leads out of the workspace, `in` within it, `harmless.txt` to a sensitive file.
    """
    (workspace.root / "src").mkdir()
    (workspace.root / "out").symlink_to("..")
    (workspace.root / "in").symlink_to("src")
    workspace.file(".env", "KEY=1")
    (workspace.root / "harmless.txt").symlink_to(".env")
    more = {"content": ""} if tool == "Write" else {"old_string": "a", "new_string": "b"}
    decision = await workspace.decide(tool, workspace.context(mode), file_path=path, **more)
    assert decision.behavior is expected
    assert decision.message.endswith(".")


async def test_a_sensitive_write_asks_whatever_the_rules_say(workspace: Workspace) -> None:
    """The safety question cannot be silenced by a rule, and says what the file does."""
    context = workspace.context(EDITS, rule("Write", "**"))
    decision = await workspace.decide("Write", context, file_path=".bashrc", content="")
    assert (decision.behavior, decision.bypass_immune) == (ASK, True)
    assert ".bashrc" in decision.message
    assert not decision.suggested_rules
    neighbour = await workspace.decide("Write", context, file_path="a.py", content="")
    assert neighbour.behavior is ALLOW


@pytest.mark.parametrize(
    ("options", "path", "expected"),
    [
        ({}, "deploy.yml", ALLOW),
        ({"additional_dangerous_files": ["deploy.yml"]}, "a/deploy.yml", ASK),
        ({"additional_dangerous_files": ["deploy.yml"]}, "deploy.yaml", ALLOW),
        ({"additional_dangerous_directories": [".credentials"]}, ".credentials/a", ASK),
        ({"dangerous_files": ["deploy.yml"]}, "deploy.yml", ASK),
        ({"dangerous_files": ["deploy.yml"]}, ".bashrc", ALLOW),
    ],
)
async def test_dangerous_names_can_be_chosen(
    workspace: Workspace, options: dict[str, Any], path: str, expected: PermissionBehavior
) -> None:
    """The constructor's lists are the contract's; further names can be added to the usual ones."""
    workspace.write_tool = Write(cwd=workspace.root, **options)
    decision = await workspace.decide("Write", workspace.context(EDITS), file_path=path, content="")
    assert decision.behavior is expected


async def test_the_contexts_working_directories_replace_the_tools_own(
    workspace: Workspace, tmp_path: Path
) -> None:
    """Where the context names directories, only those count."""
    other = tmp_path / "other"
    other.mkdir()
    context = workspace.context(EDITS, directories={str(other): "user"})
    inside = await workspace.decide("Write", context, file_path=str(other / "a"), content="")
    outside = await workspace.decide("Write", context, file_path="a", content="")
    assert (inside.behavior, outside.behavior) == (ALLOW, ASK)
    assert str(other) in outside.message


READS = [
    ("Read", {"file_path": "a.py"}, DEFAULT, ASK),
    ("Read", {"file_path": "a.py"}, EXPLORE, ALLOW),
    ("Read", {"file_path": "a.py"}, EDITS, ALLOW),
    ("Read", {"file_path": "/etc/hostname"}, EXPLORE, ALLOW),
    ("Read", {"file_path": "missing"}, EXPLORE, ALLOW),
    ("Read", {"file_path": ".env"}, EXPLORE, ASK),
    ("Read", {"file_path": "harmless.txt"}, EXPLORE, ASK),
    ("Read", {"file_path": "~/.ssh/id_rsa"}, EXPLORE, ASK),
    ("Read", {"file_path": "~/.ssh/id_rsa"}, DONT_ASK, DENY),
    ("Read", {"file_path": "pipe"}, EXPLORE, DENY),
    ("Read", {"file_path": "pipe"}, EDITS, ASK),
    ("Read", {"file_path": "/dev/null"}, EXPLORE, DENY),
    ("Read", {"file_path": "/proc/kmsg"}, EXPLORE, DENY),
    ("Read", {"file_path": "loop"}, EXPLORE, DENY),
    ("Read", {"file_path": "a\0b"}, EXPLORE, DENY),
    ("Grep", {"pattern": "x"}, EXPLORE, ALLOW),
    ("Grep", {"pattern": "x"}, DEFAULT, ASK),
    ("Grep", {"pattern": "x", "path": "src"}, EXPLORE, ALLOW),
    ("Grep", {"pattern": "x", "path": ".env"}, EXPLORE, ASK),
    ("Grep", {"pattern": "x", "path": "~/.ssh"}, EXPLORE, ASK),
    ("Grep", {"pattern": "x", "path": "pipe"}, EXPLORE, DENY),
    ("Glob", {"pattern": "**"}, EXPLORE, ALLOW),
    ("Glob", {"pattern": "*", "path": "src"}, EXPLORE, ALLOW),
    ("Glob", {"pattern": "~/.ssh/*"}, EXPLORE, ASK),
    ("Glob", {"pattern": "/etc/*.conf"}, EXPLORE, ALLOW),
]


@pytest.mark.parametrize(("tool", "arguments", "mode", "expected"), READS)
async def test_reading(
    workspace: Workspace,
    tool: str,
    arguments: dict[str, Any],
    mode: PermissionMode,
    expected: PermissionBehavior,
) -> None:
    """Reads pass where the mode lets reads pass, except credentials and what is no file."""
    workspace.file("a.py", "")
    workspace.file(".env", "KEY=1")
    (workspace.root / "src").mkdir()
    (workspace.root / "harmless.txt").symlink_to(".env")
    (workspace.root / "loop").symlink_to("loop")
    os.mkfifo(workspace.root / "pipe")
    decision = await workspace.decide(tool, workspace.context(mode), **arguments)
    assert decision.behavior is expected


RULES = [
    # allow rule, path, allowed (seed 002, "File Tools")
    ("src/**", "src/a.py", True),
    ("src/**", "src/deep/a.py", True),
    ("src/**", "srcs/a.py", False),
    ("src/**", "src/../a.py", False),
    ("src/**", "src/link/a.py", False),
    ("src/**/*.py", "src/deep/a.py", True),
    ("src/**/*.py", "src/a.txt", False),
    ("config.json", "config.json", True),
    ("config.json", "src/config.json", False),
    ("config.json", "Config.json", False),
    ("{root}/src/**", "src/a.py", True),
]


@pytest.mark.parametrize("tool", ["Read", "Write", "Edit"])
@pytest.mark.parametrize(("pattern", "path", "allowed"), RULES)
async def test_allow_rules(
    workspace: Workspace, tool: str, pattern: str, path: str, *, allowed: bool
) -> None:
    """A pattern allows what lies where it says, by every reading of the path; one rule or many."""
    (workspace.root / "src").mkdir()
    (workspace.root / "src/link").symlink_to("..")
    content = pattern.format(root=workspace.root)
    more = {
        "Read": {},
        "Write": {"content": ""},
        "Edit": {"old_string": "a", "new_string": "b"},
    }[tool]
    context = workspace.context(DEFAULT, rule(tool, content))
    decision = await workspace.decide(tool, context, file_path=path, **more)
    assert (decision.behavior is ALLOW) is allowed
    matched = await workspace.tools[tool].match_rule(content, {"file_path": path})
    assert matched is allowed


@pytest.mark.parametrize(
    ("path", "denied"),
    [
        ("secrets/a", True),
        ("SECRETS/a", True),
        ("src/../secrets/a", True),
        ("link/a", True),
        ("secrets", True),
        ("secrets-2/a", False),
    ],
)
@pytest.mark.parametrize("behavior", [DENY, ASK])
async def test_rules_that_forbid(
    workspace: Workspace, path: str, behavior: PermissionBehavior, *, denied: bool
) -> None:
    """One reading is enough to deny or ask, in BYPASS too, and case does not matter."""
    (workspace.root / "secrets").mkdir()
    (workspace.root / "link").symlink_to("secrets")
    context = workspace.context(BYPASS, rule("Read", "secrets/**", behavior))
    decision = await workspace.decide("Read", context, file_path=path)
    assert decision.behavior is (behavior if denied else ALLOW)


@pytest.mark.parametrize(
    ("tool", "arguments", "matched"),
    [
        ("Grep", {"pattern": "x", "path": "src"}, True),
        ("Grep", {"pattern": "x", "path": "src/deep"}, True),
        ("Grep", {"pattern": "src/x"}, False),
        ("Glob", {"pattern": "*.py", "path": "src"}, True),
        ("Glob", {"pattern": "{root}/src/*.py"}, True),
        ("Glob", {"pattern": "{root}/*.py", "path": "src"}, False),
        ("Glob", {"pattern": "src/*.py"}, False),
    ],
)
async def test_searches_are_judged_by_where_they_look(
    workspace: Workspace, tool: str, arguments: dict[str, str], *, matched: bool
) -> None:
    """A rule for Grep or Glob is about the directory that is searched, not the pattern."""
    arguments = {key: value.format(root=workspace.root) for key, value in arguments.items()}
    context = workspace.context(DEFAULT, rule(tool, "src/**"))
    decision = await workspace.decide(tool, context, **arguments)
    assert (decision.behavior is ALLOW) is matched


@pytest.mark.parametrize(
    ("tool", "arguments", "suggested"),
    [
        ("Edit", {"file_path": "src/main.py"}, "src/**"),
        ("Write", {"file_path": "{root}/src/deep/a.py"}, "src/deep/**"),
        ("Read", {"file_path": "main.py"}, "main.py"),
        ("Grep", {"path": "src/deep"}, "src/deep/**"),
    ],
)
async def test_a_question_offers_the_directory(
    workspace: Workspace, tool: str, arguments: dict[str, str], suggested: str
) -> None:
    """Editing `src/main.py` suggests `src/**` (seed 002), and under that rule it is not asked."""
    (workspace.root / "src/deep").mkdir(parents=True)
    arguments = {key: value.format(root=workspace.root) for key, value in arguments.items()}
    context = workspace.context()
    decision = await workspace.decide(tool, context, **arguments)
    offered, *_ = decision.suggested_rules or []
    assert str(offered) == f"allow {tool}({suggested})"
    context.table(ALLOW).add(offered)
    assert (await workspace.decide(tool, context, **arguments)).behavior is ALLOW


@pytest.mark.parametrize("tool", ["Read", "Write", "Edit"])
async def test_a_tool_that_stands_elsewhere_offers_the_absolute_directory(
    workspace: Workspace, tool: str
) -> None:
    """Relative patterns start at the working directories; it offers what works with these."""
    root = workspace.root
    work = {f"{root}/project": "session"}
    for path, pattern in (
        (f"{root}/project/src/a.py", f"{root}/project/src/**"),
        ("project/src/a.py", f"{root}/project/src/**"),
        (f"{root}/lib/a.py", f"{root}/lib/**"),
        (f"{root}/a.py", f"{root}/a.py"),
    ):
        decision = await workspace.decide(tool, workspace.context(directories=work), file_path=path)
        offered, *_ = decision.suggested_rules or []
        assert offered.rule_content == pattern
        allowed = workspace.context(DEFAULT, offered, directories=work)
        assert (await workspace.decide(tool, allowed, file_path=path)).behavior is ALLOW


@pytest.mark.parametrize("content", ["../x/**", "!a", "{" + "{a,b}" * 20 + "}", ""])
async def test_a_pattern_that_cannot_be_read_is_refused(workspace: Workspace, content: str) -> None:
    """It is an error when it is loaded, and never silently matches nothing."""
    with pytest.raises(ConfigurationError):
        workspace.read_tool.validate_rule(content)
    with pytest.raises(RuleError):
        workspace.read_tool.compile_rules([content], DENY)
    workspace.read_tool.validate_rule("x/**")


async def test_a_grant_ends_where_a_symlink_was_swapped(workspace: Workspace) -> None:
    """A yes to one file is no yes to another one that has taken its name."""
    workspace.file("a.txt", "a")
    workspace.file("b.txt", "b")
    link = workspace.root / "link.txt"
    link.symlink_to("a.txt")
    toolkit = Toolkit([workspace.write_tool])
    call = call_of("Write", '{"file_path": "link.txt", "content": "new"}')
    await toolkit.decide(call, workspace.state)
    assert call.state is ToolCallState.ASKING
    link.unlink()
    link.symlink_to("b.txt")
    answer = ConfirmResult(confirmed=True, tool_call=call.model_copy())
    decided = await toolkit.confirm(call, answer, workspace.state)
    assert decided.grant is None
    assert call.state is ToolCallState.ASKING
    again = await toolkit.confirm(call, answer, workspace.state)
    assert again.grant is not None


async def test_a_model_reads_edits_and_searches(workspace: Workspace) -> None:
    """The guarded path, end to end: JSON arguments in, results and metadata out."""
    workspace.file("src/a.py", "old = 1\n")
    workspace.state.permission_context = workspace.context(EDITS)
    toolkit = Toolkit(list(workspace.tools.values()))
    steps = [
        ("Edit", {"file_path": "src/a.py", "old_string": "old", "new_string": "new"}, "error"),
        ("Read", {"file_path": "src/a.py"}, "success"),
        ("Edit", {"file_path": "src/a.py", "old_string": "old", "new_string": "new"}, "success"),
        ("Write", {"file_path": "src/b.py", "content": "new = 2\n"}, "success"),
        ("Grep", {"pattern": "^new", "output_mode": "content", "-A": 0}, "success"),
        ("Glob", {"pattern": "src/*.py", "glob": 1}, "error"),
    ]
    results = []
    for index, (name, arguments, state) in enumerate(steps):
        call = call_of(name, json.dumps(arguments), f"c{index}")
        response = await outcome(toolkit, call, workspace.state)
        assert response is not None
        assert response.state == state, name
        results.append(response)
    assert results[2].metadata["occurrences"] == 1
    assert response_text(results[4]) == "src/a.py:1:new = 1\nsrc/b.py:1:new = 2"


async def test_a_question_says_what_would_be_done(workspace: Workspace) -> None:
    """Creating and editing read differently; a symlink's target is named."""
    workspace.file("a.txt", "")
    (workspace.root / "link").symlink_to("a.txt")
    context = workspace.context()
    messages = [
        (await workspace.decide(tool, context, file_path=path)).message
        for tool, path in (("Write", "new.txt"), ("Write", "a.txt"), ("Edit", "link"))
    ]
    assert messages[0].startswith("Write would create `new.txt`.")
    assert messages[1].startswith("Write would overwrite `a.txt`.")
    assert messages[2].startswith(f"Edit would edit `link` (`{workspace.root.resolve()}/a.txt`).")
