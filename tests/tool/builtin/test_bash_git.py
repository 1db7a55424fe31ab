"""Proven git reads run nothing that a repository names."""

# ruff: noqa: ASYNC240 - setting a scene and looking at it afterwards may block

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agentscope_like.exception import ToolArgumentError
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionEngine,
    PermissionMode,
)
from agentscope_like.sandbox.isolation.profile import Confine
from agentscope_like.tool.builtin.bash.bash_tool import Bash
from agentscope_like.tool.builtin.bash.environment.git_programs import GitPlace, git_environment
from tests.sandbox.kit import require_bubblewrap

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def git(directory: Path, *arguments: str) -> str:
    """Run git for the setting of the scene, and return what it prints."""
    command = ["git", *arguments]
    run = subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True)
    return run.stdout.strip()


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """Return the file that the stranger's program writes to."""
    return tmp_path / "marks"


@pytest.fixture
def hostile(tmp_path: Path, marks: Path) -> Path:
    """Return a repository whose configuration names a stranger's program wherever it can."""
    program = tmp_path / "program.sh"
    program.write_text(f'#!/bin/sh\necho "$*" >> {marks}\ncat\n')
    program.chmod(0o755)
    repository = tmp_path / "repository"
    repository.mkdir()
    git(repository, "init", "-q")
    git(repository, "config", "user.email", "a@example.org")
    git(repository, "config", "user.name", "A")
    (repository / ".gitattributes").write_text("*.txt filter=odd diff=odd\n*.md diff=other\n")
    (repository / "a.txt").write_text("one\n")
    (repository / "b.md").write_text("one\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "first")
    for key in (
        *("core.fsmonitor", "core.pager", "core.sshCommand", "core.alternateRefsCommand"),
        *("filter.odd.clean", "filter.odd.smudge", "diff.odd.textconv", "gpg.program"),
        *("interactive.diffFilter", "pager.log", "pager.diff", "diff.other.command"),
    ):
        git(repository, "config", key, f"{program} {key}")
    git(repository, "config", "filter.odd.required", "true")
    git(repository, "config", "log.showSignature", "true")
    git(repository, "config", "diff.odd.cachetextconv", "true")
    git(repository, "config", "core.hooksPath", str(tmp_path))
    (repository / "a.txt").write_text("one\ntwo\n")
    (repository / "b.md").write_text("one\ntwo\n")
    past = time.time() - 100
    os.utime(repository / "a.txt", (past, past))
    return repository


async def output(bash: Bash, command: str) -> str:
    """Return all that the command says."""
    return "".join([chunk.content[0].text async for chunk in bash.call(command)])  # type: ignore[union-attr]


@pytest.mark.parametrize("confine", ["auto", "off"])
@pytest.mark.parametrize("mode", [PermissionMode.ACCEPT_EDITS, PermissionMode.DONT_ASK])
@pytest.mark.parametrize(
    "command", ["git status && touch new", "git diff >> new", "git log -p > new; rm a.txt"]
)
async def test_accepted_edits_run_nothing_of_the_repository(
    hostile: Path, marks: Path, command: str, mode: PermissionMode, confine: Confine
) -> None:
    """What git reads beside an edit, or for one, it reads as it does by itself."""
    policy = PermissionContext(mode=mode)
    bash = Bash(cwd=hostile, confine=confine)
    decision = await PermissionEngine(policy).check_permission(bash, {"command": command})
    assert decision.behavior is PermissionBehavior.ALLOW
    chunks = [chunk async for chunk in bash.call(command, _permission_context=policy)]
    assert not marks.exists()
    assert chunks[-1].metadata["exit_code"] == 0
    assert "violation" not in chunks[-1].metadata


def test_the_scene_is_hostile(hostile: Path, marks: Path) -> None:
    """Without protection, looking at this repository runs the stranger's program."""
    subprocess.run(["git", "diff"], cwd=hostile, capture_output=True, check=False)
    assert marks.exists()


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git diff",
        "git diff --stat",
        "git log -p -1",
        "git show HEAD",
        "git blame a.txt",
        "git ls-files -m",
        "git describe --always",
        "git grep one",
        "git log -1",
        "cd ../{} && git diff",
    ],
)
@pytest.mark.parametrize("confine", ["off", "auto"])
async def test_a_read_runs_no_program_of_the_repository(
    hostile: Path, marks: Path, command: str, confine: Confine
) -> None:
    """A proven read of a hostile repository runs none of its programs, and still answers."""
    command = command.format(hostile.name)
    bash = Bash(cwd=hostile, confine=confine)
    assert await bash.check_read_only({"command": command})
    await output(bash, command)
    assert not marks.exists()


