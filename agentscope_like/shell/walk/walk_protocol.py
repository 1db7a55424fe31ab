"""The interface between the tree walk and the judges of single commands."""

from __future__ import annotations

from typing import Protocol

from agentscope_like.shell.analysis import Doubt
from agentscope_like.shell.draft import Draft, WalkScope
from agentscope_like.shell.expand import Substituter
from agentscope_like.shell.state import State
from agentscope_like.shell.syntax import Script, Span, Word

__all__ = ["Walking"]


class Walking(Substituter, Protocol):
    """A walk over one command line.

    Attributes:
        command: The text of the command line.
        home: The home directory, or None where unknown.
        drafts: The parts found so far.
        doubts: Doubts that belong to no part.
    """

    command: str
    home: str | None
    drafts: list[Draft]
    doubts: list[Doubt]

    def draft(self, words: tuple[Word, ...], span: Span, state: State, scope: WalkScope) -> Draft:
        """Begin a new part."""

    def copy(self, draft: Draft, scope: WalkScope) -> Draft:
        """Begin a new part that is like another one so far."""

    def script(self, script: Script, state: State, scope: WalkScope) -> State:
        """Judge a script that runs in the same shell."""

    def text(self, text: str, state: State, scope: WalkScope, draft: Draft) -> State:
        """Read and judge a script that stands as text in a word of `draft`."""
