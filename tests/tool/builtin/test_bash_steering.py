"""What runs unasked in a hostile project meets neither its programs nor its servers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
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