@pytest.fixture
def signed(hostile: Path) -> Path:
    """Return the repository with a signed commit, whose configuration wants it checked."""

    def told(*arguments: str, text: str = "") -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=hostile, input=text, capture_output=True, text=True, check=True
        )
        return done.stdout

    signature = "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ\n -----END PGP SIGNATURE-----\n\n"
    commit = told("cat-file", "commit", "HEAD").replace("\n\n", signature, 1)
    git(
        hostile,
        "reset",
        "-q",
        told("hash-object", "-t", "commit", "-w", "--stdin", text=commit).strip(),
    )
    git(hostile, "config", "--unset", "gpg.program")
    git(hostile, "config", "format.pretty", "%G? %s")
    return hostile


async def test_no_signature_is_checked_because_the_repository_says_so(
    signed: Path, marks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A format that the configuration names starts no gpg of the user's."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "program.sh").rename(tmp_path / "bin" / "gpg")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    marks.unlink(missing_ok=True)
    bash = Bash(cwd=signed, confine="off")
    assert await bash.check_read_only({"command": "git log -1"})
    assert await output(bash, "git log -1") == "N first\n"
    assert not marks.exists()
    git(signed, "log", "-1")
    assert marks.exists()


@pytest.fixture
def holding(hostile: Path, tmp_path: Path) -> Path:
    """Return a repository that says nothing itself, with the hostile one below a submodule."""
    outer = tmp_path / "outer"
    (outer / "middle").mkdir(parents=True)
    hostile.rename(outer / "middle" / "inner")
    for place, link in ((outer / "middle", "inner"), (outer, "middle")):
        git(place, "init", "-q")
        (place / ".gitmodules").write_text(
            f'[submodule "{link}"]\n\tpath = {link}\n\turl = ./{link}\n\tignore = none\n'
        )
        git(place, "add", "-A")
        git(place, *("-c", "user.name=A", "-c", "user.email=a@example.org"), "commit", "-qm", "1")
    (outer / "below").mkdir()
    return outer


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git diff",
        "git diff-index --quiet HEAD",
        "git diff-files",
        "git diff --submodule=log --ignore-submodules=none",
        "cd below; git status",
    ],
)
async def test_submodules_run_none_of_their_programs_either(
    holding: Path, marks: Path, command: str
) -> None:
    """Git looks into submodules that `.gitmodules` or an option wants compared, at any depth."""
    bash = Bash(cwd=holding)
    assert await bash.check_read_only({"command": command})
    assert "no git command" not in await output(bash, command)
    assert not marks.exists()
    git(holding, "diff-files")
    assert marks.exists()


@pytest.fixture
def past(tmp_path: Path, marks: Path) -> Path:
    """Return a repository whose history holds another, which shows differences by a program."""
    outer = tmp_path / "past"
    inner = outer / "inner"
    inner.mkdir(parents=True)
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for place in (inner, outer):
        git(place, "init", "-q")
    for text in ("one", "two"):
        (inner / "a").write_text(text)
        for place in (inner, outer):
            git(place, "add", "-A")
            git(place, *author, "commit", "-qm", text)
    git(outer, "rm", "-q", "--cached", "inner")
    git(outer, *author, "commit", "-qm", "three")
    git(inner, "config", "diff.external", f"echo shown >> {marks}; true")
    git(outer, "config", "diff.submodule", "diff")
    return outer


