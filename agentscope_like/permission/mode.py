"""Modes of a session, and what a decision can say."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["PermissionBehavior", "PermissionMode"]


class PermissionMode(StrEnum):
    """How much an agent may do without asking.

    Attributes:
        DEFAULT: Proven reads of the shell run; everything else that no rule allows asks.
        ACCEPT_EDITS: Reads, and edits inside the working directories, run as well.
        EXPLORE: Only what is proven to read runs; all else is denied.
        BYPASS: Everything runs but what a deny rule forbids or an ask rule stops.
        DONT_ASK: Nobody is there to answer: what would ask is denied.
    """

    DEFAULT = "default"
    ACCEPT_EDITS = "accept_edits"
    EXPLORE = "explore"
    BYPASS = "bypass"
    DONT_ASK = "dont_ask"


class PermissionBehavior(StrEnum):
    """What a rule or a decision says of a call; a tool's own check may also pass it on."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"
    PASSTHROUGH = "passthrough"
