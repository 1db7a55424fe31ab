"""Layers over small trees, written to by real programs."""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest

from agentscope_like.sandbox.layer import Layer, layer_objection, mounting_words

OTHER_USER = 65534
NEEDS_LAYERS = pytest.mark.skipif(
    layer_objection(Path(tempfile.gettempdir(), "layers-tried"), [], home="/nowhere") is not None,
    reason="there are no layers on this machine",
)


def seen(directory: Path) -> dict[str, tuple[str, int, str]]:
    """Return kind, mode and content of all that lies in a directory."""
    found = {}
    for path in sorted(directory.rglob("*")):
        status = path.lstat()
        kind = stat.filemode(status.st_mode)[0]
        content = os.readlink(path) if kind == "l" else path.read_text() if kind == "-" else ""
        mode = 0 if kind == "l" else stat.S_IMODE(status.st_mode)
        found[str(path.relative_to(directory))] = (kind, mode, content)
    return found


def run(layer: Layer, script: str, *, user: int | None = None, status: int = 0) -> str:
    """Run a shell script in the first directory of a layer; return its output."""
    with layer.descriptors() as opened:
        done = subprocess.run(
            [
                *mounting_words(opened),
                "/bin/sh",
                "-c",
                f'cd "$1" && {{ {script}\n}}',
                "sh",
                layer.directories[0],
            ],
            pass_fds=[number for each in opened for number in each.numbers],
            user=user,
            group=user,
            extra_groups=None if user is None else [],
            env={"PATH": "/usr/bin:/bin"},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=30,
            check=False,
        )
    assert done.returncode == status, done.stdout
    return done.stdout


def give(user: int, *tops: Path) -> None:
    """Make a user the owner of whole trees."""
    for top in tops:
        for path in (top, *top.rglob("*")):
            os.chown(path, user, user, follow_symlinks=False)
