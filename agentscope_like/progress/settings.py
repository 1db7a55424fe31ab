"""How progress is gathered, and whether at all."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

__all__ = ["ProgressSettings"]

_PREFIXES = ("AGENTSCOPE_LIKE_", "SAGE_")
_OFF = frozenset({"0", "false", "no", "off"})
_INTERVAL_MS = 50
_FLUSH_BYTES = 16_384


class ProgressSettings(Struct, frozen=True):
    """How the progress of a call is gathered (seed 000, 12, "Coalescing / throttling").

    Attributes:
        enabled: Whether there is any.
        flush_interval: Seconds from the first text of an event until it is sent; 0 sends each text
            by itself.
        flush_bytes: Bytes in UTF-8 from which on an event is sent at once.
    """

    enabled: bool = True
    flush_interval: float = _INTERVAL_MS / 1000
    flush_bytes: int = _FLUSH_BYTES

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> ProgressSettings:
        """Return what the environment says.

        Each variable is looked for with the prefix `AGENTSCOPE_LIKE_` and, if it is not there,
        with `SAGE_`. What cannot be read counts as not said.

        Args:
            environment: `TOOL_PROGRESS_ENABLED` (off: `0`, `false`, `no`, `off`),
                `TOOL_PROGRESS_FLUSH_INTERVAL_MS` (50) and `TOOL_PROGRESS_FLUSH_BYTES` (16384), each
                behind a prefix; by default, that of this process.
        """
        given = os.environ if environment is None else environment
        flush_bytes = _number(given, "TOOL_PROGRESS_FLUSH_BYTES", _FLUSH_BYTES)
        return cls(
            enabled=_said(given, "TOOL_PROGRESS_ENABLED").lower() not in _OFF,
            flush_interval=max(_number(given, "TOOL_PROGRESS_FLUSH_INTERVAL_MS", _INTERVAL_MS), 0)
            / 1000,
            flush_bytes=flush_bytes if flush_bytes > 0 else _FLUSH_BYTES,
        )


def _said(environment: Mapping[str, str], name: str) -> str:
    for prefix in _PREFIXES:
        if said := environment.get(prefix + name, "").strip():
            return said
    return ""


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    try:
        return int(_said(environment, name))
    except ValueError:
        return default
