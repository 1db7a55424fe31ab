"""Reads compound commands: groups, loops, branches and functions."""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Literal as OneOf

from agentscope_like.shell.syntax.conditional import ConditionalReader
from agentscope_like.shell.syntax.tree import (
    Arithmetic,
    ArithmeticCommand,
    ArithmeticFor,
    Case,
    CaseArm,
    Command,
    For,
    Function,
    Group,
    If,
    Loop,
    Script,
    Span,
    Word,
)
from agentscope_like.shell.syntax.words import (
    RESERVED,
    bare_text,
    read_assignments,
    read_expression,
)

__all__ = ["ARM_END", "CompoundReader"]

ARM_END = re.compile(r";;&|;;|;&")
"""What ends an arm of a `case`."""

_DELIMITED = r"(?=[ \t\n;|&()<>]|\Z)"
_KEYWORDS = {
    keyword: re.compile(re.escape(keyword) + _DELIMITED)
    for keyword in ("then", "elif", "else", "fi", "do", "done", "in", "esac", "}")
}
_ARITHMETIC_END = re.compile(rf"\)\){_DELIMITED}")
_COUNTING = re.compile(r"[ \t]+\(\(")
_COUNTING_HEADS = (
    (read_assignments, re.compile(";")),
    (read_expression, re.compile(";")),
    (read_assignments, _ARITHMETIC_END),
)
"""What reads each part of `for ((...; ...; ...))`, and what ends it."""

_FOR_NAME = re.compile(r"[ \t]+([A-Za-z_][A-Za-z0-9_]*)(?=[ \t\n;]|\Z)")
_NAMED_FUNCTION = re.compile(
    r"[ \t]+([A-Za-z_][A-Za-z0-9_-]*)(?:[ \t]+|[ \t]*\([ \t]*\)[ \t]*)(?=\{[ \t\n])"
)
_FUNCTION_BODY = re.compile(rf"\(|(?:\{{|if|for|while|until|case|\[\[){_DELIMITED}")


