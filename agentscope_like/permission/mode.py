"""Permission modes of a session, and the behaviours of rules and decisions."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import Struct

__all__ = ["ModeProperties", "PermissionBehavior", "PermissionMode"]


class ModeProperties(Struct, frozen=True):
    """What a mode means; the engine and the tools read these properties, never the mode's name.

    Attributes:
        reads_run: Whether calls that are proven to read run, whatever the tool.
        edits_run: Whether edits inside the working directories run.
        only_reads: Whether every call is denied that is not proven to read.
        safety_asks: Whether a safety check asks.
        otherwise: The decision about a call that no other row settled. If it is "deny", every call
            that would ask is denied.
    """

    reads_run: bool = False
    edits_run: bool = False
    only_reads: bool = False
    safety_asks: bool = True
    otherwise: Literal["ask", "allow", "deny"] = "ask"


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

    properties: ModeProperties
    """What the mode means."""


PermissionMode.DEFAULT.properties = ModeProperties()
PermissionMode.ACCEPT_EDITS.properties = ModeProperties(reads_run=True, edits_run=True)
PermissionMode.EXPLORE.properties = ModeProperties(reads_run=True, only_reads=True)
PermissionMode.BYPASS.properties = ModeProperties(safety_asks=False, otherwise="allow")
PermissionMode.DONT_ASK.properties = ModeProperties(
    reads_run=True, edits_run=True, otherwise="deny"
)


class PermissionBehavior(StrEnum):
    """The behaviour of a rule or decision; a tool's own check may also return PASSTHROUGH."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"
    PASSTHROUGH = "passthrough"
