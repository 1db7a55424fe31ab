"""The bundled MCP server `time`: what time it is, here and elsewhere."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agentscope_like.mcp.bundled.registry import mcp_tool

__all__ = ["convert_time", "current_time", "time_between"]


@mcp_tool("time", read_only=True)
def current_time(timezone: str = "UTC") -> str:
    """Return the time now, in ISO 8601, with the weekday.

    timezone: a name such as Europe/Berlin; UTC by default.
    """
    return _told(datetime.now(_zone(timezone)))


@mcp_tool("time", read_only=True)
def convert_time(time: str, to_timezone: str, from_timezone: str = "UTC") -> str:
    """Return a time as clocks in another timezone show it.

    time: in ISO 8601, such as 2026-03-29T02:30; an offset in it counts more than from_timezone.
    """
    return _told(_read(time, from_timezone).astimezone(_zone(to_timezone)))


@mcp_tool("time", read_only=True)
def time_between(start: str, end: str, timezone: str = "UTC") -> str:
    """Return how much time lies between two times, in ISO 8601.

    timezone: the one of times without an offset.
    """
    passed = _read(end, timezone) - _read(start, timezone)
    sign = "-" if passed < timedelta() else ""
    return f"{sign}{abs(passed)} ({passed.total_seconds():.0f} seconds)"


def _read(text: str, timezone: str) -> datetime:
    try:
        read = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is no time in ISO 8601, such as 2026-03-29T02:30") from error
    placed = read if read.tzinfo is not None else read.replace(tzinfo=_zone(timezone))
    return placed.astimezone(UTC)  # between two times of one zone, Python ignores its changes


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"there is no timezone {name!r}; one is Europe/Berlin") from error


def _told(time: datetime) -> str:
    return f"{time.isoformat(timespec='seconds')} ({time:%A})"
