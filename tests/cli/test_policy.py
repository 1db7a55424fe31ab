"""Rules that are remembered for a project."""

from __future__ import annotations

import json
import multiprocessing
import stat
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.cli.errors import CliError
from agentscope_like.cli.project.project_rules import ProjectRules
from agentscope_like.permission import PermissionBehavior, PermissionRule
from tests.cli.program import Program, turn


def rule(content: str, behavior: PermissionBehavior = PermissionBehavior.ALLOW) -> PermissionRule:
    """Return a rule for Bash."""
    return PermissionRule(tool_name="Bash", rule_content=content, behavior=behavior)


@pytest.fixture
def project(tmp_path: Path) -> ProjectRules:
    """Return the rules of an empty project, kept beside it."""
    (tmp_path / "my project!").mkdir()
    return ProjectRules(tmp_path / "my project!", data=tmp_path / "data")


def test_what_is_added_is_loaded_until_it_is_removed(project: ProjectRules) -> None:
    """Rules come back in order, with their source; each is kept once; one can be removed."""
    assert project.load() == []
    for content in ("npm run:*", "make", "npm run:*"):
        project.add(rule(content))
    project.add(rule("rm:*", PermissionBehavior.DENY))
    assert [str(r) for r in project.load()] == [
        "allow Bash(npm run:*)",
        "allow Bash(make)",
        "deny Bash(rm:*)",
    ]
    assert {r.source for r in project.load()} == {"project"}
    assert project.remove(2).rule_content == "make"
    assert len(project.load()) == 2
    with pytest.raises(CliError, match="no rule 3"):
        project.remove(3)


def test_the_file_is_private_readable_and_outside_of_the_project(project: ProjectRules) -> None:
    """The file is JSON for people, readable by its owner alone, never inside of the project."""
    project.add(rule("make"))
    assert stat.S_IMODE(project.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(project.path.parent.stat().st_mode) == 0o700
    assert not project.path.is_relative_to(project.directory)
    assert project.path.name.startswith("my-project-")
    assert '\n  "directory": ' in project.path.read_text(encoding="utf-8")


def test_two_projects_of_one_name_have_two_files(tmp_path: Path) -> None:
    """What is remembered for one directory says nothing about another of the same name."""
    one = ProjectRules(tmp_path / "a" / "app", data=tmp_path / "data")
    other = ProjectRules(tmp_path / "b" / "app", data=tmp_path / "data")
    one.add(rule("make"))
    assert other.load() == []
    other.path.write_bytes(one.path.read_bytes())
    other.path.chmod(0o600)
    with pytest.raises(CliError, match="another directory"):
        other.load()


def test_nothing_is_remembered_where_the_agent_may_edit(tmp_path: Path) -> None:
    """A project that holds the data directory itself cannot have rules remembered."""
    project = ProjectRules(tmp_path, data=tmp_path / "data")
    assert not project.is_out_of_reach
    with pytest.raises(CliError, match="narrower directory"):
        project.add(rule("make"))
    assert project.load() == []


def planted(project: ProjectRules) -> None:
    """Write a file that allows everything, as a repository would bring it."""
    text = {
        "version": 1,
        "directory": str(project.directory),
        "rules": [{"behavior": "allow", "tool_name": "Bash", "added_at": ""}],
    }
    project.path.parent.mkdir(parents=True)
    project.path.write_text(json.dumps(text), encoding="utf-8")
    project.path.chmod(0o600)


def test_a_project_grants_itself_nothing(tmp_path: Path) -> None:
    """What lies in the project, its repository, or behind a link into it, is not loaded."""
    place = tmp_path / "place"
    (place / "src").mkdir(parents=True)
    (place / ".git").mkdir()
    (tmp_path / "link").symlink_to(place / "linked")
    (place / "linked").mkdir()
    for directory, data in (
        (place, place / ".home"),
        (place / "src", place / ".home2"),
        (place, tmp_path / "link"),
    ):
        project = ProjectRules(directory, data=data)
        planted(project)
        with pytest.raises(CliError, match="cannot grant itself rights"):
            project.load()
    neighbour = ProjectRules(place, data=tmp_path / "data")
    planted(neighbour)
    assert [str(one) for one in neighbour.load()] == ["allow Bash"]


def test_a_session_that_a_project_brings_is_not_resumed(program: Program) -> None:
    """Where HOME lies in the project, its sessions and rules count for nothing."""
    model = program.script(turn(say="Done."), turn(say="Done."))
    inside = Program(program.project / ".home", program.project)
    inside.home.mkdir()
    (inside.home / "script.jsonl").write_bytes((program.home / "script.jsonl").read_bytes())
    for one, code in ((program, 0), (inside, 78)):
        assert one.run("run", "--model", model, "do it").returncode == 0
        session = one.call("sessions").stdout.split()[0]
        resumed = one.run("run", "--resume", session, "--model", model, "go on")
        assert resumed.returncode == code, resumed.stderr
        if code:
            assert "to grant itself rights" in resumed.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rulez": []}, "did you mean 'rules'?"),
        ({"version": 2}, "version"),
        ({"rules": [{"behavior": "alow", "tool_name": "Bash", "added_at": ""}]}, "behavior"),
        (
            {"rules": [{"behavior": "allow", "tool": "Bash", "added_at": ""}]},
            "did you mean 'tool_name'?",
        ),
        ({"rules": {}}, "rules"),
    ],
)
def test_a_file_that_is_not_understood_is_refused(
    project: ProjectRules, change: dict[str, Any], said: str
) -> None:
    """Unknown fields and values are an error that names the file, never ignored."""
    project.add(rule("make"))
    kept = json.loads(project.path.read_text(encoding="utf-8"))
    project.path.write_text(json.dumps(kept | change), encoding="utf-8")
    with pytest.raises(CliError, match="project rules") as caught:
        project.load()
    assert said in caught.value.message
    assert str(project.path) in caught.value.message


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"null"])
def test_a_damaged_file_is_refused(project: ProjectRules, content: bytes) -> None:
    """A file that is no JSON object is an error, and adding does not overwrite it."""
    project.add(rule("make"))
    project.path.write_bytes(content)
    with pytest.raises(CliError):
        project.load()
    with pytest.raises(CliError):
        project.add(rule("other"))
    assert project.path.read_bytes() == content


def test_a_file_that_others_can_change_is_refused(project: ProjectRules) -> None:
    """A file that other users may write to is not trusted; made private again, it is."""
    project.add(rule("make"))
    project.path.chmod(0o666)
    with pytest.raises(CliError, match="chmod 600"):
        project.load()
    project.path.chmod(0o600)
    assert len(project.load()) == 1


def test_a_place_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """Where the data directory cannot be made, that is said with its path."""
    (tmp_path / "data").write_text("in the way", encoding="utf-8")
    (tmp_path / "app").mkdir()
    project = ProjectRules(tmp_path / "app", data=tmp_path / "data")
    with pytest.raises(CliError, match="data/projects"):
        project.add(rule("make"))
    with pytest.raises(CliError, match="cannot be read"):
        project.load()


def test_rules_added_at_the_same_time_are_all_kept(project: ProjectRules) -> None:
    """Processes that remember rules at once lose none of them."""
    context = multiprocessing.get_context("spawn")
    arguments = [(project.directory, project.path.parents[1], n) for n in range(2)]
    workers = [context.Process(target=_add_some, args=a) for a in arguments]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert len(project.load()) == 20


def _add_some(directory: Path, data: Path, number: int) -> None:
    project = ProjectRules(directory, data=data)
    for index in range(10):
        project.add(rule(f"make {number}-{index}"))
