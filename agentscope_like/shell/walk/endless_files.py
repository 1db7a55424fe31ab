"""Files whose reading may never end: devices, and what waits for the kernel to tell more."""

from __future__ import annotations

import re

from agentscope_like.paths import fixed_ends
from agentscope_like.shell.analysis import Effect
from agentscope_like.shell.draft import shortened

__all__ = ["read_doubt"]

_ENDLESS = re.compile(
    r"/dev(/(?!(null|stdin|stdout|stderr|fd/[0-9]+)$).*)?"
    r"|/proc/(kmsg|acpi/event|.+/(root|cwd)/.*)"
    r"|/sys/kernel/(debug/)?tracing/(.*/)?trace_pipe(_raw)?"
    r"|(/var)?/run/initctl",
    re.DOTALL,
)
"""Devices, what waits for the kernel to tell more (proc(5)), and ways to them."""
_BEGINNING = re.compile(r"/dev(/(?!fd/)|$)")
_ENDLESS_FILES: tuple[tuple[str, ...], ...] = (
    ("proc", "kmsg"),
    ("proc", "acpi", "event"),
    ("run", "initctl"),
    ("var", "run", "initctl"),
)
_ENDLESS_FOLDERS: tuple[tuple[str, ...], ...] = (
    ("dev",),
    ("proc", "", "root"),
    ("proc", "", "cwd"),
    ("sys", "kernel", "tracing"),
    ("sys", "kernel", "debug", "tracing"),
)
"""The same for patterns, as names, of which an empty one is any: all that is below counts."""
_DEVICE = re.compile(
    r".*/(u?random|zero|full|tty\w*|console|kmsg|k?mem|port|[hsv]d[a-z]\w*)", re.DOTALL
)
"""How a path ends that is a device's if it begins with `/dev`, which nobody knows."""


def read_doubt(effect: Effect) -> str | None:
    """Return why reading the content of a path is not known to be harmless: it is a device."""
    path = effect.path
    if path is None:
        begins = _BEGINNING.match(effect.start) is not None
        device = begins or _DEVICE.fullmatch(effect.end) is not None
    else:
        device = any(map(_ENDLESS.fullmatch, (path, effect.walked)))
        device = device or (effect.glob and _may_be_endless(path))
    if not device:
        return None
    return f"reading the device `{shortened(effect.target)}` may never end, or may disturb it"


def _may_be_endless(pattern: str) -> bool:
    """Return whether a pattern may match what is endless, or a folder of it, but for `/*`.

    Which devices end is not asked about.
    """
    names = pattern.split("/")[1:]
    places = [each for each in _ENDLESS_FILES if len(each) == len(names)]
    places += [each for each in _ENDLESS_FOLDERS if len(each) <= len(names)]
    return names != ["*"] and any(all(map(_may_be, names, place)) for place in places)


def _may_be(glob: str, name: str) -> bool:
    """Return whether a pattern may match a name, by what it begins and ends with."""
    if not name or glob == name:
        return True
    start, end = fixed_ends(glob)
    return len(start) < len(glob) and name.startswith(start) and name.endswith(end)
