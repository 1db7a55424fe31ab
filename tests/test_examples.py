"""Every example runs, and does what it says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agentscope_like.sandbox.isolation.bubblewrap import bubblewrap_objection

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[1] / "examples"
ELSEWHERE = {"repair", "tracing.py"}
"""Examples that have tests of their own."""


def run(*arguments: str, said: str | None = None) -> str:
    """Run an example, warnings being errors, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / arguments[0], *arguments[1:]],
        capture_output=True,
        text=True,
        input=said,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_tool_of_one_s_own_has_rules_of_its_own() -> None:
    """A rule for one channel allows it, and not what its own check asks about."""
    shown = [line.split()[0] for line in run("own_tool.py").splitlines() if line[0] != " "]
    assert shown == ["allow", "allow", "ask", "ask", "deny"]


def test_other_programs_are_judged_for() -> None:
    """Each line is answered by one decision; a rule of the command line counts."""
    calls = [
        {"tool": "Bash", "arguments": {"command": "git status"}},
        {"tool": "Bash", "arguments": {"command": "npm run build"}},
        {"tool": "Bash", "arguments": {"command": "rm -rf /"}},
        {"tool": "Bash", "arguments": {}},
    ]
    lines = "".join(f"{json.dumps(call)}\n" for call in calls) + "no call\n"
    answers = [
        json.loads(line)["decision"]
        for line in run("judge.py", "allow Bash(npm run:*)", said=lines).splitlines()
    ]
    assert answers == ["allow", "allow", "ask", "deny", "deny"]


def test_the_tools_of_a_server_are_under_a_policy() -> None:
    """A real server's tools: one runs, one asks, one is denied."""
    shown = run("mcp_policy.py")
    assert [line.split()[0] for line in shown.splitlines()] == ["allow", "buy", "ask", "deny"]


def test_an_agent_s_configuration_names_its_servers() -> None:
    """The server of the configuration is started, its tools are offered, and one is used."""
    shown = run("typed/mcp_config.py").splitlines()
    assert [line for line in shown if line.startswith("offers")][1] == (
        "offers mcp__time__convert_time"
    )
    assert shown[-3:] == [
        "success 2026-03-29T11:30:00+09:00 (Sunday)",
        "I look at the clock.",
        "It is half past eleven in Tokyo.",
    ]


def test_a_confined_agent_reaches_nothing() -> None:
    """In the sandbox files are sorted; keys, accounts and the network are out of reach."""
    if reason := bubblewrap_objection():
        pytest.skip(f"needs bubblewrap: {reason}")
    shown = run("confined.py")
    assert "ada\neve\n" in shown
    assert "online" not in shown
    assert "root:" not in shown


def test_a_web_service_takes_approvals() -> None:
    """Over real HTTP: a task asks, is approved, and is done."""
    shown = run("web_service.py", "--try")
    assert "asks: ls > list.txt" in shown
    assert "made: True" in shown


@pytest.mark.timeout(180)  # it starts a whole run of tests, which starts programs
def test_an_agent_is_tested() -> None:
    """The tests of the example's agent pass, run as its users run theirs."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_your_agent"],
        capture_output=True,
        text=True,
        timeout=150,
        cwd=EXAMPLES,
        check=False,
    )
    assert "4 passed" in done.stdout, done.stdout + done.stderr


def test_typed_tools_of_one_s_own_and_ready_made_ones_work_together() -> None:
    """What runs is what was allowed; what was asked about and rejected was not done."""
    shown = run("typed/own_tools.py").splitlines()
    assert [line.split()[0] for line in shown[:5]] == ["allow", "allow", "allow", "ask", "allow"]
    assert shown[5:] == ["It is noted.", "banana: 2"]


def test_no_example_is_left_out() -> None:
    """Each example is run by a test."""
    here = Path(__file__).read_text(encoding="utf-8")
    found = {path.name for path in EXAMPLES.iterdir() if path.name not in ("__pycache__", "typed")}
    found |= {f"typed/{path.name}" for path in (EXAMPLES / "typed").glob("*.py")}
    run_here = set(re.findall(r'"(typed/\w+\.py|\w+(?:\.py)?)(?:/|")', here))
    assert found - ELSEWHERE - run_here == set()


def test_a_writer_and_a_reviewer_make_a_text() -> None:
    """The task is done, a change is taken back after a yes, and the chat has the text."""
    shown = run("writer/demo.py")
    assert "-The dragon slumbers most majestically" in shown
    assert "reviewer: One issue" in shown
    assert "checkpoint 4: main.md, done" in shown
    assert "calls, completed: no error" in shown
    assert shown.endswith("assistant: # The dragon\n\nThe dragon sleeps in a cave above the sea.\n")
