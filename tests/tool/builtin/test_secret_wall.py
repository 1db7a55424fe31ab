"""`Bash` keeps credentials from confined reads that do not name them, and says which."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.message import TextBlock
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.sandbox.secret_wall import Listings, search
from agentscope_like.tool import Bash
from tests.sandbox.kit import require_bubblewrap

NOTICE = "# Kept secret from this command."
KEPT = "was kept secret from this command; name it in a command of its own to ask for it."
ALLOW, ASK = PermissionBehavior.ALLOW, PermissionBehavior.ASK


@dataclass(frozen=True)
class World:
    """A home and a project with credentials, and the tool that works in them.

    Attributes:
        home: The home directory.
        project: The project.
        bash: The tool.
    """

    home: Path
    project: Path
    bash: Bash

    def write(self, path: str, text: str) -> Path:
        """Write a file; `~/` stands for the home, all else is in the project."""
        place = self.home / path[2:] if path.startswith("~/") else self.project / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{text}\n")
        return place

    def git(self, *arguments: str) -> None:
        """Run git in the project."""
        who = ["-c", "user.name=A", "-c", "user.email=a@example.invalid"]
        command = ["git", "-C", str(self.project), *who, *arguments]
        subprocess.run(command, check=True, capture_output=True)

    async def decide(self, command: str) -> PermissionBehavior:
        """Decide about a command in the default mode."""
        engine = PermissionEngine(PermissionContext())
        return (await engine.check_permission(self.bash, {"command": command})).behavior

    async def run(
        self, command: str, mode: PermissionMode = PermissionMode.DEFAULT
    ) -> tuple[str, dict[str, Any]]:
        """Run a command that was let through; return what it says, and the metadata."""
        call = self.bash.call(command, _permission_context=PermissionContext(mode=mode))
        chunks = [chunk async for chunk in call]
        blocks = (block for chunk in chunks for block in chunk.content)
        said = "".join(block.text for block in blocks if isinstance(block, TextBlock))
        return said, chunks[-1].metadata

    async def shown(self, command: str) -> str:
        """Run a command that nobody is asked about, as a proven read; return what it says."""
        assert await self.decide(command) is ALLOW, command
        said, metadata = await self.run(command)
        assert metadata["confinement"] == "read", command
        return said


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Return a world in which the content of each credential begins with TOP."""
    require_bubblewrap()
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    monkeypatch.setenv("HOME", str(home))
    world = World(home, project, Bash(cwd=project))
    world.write(".env", "TOP-env")
    world.write("src/keys/deploy.pem", "TOP-pem")
    world.write("src/app.py", "print('plain')")
    world.write("~/.ssh/id_rsa", "TOP-ssh")
    world.write("~/.ssh/known_hosts", "plain host")
    world.write("~/.config/gh/hosts.yml", "TOP-gh")
    return world


@pytest.mark.parametrize(
    "command",
    [
        "grep -rh . .",
        "cat $(ls -Ap | grep -v /) src/app.py",
        "find . -type f | xargs cat",
        "ls -A | head -1 | xargs cat src/app.py",
        "for name in $(ls -A); do cat $name; done; cat src/app.py",
    ],
)
async def test_what_is_not_named_is_kept_secret(world: World, command: str) -> None:
    """A search shows the notice in the place of what is secret, and all else as it is."""
    said, metadata = await world.run(command)
    assert metadata["confinement"] == "read"
    assert "TOP" not in said
    assert NOTICE in said
    assert "plain" in said


async def test_the_result_names_what_was_kept_secret(world: World) -> None:
    """What a command opened is named, to the model and in the metadata; the rest is counted."""
    said, metadata = await world.run("cat src/app.py; ls -A | head -1 | xargs grep -c .")
    assert f"[`.env` {KEPT}]" in said
    secrets = metadata["covered_secrets"]
    assert secrets["opened"] == [str(world.project / ".env")]
    assert secrets["covered"] >= 4
    assert not secrets["left_out"]
    said, metadata = await world.run("ls -A; cat src/app.py")
    assert "kept secret" not in said
    assert not metadata["covered_secrets"]["opened"]
    said, _ = await world.run("grep -rl . .")
    assert "[`.env`, `src/keys/deploy.pem` were kept secret from this command; name one" in said


