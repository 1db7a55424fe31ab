"""Ends commands whose parent program was killed before it could end them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import weakref

from agentscope_like.sandbox.host.programs import find_bash

__all__ = ["OrphanGuard"]

# Reads which process groups there are, `+ID` for a new one and `-ID` for one that has ended, until
# the program that writes them is gone, for whatever reason.
_SCRIPT = """\
groups=' '
while read -r line; do
  id=${line#?}
  case $line in
    +*) groups="$groups$id " ;;
    -*) groups="${groups%% $id *} ${groups#* $id }" ;;
  esac
done
case $groups in *[0-9]*) ;; *) exit ;; esac
for id in $groups; do kill -TERM -- "-$id"; done
sleep 1
for id in $groups; do kill -KILL -- "-$id"; done
"""


class OrphanGuard:
    """Ends the process groups that it watches when this program exits, crashes or is killed.

    A small bash in its own session waits for the end of a pipe that only this program holds open.
    That works on every system and however this program ends. Processes that left their group are
    not reached. The bash is started with the first group, and ends with the guard.
    """

    def __init__(self) -> None:
        self._pipe: int | None = None

    def watch(self, group: int) -> None:
        """End the process group if this program dies before `forget`."""
        if self._pipe is None:
            self._pipe = self._start()
        self._tell(f"+{group}\n")

    def forget(self, group: int) -> None:
        """Stop watching a process group that has ended."""
        self._tell(f"-{group}\n")

    def _start(self) -> int:
        """Start the guarding process; return -1 if it fails, which does not stop commands."""
        bash = find_bash()
        if bash is None:
            return -1
        theirs, mine = os.pipe()
        try:
            process = subprocess.Popen(
                [bash, "--norc", "--noprofile", "-c", _SCRIPT],
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={"PATH": "/usr/bin:/bin"},
                cwd="/",
                start_new_session=True,
            )
        except OSError:
            os.close(mine)
            return -1
        finally:
            os.close(theirs)
        os.set_blocking(mine, False)
        weakref.finalize(self, _end, process, mine)
        return mine

    def _tell(self, line: str) -> None:
        if self._pipe is not None and self._pipe >= 0:
            with contextlib.suppress(OSError):  # somebody killed the guard, or stopped it
                os.write(self._pipe, line.encode())


def _end(process: subprocess.Popen[bytes], pipe: int) -> None:
    os.close(pipe)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(1)
