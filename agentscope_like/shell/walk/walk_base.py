"""The base of a walk: the parts of a command line found so far, and how a new one begins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from msgspec.structs import replace

from agentscope_like.shell.analysis import Doubt
from agentscope_like.shell.draft import BudgetError, Draft, WalkScope
from agentscope_like.shell.expand import Expander
from agentscope_like.shell.state import State
from agentscope_like.shell.syntax import Script, Span, Word
from agentscope_like.shell.values import Argument, Names, Unknown

__all__ = ["MAX_PARTS", "WalkBase"]

MAX_PARTS = 128
"""How many simple commands a command line may have."""

MAX_WORDS = 20_000
"""How many words all of them have; wrappers in wrappers have the last ones over and over."""


class WalkBase(ABC):
    """What the judges of each kind of command share.

    Attributes:
        command: The text of the command line.
        home: The home directory, or None where unknown.
        drafts: The parts found so far.
        doubts: Doubts that belong to no part.
        held: What variables may hold, and texts that are an input.
    """

    def __init__(self, command: str, home: str | None) -> None:
        self.command = command
        self.home = home
        self.drafts: list[Draft] = []
        self.doubts: list[Doubt] = []
        self.held: list[Unknown] = []
        self._words_read = 0

    @abstractmethod
    def script(self, script: Script, state: State, scope: WalkScope) -> State:
        """Judge a script that runs in the shell of `state`."""

    @abstractmethod
    def text(self, text: str, state: State, scope: WalkScope, draft: Draft) -> State:
        """Read and judge a script that stands as text in a word of `draft`."""

    @abstractmethod
    def substitute(self, script: Script, state: State, scope: WalkScope) -> tuple[Argument, Names]:
        """Judge the script of a substitution, and return what is known of what it prints."""

    def expander(self, draft: Draft, state: State, scope: WalkScope) -> Expander:
        """Return what expands words in a state, and adds doubts to `draft`."""
        return Expander(self.substitute, self.held, state, draft, scope, home=self.home)

    def draft(self, words: tuple[Word, ...], span: Span, state: State, scope: WalkScope) -> Draft:
        """Begin a new part.

        Raises:
            BudgetError: There are more than `MAX_PARTS` of them, or too many words in them.
        """
        self._count(words)
        draft = Draft(
            argv=(),
            words=words,
            span=scope.place or span,
            index=len(self.drafts),
            directory=state.directories[0] if state.directories else None,
            directories=tuple(state.directories),
            parent=scope.parent,
            redirects=scope.redirects,
            place=scope.place,
            source=scope.source,
        )
        self.drafts.append(draft)
        scope.output.printers.append(draft)
        return draft

    def copy(self, draft: Draft, scope: WalkScope) -> Draft:
        """Begin a new part that is like another one so far."""
        self._count(draft.words)
        effects, doubts = list(draft.effects), list(draft.doubts)
        other = replace(draft, index=len(self.drafts), effects=effects, doubts=doubts)
        self.drafts.append(other)
        scope.output.printers.append(other)
        return other

    def _count(self, words: Sequence[Word]) -> None:
        self._words_read += len(words)
        if len(self.drafts) >= MAX_PARTS or self._words_read > MAX_WORDS:
            raise BudgetError