@pytest.mark.parametrize(
    "command", ["git log -p", "git show HEAD~1", "git diff HEAD~2 HEAD~1", "git whatchanged -p"]
)
async def test_nor_does_a_repository_that_only_the_history_knows(
    past: Path, marks: Path, command: str
) -> None:
    """What changed in another repository is not shown by its own means."""
    bash = Bash(cwd=past, confine="off")
    assert await bash.check_read_only({"command": command})
    assert "+Subproject commit" in await output(bash, command)
    assert not marks.exists()
    git(past, *command.split()[1:])
    assert marks.exists()


async def test_a_submodule_may_be_called_by_dots_alone(hostile: Path, marks: Path) -> None:
    """`...` is a name like any other."""
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    outer = hostile.parent / "outer"
    outer.mkdir()
    hostile.rename(outer / "...")
    git(outer, "init", "-q")
    git(outer, "-c", "core.fsmonitor=false", "add", "...")
    git(outer, *author, "commit", "-qm", "1")
    (outer / ".gitmodules").write_text(
        '[submodule "x"]\n\tpath = ...\n\turl = ./x\n\tignore = none\n'
    )
    marks.unlink(missing_ok=True)
    assert "..." in await output(Bash(cwd=outer, confine="off"), "git status")
    assert not marks.exists()
    git(outer, "status")
    assert marks.exists()


async def test_a_submodule_that_is_not_checked_out_is_no_obstacle(holding: Path) -> None:
    """What git itself passes over is passed over; the answer is git's."""
    shutil.rmtree(holding / "middle")
    (holding / "middle").mkdir()
    assert "nothing to commit" in await output(Bash(cwd=holding), "git status")


