"""Defines the grant, a single-use right to run one call, and the digests it is bound to."""

from __future__ import annotations

import hashlib
from typing import Any

from msgspec import Struct
from msgspec.json import Encoder

from agentscope_like.message import ApplyQuestion
from agentscope_like.permission import PreparedCall
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.held_call import HeldCall

__all__ = [
    "Grant",
    "arguments_digest",
    "call_digest",
    "definition_digest",
    "same_arguments",
    "same_places",
    "same_subject",
]


_canonical = Encoder(order="deterministic", enc_hook=repr).encode


def _sha256(value: Any) -> str:
    return hashlib.sha256(_canonical(value)).hexdigest()


def definition_digest(tool: ToolBase) -> str:
    """Return the SHA-256 of the tool's declarations and of the location of its class."""
    kind = type(tool)
    place = f"{kind.__module__}.{kind.__qualname__}"
    return _sha256([place, tool.name, tool.description, tool.input_schema])


def arguments_digest(arguments: dict[str, Any]) -> str:
    """Return the digest of a call's arguments, a part of its `call_digest`."""
    return _sha256(arguments)


def call_digest(
    definition: str,
    arguments: dict[str, Any],
    basis: str | None,
    *,
    is_external: bool = False,
    places: tuple[str, ...] = (),
) -> str:
    """Return the digest of a call.

    It has parts for the tool and the decision's basis, for the arguments, and for the resolved
    paths of files that the call changes.
    """
    subject = definition
    if basis is not None or is_external:
        subject = _sha256([definition, basis, is_external])
    digest = f"{subject}-{arguments_digest(arguments)}"
    return f"{digest}-{_sha256(places)}" if places else digest


def same_subject(before: str | None, after: str | None) -> bool:
    """Return whether two call digests agree in the tool's definition and the decision's basis."""
    return before is not None and after is not None and before.split("-")[0] == after.split("-")[0]


def same_arguments(before: str | None, after: str | None) -> bool:
    """Return whether two call digests agree in the arguments."""
    return before is not None and after is not None and before.split("-")[1] == after.split("-")[1]


def same_places(before: str | None, after: str | None) -> bool:
    """Return whether two call digests agree in the resolved paths that the call changes."""
    return (
        before is not None and after is not None and before.split("-")[2:] == after.split("-")[2:]
    )


class Grant(Struct, frozen=True, eq=False, weakref=True):
    """An immutable, single-use right to run one call; only a `Toolkit` can issue a valid one.

    Attributes:
        call_id: The call.
        tool: The tool that runs.
        arguments: The decided arguments; the run gets a copy.
        digest: Digest of the tool's definition, the arguments and the decision's basis.
        policy_key: The key of the policy of the decision.
        prepared: The call as prepared for the decision; None if it could not be prepared.
        held_call: The order to run it held; None for calls that run as they are.
        apply: What it changed when it ran held: then the grant is to apply that, and runs nothing.
    """

    call_id: str
    tool: ToolBase
    arguments: dict[str, Any]
    digest: str
    policy_key: tuple[Any, ...]
    prepared: PreparedCall | None = None
    held_call: HeldCall | None = None
    apply: ApplyQuestion | None = None
