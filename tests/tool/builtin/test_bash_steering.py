"""What runs unasked in a hostile project meets neither its programs nor its servers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import pytest

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionEngine,
    PermissionMode,
)
from agentscope_like.sandbox.isolation.profile import Confine
from agentscope_like.tool import Bash

SECONDS = 60
PYTHON = os.path.realpath(sys.executable)


class Stranger(NamedTuple):
    """A program and a server of somebody else, and the file where both leave a mark."""

    program: Path
    address: str
    marks: Path


class Scene(NamedTuple):
    """A project in which a command that looks harmless meets the stranger.

    Attributes:
        program: What has to be installed.
        command: The command.
        files: Returns the files of the project, by their names.
        variables: Returns what the environment has besides.
    """

    program: str
    command: str
    files: Callable[[Stranger], Mapping[str, str]]
    variables: Callable[[Path], Mapping[str, str]] = lambda _: {}


def _toolchain(stranger: Stranger) -> Mapping[str, str]:
    return {"rust-toolchain.toml": f"[toolchain]\npath = '{stranger.program.parent.parent}'\n"}


def _registry(stranger: Stranger) -> Mapping[str, str]:
    return {".npmrc": f"registry={stranger.address}/${{HOME}}\nfetch-retries=0\n"}


def _default(stranger: Stranger) -> Mapping[str, str]:
    config = (
        "[registry]\ndefault = 'x'\n[net]\nretry = 0\n"
        f"[registries.x]\nindex = 'sparse+{stranger.address}/'\n"
    )
    return {".cargo/config.toml": config}


def _kubeconfig(stranger: Stranger) -> Mapping[str, str]:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {"server": stranger.address}}],
        "users": [
            {
                "name": "u",
                "user": {
                    "exec": {
                        "apiVersion": "client.authentication.k8s.io/v1",
                        "command": str(stranger.program),
                        "interactiveMode": "Never",
                    }
                },
            }
        ],
    }
    return {"kubeconfig": json.dumps(config)}


def _modules(stranger: Stranger) -> Mapping[str, str]:
    code = f"open({str(stranger.marks)!r}, 'w').write('met')\n"
    return dict.fromkeys(("pip.py", "json.py", "logging/__init__.py", "sub/pip.py"), code)


def _repository(setting: str) -> Callable[[Stranger], Mapping[str, str]]:
    def files(stranger: Stranger) -> Mapping[str, str]:
        config = (
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
            '[remote "origin"]\n\turl = http://example.invalid/a\n'
            f"{setting.format(stranger.address)}\n"
        )
        return {
            ".git/HEAD": "ref: refs/heads/main\n",
            ".git/config": config,
            ".git/objects/x": "",
            ".git/refs/x": "",
        }

    return files


SCENES = {
    "cargo": Scene("rustup", "cargo --version", _toolchain),
    "rustc": Scene("rustup", "rustc -V", _toolchain),
    "rustfmt": Scene("rustup", "rustfmt --check a.rs", _toolchain),
    "npm view": Scene("npm", "npm view react version", _registry),
    "npm ping": Scene("npm", "npm ping", _registry),
    "cargo search": Scene("cargo", "cargo search serde", _default),
    "kubectl": Scene(
        "kubectl",
        "kubectl get pods",
        _kubeconfig,
        lambda work: {"KUBECONFIG": f"{work}/kubeconfig"},
    ),
    "npm owner": Scene("npm", "npm owner ls react", _registry),
    "python": Scene("python3", "python3 -m pip list", _modules),
    "python below": Scene("python3", "cd sub && python3 -m pip --version", _modules),
    "git proxy": Scene("git", "git ls-remote origin", _repository("[http]\n\tproxy = {}")),
    "git instead": Scene(
        "git",
        "git remote show origin",
        _repository('[url "{}/"]\n\tinsteadOf = http://example.invalid/'),
    ),
}


class _Listening(BaseHTTPRequestHandler):
    marks: Path

    def do_GET(self) -> None:
        """Leave a mark, and know nothing."""
        self.marks.write_text("met")
        self.send_error(404)

    do_POST = do_PUT = do_CONNECT = do_GET  # noqa: N815 - the names are the server's

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[Stranger]:
    """Return the stranger of one project."""
    marks = tmp_path / "marks"
    programs = tmp_path / "evil" / "bin"
    programs.mkdir(parents=True)
    (tmp_path / "evil" / "lib").mkdir()
    for name in ("cargo", "rustc", "rustfmt", "program"):
        (programs / name).write_text(f"#!/bin/sh\necho met > '{marks}'\n")
        (programs / name).chmod(0o755)
    handler = type("Handler", (_Listening,), {"marks": marks})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            address = f"http://127.0.0.1:{server.server_port}"
            yield Stranger(programs / "program", address, marks)
        finally:
            server.shutdown()
            thread.join()


def project(scene: Scene, stranger: Stranger, base: Path) -> Path:
    """Make the project of a scene; the test is skipped where its program is not installed."""
    if shutil.which(scene.program) is None:
        pytest.skip(f"needs {scene.program}")
    work = base / "project"
    work.mkdir()
    (work / "a.rs").write_text("fn main() {}\n")
    for name, text in scene.files(stranger).items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text)
    return work


@pytest.mark.parametrize("name", SCENES)
def test_the_scene_is_hostile(name: str, stranger: Stranger, tmp_path: Path) -> None:
    """Run as it is, the command meets the stranger."""
    scene = SCENES[name]
    work = project(scene, stranger, tmp_path)
    subprocess.run(
        ["bash", "-c", scene.command],
        cwd=work,
        env={**os.environ, **scene.variables(work)},
        capture_output=True,
        check=False,
        timeout=SECONDS,
    )
    assert stranger.marks.exists()


@pytest.mark.parametrize("confine", ["auto", "off"])
@pytest.mark.parametrize("mode", ["explore", "default", "accept_edits"])
@pytest.mark.parametrize("name", SCENES)
async def test_nothing_hostile_runs_unasked(
    name: str, mode: str, confine: Confine, stranger: Stranger, tmp_path: Path
) -> None:
    """The command is asked about, or runs without meeting the stranger."""
    scene = SCENES[name]
    work = project(scene, stranger, tmp_path)
    policy = PermissionContext(mode=PermissionMode(mode))
    with patch.dict(os.environ, scene.variables(work)):
        bash = Bash(cwd=work, confine=confine)
        engine = PermissionEngine(policy)
        decision = await engine.check_permission(bash, {"command": scene.command})
        if decision.behavior is PermissionBehavior.ALLOW:
            async for _ in bash.call(scene.command, _permission_context=policy):
                pass
    assert not stranger.marks.exists()


async def test_pip_is_found_beside_modules_of_the_project(
    stranger: Stranger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`python3 -m pip list` runs unasked, and lists what is installed and not what lies there."""
    work = project(SCENES["python"], stranger, tmp_path)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "python3").symlink_to(PYTHON)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    confines: tuple[Confine, ...] = ("auto", "off")
    for confine in confines:
        bash = Bash(cwd=work, confine=confine)
        assert await bash.check_read_only({"command": "python3 -m pip list"})
        text = "".join([str(chunk.content) async for chunk in bash.call("python3 -m pip list")])
        assert "pip" in text
        assert "Version" in text
    assert not stranger.marks.exists()


