"""Finds out whether commands can run held here."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from agentscope_like.exception import IsolationError
from agentscope_like.sandbox.held.held_run import TEMPORARY_PLACES, HeldRun
from agentscope_like.sandbox.isolation import bubblewrap_objection
from agentscope_like.sandbox.layer import Layer, layer_objection

__all__ = ["held_objection"]

_SECONDS = 20


def held_objection(store: Path, directories: Sequence[str], *, home: str) -> str | None:
    """Return why commands cannot run held on layers over these directories, or None.

    It runs one, and blocks meanwhile.

    Args:
        store: The folder of all layers.
        directories: The working directories.
        home: The home directory of the user.
    """
    for place in TEMPORARY_PLACES.values():
        if place in directories:
            return f"{place} is a working directory, and a held command has its own"
    return (
        bubblewrap_objection(native=True)
        or layer_objection(store, directories, home=home)
        or _tried(store, home)
    )


def _tried(store: Path, home: str) -> str | None:
    """Return why a real program does not run held, or None."""
    try:
        with tempfile.TemporaryDirectory(dir=store) as scratch:
            project, temporary = Path(scratch, "project"), Path(scratch, "temporary")
            project.mkdir()
            temporary.mkdir()
            layer = Layer.make(Path(scratch, "layers"), [str(project)])
            try:
                return _tried_on(layer, str(temporary), home)
            finally:
                layer.drop()
    except (IsolationError, OSError, subprocess.TimeoutExpired) as error:
        return str(error)


def _tried_on(layer: Layer, temporary: str, home: str) -> str | None:
    (project,) = layer.directories
    with HeldRun(layer, directory=project, environment={}, temporary=temporary, home=home) as held:
        done = subprocess.run(
            [*held.words, "/usr/bin/env", "touch", "written"],
            pass_fds=held.descriptors,
            env={},
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
        if held.exit_status != 0:
            return done.stderr.strip()[-300:] or f"it ends with status {held.exit_status}"
    (manifest,) = layer.manifests()
    if manifest.at("written") is None or Path(project, "written").exists():
        return "what a program writes does not go to the layer"
    return None