class CompoundReader(ConditionalReader):
    """Reads compound commands. Each method starts after the form's first keyword or bracket."""

    @abstractmethod
    def command(self) -> Command:
        """Read one command of a pipeline."""

    def subshell(self, start: int) -> Group:
        """Read `( ... )`."""
        if self.at("\\\n"):
            raise self.refusal("`(` before a continued line is not understood.", start)
        body = self._body(start, "(")
        if self.peek() != ")":
            raise self.refusal("A `(` that is never closed is not understood.", start)
        self.position += 1
        return Group(body, True, self.redirects(), Span(start, self.position))

    def evaluation(self, start: int) -> ArithmeticCommand:
        """Read `((...))` from behind its brackets."""
        expression = self.expression(read_assignments)
        if expression is None or self.take(_ARITHMETIC_END) is None:
            raise self.refusal("What follows this `((` is not understood.", start, start + 2)
        return ArithmeticCommand(expression, self.redirects(), Span(start, self.position))

    def group(self, start: int) -> Group:
        """Read `{ ...; }`."""
        body = self._body(start, "{")
        self._expect("}", start, "{")
        return Group(body, False, self.redirects(), Span(start, self.position))

    def loop(self, start: int, keyword: OneOf["while", "until"]) -> Loop:
        """Read `while ...; do ...; done`."""
        condition = self._body(start, keyword)
        body = self._loop_body(start, keyword)
        until = keyword == "until"
        return Loop(condition, body, until, self.redirects(), Span(start, self.position))

    def conditional(self, start: int) -> If:
        """Read `if ...; then ...; elif ...; else ...; fi`."""
        branches: list[tuple[Script, Script]] = []
        otherwise: Script | None = None
        while True:
            condition = self._body(start, "if")
            self._expect("then", start, "if")
            branches.append((condition, self._body(start, "then")))
            if not self._accept("elif"):
                break
        if self._accept("else"):
            otherwise = self._body(start, "else")
        self._expect("fi", start, "if")
        return If(tuple(branches), otherwise, self.redirects(), Span(start, self.position))

    def for_loop(self, start: int) -> For | ArithmeticFor:
        """Read `for name in words; do ...; done`, or `for ((...; ...; ...)); do ...; done`."""
        if self.take(_COUNTING):
            return self._counting_loop(start)
        match = self.take(_FOR_NAME)
        if match is None:
            raise self.refusal("This form of `for` is not understood.", start, start + 3)
        self.skip_blanks()
        words: list[Word] | None = None
        if self.at(";"):
            self._semicolon()
            self.skip_lines()
        else:
            self.skip_lines()
            if self._accept("in"):
                words = self._loop_words(start)
        body = self._loop_body(start, "for")
        return For(
            match[1],
            None if words is None else tuple(words),
            body,
            self.redirects(),
            Span(start, self.position),
        )

    def _counting_loop(self, start: int) -> ArithmeticFor:
        """Read a loop from behind its `for ((`."""
        heads: list[Arithmetic | None] = []
        for read, end in _COUNTING_HEADS:
            head = self.expression(read, nests=False)
            if head is None or self.take(end) is None:
                raise self.refusal("This form of `for` is not understood.", start, start + 3)
            heads.append(head if head.text.strip() else None)
        first, test, step = heads
        if test is None:
            raise self.refusal("This form of `for` is not understood.", start, start + 3)
        self.skip_blanks()
        if self.at(";"):
            self._semicolon()
        self.skip_lines()
        body = self._loop_body(start, "for")
        redirects = self.redirects()
        return ArithmeticFor(first, test, step, body, redirects, Span(start, self.position))

    def case(self, start: int) -> Case:
        """Read `case subject in pattern) ...;; esac`."""
        self.skip_blanks()
        begin = self.position
        segments = self.segments()
        if not segments or self.begins_redirect(segments):
            raise self.refusal("A `case` without a subject is not understood.", start, start + 4)
        subject = self.plain_word(segments, Span(begin, self.position))
        self.skip_lines()
        self._expect("in", start, "case")
        arms: list[CaseArm] = []
        self.skip_lines()
        self.descend(start)
        while not self._accept("esac"):
            arms.append(self._arm(start))
        self.depth -= 1
        return Case(subject, tuple(arms), self.redirects(), Span(start, self.position))

    def function(self, name: str, start: int) -> Function:
        """Read a function's definition from its `(` on."""
        self.position += 1
        self.skip_blanks()
        if self.peek() != ")":
            raise self.refusal("An opening bracket is not understood here.", self.position)
        self.position += 1
        self.skip_lines()
        if _FUNCTION_BODY.match(self.text, self.position, self.end) is None:
            raise self.refusal("A function whose body is not in brackets is not understood.", start)
        return Function(name, self.command(), Span(start, self.position))

    def named_function(self, start: int) -> Function:
        """Read a definition from behind its `function`; its body is in braces."""
        end = self.position
        match = self.take(_NAMED_FUNCTION)
        if match is None or match[1] in RESERVED:
            raise self.refusal("This form of `function` is not understood.", start, end)
        return Function(match[1], self.command(), Span(start, self.position))

    def _body(self, start: int, opener: str) -> Script:
        """Read the statements of a compound command, of which there must be one."""
        self.descend(start)
        script = self.script()
        self.depth -= 1
        if not script.statements:
            raise self.refusal(f"`{opener}` without a command is not understood.", start)
        return script

    def _loop_body(self, start: int, opener: str) -> Script:
        """Read `do ...; done`."""
        self._expect("do", start, opener)
        body = self._body(start, "do")
        self._expect("done", start, opener)
        return body

    def _accept(self, keyword: str) -> bool:
        return self.take(_KEYWORDS[keyword]) is not None

    def _expect(self, keyword: str, start: int, opener: str) -> None:
        if not self._accept(keyword):
            raise self.refusal(f"`{opener}` without its `{keyword}` is not understood.", start)

    def _semicolon(self) -> None:
        start = self.position
        self.position += 1
        if self.at(";") or self.at("&"):
            raise self.refusal("This separator is not understood here.", start)
        self.whole_operator(";", start)

    def _loop_words(self, start: int) -> list[Word]:
        words: list[Word] = []
        self.skip_blanks()
        while self.argument(words):
            self.skip_blanks()
        if self.at(";"):
            self._semicolon()
        elif self.peek() not in {"\n", "#"}:
            raise self.refusal("The words of this `for` are not understood.", start, start + 3)
        self.skip_lines()
        return words

    def _arm(self, start: int) -> CaseArm:
        if self.at("("):
            self.position += 1
        patterns: list[Word] = []
        while True:
            self.skip_blanks()
            patterns.append(self._pattern(start))
            self.skip_blanks()
            if not self.at("|"):
                break
            self.position += 1
            self.whole_operator("|", self.position - 1)
        if not self.at(")"):
            raise self.refusal("This pattern of a `case` is not understood.", self.position)
        self.position += 1
        body = self.script()
        match = self.take(ARM_END)
        if match is not None:
            self.whole_operator(match.group(), match.start())
            self.skip_lines()
        elif _KEYWORDS["esac"].match(self.text, self.position, self.end) is None:
            raise self.refusal("`case` without its `esac` is not understood.", start, start + 4)
        falls = match is not None and match.group() != ";;"
        return CaseArm(tuple(patterns), body, falls)

    def _pattern(self, start: int) -> Word:
        begin = self.position
        segments = self.segments()
        reserved = bool(segments) and bare_text(segments) in RESERVED
        if not segments or reserved or self.begins_redirect(segments):
            raise self.refusal("This pattern of a `case` is not understood.", max(start, begin))
        return self.computed_word(segments, Span(begin, self.position))