async def test_too_many_submodules_are_not_looked_at(
    holding: Path, marks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are more than can be checked, nothing runs unasked."""
    monkeypatch.setattr(
        "agentscope_like.tool.builtin.bash.environment.repository.MAX_SUBMODULES", 1
    )
    with pytest.raises(ToolArgumentError, match="more than 1 submodules"):
        await output(Bash(cwd=holding), "git status")
    assert not marks.exists()


SECRET_FILES = [
    ("format.signatureFile", "git format-patch --root --stdout -1"),
    ("mailmap.file", "git log -1"),
    ("diff.orderFile", "git log -p -1"),
]


@pytest.mark.parametrize(("key", "command"), SECRET_FILES)
async def test_a_file_that_the_repository_names_is_not_read(
    named: Path, tmp_path: Path, key: str, command: str
) -> None:
    """A signature, a mailmap and an order of files could be read from any file."""
    (tmp_path / "secret").write_text("hidden\n")
    plain = await output(Bash(cwd=named), command)
    git(named, "config", key, str(tmp_path / "secret"))
    answer = await output(Bash(cwd=named), command)
    assert "hidden" not in answer
    assert "fatal" not in answer
    assert plain.startswith(answer.splitlines()[0])


@pytest.mark.parametrize("command", ["git blame a.txt", "git annotate a.txt", "ls; git blame x"])
async def test_blaming_reads_no_file_that_the_repository_names(
    hostile: Path, tmp_path: Path, command: str
) -> None:
    """Git quotes a line that is no commit, and no setting keeps it from that file."""
    git(hostile, "config", "blame.ignoreRevsFile", str(tmp_path / "program.sh"))
    with pytest.raises(ToolArgumentError, match="file of commits to leave out"):
        await output(Bash(cwd=hostile), command)
    assert "first" in await output(Bash(cwd=hostile), "git log -1")


@pytest.mark.parametrize("command", ["git lfs version", "git lfs ls-files", "git lfs env"])
async def test_no_alias_takes_the_place_of_what_is_not_installed(
    named: Path, marks: Path, command: str
) -> None:
    """Without git-lfs, its name could be an alias of the repository's."""
    git(named, "config", "alias.lfs", f"!echo lfs >> {marks}")
    await output(Bash(cwd=named, confine="off"), command)
    assert not marks.exists()


class _Greedy(BaseHTTPRequestHandler):
    """Answers each request with a cookie and the name of a branch."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Set-Cookie", "told=1; Max-Age=3600")
        self.end_headers()
        self.wfile.write(b"%b\trefs/heads/there\n" % (b"1" * 40))

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def greedy() -> Iterator[str]:
    """Yield the address of a server that sets cookies."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Greedy) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/x"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("section", ["http", "http.http://127.0.0.1"])
async def test_a_remote_that_would_write_cookies_is_asked_about(
    named: Path, tmp_path: Path, greedy: str, section: str
) -> None:
    """Where the repository says so, git would keep what a server sets in any file."""
    kept = tmp_path / "kept"
    section = section.replace("127.0.0.1", greedy.removeprefix("http://"))
    for key, value in (("saveCookies", "true"), ("cookieFile", str(kept))):
        git(named, "config", f"{section}.{key}", value)
    git(named, "remote", "add", "origin", greedy)
    bash = Bash(cwd=named, confine="off")
    assert not await bash.check_read_only({"command": "git ls-remote origin"})
    assert await bash.check_read_only({"command": "git remote -v"})
    git(named, "ls-remote")
    assert kept.exists()


TELLING_NAMES = (
    "git log -1 $(git branch --show-current)",
    "git log -1 $(git rev-parse --abbrev-ref HEAD)",
    "b=$(git symbolic-ref --short HEAD); git log -1 $b",
    "git log $(git describe --tags)..HEAD",
    "for b in $(git branch --format='%(refname:short)'); do git log -1 $b; done",
    "for b in $(git branch | cut -c3-); do git log -1 $b; done",
    "for t in $(git tag -l '*'); do git log -1 $t; done",
    "for t in $(git tag --list | head -1); do git log -1 $t; done",
    "for b in $(git for-each-ref --format='%(refname:short)'); do git log -1 $b; done",
)


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """Return a repository with a commit, a branch and a tag."""
    place = tmp_path / "named"
    place.mkdir()
    git(place, "init", "-qb", "main")
    git(
        place,
        *("-c", "user.name=A", "-c", "user.email=a@example.org"),
        "commit",
        "-qm1",
        "--allow-empty",
    )
    git(place, "tag", "v1")
    return place


@pytest.mark.parametrize("command", TELLING_NAMES)
@pytest.mark.parametrize("name", ["heads/--output=PWNED", "tags/--output=PWNED", "tags/-x/y"])
async def test_a_name_that_is_like_an_option_is_not_passed_on(
    named: Path, command: str, name: str
) -> None:
    """A clone takes over any name of a branch or tag; one like `--output=f` would write a file."""
    bash = Bash(cwd=named)
    assert await bash.check_read_only({"command": command})
    assert "fatal" not in await output(bash, command)
    git(named, "update-ref", f"refs/{name}", "HEAD")
    with pytest.raises(ToolArgumentError, match="begins with a dash"):
        await output(bash, command)
    assert "1" in await output(bash, "git log -1 --oneline")
    assert not list(named.glob("PWNED*"))


async def test_nor_is_the_name_of_a_branch_that_is_yet_to_be_born(named: Path) -> None:
    """The branch of an empty repository has a name, but is none that git lists."""
    git(named, "symbolic-ref", "HEAD", "refs/heads/--output=PWNED")
    with pytest.raises(ToolArgumentError, match="begins with a dash"):
        await output(Bash(cwd=named), TELLING_NAMES[0])
    assert await output(Bash(cwd=named), "git branch --show-current") == "--output=PWNED\n"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["--output=PWNED", "-x", "v1 --output=PWNED", "v*"])
