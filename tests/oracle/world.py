"""Builds the hostile world that the oracle's commands run in.

A home and a project where everything that a stranger could have left behind touches a marker when
it runs: executables named like common tools, git configuration and hooks, dotfiles, build files,
modules that shadow the standard library; and files whose names look like options.
"""

from __future__ import annotations

import gzip
import os
import sqlite3
import stat
import subprocess
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from tests.oracle.world_files import HOME_FILES, HOOKS, ODD_NAMES, PROJECT_FILES, SHADOWED, TEXTS

__all__ = ["HOME", "INHERITED", "MARKS", "PROJECT", "build_world"]

HOME = "/home/dev"
PROJECT = f"{HOME}/project"
MARKS = "/run/marks"
"""Where whatever runs against the text of a command leaves a file of its name."""

_EDITOR = "/run/tools/editor"
INHERITED: Mapping[str, str] = {
    "PATH": ".:bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/games",
    "HOME": HOME,
    "USER": "dev",
    "LOGNAME": "dev",
    "SHELL": "/bin/bash",
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "EDITOR": _EDITOR,
    "VISUAL": _EDITOR,
    "BROWSER": _EDITOR,
    "PAGER": _EDITOR,
    "MANPAGER": _EDITOR,
    "BASH_ENV": f"{HOME}/.bashrc",
    "ENV": f"{HOME}/.bashrc",
    "PS4": f"$(: >{MARKS}/PS4)",
    "PROMPT_COMMAND": f": >{MARKS}/PROMPT_COMMAND",
    "BASH_FUNC_ls%%": f"() {{ : >{MARKS}/function-ls; }}",
    "BASH_FUNC_git%%": f"() {{ : >{MARKS}/function-git; }}",
    "CDPATH": f"{PROJECT}/src:{PROJECT}",
    "IFS": "a",
}
"""The environment of the process that the `Bash` tool lives in, as unlucky as it gets."""

_DATE = "2024-05-01T12:00:00+00:00"
_GIT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_NAME": "Dev" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "dev@example.invalid" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_DATE": _DATE for who in ("AUTHOR", "COMMITTER")},
}


def build_world() -> None:
    """Make the home, the project and the place of the marks; they must not exist yet."""
    project = Path(PROJECT)
    Path(MARKS).mkdir(parents=True)
    _program(Path(_EDITOR), "editor")
    project.mkdir(parents=True)
    _write(Path(HOME), HOME_FILES)
    _write(project, TEXTS)
    _archives(project)
    _repository(project)
    _write(project, PROJECT_FILES)
    _links(project)
    for name in ODD_NAMES:
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("odd\n")
    for place in (project, project / "src", project / "d", Path(HOME)):
        for name in SHADOWED if place is project else SHADOWED[:16]:
            if not (place / name).exists():
                _program(place / name, name)
    (project / "empty").mkdir()


def _program(path: Path, mark: str) -> None:
    """Write an executable that leaves a mark."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n: >{MARKS}/{mark}\n")
    path.chmod(0o755)


def _write(root: Path, files: Mapping[str, str]) -> None:
    """Write files; `@MARK name@` becomes a shell command that leaves the mark `name`."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("@MARKS@", MARKS).replace("@HOME@", HOME))
        if text.startswith("#!"):
            path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP)


def _archives(project: Path) -> None:
    with tarfile.open(project / "x.tar", "w") as plain:
        plain.add(project / "f", "inner/f")
    with tarfile.open(project / "a.tar.gz", "w:gz") as packed:
        packed.add(project / "f", "../escape")
    with zipfile.ZipFile(project / "a.zip", "w") as archive:
        archive.write(project / "f", "f")
    (project / "f.gz").write_bytes(gzip.compress(b"hello\n", mtime=0))
    (project / "data.bin").write_bytes(bytes(range(256)))
    base = sqlite3.connect(project / "app.db")
    base.executescript("CREATE TABLE users(id, name); INSERT INTO users VALUES (1, 'ann');")
    base.close()


def _links(project: Path) -> None:
    for name, target in (
        ("link", "f"),
        ("dirlink", "src"),
        ("dangling", "nowhere"),
        ("loop", "loop"),
        ("abs", "/etc/passwd"),
        ("up", ".."),
    ):
        os.symlink(target, project / name)


