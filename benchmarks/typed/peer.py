"""openhands-sdk, in an environment of its own that is made on demand."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["PEER_VERSION", "PeerError", "peer_python"]

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / ".venv-openhands"
PEER_VERSION = "1.58.0"
_WANTED = "3.12"


class PeerError(Exception):
    """The environment cannot be made; the message says why."""


def peer_python() -> str:
    """Return the interpreter that has openhands-sdk, which is installed where it is missing.

    Raises:
        PeerError: There is no Python 3.12, or the packages cannot be installed.
    """
    python, ready = PLACE / "bin" / "python", PLACE / ".ready"
    if ready.exists():
        return str(python)
    base = _python312()
    print(f"installing openhands-sdk {PEER_VERSION} into {PLACE.name} ...", file=sys.stderr)
    packages = [f"openhands-{name}=={PEER_VERSION}" for name in ("sdk", "tools")]
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    try:
        subprocess.run([base, "-m", "venv", str(PLACE)], check=True)
        subprocess.run([*pip, *packages], check=True, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError) as error:
        raise PeerError(f"openhands-sdk {PEER_VERSION} cannot be installed: {error}") from error
    ready.touch()
    return str(python)


def _python312() -> str:
    """Return a Python 3.12: of the path, or of pyenv.

    Raises:
        PeerError: There is none.
    """
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    kept = sorted(str(one) for one in versions.glob(f"{_WANTED}*/bin/python{_WANTED}"))
    for name in [*kept, shutil.which(f"python{_WANTED}")]:
        if name is not None and _is_wanted(name):
            return name
    raise PeerError(f"there is no Python {_WANTED} here, which openhands-sdk needs")


def _is_wanted(python: str) -> bool:
    done = subprocess.run([python, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.startswith(f"Python {_WANTED}")
