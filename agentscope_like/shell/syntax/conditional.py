"""Reads `[[ ... ]]`, which has a grammar of its own."""

from __future__ import annotations

import re

from agentscope_like.shell.syntax.lexer import ReadError
from agentscope_like.shell.syntax.simple_command import SimpleReader
from agentscope_like.shell.syntax.tree import (
    Arithmetic,
    Literal,
    Segment,
    Span,
    Substitution,
    Test,
    Variable,
    Word,
)
from agentscope_like.shell.syntax.words import bare_text

__all__ = ["ConditionalReader"]

_UNARY = re.compile(r"-[abcdefghknoprstuvwxzGLNOS](?=[ \t])")
_BINARY = re.compile(r"(?:==?|!=|=~|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef)|[<>])(?=[ \t])")
_UNKNOWN_UNARY = re.compile(r"-[A-Za-z]")
_END = re.compile(r"\]\](?=[ \t\n;|&()<>]|\Z)")
_NOT = re.compile(r"!(?=[ \t])")
_INTEGER = re.compile(r"-?[0-9]{1,18}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SUBSCRIPT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[")
_EXPRESSION = re.compile(
    r"(?:[A-Za-z0-9_.^*+?:/@%,={}\[\]()|-]|\\[][.+*?^$(){}/|-]|\$(?=[ \t)|]))+(?=[ \t])"
)
_UNESCAPED_BRACKET = re.compile(r"\\.|([()])")

_ARITHMETIC = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})


class ConditionalReader(SimpleReader):
    """Reads `[[ ... ]]`: its words and operators, in a flat list."""

    def test(self, start: int) -> Test:
        """Read a test from behind its `[[`."""
        words: list[Word] = []
        self._expression(words, start)
        if self.take(_END) is None:
            raise self._refusal_here()
        return Test(tuple(words), self.redirects(), Span(start, self.position))

    def _expression(self, words: list[Word], start: int) -> None:
        self.descend(start)
        while True:
            self._condition(words, start)
            self.skip_blanks()
            if not (self.at("&&") or self.at("||")):
                break
            self._operator(words, 2)
        self.depth -= 1

    def _condition(self, words: list[Word], start: int) -> None:
        self.skip_blanks()
        while _NOT.match(self.text, self.position, self.end) is not None:
            self._operator(words, 1)
        if self.at("("):
            self._operator(words, 1)
            if self.at("("):
                raise self._refusal_here()
            self._expression(words, start)
            if not self.at(")"):
                raise self._refusal_here()
            self._operator(words, 1)
        elif (match := _UNARY.match(self.text, self.position, self.end)) is not None:
            self._operator(words, 2)
            operand = self._test_operand(words)
            if match.group() == "-v" and _NAME.fullmatch(bare_text(operand) or "") is None:
                raise self.refusal(
                    "A name that is computed or quoted is not understood.", *match.span()
                )
        else:
            self._comparison(words)

    def _comparison(self, words: list[Word]) -> None:
        left = self._test_operand(words)
        match = _BINARY.match(self.text, self.position, self.end)
        if match is None:
            if _UNKNOWN_UNARY.fullmatch(bare_text(left) or ""):
                raise self._refusal_here()
            return
        operator = match.group()
        self._operator(words, len(operator))
        if operator == "=~" and self._regular_expression(words):
            return
        right = self._test_operand(words)
        if operator in _ARITHMETIC and not (_may_be_number(left) and _may_be_number(right)):
            raise self.refusal(
                "Arithmetic on what is not a plain number is not understood.", *match.span()
            )

    def _test_operand(self, words: list[Word]) -> list[Segment]:
        begin = self.position
        segments = self.segments()
        span = Span(begin, self.position)
        bare = bare_text(segments)
        if not segments or bare in {"]]", "!"} or self.begins_redirect(segments):
            raise self._refusal_here()
        first = segments[0]
        subscript = isinstance(first, Literal) and not first.quoted and _SUBSCRIPT.match(first.text)
        if subscript and not (words and words[-1].literal in {"=", "==", "!=", "=~"}):
            raise self.refusal("An array's subscript is not understood.", *span)
        words.append(self.computed_word(segments, span))
        self.skip_blanks()
        return segments

    def _regular_expression(self, words: list[Word]) -> bool:
        """Read the right side of `=~` where it is a plain expression with balanced brackets."""
        match = _EXPRESSION.match(self.text, self.position, self.end)
        if match is None:
            return False
        open_brackets = 0
        for bracket in _UNESCAPED_BRACKET.finditer(match.group()):
            if bracket[1]:
                open_brackets += 1 if bracket[1] == "(" else -1
            if open_brackets < 0:
                return False
        if open_brackets:
            return False
        span = Span(*match.span())
        words.append(Word((Literal(match.group(), span),), span))
        self.position = match.end()
        self.skip_blanks()
        return True

    def _operator(self, words: list[Word], length: int) -> None:
        start = self.position
        self.position += length
        span = Span(start, self.position)
        words.append(Word((Literal(self.text[start : self.position], span),), span))
        self.skip_blanks()

    def _refusal_here(self) -> ReadError:
        return self.refusal("This part of `[[ ]]` is not understood.", self.position)


def _may_be_number(segments: list[Segment]) -> bool:
    """Return whether an operand is a number, or a single expansion that may be one."""
    if len(segments) != 1:
        return False
    only = segments[0]
    if isinstance(only, Literal):
        return _INTEGER.fullmatch(only.text) is not None
    if isinstance(only, Variable):
        return only.operator in {None, "length"}
    return isinstance(only, Arithmetic | Substitution)
