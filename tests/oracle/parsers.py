"""Whether bashlex and tree-sitter-bash find the commands that the strict reader found."""

from __future__ import annotations

from agentscope_like.shell.syntax import Script
from tests.oracle.comparison import Difference, difference_of_bashlex, difference_of_tree_sitter
from tests.oracle.findings import Findings, find
from tests.oracle.parser_process import Opinion, Outcome, ParserProcess

__all__ = ["BASHLEX", "TREE_SITTER", "Parsers"]

BASHLEX = "bashlex"
TREE_SITTER = "tree-sitter-bash"


class Parsers:
    """Asks both parsers; to be closed."""

    def __init__(self) -> None:
        self._bashlex = ParserProcess(BASHLEX)
        self._tree_sitter = ParserProcess(TREE_SITTER)

    def close(self) -> None:
        """End both processes."""
        self._bashlex.close()
        self._tree_sitter.close()

    def differences(self, text: str, script: Script) -> dict[str, Difference]:
        """Return what each parser finds otherwise, by its name.

        Args:
            text: The text.
            script: What the strict reader read in it.
        """
        findings = find(text, script)
        bashlex = self._bashlex.ask(text)
        if bashlex.outcome is Outcome.SYNTAX and findings.lists:
            bashlex = self._bashlex.ask(_without_lists(text, findings))
        tree_sitter = self._tree_sitter.ask(text)
        if tree_sitter.outcome is Outcome.SYNTAX and findings.separators:
            tree_sitter = self._tree_sitter.ask(_without_separators(text, findings))
        return _said(text, findings, bashlex, tree_sitter)


def _said(
    text: str, findings: Findings, bashlex: Opinion, tree_sitter: Opinion
) -> dict[str, Difference]:
    found = {
        BASHLEX: difference_of_bashlex(text, findings, bashlex),
        TREE_SITTER: difference_of_tree_sitter(text, findings, tree_sitter, bashlex=bashlex),
    }
    return {name: difference for name, difference in found.items() if difference is not None}


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
