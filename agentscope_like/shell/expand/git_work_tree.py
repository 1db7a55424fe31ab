"""Expands `$(git rev-parse --show-toplevel)` if the root of the work tree is known."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from agentscope_like.shell.draft import Draft, WalkScope
from agentscope_like.shell.state import State
from agentscope_like.shell.syntax import Command, Redirect, Script

__all__ = ["WorkTree", "may_ask_for_root"]

_ERRORS = 2


def may_ask_for_root(command: str) -> bool:
    """Return whether a command line may ask git for the root of its work tree."""
    return "--show-toplevel" in command


class WorkTree(Struct, frozen=True):
    """The git work tree that a command line starts in.

    Attributes:
        start: The directory that the command line starts in.
        root: The root of the work tree.
    """

    start: str
    root: str

    def printed(
        self, script: Script, drafts: Sequence[Draft], state: State, scope: WalkScope
    ) -> tuple[str, ...]:
        """Return all texts that a script may print; empty if they are not known.

        The script prints the root, or nothing if git fails, or the output of its `|| pwd` or
        `|| echo TEXT`. In any directory but these two, git may find another work tree.
        """
        is_here = bool(state.directories) and {self.start, self.root}.issuperset(state.directories)
        connectors = [statement.connector for statement in script.statements]
        if not is_here or connectors not in ([""], ["||", ""]):
            return ()
        match [_said(statement.command, drafts, scope) for statement in script.statements]:
            case [("git", "rev-parse", "--show-toplevel")]:
                return (self.root, "")
            case [("git", "rev-parse", "--show-toplevel"), ("pwd",)]:
                return (self.root, *state.directories)
            case [("git", "rev-parse", "--show-toplevel"), ("echo", str(text))]:
                return (self.root, text)
        return ()


def _said(
    command: Command, drafts: Sequence[Draft], scope: WalkScope
) -> tuple[str | None, ...] | None:
    """Return the words of a proven command whose output is all that is used, or None."""
    for draft in drafts:
        if draft.proves(command, scope) and _prints_plainly(draft):
            return draft.argv
    return None


def _prints_plainly(draft: Draft) -> bool:
    """Return whether the output of a command, and no error message, is what is captured."""
    return not draft.assignments and all(map(_drops_errors, draft.redirects))


def _drops_errors(redirect: Redirect) -> bool:
    return redirect.fd == _ERRORS and redirect.operator in {">", ">>"}
