"""In BYPASS, a deny rule holds against other spellings of the same command."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agentscope_like.permission import PermissionBehavior
from tests.tool.builtin.bash_kit import decide

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY

DENIED = {
    "git push:*": (
        "git -c alias.p=push p",
        "git -c 'alias.p=push --force' p",
        "git -c 'alias.p=!git push' p",
        "git -c alias.P=push -c color.ui=never p origin",
        "git -c alias.a=b -c alias.b=push a",
        "git -c alias.p.command=push p",
        "git -c include.path=/tmp/x p",
        "git --config-env=alias.p=X p",
        "X=push git --config-env alias.p=X p",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p",
        "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push; git p",
        "env GIT_CONFIG_PARAMETERS=\"'alias.p=push'\" git p",
        "HOME=/tmp/x git p",
        "git config alias.p push; git p",
        "git config --global alias.p push && git p origin",
        "echo '[alias] p = push' >> .git/config; git p",
        "git -c help.autocorrect=immediate pusj",
        "git send-pack origin main",
        "git.exe push",
        "/usr/bin/git push",
        "./git push",
        "busybox git push",
        "p() { git push; }; p",
        "shopt -s expand_aliases\nalias p='git push'\np",
    ),
    "rm:*": (
        *("busybox rm x", "toybox rm x", "coreutils rm x", "uutils rm x"),
        *("coreutils --coreutils-prog=rm x", "coreutils --coreutils-prog rm x"),
        *("/bin/rm x", "\\rm x", "r''m x", "$'\\x72m' x", "command rm x", "builtin command rm x"),
        *("exec rm x", "exec -a y rm x", "env rm x", "env -i A=b rm x", "nohup nice rm x"),
        *("grm x", "uu-rm x", "rm.exe x", "alias r=rm; r x", "r() { rm x; }; r"),
        *("hash -p /bin/rm r; r x", "BASH_CMDS[r]=/bin/rm; r x", "BASH_ALIASES[r]=rm; r x"),
        *("ln -s /bin/rm r; ./r x", "cp /bin/rm r && ./r x", "install /bin/rm ./r; ./r x"),
        *("sh -c 'rm x'", "busybox sh -c 'rm x'", "xargs rm", "find . -exec rm {} +"),
    ),
    "rm -f:*": ("coreutils --coreutils-prog=rm -f x", "coreutils --coreutils-prog rm -f x"),
    "python:*": ("python3 x", "python3.11 x", "/usr/bin/python3.12 x", "python2.7-dbg x"),
    "python3:*": ("python3.11 x", "python x"),
    "pip install:*": (
        *("pip3 install x", "pip3.11 install x", "pip-3.11 install x", "pip -q install x"),
        *(
            "python3 -m pip install x",
            "python -I -W ignore -m pip install x",
            "python -mpip install",
        ),
    ),
    "npm install:*": ("npm i x", "npm add x", "npm --prefix x i y"),
    "npm i:*": ("npm install x",),
    "docker run:*": ("docker container run x", "docker -H x container run y"),
    "gcc:*": ("gcc-12 x.c", "x86_64-linux-gnu-gcc-12 x.c"),
    "make:*": ("gmake x",),
    "node:*": ("nodejs x", "node18 x"),
}
"""What a rule denies, by the rule."""

ALLOWED = {
    "git push:*": (
        *("git pull", "git stash push-it", "git stash", "git log"),
        *("git p", "git -c color.ui=never fetch", "git commit -m push", "pusher git"),
    ),
    "git push --force:*": ("git push",),
    "rm:*": ("busybox ls", "coreutils --coreutils-prog=ls x", "ln -s /bin/ls r; ./r x", "rmdir x"),
    "rm -f:*": ("coreutils --coreutils-prog=rm x", "coreutils --coreutils-prog rm x"),
    "python2:*": ("python3 x", "python3.11 x"),
    "pip install:*": (
        *("pip3 list", "python3 -m pip list", "python3 -m build install"),
        *("python3 x.py -m pip install x", "python3 -m x -m pip install x"),
    ),
    "npm install:*": ("npm run i", "npm test"),
    "docker run:*": ("docker container ls", "docker start run"),
    "gcc:*": ("gcov x", "g++-12 x.c"),
}
"""What it leaves alone."""


@pytest.mark.parametrize(
    ("rule", "command"), [(rule, each) for rule, found in DENIED.items() for each in found]
)
async def test_another_spelling_is_denied(rule: str, command: str, tmp_path: Path) -> None:
    """What may start the denied command is denied, and in DEFAULT never runs unasked."""
    found = await decide(command, tmp_path, [f"deny {rule}"], "bypass")
    assert found.behavior is DENY
    found = await decide(command, tmp_path, [f"deny {rule}", "allow"], "default")
    assert found.behavior is not ALLOW


@pytest.mark.parametrize(
    ("rule", "command"), [(rule, each) for rule, found in ALLOWED.items() for each in found]
)
async def test_its_neighbour_is_not(rule: str, command: str, tmp_path: Path) -> None:
    """A command that cannot be the denied one runs."""
    assert (await decide(command, tmp_path, [f"deny {rule}"], "bypass")).behavior is ALLOW


def listed(*command: str) -> list[str]:
    """Return what a program lists."""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()


GNU = ("coreutils", "diffutils", "findutils", "grep", "patch", "sed", "tar")
NO_PROGRAMS = {"md5sum.textutils", "rgrep", "rmt-tar", "tarcat"}
"""What Debian's packages of these have beside the programs."""


