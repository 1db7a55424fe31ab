"""A call that runs held, and the tools whose calls can: what it changed waits for an answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol, runtime_checkable

from msgspec import Struct

from agentscope_like.message import ApplyQuestion, ToolChunk
from agentscope_like.permission import PermissionContext, PermissionDecision
from agentscope_like.state import AgentState

__all__ = ["DroppedChanges", "HeldCall", "HoldingTool", "KeptFiles"]


class DroppedChanges(Struct, frozen=True):
    """What is known of changes that were to be dropped.

    Attributes:
        output: What the run printed.
        objection: Why they could not be dropped, for the model: an earlier yes had been carried out
            when its process ended; empty if they are dropped.
    """

    output: str = ""
    objection: str = ""


class HeldCall:
    """The order to run one call held; its tool asks here about what the call changed.

    Only a `Toolkit` gives it to a tool, as `_held_call`.

    Attributes:
        contexts: Further policies under which the changes are judged, such as that of a parent; the
            strictest counts.
    """

    def __init__(self) -> None:
        self.contexts: list[PermissionContext] = []
        self._question: ApplyQuestion | None = None

    @property
    def question(self) -> ApplyQuestion | None:
        """Return what a person is asked about; None if nothing is."""
        return self._question

    def ask(self, question: ApplyQuestion) -> None:
        """Ask a person whether the changes are to be applied; the call is not over then."""
        self._question = question


@runtime_checkable
class HoldingTool(Protocol):
    """A tool that can run calls held: what they change is kept aside until it is applied."""

    async def judge_changes(self, question: ApplyQuestion, state: AgentState) -> PermissionDecision:
        """Return whether the changes may be applied under the policy of the moment.

        Returns:
            DENY if they must not be applied; anything else if a person's yes is enough.
        """

    def apply_changes(
        self, question: ApplyQuestion, state: AgentState
    ) -> AsyncGenerator[ToolChunk, None]:
        """Apply the changes that the question is about, and nothing else; runs no command.

        Yields:
            One chunk that tells the model what became of them.
        """

    async def drop_changes(self, question: ApplyQuestion, state: AgentState) -> DroppedChanges:
        """Drop the changes that the question is about."""

    async def held_difference(self, question: ApplyQuestion, state: AgentState) -> str:
        """Return the unified diff of the changed text files; empty if the changes are gone."""

    async def held_output(self, question: ApplyQuestion) -> str:
        """Return what the run printed; empty if that is no longer known."""


class KeptFiles(Protocol):
    """Files of this host that a tool keeps, and what other tools of its toolkit see of them.

    What its calls left in `/tmp` and `/var/tmp`, which is elsewhere on the host, other tools find
    by the path that those calls gave it. What is private they never see.

    Attributes:
        private: Paths of what no model may see: what calls changed, and what files were before.
            Absolute, without symlinks.
    """

    private: Sequence[str]

    def real_path(self, path: str) -> str | None:
        """Return where the file of a path is on the host, or None: it is the host's own.

        Args:
            path: An absolute path without `.`, `..` and symlinks before its last name.
        """

    def names(self, directory: str) -> Sequence[str]:
        """Return the names in `/tmp` or `/var/tmp` that are no files of the host; else none."""
