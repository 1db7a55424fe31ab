"""Builds the bubblewrap options of a profile, and checks whether bubblewrap works here."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import subprocess
import tempfile
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from agentscope_like.sandbox.host import find_bubblewrap
from agentscope_like.sandbox.isolation.profile import EVERYTHING, FORGOTTEN, Profile
from agentscope_like.sandbox.isolation.seccomp import seccomp_program

__all__ = [
    "bubblewrap_objection",
    "diverted_mount",
    "empty_directories",
    "options",
    "system_paths",
    "usable_devices",
]

_APART = (
    *("--unshare-user", "--unshare-all", "--new-session", "--die-with-parent"),
    *("--cap-drop", "ALL", "--hostname", "sandbox"),
)
_NO_NAMESPACE = re.compile(
    r"creat(?:e|ing) new namespace|uid map|Failed RTM_NEWADDR", re.IGNORECASE
)
"""What bubblewrap says where namespaces are refused; the last one, where AppArmor takes the rights
within them."""

_RIGHTS = {
    "CAP_CHOWN": 0,
    "CAP_DAC_OVERRIDE": 1,
    "CAP_DAC_READ_SEARCH": 2,
    "CAP_FOWNER": 3,
    "CAP_FSETID": 4,
    "CAP_SYS_ADMIN": 21,
}
"""Capabilities by which root has its way with files, and makes namespaces (linux/capability.h)."""

_SECONDS = 20

_MOST_FORGOTTEN = 1 << 30
"""How many bytes of memory a held command can leave in its `/dev/shm`."""


def options(profile: Profile, *, directory: str, environment: Mapping[str, str]) -> list[str]:
    """Return bwrap's options for running a command within the profile.

    A mount below another one comes after it, whatever the order in the profile. So no mount covers
    another, and an empty `/tmp` does not hide a workspace in `/tmp`.

    Args:
        profile: What the command may touch.
        directory: Where it starts, as it knows the path.
        environment: All of its variables. bwrap must read them through `--args`, since every user
            can see a command line.
    """
    arguments = [*_namespaces(profile), "--clearenv"]
    for name, value in environment.items():
        arguments += ["--setenv", name, value]
    placements = {
        **_devices(profile),
        **_kernel(profile),
        **{path: _seen(path) for path in profile.read},
        **{
            mount.mount_path: _mounted(mount.host_path, mount.mount_path, mount.read_only)
            for mount in profile.mounts
        },
        **{path: _mounted(path, path, read_only=False) for path in profile.write},
        **{path: _mounted(path, path, read_only=True) for path in profile.keep},
        **{path: _emptied(path) for path in profile.hide},
    }
    empty = [path for path in profile.empty if os.path.isdir(path)]
    placements |= {path: ["--tmpfs", path] for path in empty}
    if profile.temporary is not None:
        placements["/tmp"] = ["--bind", profile.temporary, "/tmp"]  # noqa: S108 - the sandbox's
    for path in sorted(placements, key=lambda path: path.rstrip("/").split("/")):
        arguments += placements[path]
    for path in empty:
        arguments += ["--remount-ro", path]
    if profile.held:
        arguments += ["--remount-ro", "/dev"]
    if EVERYTHING not in profile.read:
        arguments += ["--remount-ro", "/"]
    return [*arguments, "--chdir", directory]


def _namespaces(profile: Profile) -> list[str]:
    """Return the options for a command's namespaces and for the capabilities that it keeps.

    A native command that cannot make sockets gets no network namespace, which is the slowest to
    make. Nor does it die with the thread that started it, so that a caller who does not wait for
    its end leaves its child processes a moment to end by themselves.
    """
    if not profile.native:
        return [*_APART, *(["--share-net"] if profile.network else [])]
    arguments = ["--unshare-ipc", "--cap-drop", "ALL"]
    own = _own_rights()
    if "CAP_SYS_ADMIN" in own:
        for right in sorted(own & _needed_rights(own, writes=bool(profile.write))):
            arguments += ["--cap-add", right]
    else:
        arguments.append("--unshare-user")
    if not profile.processes:
        arguments.append("--unshare-pid")
    if profile.held:
        arguments.append("--die-with-parent")
    if profile.held or (profile.sockets and not profile.network):
        arguments.append("--unshare-net")
    return arguments


def _needed_rights(own: frozenset[str], *, writes: bool) -> frozenset[str]:
    if writes:
        return own - {"CAP_SYS_ADMIN"}
    reading = "CAP_DAC_READ_SEARCH"
    return frozenset({reading if reading in own else "CAP_DAC_OVERRIDE"})


@cache
def _own_rights() -> frozenset[str]:
    """Return those of the capabilities that this process has; none if it is not root."""
    if os.geteuid() != 0:
        return frozenset()
    with contextlib.suppress(OSError), open("/proc/self/status") as file:
        for line in file:
            if line.startswith("CapEff:"):
                bits = int(line.split()[1], 16)
                return frozenset(name for name, bit in _RIGHTS.items() if bits >> bit & 1)
    return frozenset()


def _devices(profile: Profile) -> dict[str, list[str]]:
    if profile.held:
        return {
            "/dev": ["--dev", "/dev"],
            FORGOTTEN: ["--size", str(_MOST_FORGOTTEN), "--tmpfs", FORGOTTEN],
        }
    if not profile.devices:
        return {"/dev": ["--dev", "/dev"]}
    usable = usable_devices()
    return {"/dev": _seen("/dev")} | {
        path: ["--dev-bind", path, path] for path in usable if os.path.exists(path)
    }


def usable_devices() -> list[str]:
    """Return the devices that a command can write to."""
    return [f"/dev/{name}" for name in _system()["devices"]]


def _kernel(profile: Profile) -> dict[str, list[str]]:
    if profile.processes:
        return {"/proc": _seen("/proc")}
    files = _kernel_files() if os.geteuid() == 0 else ()  # others may not write to them anyway
    return {"/proc": ["--proc", "/proc"], **{path: _seen(path) for path in files}}


@cache
def _kernel_files() -> tuple[str, ...]:
    return tuple(path for path in _system()["kernel"] if os.path.exists(path))


def diverted_mount(profile: Profile) -> str | None:
    """Return a path that would be mounted elsewhere than the profile says, or None.

    Mounting follows symlinks. A command can put one on the way to another mount, in a directory
    that it may write to.
    """
    mounts = [(each.host_path, each.mount_path, each.read_only) for each in profile.mounts]
    mounts += [(path, path, False) for path in profile.write]
    if profile.temporary is not None:
        mounts.append((profile.temporary, "/tmp", False))  # noqa: S108 - the sandbox's
    inside = sorted(place for _, place, _ in mounts)
    for host, outer, read_only in mounts:
        for path in () if read_only else inside:
            if path.startswith(f"{outer}/"):
                place = host
                for name in path[len(outer) + 1 :].split("/"):
                    place = os.path.join(place, name)
                    if os.path.islink(place):
                        return path
    return None


def _seen(path: str) -> list[str]:
    if os.path.islink(path) and os.path.dirname(path) == "/":
        return ["--symlink", os.readlink(path), path]
    return ["--ro-bind-try", path, path]


def _mounted(host: str, inside: str, read_only: bool) -> list[str]:
    return ["--ro-bind" if read_only else "--bind", host, inside]


def _emptied(path: str) -> list[str]:
    if os.path.isdir(path) or not os.path.exists(path):
        return ["--tmpfs", path]
    return ["--ro-bind", os.devnull, path]


def system_paths() -> tuple[str, ...]:
    """Return the system paths of the host that a sandbox sees."""
    table = _system()
    return tuple(
        path for path in table["programs"] + table["configuration"] if os.path.lexists(path)
    )


def empty_directories() -> tuple[str, ...]:
    """Return the paths at which a sandbox has empty directories of its own."""
    return tuple(_system()["empty"])


@cache
def _system() -> dict[str, list[str]]:
    text = files(__package__).joinpath("system.toml").read_text("utf-8")
    return tomllib.loads(text)


@cache
def bubblewrap_objection(*, native: bool = False) -> str | None:
    """Return why bubblewrap cannot isolate commands here, or None.

    The first call in a process tries it with a real program, and blocks meanwhile.

    Args:
        native: Whether native profiles are meant.
    """
    bwrap = find_bubblewrap()
    if bwrap is None:
        return "there is no bwrap (Debian: apt-get install bubblewrap)"
    program = seccomp_program()
    if program is None:
        return f"the system calls of {platform.machine()} are not known to this version"
    profile = Profile(read=(EVERYTHING,) if native else system_paths(), native=native)
    tried = options(profile, directory="/", environment={})
    with tempfile.TemporaryFile() as filter_file:
        filter_file.write(program)
        filter_file.seek(0)
        number = filter_file.fileno()
        try:
            done = subprocess.run(
                [bwrap, *tried, "--seccomp", str(number), "--", "/usr/bin/env", "true"],
                pass_fds=(number,),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"bwrap does not run: {error}"
    return None if done.returncode == 0 else _advised(done.stderr.strip()[-300:])


def _advised(said: str) -> str:
    """Return what bwrap said, with the usual remedy."""
    if _NO_NAMESPACE.search(said):
        return (
            f"{said}. The kernel does not let this user make namespaces: allow it "
            "(sysctl kernel.unprivileged_userns_clone=1, an AppArmor profile for bwrap, or in a "
            "container --security-opt seccomp=unconfined)"
        )
    return said or "bwrap fails without saying why"
