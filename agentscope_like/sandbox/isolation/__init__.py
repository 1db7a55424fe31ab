"""Isolates commands by the kernel: their profiles, and the programs that enforce them."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.sandbox.isolation.bubblewrap import bubblewrap_objection
    from agentscope_like.sandbox.isolation.confinement import Confinement
    from agentscope_like.sandbox.isolation.connection_watch import Attempt, ConnectionWatch
    from agentscope_like.sandbox.isolation.landlock import INTERPRETER
    from agentscope_like.sandbox.isolation.limits import family_of
    from agentscope_like.sandbox.isolation.local import LocalSandbox
    from agentscope_like.sandbox.isolation.profile import FORGOTTEN, Confine, Profile, reading
    from agentscope_like.sandbox.isolation.scope import Scope, ScopeKind, scope_of, without_paths
    from agentscope_like.sandbox.isolation.violation import (
        Complaint,
        ComplaintKind,
        Heard,
        Violation,
        find_complaints,
        find_violation,
    )

__all__ = [
    "FORGOTTEN",
    "INTERPRETER",
    "Attempt",
    "Complaint",
    "ComplaintKind",
    "Confine",
    "Confinement",
    "ConnectionWatch",
    "Heard",
    "LocalSandbox",
    "Profile",
    "Scope",
    "ScopeKind",
    "Violation",
    "bubblewrap_objection",
    "family_of",
    "find_complaints",
    "find_violation",
    "reading",
    "scope_of",
    "without_paths",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Attempt": "connection_watch",
        "Complaint": "violation",
        "ComplaintKind": "violation",
        "find_complaints": "violation",
        "Confine": "profile",
        "Confinement": "confinement",
        "ConnectionWatch": "connection_watch",
        "FORGOTTEN": "profile",
        "Heard": "violation",
        "INTERPRETER": "landlock",
        "LocalSandbox": "local",
        "Profile": "profile",
        "Scope": "scope",
        "ScopeKind": "scope",
        "Violation": "violation",
        "family_of": "limits",
        "find_violation": "violation",
        "reading": "profile",
        "scope_of": "scope",
        "without_paths": "scope",
        "bubblewrap_objection": "bubblewrap",
    },
)
