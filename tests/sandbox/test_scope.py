"""From what was decided about a command to the profile that it runs in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentscope_like.permission import PermissionContext, PermissionMode
from agentscope_like.permission.command import PreparedCommand
from agentscope_like.sandbox.isolation.profile import Profile, reading
from agentscope_like.sandbox.isolation.scope import Scope, ScopeKind, scope_of
from agentscope_like.sandbox.isolation.views import programs_with_views
from agentscope_like.shell import KnownPrograms
from agentscope_like.shell.catalog import names
from agentscope_like.tool import Bash
from tests.permission.kit import Surroundings, analyze

DEFAULT, EDITS = PermissionMode.DEFAULT, PermissionMode.ACCEPT_EDITS


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a project of git in a home, with some files."""
    project = tmp_path / "home" / "project"
    for directory in (".git/hooks", "src", "other"):
        (project / directory).mkdir(parents=True)
    for name in ("a", ".env", ".git/config", "src/a.py", "src/.envrc"):
        (project / name).touch()
    return project


def scope(work: Path, command: str, mode: PermissionMode | None = DEFAULT) -> Scope:
    """Return the scope of a command in the project."""
    home = str(work.parent)
    return scope_within(command, Surroundings(str(work), (str(work),), str(work), home), mode)


def scope_within(command: str, around: Surroundings, mode: PermissionMode | None) -> Scope:
    """Return the scope of a command."""
    analysis = analyze(command, directory=around.directory, home=around.home)
    context = PermissionContext(mode=mode or DEFAULT)
    call = PreparedCommand(
        Bash(),
        {"command": command},
        context,
        owner=Bash,
        directory=around.directory,
        analyses=lambda: (analysis, analysis),
        surroundings=lambda: around,
        surroundings_now=lambda: around,
        place_of=lambda _: "",
        programs=KnownPrograms("/usr/bin:/bin"),
    )
    return scope_of(call)


def profile(work: Path, command: str, mode: PermissionMode | None = DEFAULT) -> Profile:
    """Return the profile of a command that is confined."""
    found = scope(work, command, mode).profile
    assert found is not None
    return found


@pytest.mark.parametrize("mode", [None, *PermissionMode])
def test_a_read_reads_in_every_mode(work: Path, mode: PermissionMode | None) -> None:
    """A proven read may write nowhere and reach nobody, whoever allowed it."""
    found = scope(work, "grep -rn x src | sort", mode)
    assert found.kind is ScopeKind.READ
    assert found.profile is not None
    assert found.profile.write == ()
    assert found.profile == reading()


def test_an_edit_may_write_in_the_working_directories(work: Path) -> None:
    """An edit that the mode allows gets these, without what is sensitive in them."""
    for mode in (EDITS, PermissionMode.DONT_ASK):
        found = scope(work, "sed -i s/a/b/ src/a.py && touch new", mode)
        assert found.kind is ScopeKind.EDIT
        assert found.profile is not None
        assert found.profile.write == (str(work),)
        assert {os.path.relpath(path, work) for path in found.profile.keep} >= {
            ".env",
            "src/.envrc",
        }
        assert any(path.startswith(f"{work}/.git") for path in found.profile.keep)
        assert not found.profile.network


def test_what_somebody_allowed_gets_what_it_says(work: Path) -> None:
    """Outside of these modes, and of these directories, the directories that it names are open."""
    elsewhere = work.parent / "elsewhere"
    elsewhere.mkdir()
    found = scope(work, f"cp a {elsewhere}/b && rm src/a.py")
    assert found.kind is ScopeKind.STATED
    assert found.profile is not None
    assert found.profile.write == (str(elsewhere), str(work / "src"))
    assert found.profile.keep == (str(work / "src/.envrc"),)
    assert profile(work, "rm .env").write == (str(work),)
    assert str(work / ".env") not in profile(work, "rm .env").keep
    assert str(work / ".env") in profile(work, "rm a").keep
    assert profile(work, "mkdir -p x/y/z").write == (str(work),)
    assert profile(work, "touch other/*").write == (str(work / "other"),)


