"""Lists every program of the catalog that the project could steer, and what is done about it.

python -m tests.steered_list            programs that a file, a variable or a helper steers
python -m tests.steered_list --all      all programs, each with its reason
python -m tests.steered_list NAME ...   these programs
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from agentscope_like.shell.catalog import Steering, canonical, names, steered_by

__all__ = ["listed"]


def listed(programs: Sequence[str] = (), *, everything: bool = False) -> Iterator[str]:
    """Yield the lines of the list.

    Args:
        programs: The programs; by default, all of the catalog.
        everything: Whether programs that nothing of a project steers are among them.
    """
    for name in sorted(map(canonical, programs or names())):
        records = steered_by(name)
        if not (programs or everything or any(each.file or each.variables for each in records)):
            continue
        yield name
        for record in records:
            commands = [each for each in record.commands if each.split()[0] == name]
            if commands and name not in commands:
                yield f"    {', '.join(commands)}:"
            yield from (f"    {line}" for line in _told(record))


def _told(record: Steering) -> Iterator[str]:
    for file in record.file:
        known = " unless known to be harmless" if file.harmless_if is not None else ""
        yield f"asks about {', '.join(file.all_names)}{known}: it {record.steers}"
    if record.variables:
        yield f"asks about {', '.join(record.variables.split())}, if of the project"
    for name, value in record.off.items():
        yield f"sets {name}={value}"
    if record.harmless:
        yield f"else nothing: {' '.join(record.harmless.split())}"


if __name__ == "__main__":
    words = sys.argv[1:]
    wanted = [word for word in words if word != "--all"]
    print(*listed(wanted, everything="--all" in words), sep="\n")  # noqa: T201