@pytest.mark.parametrize("older", ["python3.10", "python", "pypy3"])
async def test_a_python_that_may_be_older_imports_what_is_there(older: str, tmp_path: Path) -> None:
    """Before 3.11 the directory cannot be left out, and of another name nobody knows."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / older).touch(0o755)
    (programs / "python3").symlink_to(older)
    work = tmp_path / "project"
    work.mkdir()
    path = f"{programs}:{os.environ['PATH']}"
    with patch.dict(os.environ, PATH=path):
        assert not await Bash(cwd=work).check_read_only({"command": "python3 -m pip list"})
    (programs / "python3").unlink()
    (programs / "python3").symlink_to("python3.12")
    (programs / "python3.12").touch(0o755)
    with patch.dict(os.environ, PATH=path):
        assert await Bash(cwd=work).check_read_only({"command": "python3 -m pip list"})


@pytest.mark.parametrize(
    ("chosen", "of_the_project", "is_read"),
    [
        ("3.11.7", None, True),
        ("3.12.1/envs/mine", None, True),
        ("3.10.13", None, False),
        ("mine", None, False),
        ("3.11.7", "3.8.1", False),
        ("3.8.1", "3.13", True),
        ("3.11.7", "", False),
        ("3.11.7 2.7.18", None, False),
    ],
)
async def test_the_version_that_pyenv_chooses_counts(
    chosen: str, of_the_project: str | None, is_read: bool, tmp_path: Path
) -> None:
    """What `python3` is says a file of the project, or one beside the shims."""
    shims = tmp_path / "pyenv" / "shims"
    shims.mkdir(parents=True)
    (shims / "python3").touch(0o755)
    (tmp_path / "pyenv" / "version").write_text(f"{chosen}\n")
    work = tmp_path / "project"
    work.mkdir()
    if of_the_project is not None:
        (work / ".python-version").write_text(of_the_project)
    with patch.dict(os.environ, PATH=f"{shims}:/usr/bin:/bin"):
        bash = Bash(cwd=work)
        assert await bash.check_read_only({"command": "python3 -m pip list"}) is is_read


@pytest.mark.parametrize("of_the_user", [".config/pip", ".pip"])
async def test_a_password_in_the_settings_of_pip_is_not_listed(
    of_the_user: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`pip config list` shows the user's files, which may name an index with a password."""
    work, home = tmp_path / "project", tmp_path / "home"
    work.mkdir()
    (home / of_the_user).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    settings = home / of_the_user / "pip.conf"
    for text, is_read in (
        ("[global]\ntimeout = 60\n", True),
        ("[global]\nindex-url = https://pypi.example.org/simple\n", True),
        ("[global]\nindex-url = https://me:hunter2@pypi.example.org/simple\n", False),
        ("[global]\nmy-token = x\n", False),
    ):
        settings.write_text(text)
        for command in ("pip config list", "python3 -m pip config list --user"):
            assert await Bash(cwd=work).check_read_only({"command": command}) is is_read, text


async def test_what_was_just_written_does_not_run(stranger: Stranger, tmp_path: Path) -> None:
    """With accepted edits, a toolchain and its binary that were just written are asked about."""
    work = tmp_path / "project"
    work.mkdir()
    policy = PermissionContext(mode=PermissionMode.ACCEPT_EDITS)
    engine = PermissionEngine(policy)
    bash = Bash(cwd=work)
    for command, behavior in (
        ("cargo --version", PermissionBehavior.ALLOW),
        ("mkdir -p evil/bin; printf '#!/bin/sh\\n' > evil/bin/cargo", PermissionBehavior.ALLOW),
        (f"echo '[toolchain]' > rust-toolchain; cat {work}/a", PermissionBehavior.ALLOW),
        (f"echo 'path = \"{work}/evil\"' >> rust-toolchain", PermissionBehavior.ALLOW),
        ("cargo --version", PermissionBehavior.ASK),
    ):
        decision = await engine.check_permission(bash, {"command": command})
        assert decision.behavior is behavior, command
        if behavior is PermissionBehavior.ALLOW and "cargo --version" not in command:
            async for _ in bash.call(command, _permission_context=policy):
                pass
    assert (work / "rust-toolchain").read_text().count("\n") == 2
