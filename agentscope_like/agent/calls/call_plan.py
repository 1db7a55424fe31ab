"""Plans which calls of a response can begin while others of it still run."""

from __future__ import annotations

from collections.abc import Sequence

from agentscope_like.message import ToolCallBlock
from agentscope_like.tool import Toolkit
from agentscope_like.tool.resources import Claim

__all__ = ["CallPlan"]


class _Entry:
    """A call that has not ended."""

    def __init__(self, call: ToolCallBlock) -> None:
        self.call = call
        self.claim: Claim | None = None
        self.has_begun = False


class CallPlan:
    """The order of calls: each waits for those before it that it must not run beside.

    Args:
        toolkit: Says which calls may run at the same time.
        calls: The calls, in the order in which the model wrote them.
    """

    def __init__(self, toolkit: Toolkit, calls: Sequence[ToolCallBlock]) -> None:
        self._toolkit = toolkit
        self._open = [_Entry(call) for call in calls]

    def next(self) -> ToolCallBlock | None:
        """Return the first call that can begin now, and count it as begun."""
        before: list[Claim] = []
        for entry in self._open:
            if len(self._open) == 1 and not entry.has_begun:
                entry.has_begun = True
                return entry.call
            claim = entry.claim = entry.claim or self._toolkit.claim(entry.call)
            if not entry.has_begun:
                if not any(claim.must_follow(other) for other in before):
                    entry.has_begun = True
                    return entry.call
                if claim.excludes_all:
                    return None
            before.append(claim)
        return None

    def end(self, call: ToolCallBlock) -> None:
        """Note that the call has ended."""
        self._open = [entry for entry in self._open if entry.call is not call]

    def wait(self, call: ToolCallBlock) -> None:
        """Note that the call waits for an answer: what it declares lets no other pass by."""
        for entry in self._open:
            if entry.call is call and entry.claim is not None:
                entry.claim = Claim(entry.claim.is_concurrency_safe)
