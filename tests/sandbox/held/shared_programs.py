"""Lets all users reach the programs that root has in its home, for one process."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile

__all__ = ["share_programs"]

_NEW_MOUNTS = 0x20000  # CLONE_NEWNS


def share_programs() -> None:
    """Show of this user's home, to this process and its children, only programs, to all users.

    So the same commands are measured with the same programs as root and as another user. It needs
    root, and a process with one thread. The home itself is as before for everybody else.

    Raises:
        OSError: The kernel refuses.
    """
    home = os.path.realpath(os.path.expanduser("~"))
    places = [*os.get_exec_path(), sys.base_prefix, f"{home}/.rustup"]
    below = [each[len(home) + 1 :].partition("/")[0] for each in places if _is_in(each, home)]
    names = sorted({name for name in below if os.path.isdir(f"{home}/{name}")})
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_MOUNTS) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    _mount("--make-rprivate", "/")
    shown = tempfile.mkdtemp()
    _mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", shown)
    for name in names:
        os.mkdir(f"{shown}/{name}")
        _mount("--bind", f"{home}/{name}", f"{shown}/{name}")
    _mount("--rbind", shown, home)


def _is_in(path: str, directory: str) -> bool:
    return path.startswith(f"{directory}/")


def _mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)
