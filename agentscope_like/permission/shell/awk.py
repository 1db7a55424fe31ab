"""Proves that a program of awk only computes and prints.

Follows the lexical rules of POSIX awk, section "Lexical Conventions", and gawk 5.2's extensions.
`system`, `getline`, pipes, redirected output, `@` (gawk's directives and indirect calls) are not
understood; neither is a `/` that could begin a regular expression or divide.
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
_OPERAND_NAMES = frozenset(
    "print printf return in case else do if while for delete function func BEGIN END".split()
)
_HARMFUL_NAMES = {
    "system": "runs a command",
    "getline": "may run a command",
    "extension": "loads a library",
}
_HARMFUL_OPERATORS = {
    "|": "may run a command",
    "|&": "may run a command",
    ">>": "writes a file",
    "@": "loads or calls what cannot be read",
}
_ENDS_OPERAND = frozenset({")", "]", "++", "--", "$"})
_SUSPICIOUS = re.compile(r"[\"#|>@\\]|system|getline|extension")


def check_awk(program: str) -> str | None:
    """Return why `program` is not known to only compute and print, or None where it is."""
    at, depth = 0, 0
    print_depth: int | None = None
    previous = ""
    while at < len(program):
        if program[at] == "/":
            end = _slash(program, at, previous)
            if end is None:
                return "a `/` in the awk program can be read as a division or as a pattern"
            previous = "operand" if end > at + 1 else "/"
            at = end
            continue
        token = _TOKEN.match(program, at)
        if token is None:
            return f"`{program[at]}` in the awk program cannot be read"
        at, kind, text = token.end(), token.lastgroup, token.group()
        if kind == "blank":
            continue
        if kind == "name":
            if text in _HARMFUL_NAMES:
                return f"`{text}` of awk {_HARMFUL_NAMES[text]}"
            if text in {"print", "printf"}:
                print_depth = depth
            previous = text if text in _OPERAND_NAMES else "operand"
            continue
        if kind != "operator":
            previous = "operand"
            continue
        if text in _HARMFUL_OPERATORS:
            return f"`{text}` in the awk program {_HARMFUL_OPERATORS[text]}"
        if text == ">" and print_depth is not None and depth <= print_depth:
            return "`>` after `print` in the awk program writes a file"
        if text in "([":
            depth += 1
        elif text in ")]":
            depth -= 1
        elif text in {";", "}"} and (print_depth is None or depth <= print_depth):
            print_depth = None
        previous = "operand" if text in _ENDS_OPERAND else text
    return None


def _slash(program: str, at: int, previous: str) -> int | None:
    """Return where the pattern or the division sign at `at` ends; None where both are possible."""
    regex = _REGEX.match(program, at)
    if previous != "operand":
        return regex.end() if regex else None
    rest = program[at + 1 :]
    if "/" not in rest.partition("\n")[0]:
        return at + 1
    return None if _SUSPICIOUS.search(rest) else at + 1