async def test_nor_is_the_name_in_a_tag_that_differs_from_its_ref(
    named: Path, name: str, packed: bool
) -> None:
    """`git describe` prints the name in the tag object, of which a clone takes over any."""
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    git(named, *author, "tag", "-am1", "v2")
    command = "git log -1 $(git describe --tags --abbrev=0)"
    assert "fatal" not in await output(Bash(cwd=named), command)
    tag = Path(named, "tag")
    head = f"object {git(named, 'rev-parse', 'HEAD')}\ntype commit\ntag {name}\n"
    tag.write_text(f"{head}tagger A <a> 1 +0000\n\nx\n")
    made = git(named, "hash-object", "-t", "tag", "-w", "--literally", "tag")
    Path(named, ".git/refs/tags/v2").write_text(f"{made}\n")
    git(named, *(["gc", "-q"] if packed else ["status"]))
    with pytest.raises(ToolArgumentError, match="begins with a dash"):
        await output(Bash(cwd=named), command)
    assert "1" in await output(Bash(cwd=named), "git log -1 --oneline")
    assert not list(named.glob("*PWNED*"))


async def test_tags_that_are_stored_as_differences_are_read(named: Path) -> None:
    """Of many tags git keeps what differs between them."""
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    message = "\n".join(str(number) * 20 for number in range(100))
    for number in range(5):
        git(named, *author, "tag", "-a", "-m", f"{message}{number}", f"v2.{number}")
    git(named, "gc", "-q")
    assert "chain length" in git(named, "verify-pack", "-v", str(next(named.rglob("*.idx"))))
    command = "git log -1 $(git describe --tags --abbrev=0)"
    assert "fatal" not in await output(Bash(cwd=named), command)


@pytest.mark.parametrize("where", ["refs/replace", "objects/info/alternates"])
async def test_tags_that_may_lie_elsewhere_are_not_believed(named: Path, where: str) -> None:
    """An object that stands for another one, or lies in another repository, is not looked for."""
    command = "git log -1 $(git describe --tags --abbrev=0)"
    assert "fatal" not in await output(Bash(cwd=named), command)
    place = named / ".git" / where
    if where.startswith("refs"):
        place.mkdir()
        commit = git(named, "rev-parse", "HEAD")
        place.joinpath(commit).write_text(f"{commit}\n")
    else:
        place.write_text("")
    with pytest.raises(ToolArgumentError, match="not known what git would do"):
        await output(Bash(cwd=named), command)


@pytest.mark.parametrize(
    "file", ["rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"]
)
@pytest.mark.parametrize("name", ["x --output=PWNED y", "refs/heads/-x", "*"])
async def test_nor_is_what_a_repository_says_of_a_rebase(named: Path, file: str, name: str) -> None:
    """`git branch` prints a rebase or bisection under way with the text of a file."""
    command = "for b in $(git branch --format='%(refname:short)'); do git log -1 $b --; done"
    git(named, "checkout", "-q", "--detach")
    place = named / ".git" / file
    place.parent.mkdir(exist_ok=True)
    place.write_text("refs/heads/main\n")
    place.with_name("onto").write_text("main\n")
    named.joinpath(".git/BISECT_LOG").touch()
    assert "Author" in await output(Bash(cwd=named), command)
    place.write_text(name)
    with pytest.raises(ToolArgumentError, match="begins with a dash"):
        await output(Bash(cwd=named), command)
    assert not list(named.glob("PWNED*"))


@pytest.mark.parametrize("name", ["HEAD", "info/exclude", "shallow", "refs/heads/main"])
async def test_a_file_of_a_repository_with_another_name_is_not_shown(
    named: Path, tmp_path: Path, name: str
) -> None:
    """A hard link to a credential is no symlink; objects may be shared by clones."""
    bash = Bash(cwd=named)
    for each in named.glob(".git/objects/??/*"):
        os.link(each, tmp_path / each.name)
    assert await bash.check_read_only({"command": "git log"})
    secret = tmp_path / "secret"
    secret.write_text("password")
    path = named / ".git" / name
    path.unlink(missing_ok=True)
    os.link(secret, path)
    assert not await bash.check_read_only({"command": "git log"})


