"""Runs scripts on layers over a small project, and applies and undoes what they changed."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path

from agentscope_like.checkpoint import CheckpointStore
from agentscope_like.sandbox.layer import Layer, sort_changes
from agentscope_like.tool.builtin.held import HeldChanges, undo_budget
from tests.sandbox.layer.layers import run


def make_project(top: Path) -> None:
    """Make a small tree with files, a program, a symlink and an empty directory."""
    (top / "src" / "inner").mkdir(parents=True)
    (top / "empty").mkdir()
    (top / "a.txt").write_text("a\n")
    (top / "notes.txt").write_text("mine\n")
    (top / "tool.sh").write_text("#!/bin/sh\n")
    (top / "tool.sh").chmod(0o755)
    (top / "image.bin").write_bytes(b"\0\xff\0")
    (top / "src" / "b.py").write_text("b\n")
    (top / "src" / "inner" / "c.py").write_text("c\n")
    (top / "link").symlink_to("src/b.py")


def make_repository(top: Path) -> None:
    """Make the tree a git work tree that records one of its files."""
    for words in (["init", "-q"], ["add", "a.txt"]):
        subprocess.run(["git", *words], cwd=top, check=True)


def tree(top: Path) -> dict[str, tuple[str, int, bytes]]:
    """Return kind, mode and content of all that lies in a directory."""
    found = {}
    for path in sorted(top.rglob("*")):
        status = path.lstat()
        kind = stat.filemode(status.st_mode)[0]
        content = os.readlink(path).encode() if kind == "l" else b""
        content = path.read_bytes() if kind == "-" else content
        mode = 0 if kind == "l" else stat.S_IMODE(status.st_mode)
        found[str(path.relative_to(top))] = (kind, mode, content)
    return found


def ran(layers: Path, directories: Sequence[Path], script: str) -> Layer:
    """Run a script on a new layer, in the first of its directories by name."""
    layer = Layer.make(layers, [str(each) for each in directories])
    run(layer, f"umask 022; {script}")
    return layer


def changes_of(layer: Layer, store: CheckpointStore | None) -> list[HeldChanges]:
    """Return the sorted changes of a run."""
    budget = undo_budget(store)
    with layer.descriptors() as opened:
        return [
            HeldChanges(manifest.directory, sort_changes(manifest, each, budget))
            for manifest, each in zip(layer.manifests(), opened, strict=True)
        ]
