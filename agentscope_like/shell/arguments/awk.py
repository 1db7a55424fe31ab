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
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<number>(?:0[xX][0-9A-Fa-f]+|[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<operator>\|\||&&|>=|<=|==|!=|!~|\+\+|--|\*\*=?|[-+*%^]=|>>|\|&
        |[-+*%^!<>|?:~$=,;(){}\[\]@\n])
    """,
    re.VERBOSE,
)
_REGEX = re.compile(r"/(?:[^/\\\n\[]|\\[^\n]|\[\^?\]?(?:\[:[a-z]+:\]|[^\]/\\\n\[]|\\[^\n])*\])*/")
_LINE_END = re.compile(r"(?<!\\)\n")
_OPERAND_NAMES = frozenset(
    {
        "BEGIN",
        "END",
        "case",
        "delete",
        "do",
        "else",
        "for",
        "func",
        "function",
        "if",
        "in",
        "print",
        "printf",
        "return",
        "while",
    }
)
_HARMFUL_NAMES = {
    "system": "runs a command",
    "getline": "may run a command",
    "extension": "loads a library",
    "ARGV": "may name other files to read",
    "SYMTAB": "may name other files to read",
}
_HARMFUL_OPERATORS = {
    "|": "may run a command",
    "|&": "may run a command",
    ">>": "writes a file",
    "@": "loads or calls what cannot be read",
}
_ENDS_OPERAND = frozenset({")", "]", "++", "--", "$"})
_SUSPICIOUS = re.compile(r"[\"#|>@\\]|system|getline|extension|ARGV|SYMTAB")


def check_awk(program: str) -> str | None:
    """Return why `program` is not known to only compute and print, or None where it is."""
    return _Program(program).read()


class _Program:
    """The tokens of one program, as far as they have been read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.depth = 0
        self.line_end = -1
        self.previous = ""
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
                self.previous = "operand" if end > at + 1 else "/"
                at = end
                continue
            token = _TOKEN.match(self.text, at)
            if token is None:
                return f"`{self.text[at]}` in the awk program cannot be read"
            doubt = self._token(token.lastgroup, token.group())
            if doubt:
                return doubt
            at = token.end()
        return None

    def _token(self, kind: str | None, text: str) -> str | None:
        if kind == "name":
            if text in _HARMFUL_NAMES:
                return f"`{text}` of awk {_HARMFUL_NAMES[text]}"
            if text in {"print", "printf"}:
                self.print_depth = self.depth
            self.previous = text if text in _OPERAND_NAMES else "operand"
        elif kind == "operator":
            return self._operator(text)
        elif kind != "blank":
            self.previous = "operand"
        return None

    def _operator(self, text: str) -> str | None:
        if text in _HARMFUL_OPERATORS:
            return f"`{text}` in the awk program {_HARMFUL_OPERATORS[text]}"
        printing = self.print_depth is not None and self.depth <= self.print_depth
        if text == ">" and printing:
            return "`>` after `print` in the awk program writes a file"
        if text in "([":
            self.depth += 1
        elif text in ")]":
            self.depth -= 1
        elif text in {";", "}"} and (self.print_depth is None or printing):
            self.print_depth = None
        self.previous = "operand" if text in _ENDS_OPERAND else text
        return None

    def _slash(self, at: int) -> int | None:
        """Return the end of the regular expression or division at `at`; None if both are possible.

        After an operand a `/` divides, unless another one follows on the line; then both readings
        are harmless only if nothing suspicious follows that one of them could hide. A line goes on
        behind a backslash, for gawk inside a pattern as well.
        """
        if self.previous != "operand":
            regex = _REGEX.match(self.text, at)
            return regex.end() if regex else None
        if self.line_end < at:
            line_end = _LINE_END.search(self.text, at)
            self.line_end = line_end.start() if line_end else len(self.text)
        following = self.text.find("/", at + 1, self.line_end)
        return at + 1 if following < 0 or self.suspicious < at else None