@pytest.mark.parametrize("name", [".gitattributes", ".gitignore", ".mailmap"])
async def test_a_link_that_older_versions_follow_leads_nowhere_else(
    named: Path, tmp_path: Path, name: str
) -> None:
    """Git before 2.32 reads these files of the work tree through symlinks."""
    bash = Bash(cwd=named)
    (named / "other").touch()
    (named / name).symlink_to("other")
    assert await bash.check_read_only({"command": "git log"})
    (tmp_path / "secret").write_text("password")
    (named / name).unlink()
    (named / name).symlink_to(tmp_path / "secret")
    assert not await bash.check_read_only({"command": "git log"})


def none_set(place: GitPlace, environment: Mapping[str, str]) -> list[str]:
    """Say that a repository sets nothing."""
    del place, environment
    return []


def test_what_every_repository_may_name_is_always_switched_off() -> None:
    """Programs that git runs only for some commands, or on a terminal, are switched off too."""
    environment = git_environment({}, (), none_set)
    count = int(environment["GIT_CONFIG_COUNT"])
    settings = {
        environment[f"GIT_CONFIG_KEY_{each}"]: environment[f"GIT_CONFIG_VALUE_{each}"]
        for each in range(count)
    }
    assert settings["core.hooksPath"] == "/dev/null"
    assert settings["core.pager"] == environment["GIT_PAGER"] == "cat"
    assert settings["core.fsmonitor"] == "false"
    assert settings["protocol.ext.allow"] == "never"
    assert environment["GIT_OPTIONAL_LOCKS"] == "0"
    assert git_environment({"GIT_CONFIG_COUNT": "2"}, (), none_set)["GIT_CONFIG_COUNT"] == str(
        count + 2
    )


async def test_another_repository_is_looked_at_as_carefully(hostile: Path, marks: Path) -> None:
    """`git -C` and `cd` lead to the same care."""
    bash = Bash(cwd="/")
    for command in (f"git -C {hostile} status", f"cd {hostile} && git diff --stat"):
        assert await bash.check_read_only({"command": command})
        await output(bash, command)
    assert not marks.exists()


@pytest.mark.parametrize(
    "command",
    [
        'for d in {0} {0}/sub; do git -C "$d" diff; done',
        'd={0}; if [ -d /tmp ]; then d={0}/sub; fi; git -C "$d" diff',
        """bash -c 'for d in {0} /; do git -C "$d" diff -- a.txt; done'""",
        'set -- {0} /tmp; for d in "$@"; do git -C / -C "$d" diff; done',
    ],
)
async def test_so_is_one_of_several(hostile: Path, marks: Path, command: str) -> None:
    """Where a variable names the repository, each that it may name is looked at."""
    (hostile / "sub").mkdir()
    bash = Bash(cwd="/")
    command = command.format(hostile)
    assert await bash.check_read_only({"command": command})
    await output(bash, command)
    assert not marks.exists()


FROM_THE_ROOT = [
    'cd "$(git rev-parse --show-toplevel)" && git diff',
    "cd $(git rev-parse --show-toplevel) && git status",
    'root=$(git rev-parse --show-toplevel 2>/dev/null || pwd); cd "$root"; git diff',
    'git -C "$(git rev-parse --show-toplevel)" diff',
]


@pytest.mark.parametrize("command", FROM_THE_ROOT)
async def test_the_root_of_a_work_tree_is_known(
    hostile: Path, marks: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that goes to the root of the work tree reads what it would read from there."""
    below = hostile / "sub" / "below"
    below.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(below))
    bash = Bash(cwd=below)
    assert await bash.check_read_only({"command": command})
    assert "a.txt" in await output(bash, command)
    assert not marks.exists()


@pytest.mark.parametrize("command", FROM_THE_ROOT[:3])
@pytest.mark.parametrize("how", ["configured", "inherited", "linked", "none"])
async def test_any_other_root_is_not(
    hostile: Path, tmp_path: Path, command: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the root could be anywhere, a person is asked before git reads there."""
    directory = hostile
    if how == "configured":
        git(hostile, "config", "core.worktree", str(tmp_path))
    elif how == "inherited":
        monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))
    elif how == "linked":
        directory = tmp_path / "linked"
        git(hostile, "config", "--unset", "filter.odd.required")
        git(hostile, "worktree", "add", "-q", str(directory))
    else:
        directory = tmp_path
    assert not await Bash(cwd=directory).check_read_only({"command": command})


