"""Sets the resource limits of a sandbox's processes."""

from __future__ import annotations

import os
import resource

from msgspec import Struct

__all__ = ["Limits", "descendants", "family_of"]


class Limits(Struct, frozen=True, kw_only=True):
    """Resource limits: for each process, and for the number of processes in the sandbox.

    Attributes:
        cpu_seconds: Processor time of a process; SIGXCPU, then SIGKILL ends it.
        memory_bytes: Address space of a process.
        processes: Processes and threads of the sandbox. The kernel does not limit those of root;
            they are counted here, and the sandbox is ended when it has more.
        file_bytes: Maximum size of a file that is written.
    """

    cpu_seconds: int
    memory_bytes: int
    processes: int
    file_bytes: int

    @property
    def needs_watching(self) -> bool:
        """Return whether the number of processes has to be counted here, not by the kernel."""
        return os.geteuid() == 0

    def impose(self, pid: int) -> None:
        """Set the limits of a process and of all processes that it starts from now on.

        Raises:
            OSError: The process has ended.
        """
        for kind, soft, hard in (
            (resource.RLIMIT_CPU, self.cpu_seconds, self.cpu_seconds + 1),
            (resource.RLIMIT_AS, self.memory_bytes, self.memory_bytes),
            (resource.RLIMIT_NPROC, self.processes, self.processes),
            (resource.RLIMIT_FSIZE, self.file_bytes, self.file_bytes),
            (resource.RLIMIT_CORE, 0, 0),
        ):
            most = resource.prlimit(pid, kind)[1]
            ceiling = hard if most == resource.RLIM_INFINITY else min(hard, most)
            resource.prlimit(pid, kind, (min(soft, ceiling), ceiling))


def descendants(pid: int, most: int) -> int:
    """Return the number of processes and threads descended from a process, up to `most`."""
    return family_of(pid, most)[1]


def family_of(pid: int, most: int) -> tuple[list[int], int]:
    """Return a process with its descendants, and how many threads they have, up to `most`."""
    family, found = [], 0
    waiting = [pid]
    while waiting and found <= most:
        parent = waiting.pop()
        family.append(parent)
        try:
            threads = os.listdir(f"/proc/{parent}/task")
            found += len(threads)
            for thread in threads:
                with open(f"/proc/{parent}/task/{thread}/children", "rb") as file:
                    waiting += [int(child) for child in file.read().split()]
        except OSError:
            continue
    return family, found
