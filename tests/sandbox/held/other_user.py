"""Does something as a user who has no rights, in a process of its own."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable

from tests.sandbox.held.world import OTHER_USER, place_of_worlds

__all__ = ["told_by_other_user"]


def told_by_other_user(work: Callable[[str], bytes]) -> bytes:
    """Return what a function returns to a user who has no rights; this user has to be root.

    Args:
        work: Gets a directory that belongs to the other user.
    """
    place = tempfile.mkdtemp(prefix="held-", dir=place_of_worlds())
    os.chown(place, OTHER_USER, OTHER_USER)
    end, their_end = os.pipe()
    child = os.fork()
    if child == 0:
        _work_and_tell(work, place, their_end)
    os.close(their_end)
    with open(end, "rb") as file:
        data = file.read()
    os.waitpid(child, 0)
    shutil.rmtree(place, ignore_errors=True)
    return data


def _work_and_tell(work: Callable[[str], bytes], place: str, end: int) -> None:
    """Become the other user, do the work, write what came of it, and end."""
    try:
        os.setgroups([])
        os.setresgid(OTHER_USER, OTHER_USER, OTHER_USER)
        os.setresuid(OTHER_USER, OTHER_USER, OTHER_USER)
        tempfile.tempdir = place
        _forget_rights()
        found = work(place)
        with open(end, "wb") as file:
            file.write(found)
    except BaseException as error:
        sys.stderr.write(f"{error!r}\n")
    os._exit(0)


def _forget_rights() -> None:
    from agentscope_like.sandbox.isolation import bubblewrap

    bubblewrap._own_rights.cache_clear()
    bubblewrap.bubblewrap_objection.cache_clear()
