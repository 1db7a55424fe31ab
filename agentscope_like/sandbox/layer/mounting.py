"""Mounts layers over working directories for one program, and finds out whether that works."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from agentscope_like.sandbox.host import find_bash
from agentscope_like.sandbox.layer.layer import Layer, LayerDescriptors

__all__ = ["layer_objection", "mounting_words"]

_SECONDS = 20
_OPTIONS = {
    True: "redirect_dir=off,index=off,metacopy=off,xino=off",
    False: "userxattr,redirect_dir=nofollow,index=off,metacopy=off,xino=off",
}
"""For root, and for others, who may not set attributes of the system."""

_UNSHARE = "unshare"
_MOUNT = "mount"
_SETPRIV = "setpriv"
_DIRECTORIES = ("/usr/bin", "/bin", "/usr/sbin", "/sbin")

# overlayfs takes directories of its own mount namespace only, so each one is opened again there,
# and must be the one that the descriptor names. All are closed before anything else starts: what
# holds the upper directory could write to the layer past the kernel's profile.
_SCRIPT = """\
set -e
options=$1 mount=$2 setpriv=$3 count=$4
shift 4
opened_here() {
  exec {opened}<"$2"
  [ "/proc/self/fd/$1" -ef "/proc/self/fd/$opened" ]
  eval "exec $1>&-"
}
for ((number = 0; number < count; number++)); do
  opened_here "$1" "$2"; lower=$opened
  opened_here "$3" "$4"; upper=$opened
  opened_here "$5" "$6"; work=$opened
  place=/proc/self/fd
  "$mount" -t overlay overlay \
    -o "$options,lowerdir=$place/$lower,upperdir=$place/$upper,workdir=$place/$work" "$place/$lower"
  eval "exec $lower>&- $upper>&- $work>&-"
  shift 6
done
cd /
exec "$setpriv" --inh-caps=-all --ambient-caps=-all -- "$@"
"""


def mounting_words(layers: Sequence[LayerDescriptors]) -> tuple[str, ...]:
    """Return the words before a program that mount layers over working directories for it alone.

    The program inherits the descriptors of the layers and closes them. It starts in `/`, with the
    caller's user and no capabilities but root's own.

    Args:
        layers: The open directories of each mount.
    """
    is_root = os.geteuid() == 0
    unshare = _program(_UNSHARE) or _UNSHARE
    mount = _program(_MOUNT) or _MOUNT
    setpriv = _program(_SETPRIV) or _SETPRIV
    apart = () if is_root else ("--user", "--map-current-user", "--keep-caps")
    places = [
        word
        for one in layers
        for each in one.numbers
        for word in (str(each), os.readlink(f"/proc/self/fd/{each}"))
    ]
    return (
        *(unshare, *apart, "--mount", "--propagation", "private", "--"),
        *(find_bash() or "bash", "--norc", "--noprofile", "-c", _SCRIPT, "layer"),
        *(_OPTIONS[is_root], mount, setpriv, str(len(layers)), *places),
    )


def layer_objection(store: Path, directories: Sequence[str], *, home: str) -> str | None:
    """Return why no layers can be had over these working directories, or None.

    It mounts a layer for a real program, and blocks meanwhile.

    Args:
        store: The folder of all layers.
        directories: The working directories.
        home: The home directory of the user.
    """
    places = [os.path.realpath(each) for each in directories]
    own = os.path.realpath(store)
    for place in places:
        if place in {"/", os.path.realpath(home)}:
            return f"{place} is a working directory: choose the directory of a project"
        if _is_within(own, place):
            return f"{own}, where layers are kept, lies in the working directory {place}"
    for point in _mount_points():
        for place in places:
            if point != place and _is_within(point, place):
                return f"{point}, in the working directory {place}, is a mount of its own"
    for name in (_UNSHARE, _MOUNT, _SETPRIV):
        if _program(name) is None:
            return f"there is no {name} (Debian: apt-get install util-linux mount)"
    return _tried(store)


def _tried(store: Path) -> str | None:
    """Return why a real program cannot write to a layer, or None."""
    store.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=store) as scratch:
        lower = Path(scratch, "lower")
        lower.mkdir()
        layer = Layer.make(Path(scratch), [str(lower)])
        try:
            with layer.descriptors() as opened:
                numbers = [each for one in opened for each in one.numbers]
                done = subprocess.run(
                    [*mounting_words(opened), "/usr/bin/env", "touch", str(lower / "written")],
                    pass_fds=numbers,
                    env={},
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=_SECONDS,
                    check=False,
                )
            if done.returncode != 0:
                return done.stderr.strip()[-300:] or f"it ends with status {done.returncode}"
            (manifest,) = layer.manifests()
            if manifest.at("written") is None or (lower / "written").exists():
                return "what a program writes does not go to the layer"
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        finally:
            layer.drop()
    return None


def _program(name: str) -> str | None:
    """Return the system's program of that name, whatever PATH says."""
    for directory in _DIRECTORIES:
        path = f"{directory}/{name}"
        if os.access(path, os.X_OK):
            return path
    return None


def _is_within(path: str, directory: str) -> bool:
    return path == directory or path.startswith(f"{directory.rstrip('/')}/")


def _mount_points() -> list[str]:
    """Return where something is mounted, from mountinfo (proc(5))."""
    try:
        with open("/proc/self/mountinfo", "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return []
    escaped = [line.split()[4].decode("unicode_escape") for line in lines]
    return [os.fsdecode(point.encode("latin-1")) for point in escaped]
