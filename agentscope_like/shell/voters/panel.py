"""The votes on a text, asked once and kept."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from typing import Protocol

from agentscope_like.shell.analysis import Dissent
from agentscope_like.shell.syntax import Script, SimpleCommand, Span
from agentscope_like.shell.voters.answer import Answer, NoAnswerError, Outcome
from agentscope_like.shell.voters.comparison import (
    Difference,
    difference_of_bashlex,
    difference_of_tree_sitter,
)
from agentscope_like.shell.voters.findings import Findings, find
from agentscope_like.shell.voters.veto import unexplained

__all__ = ["Panel", "Voters", "default_panel", "is_plain"]

_KEPT = 1024

_SEVERAL = re.compile(r";|\||\(|`|\n|&(?<![<>]&)(?!>)|\$\{(?![A-Za-z_][A-Za-z0-9_]*\})")
"""What can begin another command, or hide one; `2>&1` and `&>` cannot.

Each way begins with a literal character, so that the search passes over all others at once.
"""


class Voters(Protocol):
    """Whoever can be asked what other parsers find in a text."""

    def ask(self, text: str) -> Answer:
        """Return what they find.

        Raises:
            NoAnswerError: They do not answer.
        """


def is_plain(text: str, script: Script) -> bool:
    """Return whether one simple command is all that any reader can find in a text."""
    for statement in script.statements:
        if not isinstance(statement.command, SimpleCommand):
            return False
    return _SEVERAL.search(text) is None


class Panel:
    """Asks for votes; the answers on the last texts are kept. Safe to use from several threads.

    Args:
        voters: Who is asked.
        kept: How many answers are kept.
    """

    __slots__ = ("_answers", "_kept", "_voters")

    def __init__(self, voters: Voters, *, kept: int = _KEPT) -> None:
        self._voters = voters
        self._kept = kept
        self._answers: dict[str, Dissent | None] = {}

    def knows(self, text: str) -> bool:
        """Return whether the votes on a text have been asked already."""
        return text in self._answers

    def dissent(self, text: str, script: Script) -> Dissent | None:
        """Return why others do not confirm what was read, or None where they do.

        Waits for the votes, up to a quarter of a second, unless they are known.

        Args:
            text: The text.
            script: What the strict reader read in it.
        """
        try:
            return self._answers[text]
        except KeyError:
            answer = self._vote(text, script)
        self._answers[text] = answer
        while len(self._answers) > self._kept:
            with suppress(KeyError, RuntimeError):  # another thread may be doing the same
                del self._answers[next(iter(self._answers))]
        return answer

    def _vote(self, text: str, script: Script) -> Dissent | None:
        whole = Span(0, len(text))
        try:
            findings = find(text, script)
            if (place := unexplained(text, findings)) is not None:
                return Dissent(f"What this `{text[slice(*place)]}` begins was not read", place)
            answer = self._voters.ask(text)
            bashlex = answer.bashlex
            if bashlex.outcome is Outcome.SYNTAX and findings.lists:
                bashlex = self._voters.ask(_without_lists(text, findings)).bashlex
            tree_sitter = answer.tree_sitter
            if tree_sitter.outcome is Outcome.SYNTAX and findings.separators:
                tree_sitter = self._voters.ask(_without_separators(text, findings)).tree_sitter
            return _dissent("bashlex", difference_of_bashlex(text, findings, bashlex)) or (
                _dissent(
                    "tree-sitter-bash",
                    difference_of_tree_sitter(text, findings, tree_sitter, bashlex=bashlex),
                )
            )
        except NoAnswerError as error:
            return Dissent(f"The process of the other parsers {error}", whole)
        except Exception as error:
            return Dissent(f"Asking the other parsers failed ({type(error).__name__})", whole)


def _without_lists(text: str, findings: Findings) -> str:
    """Return a text as long, with `;` for each `&&` and `||` that is noted.

    bashlex takes a substitution that ends with a list (`$(a || b)`) for an error. The commands are
    the same with `;`, and so are their places, so that it can still be asked for them. It does not
    look beyond a substitution's first line: what follows is brought onto it.
    """
    for start, end in findings.lists:
        rest = text[end:].lstrip(" \t\n")
        text = f"{text[:start]} ;".ljust(len(text) - len(rest)) + rest
    return text


def _without_separators(text: str, findings: Findings) -> str:
    """Return a text as long, with ` |` for each `; ` on the line of a heredoc.

    tree-sitter-bash reads `cat <<END | ls`, but takes `cat <<END; ls` for an error. The commands
    are the same with a pipe between them, and so are their places.
    """
    for start, end in findings.separators:
        text = f"{text[:start]} |{text[end:]}"
    return text


def _dissent(name: str, difference: Difference | None) -> Dissent | None:
    if difference is None:
        return None
    return Dissent(
        f"Another parser ({name}) does not confirm what was read: it {difference.message}",
        difference.span,
    )


@lru_cache(maxsize=1)
def default_panel() -> Panel:
    """Return the panel that all analyses of this process ask."""
    from agentscope_like.shell.voters.worker import Worker

    return Panel(Worker())