@pytest.mark.skipif(shutil.which("dpkg") is None, reason="the programs of packages are not known")
async def test_a_gnu_program_is_denied_as_other_systems_name_it(tmp_path: Path) -> None:
    """What denies a program of GNU denies it with a `g` before the name, too."""
    files = [path for path in listed("dpkg", "-L", *GNU) if "/bin/" in path]
    programs = {os.path.basename(path) for path in files} - NO_PROGRAMS
    assert len(programs) > 100
    for program in sorted(programs):
        found = await decide(f"g{program} x", tmp_path, [f"deny {program}:*"], "bypass")
        assert found.behavior is DENY, program


NEWER = {
    *("diagnose", "for-each-repo", "hook", "maintenance", "pickaxe"),
    *("merge-ours", "merge-recursive", "merge-recursive-ours", "merge-recursive-theirs"),
    *("merge-subtree", "remote-ext", "remote-fd", "replay", "backfill", "refs", "repo"),
}
"""Commands of git that older versions lack, or that nobody calls: there, an alias counts."""


async def test_git_ignores_an_alias_of_its_own_command(repository: Path) -> None:
    """An alias that has the name of a command of git is not what git runs."""
    builtins = listed("git", "--list-cmds=builtins")
    commands = {name for name in builtins if "--" not in name} - NEWER
    assert len(commands) > 100
    for command in sorted(commands - {"push", "send-pack", "http-push"}):
        called = f"git -c alias.{command}=push {command}"
        found = await decide(called, repository, ["deny git push:*"], "bypass")
        assert found.behavior is not DENY, command
    found = await decide("git -c alias.hurl=push hurl", repository, ["deny git push:*"], "bypass")
    assert found.behavior is DENY


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository, with a home of its own."""
    home = tmp_path.resolve() / "home"
    project = tmp_path.resolve() / "project"
    for place in (home, project / ".git" / "objects", project / ".git" / "refs", project / "sub"):
        place.mkdir(parents=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (project / ".git" / "config").write_text("[core]\n\tbare = false\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return project


@pytest.mark.parametrize(
    "place", ["project/.git/config", "home/.gitconfig", "home/.config/git/config", "project/own"]
)
@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("[alias]\n\tp = push\n", True),
        ("[alias]\n\tP = push --force\n", True),
        ("[alias]\n\tp = !git push && echo\n", True),
        ("[alias]\n\tp = q\n\tq = push\n", True),
        ('[alias "p"]\n\tcommand = push\n', True),
        ("[help]\n\tautocorrect = immediate\n", True),
        ("[alias\n", True),
        ("[alias]\n\tp = status\n", False),
        ("[alias]\n\tstatus = push\n", False),
        ("[alias]\n\tq = push\n", False),
    ],
)
async def test_an_alias_of_the_configuration_is_what_it_stands_for(
    repository: Path, place: str, text: str, denied: bool
) -> None:
    """The repository's aliases and the user's are read; where they cannot be, it is denied."""
    path = repository.parent / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if place == "project/own":
        (repository / ".git" / "config").write_text("[include]\n\tpath = ../own\n")
    for command, directory in (
        ("git p origin", repository),
        ("cd sub && git -P p", repository),
        (f"git -C {repository}/sub p", repository.parent),
    ):
        found = await decide(command, directory, ["deny git push:*"], "bypass")
        assert (found.behavior is DENY) is denied, command
    found = await decide("git status", repository, ["deny git push:*"], "bypass")
    assert found.behavior is ALLOW


async def test_what_an_alias_is_known_to_run_is_denied_in_each_mode(repository: Path) -> None:
    """Where nothing has to be guessed it is denied; an alias that nobody has is asked about."""
    (repository / ".git" / "config").write_text("[alias]\n\tp = push\n")
    for mode in ("default", "accept_edits", "bypass"):
        found = await decide("git p origin", repository, ["deny git push:*"], mode)
        assert found.behavior is DENY
    found = await decide("git q origin", repository, ["deny git push:*"], "default")
    assert found.behavior is ASK


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git p", ALLOW),
        ("X=1 git p", ALLOW),
        ("git -c color.ui=never p", ALLOW),
        ("git --config-env color.ui=X p", ALLOW),
        ("git -c alias.p=status p", DENY),
        ("X=1 git -c alias.p=status p", DENY),
        ("git --config-env alias.p=X -c alias.p=status p", DENY),
        ("git pusj", ALLOW),
        ("git -c alias.p=push p", DENY),
        ("git --config-env=alias.p=X p", DENY),
        ("git --config-env alias.p=X p", DENY),
        ("git -c alias.p=status --config-env=alias.p=X p", DENY),
        ("git -c alias.p=status --config-env alias.p=X p", DENY),
        ("git -c alias.p=status -c include.path=x p", DENY),
        ("git -c alias.p=status --config-env include.path=X p", DENY),
        ("git -c help.autocorrect=immediate pusj", DENY),
        ("git --config-env=help.autocorrect=X pusj", DENY),
        ("git --config-env help.autocorrect=X pusj", DENY),
        ("X=1 GIT_CONFIG_COUNT=1 git p", DENY),
        ("X=1 GIT_CONFIG_COUNT=1 git -c alias.p=status p", DENY),
        ("X=1 HOME=/tmp/x git -c alias.p=status p", DENY),
        ("X=1 XDG_CONFIG_HOME=/tmp/x git -c alias.p=status p", DENY),
        ("git config alias.p push; git p", DENY),
    ],
)
async def test_a_known_alias_may_be_another_one(
    repository: Path, command: str, expected: PermissionBehavior
) -> None:
    """Where the line may set aliases, one that git does not have may run any of its commands."""
    (repository / ".git" / "config").write_text("[alias]\n\tp = status\n")
    found = await decide(command, repository, ["deny git push:*"], "bypass")
    assert found.behavior is expected


async def test_a_known_alias_is_denied_in_every_mode(repository: Path) -> None:
    """What is certain is no question."""
    (repository / ".git" / "config").write_text("[alias]\n\tp = push\n")
    for mode in ("default", "accept_edits", "bypass", "dont_ask"):
        found = await decide("git p", repository, ["deny git push:*", "allow"], mode)
        assert found.behavior is DENY


async def test_a_link_is_the_program_that_it_leads_to(tmp_path: Path) -> None:
    """A program of the project that is a link to a denied one is denied; others are not."""
    (tmp_path / "r").symlink_to("/bin/rm")
    (tmp_path / "l").symlink_to("/bin/ls")
    for command, expected in (("./r x", DENY), (f"{tmp_path}/r x", DENY), ("./l x", ALLOW)):
        assert (await decide(command, tmp_path, ["deny rm:*"], "bypass")).behavior is expected


async def test_an_ask_rule_is_asked_for_each_spelling(tmp_path: Path) -> None:
    """Ask rules go by the same spellings."""
    for command in ("git -c alias.p=push p", "busybox rm x", "pip3.11 install x"):
        rules = ["ask git push:*", "ask rm:*", "ask pip install:*"]
        assert (await decide(command, tmp_path, rules, "bypass")).behavior is ASK
