"""Tries attacks, held and where one wall is missing, as this user and as another."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
from msgspec import Struct

from tests.sandbox.held.other_user import told_by_other_user
from tests.sandbox.held.world import PYTHON, World, place_of_worlds

__all__ = [
    "Attack",
    "Attempt",
    "attacks",
    "tried_as_other_user",
    "tried_here",
]

_HERE = Path(__file__).parent
_AT_A_TIME = 3

_PRELUDE = """\
import contextlib, ctypes, os, re, resource, signal, socket, sys, time
E, libc = os.environ, ctypes.CDLL(None, use_errno=True)
def out(): print('OUT', flush=True)
def call(*words):
    if (found := libc.syscall(*words)) < 0: raise OSError(ctypes.get_errno(), 'refused')
    return found
"""


class Attack(Struct, frozen=True, forbid_unknown_fields=True):
    """A row of `attacks.toml`, which says what each field is."""

    name: str
    control: str
    python: str = ""
    sh: str = ""
    c: str = ""
    root: bool = False
    lists: str = ""
    machine: str = ""
    because: str = ""
    may_lack: str = ""

    def words(self, binary: str) -> list[str]:
        """Return the program that tries it."""
        if self.python:
            return [PYTHON, "-c", _PRELUDE + self.python]
        return ["/bin/bash", "-c", self.sh] if self.sh else [binary, self.c]

    @property
    def fits(self) -> bool:
        """Return whether this machine can try it."""
        return self.machine in ("", platform.machine()) and (
            not self.c or shutil.which("cc") is not None
        )

    @property
    def has_control(self) -> bool:
        """Return whether it can succeed for this user where the wall is missing."""
        return self.control != "none" and (not self.root or os.geteuid() == 0)


class Attempt(Struct, frozen=True):
    """What came of an attack.

    Attributes:
        held: What a held command achieved.
        control: What it achieved without the wall.
        output: What the held command printed.
        control_output: What it printed without the wall.
        ran: Whether the held command ran.
        listed: The paths that the layer lists afterwards.
    """

    held: tuple[str, ...]
    control: tuple[str, ...]
    output: str
    control_output: str
    ran: bool
    listed: tuple[str, ...]


def attacks() -> list[Attack]:
    """Return the attacks that this machine can try."""
    table = tomllib.loads((_HERE / "attacks.toml").read_text())
    found = [msgspec.convert(row, Attack) for row in table["attack"]]
    return [each for each in found if each.fits]


def tried_here(
    rows: Sequence[Attack], *, controls: bool, place: str | None = None
) -> dict[str, Attempt]:
    """Try attacks as this user.

    Args:
        rows: The attacks.
        controls: Whether to try them without the wall, too.
        place: Where the worlds are.
    """
    with tempfile.TemporaryDirectory(dir=place or place_of_worlds()) as folder:
        binary = _compiled(folder)

        def tried(attack: Attack) -> Attempt:
            return _tried(attack, binary, controls=controls, place=place)

        with ThreadPoolExecutor(_AT_A_TIME) as pool:
            return dict(zip([each.name for each in rows], pool.map(tried, rows), strict=True))


def tried_as_other_user(rows: Sequence[Attack]) -> dict[str, Attempt]:
    """Try attacks held as a user who has no rights; this user has to be root."""

    def tried(place: str) -> bytes:
        return msgspec.json.encode(tried_here(rows, controls=False, place=place))

    return msgspec.json.decode(told_by_other_user(tried), type=dict[str, Attempt])


def _tried(attack: Attack, binary: str, *, controls: bool, place: str | None) -> Attempt:
    words = attack.words(binary)
    with World(place) as world:
        output, status, layer = world.held(words)
        held = world.damage(output)
        listed = tuple(each.path for manifest in layer.manifests() for each in manifest.changes)
    control: list[str] = []
    control_output = ""
    if controls and attack.has_control:
        with World(place) as world:
            control_output = world.elsewhere(attack.control, words)
            control = world.damage(control_output)
    return Attempt(tuple(held), tuple(control), output, control_output, status is not None, listed)


def _compiled(folder: str) -> str:
    binary = f"{folder}/attacks"
    os.chmod(folder, 0o755)
    if shutil.which("cc"):
        subprocess.run(
            ["cc", "-O1", "-o", binary, str(_HERE / "attacks.c")],
            env={**os.environ, "TMPDIR": folder},
            check=True,
        )
    return binary
