"""Proves that an awk program only computes and prints.

Follows the lexical rules of POSIX awk, section "Lexical Conventions", and gawk 5.2's extensions.
`system`, `getline`, pipes, redirected output, `@` (gawk's directives and indirect calls) and `ARGV`
are not understood; neither is a `/` that could begin a regular expression or divide.
"""

from __future__ import annotations

import re

__all__ = ["check_awk"]

_TOKEN = re.compile(
    r"""(?P<blank>[ \t]+|\\\n|\#[^\n]*)
    |(?P<harmful>(?:system|getline|extension|ARGV|SYMTAB)\b|\|&|\|(?!\|)|>>|@)
    |(?P<print>printf?\b)
    |(?P<keyword>(?:BEGIN|END|case|delete|do|else|for|func|function|if|in|return|while)\b)
    |(?P<operand>"(?:[^"\\\n]|\\.)*"
        |(?:0[xX][0-9A-Fa-f]+|[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?
        |[A-Za-z_][A-Za-z0-9_]*|\+\+|--|\$)
    |(?P<opening>[(\[])
    |(?P<closing>[)\]])
    |(?P<end>[;}])
    |(?P<operator>\|\||&&|>=|[-+*%^!<>?:~=,{\n])
    """,
    re.VERBOSE,
)
_REGEX = re.compile(r"/(?:[^/\\\n\[]|\\[^\n]|\[\^?\]?(?:\[:[a-z]+:\]|[^\]/\\\n\[]|\\[^\n])*\])*/")
_SLASH_AND_ANOTHER = re.compile(r"/(?:[^/\n]|(?<=\\)\n)*+/")
"""Two on one line, which goes on behind a backslash, for gawk inside a pattern as well."""

_HARMFUL = {
    "system": "runs a command",
    "getline": "may run a command",
    "extension": "loads a library",
    "ARGV": "may name other files to read",
    "SYMTAB": "may name other files to read",
    "|": "may run a command",
    "|&": "may run a command",
    ">>": "writes a file",
    "@": "loads or calls what cannot be read",
}
_SUSPICIOUS = re.compile(r"[\"#|>@\\]|system|getline|extension|ARGV|SYMTAB")


def check_awk(program: str) -> str | None:
    """Return why `program` is not known to only compute and print, or None where it is."""
    return _Program(program).read()


class _Program:
    """The tokens of one program, as far as they have been read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.depth = 0
        self.is_behind_operand = False
        self.print_depth: int | None = None
        self.suspicious = max((found.start() for found in _SUSPICIOUS.finditer(text)), default=-1)

    def read(self) -> str | None:
        """Read every token, and return the first doubt."""
        at = 0
        while at < len(self.text):
            if self.text[at] == "/":
                end = self._slash(at)
                if end is None:
                    return "a `/` in the awk program can be read as a division or as a pattern"
                self.is_behind_operand = end > at + 1
                at = end
                continue
            token = _TOKEN.match(self.text, at)
            if token is None:
                return f"`{self.text[at]}` in the awk program cannot be read"
            if token["harmful"]:
                return f"`{token.group()}` of awk {_HARMFUL[token.group()]}"
            if token.group() == ">" and self._prints():
                return "`>` after `print` in the awk program writes a file"
            self._note(token.lastgroup)
            at = token.end()
        return None

    def _prints(self) -> bool:
        """Return whether this is outside of brackets in what a `print` is given."""
        return self.print_depth is not None and self.depth <= self.print_depth

    def _note(self, kind: str | None) -> None:
        """Note what a token of a kind changes for those behind it."""
        if kind == "print":
            self.print_depth = self.depth
        elif kind == "opening":
            self.depth += 1
        elif kind == "closing":
            self.depth -= 1
        elif kind == "end" and self._prints():
            self.print_depth = None
        if kind != "blank":
            self.is_behind_operand = kind in {"operand", "closing"}

    def _slash(self, at: int) -> int | None:
        """Return the end of the regular expression or division at `at`; None if both are possible.

        After an operand a `/` divides, unless another one follows on the line; then both readings
        are harmless only if nothing suspicious follows that one of them could hide.
        """
        if not self.is_behind_operand:
            regex = _REGEX.match(self.text, at)
            return regex.end() if regex else None
        divides = self.suspicious < at or not _SLASH_AND_ANOTHER.match(self.text, at)
        return at + 1 if divides else None