@pytest.mark.parametrize(
    "command",
    [
        'cd "$(git rev-parse --show-toplevel 2>&1)" && git diff',
        'cd "$(git rev-parse --show-toplevel; echo /x)" && git diff',
        'cd "$(git -C sub rev-parse --show-toplevel)" && git diff',
        'cd sub && cd "$(git rev-parse --show-toplevel)" && git diff',
        'cd "$(GIT_DIR=sub git rev-parse --show-toplevel)" && git diff',
        'git() { echo sub; }; cd "$(git rev-parse --show-toplevel)" && command git diff',
        'cd "$(git rev-parse --show-toplevel --git-dir)" && git diff',
        'cd "$(git rev-parse --show-toplevel && echo sub)" && git diff',
        'cd "$(git rev-parse --show-toplevel || cat f)" && git diff',
        'cd "$(git rev-parse --show-toplevel | tail -1)" && git diff',
        "$(git rev-parse --show-toplevel)/program.sh",
        'cd "$(git rev-parse --show-toplevel)" && ./program.sh',
        'cd "$(git rev-parse --show-toplevel)" && git diff > x',
    ],
)
async def test_only_the_plain_question_is_answered(hostile: Path, command: str) -> None:
    """What prints more than the root, or asks elsewhere, tells nothing."""
    assert not await Bash(cwd=hostile).check_read_only({"command": command})


async def test_a_cd_that_fails_leads_to_no_program(hostile: Path, marks: Path) -> None:
    """Where git may run in either of two directories, both are looked at."""
    bash = Bash(cwd=hostile)
    for command in ("cd nowhere; git diff --quiet", "cd nowhere || true; git status"):
        assert await bash.check_read_only({"command": command})
        await output(bash, command)
    assert not marks.exists()


async def test_where_the_configuration_cannot_be_told_nothing_runs(
    hostile: Path, marks: Path
) -> None:
    """A configuration that is not understood stops the read, though git may understand it."""
    with (hostile / ".git" / "config").open("a") as file:
        file.write("[core]\n\tfsmonitor = \\q\n")
    with pytest.raises(ToolArgumentError, match="not known what git would do"):
        await output(Bash(cwd=hostile), "git status")
    assert not marks.exists()


async def test_a_read_does_not_touch_the_repository(hostile: Path) -> None:
    """`git status` leaves the index as it is."""
    index = hostile / ".git" / "index"
    before = index.read_bytes(), index.stat().st_mtime_ns
    await output(Bash(cwd=hostile), "git status")
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before


async def test_the_answer_is_gits(hostile: Path) -> None:
    """What is switched off does not keep git from telling what changed."""
    shown = await output(Bash(cwd=hostile), "git diff b.md")
    assert "+++ b/b.md" in shown
    assert "+two" in shown
    said = await output(Bash(cwd=hostile), "git diff a.txt")
    assert "+two" in said


async def test_what_a_person_agreed_to_runs_with_its_hooks(hostile: Path, marks: Path) -> None:
    """A command that is no proven read runs as the repository has it."""
    await output(Bash(cwd=hostile, confine="off"), "git diff; touch here")
    assert marks.exists()


async def test_confined_hooks_stay_within_what_was_agreed_to(hostile: Path, marks: Path) -> None:
    """They run, but write only where the command was said to."""
    require_bubblewrap()
    assert "program.sh" in await output(Bash(cwd=hostile), "git diff; touch here")
    assert (hostile / "here").exists()
    assert not marks.exists()