def test_what_moves_and_links_has_one_directory(work: Path) -> None:
    """Nothing is renamed between two mounts; but neither the home nor the root is opened for it."""
    moved = profile(work, "mv src/a.py other/")
    assert moved.write == (str(work),)
    assert set(moved.keep) >= {str(work / ".env"), str(work / "src/.envrc")}
    assert profile(work, "ln src/a.py other/b").write == (str(work),)
    assert profile(work, "cp a other").write == (str(work / "other"),)
    assert profile(work, "cp src/a.py other/b").write == (str(work / "other"),)
    (work.parent / "x").mkdir()
    assert profile(work, f"mv src/a.py {work.parent}/x/").write == (
        str(work / "src"),
        str(work.parent / "x"),
    )


@pytest.mark.parametrize(
    "command",
    [
        "npm test",
        "git commit -m x",
        "python3 -c 'print()'",
        "curl -o f https://example.org",
        "rm $name",
        "echo x > /dev/sda",
        "mkdir /nowhere-at-all",
        "sudo rm a",
        "if [",
    ],
)
def test_what_is_not_known_is_not_confined(work: Path, command: str) -> None:
    """Whoever allowed what nobody can tell allowed it as such; that is on record, with why."""
    found = scope(work, command, PermissionMode.BYPASS)
    assert found.kind is ScopeKind.HOST
    assert found.profile is None
    assert found.because


@pytest.mark.parametrize(
    ("command", "sees"),
    [
        ("ls", ""),
        ("ps aux | head", "processes"),
        ("timeout 1 ls", ""),
        ("timeout 3 ps", "processes signals"),
        ("ls /proc/1", "processes"),
        ("ls -l /dev", "devices"),
        ("ls 2>/dev/null", ""),
        ("gh pr list | grep x", "network"),
        ("docker ps", "network sockets"),
        ("ip addr", "network sockets"),
        ("df -h; ls", "network sockets processes devices"),
    ],
)
def test_views_follow_from_programs_and_paths(work: Path, command: str, sees: str) -> None:
    """What a program needs of the host is shown to it, and to it alone; it still writes nothing."""
    found = profile(work, command)
    shown = {
        name
        for name in ("network", "sockets", "processes", "signals", "devices")
        if getattr(found, name)
    }
    assert shown == set(sees.split())
    assert found.write == ()


@pytest.mark.parametrize("command", ["df -h", "df | sort | head -3", "timeout 5 lsof -p 1"])
def test_what_tells_of_the_host_itself_is_not_confined(work: Path, command: str) -> None:
    """Only where nothing but filters is beside it."""
    found = scope(work, command)
    assert found.kind is ScopeKind.HOST
    assert "mount" in found.because or "trace" in found.because


def test_programs_write_in_what_is_their_own(work: Path) -> None:
    """Where it is there; and a database beside itself."""
    assert profile(work, "npm view x version").write == ()
    (work.parent / ".npm").mkdir()
    assert profile(work, "npm view x version").write == (str(work.parent / ".npm"),)
    own = profile(work, "npm view x version && touch a", EDITS)
    assert own.write == (str(work.parent / ".npm"), str(work))
    assert own.network
    assert scope(work, "df > sizes", EDITS).kind is ScopeKind.HOST
    assert scope(work, "df; touch a", EDITS).kind is ScopeKind.EDIT
    assert profile(work, "sqlite3 src/app.db 'select 1'").write == (str(work / "src"),)


def test_files_in_memory_are_files() -> None:
    """A project in /dev/shm is there for its commands; for others that is where they forget."""
    home = "/root"
    for command, mode, kind in (("ls", DEFAULT, "read"), ("touch a", EDITS, "edit")):
        found = scope_within(command, Surroundings("/dev/shm", (), "/dev/shm", home), mode)
        assert found.kind == kind
        assert found.profile is not None
        assert found.profile.devices
        assert found.profile.hide == ()
    found = scope_within("ls /dev", Surroundings("/", (), "/", home), DEFAULT)
    assert found.profile is not None
    assert found.profile.hide == ("/dev/shm",)


def test_the_root_is_never_open(work: Path) -> None:
    """Where the root is a working directory, an edit is not confined rather than to nothing."""
    found = scope_within("touch a", Surroundings(str(work), ("/",), "/"), EDITS)
    assert found.kind is ScopeKind.HOST
    assert found.profile is None


def test_every_program_with_a_view_is_known() -> None:
    """Nothing is listed that could never be proven to read."""
    assert programs_with_views() <= names() | {"[", ":"}
