"""The rules with which a session of the program starts: the file tools read the project."""

from __future__ import annotations

from agentscope_like.permission import PermissionBehavior, PermissionMode, PermissionRule

__all__ = ["WORKSPACE_SOURCE", "told_reads", "workspace_reads"]

WORKSPACE_SOURCE = "workspace"
"""The `source` of these rules."""

_READERS = ("Read", "Glob", "Grep")


def workspace_reads() -> tuple[PermissionRule, ...]:
    """Return rules by which files inside the project are read and searched unasked.

    Bash reads there unasked as well. Credentials are asked about in spite of these rules, and deny
    and ask rules are stronger.
    """
    return tuple(
        PermissionRule.parse(f"{name}(**)", PermissionBehavior.ALLOW, source=WORKSPACE_SOURCE)
        for name in _READERS
    )


def told_reads(mode: PermissionMode, *, ask_reads: bool) -> str | None:
    """Return what a person is told of these rules as the session starts, if anything."""
    if mode is not PermissionMode.DEFAULT:
        return None
    if ask_reads:
        return "Read, Glob and Grep ask before each call"
    return "files of the project are read unasked, except credentials; --ask-reads asks about each"
