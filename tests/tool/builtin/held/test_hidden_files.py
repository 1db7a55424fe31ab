"""What deny rules for reading speak of is hidden from held runs, and all of it or nothing runs."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from agentscope_like.permission import PermissionContext
from agentscope_like.sandbox.held import HeldRun, held_objection
from agentscope_like.sandbox.layer import Layer
from agentscope_like.tool.builtin.held import HiddenFiles, hidden_by_rules
from tests.sandbox.held.other_user import told_by_other_user
from tests.sandbox.held.world import World

_OBJECTION = held_objection(Path(tempfile.gettempdir(), "layers-tried"), [], home="/nowhere")
needs_holding = pytest.mark.skipif(
    _OBJECTION is not None, reason=f"nothing can be held here: {_OBJECTION}"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a project below a home."""
    made = tmp_path / "home" / "project"
    for name in (
        "notes.txt",
        "private/plan.txt",
        "private/deep/more.txt",
        "src/key.pem",
        "src/key.py",
        "node_modules/a/cert.pem",
        ".git/objects/ab/cert.pem",
        ".git/config",
    ):
        path = made / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    return made


def _hidden(project: Path, *rules: str) -> HiddenFiles:
    context = PermissionContext.from_rules(deny=rules)
    return hidden_by_rules(context, [str(project)], home=str(project.parent))


def _names(project: Path, *rules: str) -> set[str]:
    """Return what is found, relative to the project."""
    found = _hidden(project, *rules)
    assert not found.objection
    return {os.path.relpath(path, project) for path in found.paths}


def test_without_rules_nothing_is_hidden(project: Path) -> None:
    """Rules for other tools, and those that allow, hide nothing."""
    assert _hidden(project) == HiddenFiles()
    assert _hidden(project, "Write(src/**)", "Bash(cat:*)", "Glob", "Grep") == HiddenFiles()


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        ("Read(private/**)", {"private"}),
        ("Read(private/deep)", {"private/deep"}),
        ("Read(private/plan.txt)", {"private/plan.txt"}),
        ("Read(PRIVATE/plan.txt)", {"private/plan.txt"}),
        ("Read(**/*.pem)", {"src/key.pem"}),
        ("Read(node_modules/a/*.pem)", {"node_modules/a/cert.pem"}),
        ("Read(src/{key.pem,none.txt})", {"src/key.pem"}),
        ("Read(~/project/notes.txt)", {"notes.txt"}),
        ("Grep(src/key.py)", {"src/key.py"}),
        ("Read(none.txt)", set()),
    ],
)
def test_what_a_pattern_matches_is_hidden(project: Path, rule: str, names: set[str]) -> None:
    """It is matched as for the Read tool; caches are looked into only if they are named."""
    assert _names(project, rule) == names


def test_tracked_files_are_hidden_one_by_one(project: Path) -> None:
    """So git does not take an empty directory for the removal of its files."""
    _git(project, "init", "-q")
    _git(project, "add", "private/plan.txt")
    assert _names(project, "Read(private/**)") == {"private/plan.txt", "private/deep/more.txt"}
    assert _names(project, "Read(src/**)") == {"src"}
    (project / ".git" / "index").write_bytes(b"damaged")
    assert "not known what git tracks" in _hidden(project, "Read(private/**)").objection


def test_links_lead_to_what_is_hidden(project: Path, tmp_path: Path) -> None:
    """The file that a denied name leads to is hidden, wherever it is."""
    (tmp_path / "elsewhere").write_text("x\n")
    (project / "linked").symlink_to(tmp_path / "elsewhere")
    assert _hidden(project, "Read(linked)").paths == (str(tmp_path / "elsewhere"),)


def test_an_absolute_pattern_reaches_outside(project: Path, tmp_path: Path) -> None:
    """A file outside of the working directories is hidden as well if a rule names where it is."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.key").write_text("x\n")
    (tmp_path / "other" / "a.txt").write_text("x\n")
    found = _hidden(project, f"Read({tmp_path}/other/*.key)")
    assert found.paths == (str(tmp_path / "other" / "a.key"),)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Read", "any file"),
        ("Read(**)", "working directory"),
        ("Read(~/**)", "working directory"),
        ("Read(/**/*.pem)", "anywhere on this machine"),
    ],
)
def test_what_cannot_be_hidden_is_an_objection(project: Path, rule: str, said: str) -> None:
    """No wall is put up that does not hold."""
    found = _hidden(project, "Read(private/**)", rule)
    assert said in found.objection
    assert found.paths == ()


def test_too_many_are_an_objection(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """64 files are hidden, and 65 are not; the same holds for the entries looked at."""
    many = project / "many"
    many.mkdir()
    for number in range(64):
        (many / f"{number}.key").write_text("x\n")
    assert len(_hidden(project, "Read(many/*.key)").paths) == 64
    (many / "64.key").write_text("x\n")
    assert "more than 64" in _hidden(project, "Read(many/*.key)").objection
    monkeypatch.setattr("agentscope_like.tool.builtin.held.hidden_files.MOST_ENTRIES", 60)
    assert "more than 60 files" in _hidden(project, "Read(many/0.key)").objection
    assert _names(project, "Read(private/plan.txt)") == {"private/plan.txt"}


# Real runs

_PERSON = ("-c", "user.name=a", "-c", "user.email=a@b")
_LOOK = """
for name in ("private/plan.txt", "src/a.py"):
    try:
        print(name, open(name).read().strip())
    except OSError:
        print(name, "is hidden")
"""


def _looked(place: str | None = None) -> list[str]:
    """Let a held program look at a tracked file that a rule denies, and at its neighbour."""
    with World(place) as world:
        (world.project / "private").mkdir()
        (world.project / "private" / "plan.txt").write_text("a plan\n")
        _git(world.project, "init", "-q")
        _git(world.project, "add", "private", "src")
        _git(world.project, *_PERSON, "commit", "-qm", "a")
        context = PermissionContext.from_rules(deny=["Read(private/**)"])
        found = hidden_by_rules(context, [str(world.project)], home=str(world.home))
        layer = Layer.make(world.store, [str(world.project)])
        with HeldRun(
            layer,
            directory=str(world.project),
            environment=world.variables,
            temporary=str(world.temporary),
            home=str(world.home),
            hide=found.paths,
        ) as run:
            script = (
                f"python3 -c '{_LOOK}'; git show HEAD:private/plan.txt; "
                f"git {' '.join(_PERSON)} commit -qam other || echo not committed"
            )
            words = ["/bin/bash", "-c", script]
            done = subprocess.run(
                [*run.words, *words],
                pass_fds=run.descriptors,
                env={},
                cwd="/",
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
        (manifest,) = layer.manifests()
        changed = [each.path for each in manifest.changes if each.path.startswith("private")]
        layer.drop()
        return [*done.stdout.splitlines(), *changed]


_SEEN = ["private/plan.txt is hidden", "src/a.py a", "a plan", "not committed"]


def _git(project: Path, *words: str) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": "/nowhere"}
    subprocess.run(["git", "-C", str(project), *words], check=True, env=environment)


@needs_holding
def test_a_held_program_cannot_read_it() -> None:
    """A tracked file is hidden too; its neighbour and git's history are not; nothing changes."""
    assert _looked() == _SEEN


@needs_holding
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_program_of_another_user_cannot_read_it() -> None:
    """A user without rights has the same wall."""
    assert told_by_other_user(
        lambda place: "\n".join(_looked(place)).encode()
    ).decode() == "\n".join(_SEEN)