async def test_a_search_of_the_whole_host_is_not_taken_for_the_command(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who looks through the notices themselves is another process: a command cannot see them."""
    made = _made_directories(monkeypatch)
    await world.run("cat src/app.py")
    (notices,) = made
    is_over = threading.Event()

    def search() -> None:
        while not is_over.wait(0.01):
            for each in Path(notices).iterdir():
                os.close(os.open(each, os.O_RDONLY))

    with ThreadPoolExecutor() as pool:
        searching = pool.submit(search)
        try:
            said, metadata = await world.run("cat src/app.py; sleep 0.3")
        finally:
            is_over.set()
        searching.result()
    assert said == "print('plain')\n"
    assert metadata["covered_secrets"]["covered"] >= 4
    assert not metadata["covered_secrets"]["opened"]


async def test_without_inotify_nothing_is_named_but_all_is_kept(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where openings cannot be seen, the notice alone tells."""
    monkeypatch.setattr("agentscope_like.sandbox.secret_wall.open_watch.new_instance", lambda: None)
    said, metadata = await world.run("grep -rh . .")
    assert "TOP" not in said
    assert NOTICE in said
    assert "[`" not in said
    assert not metadata["covered_secrets"]["opened"]


async def test_places_of_credentials_in_the_home(world: World) -> None:
    """Directories of credentials are empty, and `.ssh` has all that is no key."""
    said = await world.shown("ls -A ~/.config/gh; ls -A ~/.ssh; cat ~/.ssh/known_hosts")
    assert "hosts.yml" not in said
    assert said.startswith("id_rsa\nknown_hosts\nplain host\n")
    said, metadata = await world.run("find ~ -type f | xargs cat")
    assert "TOP" not in said
    assert "plain host" in said
    assert str(world.home / ".ssh/id_rsa") in metadata["covered_secrets"]["opened"]


async def test_directories_of_credentials_that_are_elsewhere(world: World) -> None:
    """Where the home has only a symlink to them, they are covered where they are."""
    (world.home / ".ssh").rename(world.project / "keys")
    (world.home / ".ssh").symlink_to(world.project / "keys")
    (world.home / ".config/gh").rename(world.project / "forge")
    (world.home / ".config/gh").symlink_to(world.project / "forge")
    world.write("keys/work", "TOP-work")
    said = await world.shown("grep -rh . keys forge")
    assert "TOP" not in said
    assert "plain host" in said


async def test_tracked_files_are_left_alone(world: World) -> None:
    """Of files that git tracks, nothing is covered, so that git finds no changes."""
    world.git("init", "-q")
    world.write("conf/.env.local", "tracked content")
    world.git("add", "-f", "conf/.env.local", "src/app.py")
    world.git("commit", "-q", "-m", "Start")
    said = await world.shown("git diff; git status --short -uno")
    assert said.startswith("The command ended without any output.")
    said = await world.shown("grep -rh . conf .")
    assert "tracked content" in said
    assert "TOP" not in said


@pytest.mark.parametrize("kind", ["unknown version", "split", "no file"])
async def test_an_index_that_cannot_be_read_is_told(world: World, kind: str) -> None:
    """What git may track is not covered where its index is not understood, and that is said."""
    world.git("init", "-q")
    world.git("add", "src/app.py")
    index = world.project / ".git/index"
    if kind == "split":
        world.git("update-index", "--split-index")
    elif kind == "no file":
        index.unlink()
        os.mkfifo(index)
    else:
        index.write_bytes(b"DIRC\0\0\0\x09" + index.read_bytes()[8:])
    said, metadata = await world.run("grep -rh . src; grep -h . ~/.ssh/*")
    assert "TOP-pem" in said
    (left_out,) = metadata["covered_secrets"]["left_out"]
    assert left_out.startswith(f"the git index of {world.project} cannot be read")
    said, metadata = await world.run("find ~ -type f | xargs cat")
    assert "TOP" not in said  # elsewhere, all is covered


async def test_linked_work_trees(world: World) -> None:
    """A work tree whose `.git` is a file has an index of its own."""
    world.git("init", "-q")
    world.write("key.pem", "tracked content")
    world.git("add", "key.pem")
    world.git("commit", "-q", "-m", "Start")
    world.git("worktree", "add", "-q", "tree")
    world.write("tree/other.pem", "TOP")
    said, metadata = await world.run("grep -rh . tree")
    assert "tracked content" in said
    assert "TOP" not in said
    assert not metadata["covered_secrets"]["left_out"]


@pytest.mark.parametrize(
    "command",
    [
        "cat link-to-file",
        "cat link-to-directory/deploy.pem",
        "cat /proc/self/root{project}/.env",
        "cat /proc/self/cwd/.env",
        "cat /proc/$PPID/cwd/.env; cat /proc/1/root{project}/.env",
        "cat hard.txt",
        "(cd src/keys && cat deploy.pem)",
        "exec 3< src/keys && cat /proc/self/fd/3/deploy.pem",
        "umount {project}/.env; cat .env",
        "bwrap --dev-bind / / cat .env",
        "unshare -m sh -c 'umount {project}/.env; cat .env'",
        'python3 -c \'import os; print(open(os.open(".env", 0, dir_fd=os.open(".", 0))).read())\'',
    ],
)
async def test_ways_around(world: World, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the proof wrong, no other way to a file would show what is in it."""
    (world.project / "link-to-file").symlink_to(".env")
    (world.project / "link-to-directory").symlink_to("src/keys")
    (world.project / "hard.txt").hardlink_to(world.project / ".env")
    _take_for_reads(monkeypatch)
    said, metadata = await world.run(command.replace("{project}", str(world.project)))
    assert metadata["confinement"] == "read"
    assert "TOP" not in said
    assert (await world.run("cat src/app.py"))[0] == "print('plain')\n"


def _take_for_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every command run as a proven read about which nobody was asked."""
    from agentscope_like.sandbox.isolation import Scope, ScopeKind, reading

    monkeypatch.setattr(
        "agentscope_like.sandbox.isolation.scope_of", lambda *_: Scope(ScopeKind.READ, reading())
    )
    monkeypatch.setattr(
        "agentscope_like.sandbox.secret_wall.wall._asked_for", lambda *_: frozenset()
    )


async def test_what_a_person_agreed_to_is_shown(world: World) -> None:
    """A credential that is named is asked about, and shown once that was answered; no other is."""
    assert await world.decide("cat .env") is ASK
    said, metadata = await world.run("cat .env")
    assert said == "TOP-env\n"
    assert metadata["confinement"] == "read"
    said, _ = await world.run("cat .env; grep -rh . src")
    assert "TOP-env" in said
    assert "TOP-pem" not in said
    assert (await world.run("cat ~/.config/gh/hosts.yml"))[0] == "TOP-gh\n"
    assert "TOP-ssh" in (await world.run("grep -rh . ~/.ssh"))[0]


async def test_to_look_at_a_name_is_not_to_name_it(world: World) -> None:
    """A name that nobody is asked about opens nothing for the rest of the command."""
    said = await world.shown("[ -f .env ] && grep -rh . .")
    assert "TOP" not in said
    assert NOTICE in said
    size = (world.project / ".env").stat().st_size
    assert await world.shown("stat -c %s .env") == f"{size}\n"


@pytest.mark.parametrize(
    ("command", "mode"),
    [
        ("sed -i s/TOP/LOW/ src/keys/deploy.pem", PermissionMode.BYPASS),
        ("sed -i s/plain/x/ src/app.py; grep -rh . .", PermissionMode.BYPASS),
        ("cp -r src copy; cat copy/keys/deploy.pem", PermissionMode.ACCEPT_EDITS),
        ("rm -rf src", PermissionMode.ACCEPT_EDITS),
        ("mv src/keys src/other", PermissionMode.ACCEPT_EDITS),
        ("git init -q; git add -A; git show :src/keys/deploy.pem", PermissionMode.BYPASS),
    ],
)
async def test_what_writes_sees_the_files_themselves(
    world: World, command: str, mode: PermissionMode
) -> None:
    """Edits and unknown programs work on what is there."""
    said, metadata = await world.run(command, mode)
    assert metadata["exit_code"] == 0, said
    assert metadata["confinement"] != "read"
    assert "covered_secrets" not in metadata
    assert NOTICE not in said
    for path in world.project.rglob("*"):
        assert not path.is_file() or NOTICE.encode() not in path.read_bytes(), path


async def test_programs_that_log_in_have_their_credentials(world: World) -> None:
    """What sees the network sees all files; what does not is kept from them."""
    world.write(".npmrc", "TOP-npm=1")
    said, metadata = await world.run("npm --version; cat < .npmrc")
    assert metadata["confinement"] == "read"
    assert "covered_secrets" not in metadata
    assert "TOP-npm" in said
    assert "TOP-npm" not in (await world.run("ls; grep -rh . ."))[0]


async def test_what_was_found_is_kept_until_something_was_written(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search is made once for many reads, and anew after a write."""
    searches: list[object] = []
    find = search.find_credentials

    def counted(home: str, directories: Any, listings: Any) -> search.Found:
        searches.append(directories)
        return find(home, directories, listings)

    monkeypatch.setattr("agentscope_like.sandbox.secret_wall.wall.find_credentials", counted)
    for _ in range(3):
        await world.run("ls; cat src/app.py")
    assert len(searches) == 1
    await world.run("mkdir fresh; echo TOP-new > fresh/new.pem", PermissionMode.ACCEPT_EDITS)
    said, _ = await world.run("grep -rh . fresh")
    assert len(searches) == 2
    assert "TOP" not in said
    assert NOTICE in said


async def test_covers_look_like_what_they_cover(world: World) -> None:
    """A notice has the mode and time of its credential, also when these have changed."""
    told = "find . -path './src/k*' -type f -printf '%m %Ts '; wc -c < src/app.py"
    key = world.project / "src/keys/deploy.pem"
    for mode, seconds in ((0o640, 1_000_000_000), (0o600, 1_100_000_000)):
        key.chmod(mode)
        os.utime(key, (seconds, seconds))
        await world.run("mkdir -p made", PermissionMode.ACCEPT_EDITS)
        said, metadata = await world.run(told)
        assert metadata["covered_secrets"]["covered"] >= 4
        assert said.startswith(f"{mode:o} {seconds} ")


async def test_what_is_gone_is_passed_over(world: World) -> None:
    """A credential that somebody else removes meanwhile does not keep commands from running."""
    await world.run("ls")
    (world.project / ".env").unlink()
    said, metadata = await world.run("ls -A; cat src/app.py")
    assert metadata["exit_code"] == 0, said
    assert ".env" not in said


async def test_no_more_than_some_are_covered(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest are, and the metadata tells that there are more."""
    monkeypatch.setattr(search, "MOST_COVERED", 20)
    for number in range(40):
        world.write(f"deep/er/{number}.pem", "TOP-deep")
    said, metadata = await world.run("cat $(ls -Ap | grep -v /); grep -rh . deep")
    assert "TOP-env" not in said
    assert NOTICE in said
    assert metadata["covered_secrets"]["covered"] == 20
    assert metadata["covered_secrets"]["left_out"] == [
        "only the nearest 20 credentials are covered"
    ]


async def test_no_more_than_some_is_looked_at(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large tree is not searched to its end, and the metadata tells so."""
    monkeypatch.setattr(search, "MOST_ENTRIES", 50)
    for number in range(60):
        world.write(f"deep/er/{number}.pem", "TOP-deep")
    said, metadata = await world.run("cat $(ls -Ap | grep -v /)")
    assert "TOP" not in said
    assert metadata["covered_secrets"]["left_out"] == [
        "only 50 entries of directories are looked at"
    ]


async def test_a_slow_search_is_cut_short(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands do not wait long for it; what is at its usual place is covered all the same."""
    monkeypatch.setattr(search, "MOST_SECONDS", 0)
    assert "TOP" not in await world.shown("grep -rh . .")  # the nearest are looked at all the same
    world.bash._confiner._wall = None
    monkeypatch.setattr(search, "LEAST_ENTRIES", 0)
    said, metadata = await world.run("cat src/app.py; ls ~/.config/gh")
    assert said.startswith("print('plain')\n[`~/.config/gh` was kept secret")
    assert metadata["covered_secrets"]["left_out"] == [
        "only what can be looked at in 0 s is looked at"
    ]


async def test_where_notices_cannot_be_made_that_is_told(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command runs, since it was decided without the wall, and says that there is none."""

    def refuse(**_: object) -> str:
        raise OSError("no space left")

    monkeypatch.setattr("agentscope_like.sandbox.secret_wall.notices.tempfile.mkdtemp", refuse)
    said, metadata = await world.run("cat src/app.py")
    assert said == "print('plain')\n"
    assert metadata["covered_secrets"]["left_out"] == ["no credential is covered: no space left"]


async def test_a_shell_in_a_directory_of_credentials(world: World) -> None:
    """Where a command runs is there for it, even if a person let it go where secrets are."""
    await world.run("cd ~/.config/gh")
    said, metadata = await world.run("pwd")
    assert said == f"{world.home}/.config/gh\n"
    assert metadata["exit_code"] == 0


@pytest.fixture(params=["memory", "disk"])
def temporary(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Path:
    """Return the only place where temporary files are made: in memory, or where there is none."""
    place = tmp_path_factory.mktemp("temporary")
    if request.param == "memory":
        monkeypatch.setattr("agentscope_like.sandbox.secret_wall.notices.FORGOTTEN", str(place))
    else:
        monkeypatch.setattr("agentscope_like.sandbox.secret_wall.notices.FORGOTTEN", "/nowhere")
        monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


async def test_nothing_is_left_behind(world: World, temporary: Path) -> None:
    """Notices and their one watch go with the tool; a command that is cancelled adds no other."""
    before = _watches()
    await world.run("grep -rh . .")
    task = asyncio.create_task(world.run("ls; sleep 60"))
    await asyncio.sleep(0.3)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert _watches() == before + 1
    (name,) = os.listdir(temporary)
    assert os.stat(temporary / name).st_mode & 0o777 == 0o700
    await world.run("mkdir made", PermissionMode.ACCEPT_EDITS)
    await world.run("ls")
    assert os.listdir(temporary) == [name]
    assert _watches() == before + 1
    await world.run("echo TOP > made/new.pem", PermissionMode.ACCEPT_EDITS)
    await world.run("ls")
    assert os.listdir(temporary) not in ([], [name])
    assert len(os.listdir(temporary)) == 1
    world.bash._confiner._wall = None
    assert not os.listdir(temporary)
    assert _watches() == before


@pytest.mark.parametrize("in_memory", [True, False])
async def test_commands_do_not_come_upon_the_notices(
    world: World, monkeypatch: pytest.MonkeyPatch, in_memory: bool
) -> None:
    """In the directory of the notices nothing is found, so that nothing is named by mistake."""
    if not in_memory:
        monkeypatch.setattr("agentscope_like.sandbox.secret_wall.notices.FORGOTTEN", "/nowhere")
    made = _made_directories(monkeypatch)
    await world.run("ls")
    (place,) = made
    assert len(os.listdir(place)) >= 4
    said, metadata = await world.run(f"find {place} -type f | xargs cat; grep -rh . src")
    assert said.count(NOTICE) == 1
    opened = [str(world.project / "src/keys/deploy.pem")]
    assert metadata["covered_secrets"]["opened"] == opened


def _made_directories(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each temporary directory is added that is made from now on."""
    made: list[str] = []
    make = tempfile.mkdtemp

    def remembered(**how: Any) -> str:
        made.append(str(make(**how)))
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", remembered)
    return made


def _watches() -> int:
    """Return how many watches of files this process has open."""
    gc.collect()
    found = 0
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found += "inotify" in os.readlink(f"/proc/self/fd/{number}")
    return found


async def test_rules_do_not_take_the_wall_away(world: World) -> None:
    """An allow rule for a read does not show what nobody was asked about."""
    context = PermissionContext()
    rule = PermissionRule(tool_name="Bash", rule_content="grep:*", behavior=ALLOW, source="test")
    context.table(ALLOW).add(rule)
    chunks = [chunk async for chunk in world.bash.call("grep -rh . .", _permission_context=context)]
    assert NOTICE in "".join(b.text for c in chunks for b in c.content if isinstance(b, TextBlock))


class Searches:
    """Searches below one directory, one after the other."""

    def __init__(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._project = project
        self._listings = Listings()
        self._scandir = os.scandir
        self._listed: list[str] = []
        monkeypatch.setattr(os, "scandir", self._noted)

    def _noted(self, path: str) -> Any:
        self._listed.append(path)
        return self._scandir(path)

    def search(self) -> tuple[list[str], list[str]]:
        """Return the credentials that are found, and the directories that were read for it."""
        self._listed.clear()
        found = search.find_credentials("", [str(self._project)], self._listings).credentials
        return self._below(each.path for each in found), self._below(self._listed)

    def _below(self, paths: Iterable[str]) -> list[str]:
        own = [Path(path) for path in paths if Path(path).is_relative_to(self._project)]
        return sorted(str(path.relative_to(self._project)) for path in own)


def test_a_directory_that_did_not_change_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What changed since is found all the same, also where the times of files are set back."""
    monkeypatch.setattr("agentscope_like.sandbox.secret_wall.listings._SETTLED_NS", -(10**12))
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "a" / ".env").write_text("TOP")
    searches = Searches(tmp_path, monkeypatch)
    assert searches.search() == (["a/.env"], [".", "a", "b"])
    assert searches.search() == (["a/.env"], [])
    time.sleep(0.02)
    before = (tmp_path / "b").stat()
    (tmp_path / "b" / "key.pem").write_text("TOP")
    os.utime(tmp_path / "b", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert searches.search() == (["a/.env", "b/key.pem"], ["b"])
    (tmp_path / "a" / ".env").unlink()
    assert searches.search() == (["b/key.pem"], ["a"])


def test_a_directory_that_changed_just_now_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second change within one tick of the clock would not show in its times."""
    searches = Searches(tmp_path, monkeypatch)
    assert searches.search() == ([], ["."])
    assert searches.search() == ([], ["."])