def _git(directory: Path, *arguments: str, text: str = "") -> str:
    done = subprocess.run(
        ["git", *arguments],
        cwd=directory,
        env=_GIT,
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def _repository(project: Path) -> None:
    """Make a repository with some history, then poison its configuration and that of others."""
    _git(project, "init", "-q", "-b", "main", "--template=")
    _git(project, "add", "-A")
    _git(project, "commit", "-q", "-m", "Start")
    _git(project, "tag", "-a", "v1.0", "-m", "One")
    _git(project, "branch", "feature")
    (project / "src/app.py").write_text(TEXTS["src/app.py"] + "\n# TODO: more\n")
    _git(project, "commit", "-q", "-a", "-m", "fix: more")
    _git(project, "checkout", "-q", "feature")
    (project / "docs/guide.md").write_text("# Guide\n\nfoo, x | y\n")
    _git(project, "commit", "-q", "-a", "-m", "Guide")
    _git(project, "checkout", "-q", "main")
    _git(project, "merge", "-q", "--no-edit", "feature")
    _sign_last_commit(project)
    (project / "f").write_text("stashed\n")
    _git(project, "stash", "-q")
    _nested(project / "sub", project)
    _nested(project / "d", None)
    _git(project, "clone", "-q", "--bare", "--template=", ".", "bare.git")
    _git(project, "update-ref", "refs/remotes/origin/main", "HEAD~1")
    _git(project, "gc", "-q")
    (project / "g").write_text("staged\n")
    _git(project, "add", "g")
    (project / "src/a.py").write_text("x = 2\n")
    (project / "untracked.txt").write_text("new\n")
    for place in (project / ".git", project / "sub/.git", project / "d/.git", project / "bare.git"):
        _poison(place)


def _nested(place: Path, outer: Path | None) -> None:
    """Make a repository below the project; `outer` records it as a submodule."""
    place.mkdir(exist_ok=True)
    (place / "inner.py").write_text("y = 1\n")
    _git(place, "init", "-q", "-b", "main", "--template=")
    _git(place, "add", "-A")
    _git(place, "commit", "-q", "-m", "Inner")
    if outer is not None:
        (outer / ".gitmodules").write_text(
            f'[submodule "{place.name}"]\n\tpath = {place.name}\n\turl = ./{place.name}\n'
        )
        head = _git(place, "rev-parse", "HEAD")
        _git(outer, "update-index", "--add", "--cacheinfo", f"160000,{head},{place.name}")
        _git(outer, "add", ".gitmodules")
        _git(outer, "commit", "-q", "-m", "Add a submodule")
    (place / "inner.py").write_text("y = 2\n")


def _sign_last_commit(project: Path) -> None:
    """Put a signature into the last commit, so that showing it would run gpg."""
    raw = _git(project, "cat-file", "commit", "HEAD")
    head, _, message = raw.partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQEz\n -----END PGP SIGNATURE-----"
    signed = f"{head}\n{signature}\n\n{message}\n"
    name = _git(project, "hash-object", "-t", "commit", "-w", "--stdin", text=signed)
    _git(project, "update-ref", "refs/heads/main", name)


def _poison(repository: Path) -> None:
    with (repository / "config").open("a") as config:
        config.write(_config())
    for hook in HOOKS:
        _program(repository / "hooks" / hook, f"hook-{hook}")
    attributes = repository / "info" / "attributes"
    attributes.parent.mkdir(exist_ok=True)
    attributes.write_text("*.c diff=evil filter=evil\n")


def _config() -> str:
    """Return git configuration of which every program leaves a mark."""

    def run(mark: str) -> str:
        return f"\"sh -c ': >{MARKS}/git-{mark}; cat' --\""

    commands = (
        "log",
        "show",
        "diff",
        "status",
        "branch",
        "tag",
        "blame",
        "grep",
        "stash",
        "config",
    )
    return f"""
[core]
    fsmonitor = {run("fsmonitor")}
    pager = {run("pager")}
    editor = {run("editor")}
    hooksPath = {PROJECT}/.git/hooks
    sshCommand = {run("ssh")}
    askPass = {PROJECT}/evil.sh
    gitProxy = {run("proxy")}
    alternateRefsCommand = {run("alternate-refs")}
    untrackedCache = true
    attributesFile = {PROJECT}/evil.attributes
[pager]
{"".join(f"    {name} = {run('pager-' + name)}{chr(10)}" for name in commands)}
[diff]
    external = {run("external")}
    submodule = diff
    tool = evil
[diff "evil"]
    textconv = {run("textconv")}
    command = {run("diff-command")}
    cachetextconv = true
[filter "evil"]
    clean = {run("clean")}
    smudge = {run("smudge")}
    process = {run("process")}
    required = true
[merge "evil"]
    driver = {run("merge-driver")}
[difftool "evil"]
    cmd = {run("difftool")}
[interactive]
    diffFilter = {run("diff-filter")}
[gpg]
    program = {PROJECT}/evil.sh
[gpg "ssh"]
    program = {PROJECT}/evil.sh
    defaultKeyCommand = {run("gpg-key")}
[log]
    showSignature = true
[format]
    pretty = %H %G? %s
[pretty]
    evil = %GK
[status]
    submoduleSummary = true
[alias]
    st = "!touch {MARKS}/alias-st"
    lg = "!touch {MARKS}/alias-lg"
    x = "!touch {MARKS}/alias-x"
    status = "!touch {MARKS}/alias-status"
    log = log --show-signature
[credential]
    helper = "!touch {MARKS}/git-credential"
[remote "origin"]
    url = "ext::sh -c touch%20{MARKS}/git-ext"
    fetch = +refs/heads/*:refs/remotes/origin/*
    uploadpack = {run("uploadpack")}
    receivepack = {run("receivepack")}
    promisor = true
[remote "ssh"]
    url = ssh://evil.invalid/x
[remote "local"]
    url = {PROJECT}/d
    uploadpack = {run("uploadpack-local")}
[uploadpack]
    packObjectsHook = {run("pack-objects-hook")}
[browser "evil"]
    cmd = {run("browser")}
[man "evil"]
    cmd = {run("man")}
[help]
    browser = evil
    format = web
[web]
    browser = evil
[tar "evil"]
    command = {run("tar")}
[trailer "x"]
    command = {run("trailer")}
[sequence]
    editor = {run("sequence-editor")}
[submodule "sub"]
    url = ./sub
    ignore = none
[branch "main"]
    remote = origin
    merge = refs/heads/main
[include]
    path = {PROJECT}/evil.gitconfig
"""
