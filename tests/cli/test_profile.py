"""`agentscope-like run --profile`, and the profile that a project brings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.program import Program, call, turn


def _write(path: Path, **tools: Any) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"id": path.stem, "tools": tools}))
    return str(path)


def _project(program: Program, **tools: Any) -> None:
    _write(program.project / ".agentscope-like" / "profile.json", **tools)


MADE = (
    turn(call("c1", "Bash", command="touch made.txt")),
    turn(call("c2", "Write", file_path="page.md", content="text")),
    turn(say="Done."),
)


def _run(program: Program, *options: str) -> str:
    result = program.call("run", "--mode", "bypass", *options, "go")
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_profile_hides_tools(program: Program) -> None:
    """A call of a hidden tool does not run, in the mode that asks nothing; others do."""
    profile = _write(program.home / "writer.json", allow=["Write", "Bash"], deny=["Bash"])
    printed = _run(program, "--model", program.script(*MADE), "--profile", profile)
    assert "agent.tool_policy_denied" in printed
    assert not (program.project / "made.txt").exists()
    assert (program.project / "page.md").exists()


def test_a_profile_is_no_permission(program: Program) -> None:
    """What it allows the model to see is asked about as ever."""
    profile = _write(program.home / "writer.json", allow=["Bash", "Write"])
    model = program.script(*MADE)
    result = program.call("run", "--model", model, "--profile", profile, "go")
    assert "nobody is at the terminal" in result.stdout
    assert not (program.project / "made.txt").exists()


def test_a_profile_limits_calls_also_after_a_resumption(program: Program) -> None:
    """What the session has spent counts on; the resumed session has the profile it began with."""
    profile = _write(program.home / "writer.json", allow=["Bash", "Write"], maxCallsPerRun=1)
    again = turn(call("c3", "Bash", command="touch made.txt"))
    model = program.script(*MADE, again, turn(say="Done again."))
    printed = _run(program, "--model", model, "--profile", profile)
    assert (program.project / "made.txt").exists()
    assert "That was the last call of tools" in printed
    assert "agent.tool_budget_exhausted" in printed
    (program.project / "made.txt").unlink()
    sessions = program.call("sessions").stdout.split()
    resumed = program.call("run", "--resume", sessions[0], "again")
    assert resumed.returncode == 0, resumed.stderr
    assert "agent.tool_budget_exhausted" in resumed.stdout
    assert not (program.project / "made.txt").exists()


def test_a_projects_profile_tightens(program: Program) -> None:
    """It hides tools without any option, and adds none to those of the person's profile."""
    _project(program, deny=["Bash"])
    printed = _run(program, "--model", program.script(*MADE))
    assert "agent.tool_policy_denied" in printed
    assert not (program.project / "made.txt").exists()
    assert (program.project / "page.md").exists()
    (program.project / "page.md").unlink()
    _project(program, allow=["Bash", "Write"], maxCallsPerRun=99)
    profile = _write(program.home / "writer.json", allow=["Write"], maxCallsPerRun=0)
    printed = _run(program, "--model", program.script(*MADE), "--profile", profile)
    assert "agent.tool_budget_exhausted" in printed
    assert not (program.project / "made.txt").exists()
    assert not (program.project / "page.md").exists()


def test_a_profile_with_a_mistake_is_named(program: Program) -> None:
    """The program does not start; the message has the file, the field and the nearest name."""
    for tools, told in (({"alow": []}, "did you mean 'allow'"), ({"allow": ["Bsh"]}, "'Bash'")):
        profile = _write(program.home / "writer.json", **tools)
        model = program.script(*MADE)
        result = program.call("run", "--model", model, "--profile", profile, "go")
        assert result.returncode == 78
        assert told in result.stderr
    missing = program.call("run", "--model", program.script(*MADE), "--profile", "no.json", "go")
    assert "no.json cannot be read" in missing.stderr


def test_changing_the_projects_profile_asks(program: Program) -> None:
    """Edits are accepted, but not one that would loosen the next session."""
    content = json.dumps({"file_path": ".agentscope-like/profile.json", "content": "{}"})
    checked = program.call("check", "--mode", "accept_edits", "--tool", "Write", content)
    assert checked.returncode == 2
    other = json.dumps({"file_path": "profile.json", "content": "{}"})
    checked = program.call("check", "--mode", "accept_edits", "--tool", "Write", other)
    assert checked.returncode == 0
