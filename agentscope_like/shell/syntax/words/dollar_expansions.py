"""Reads parameter expansion, arithmetic expansion and command substitution."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable

from msgspec.structs import replace

from agentscope_like.shell.syntax.lexer import Lexer
from agentscope_like.shell.syntax.tree import (
    Arithmetic,
    Literal,
    Segment,
    Span,
    Substitution,
    Variable,
    Word,
)
from agentscope_like.shell.syntax.words.arithmetic import Expression, read_expression

__all__ = ["ExpansionReader"]

_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"

_NAME = re.compile(rf"\$({_IDENTIFIER}|[0-9@*#?$!-])")
_ELEMENT = rf"{_IDENTIFIER}\[(?:[@*]|-?[0-9]{{1,9}})\]"
"""One element or all of them; a subscript that names something would be computed."""

_WHOLE_FORMS = (
    (re.compile(rf"\$\{{({_ELEMENT}|{_IDENTIFIER}|[0-9]{{1,4}}|[@*#?$!-])\}}"), None),
    (re.compile(rf"\$\{{#({_ELEMENT}|{_IDENTIFIER}|[0-9]{{1,4}}|[@*])\}}"), "length"),
    (re.compile(rf"\$\{{!({_IDENTIFIER})\}}"), "indirect"),
)
"""The forms of `${...}` without an argument, each with the operator of its `Variable`."""

_OPERATION = re.compile(
    rf"\$\{{({_ELEMENT}|{_IDENTIFIER}|[0-9]{{1,4}}|[@*])"
    r"(?:(:[-=+?]|[-=+?]|##?|%%?|//?)|(\^\^?|,,?|@[QULuEAKak])(?=\})"
    r"|:( *[0-9]{1,9}| +-[0-9]{1,9})(:(?: *-?[0-9]{1,9}))?(?=\}))"
)

_OPERAND_RUN = re.compile(r"[^\"'$`\\{}<>()\n]+")
_OPERAND_ESCAPE = re.compile(r"\\[^\n]")
_QUOTED_OPERAND_ESCAPE = re.compile(r"\\[^\n\"'`$\\{}~]")

_NEWLINE = re.compile(r"\$'\\([nt])'")
_NEWLINES = {"n": "\n", "t": "\t"}
"""What agents put in place of a separator, as in `${PATH//:/$'\\n'}`: read in any quotes."""

_BACKTICKS = re.compile(r"`([^`\\]*(?:\\.[^`\\]*)*)`", re.DOTALL)
_BACKTICK_ESCAPE = re.compile(r"\\([$`\\])")


class ExpansionReader(Lexer):
    """Reads the expansions that bash makes at run time."""

    @abstractmethod
    def double_quoted(self) -> list[Segment]:
        """Read `"..."` at the cursor."""

    @abstractmethod
    def computed_word(self, segments: list[Segment], span: Span) -> Word:
        """Make one word of segments, without brace expansion."""

    def dollar(self, *, quoted: bool) -> Segment | None:
        """Read the expansion at the cursor's `$`; None, without a move, if `$` is literal."""
        start = self.position
        if (name := self.take(_NAME)) is not None:
            if self.at("\\\n"):
                raise self.refusal(
                    "A variable's name before a continued line is not understood.", start
                )
            return Variable(name[1], Span(start, self.position), quoted)
        following = self.text[start + 1] if start + 1 < self.end else ""
        if following == "{":
            return self._parameter(start, quoted=quoted)
        if following == "(":
            if self.text.startswith("$((", start, self.end):
                return self._arithmetic(start, quoted=quoted)
            return self._substitution("$(", quoted=quoted)
        if following == "[":
            raise self.refusal(
                "Arithmetic of the old form `$[...]` is not understood.", start, start + 2
            )
        if following in {"<", ">", "`"} or not following.isascii():
            raise self.refusal("This character after a `$` is not understood.", start, start + 2)
        if self.text.startswith("\\\n", start + 1, self.end):
            raise self.refusal("A `$` before a continued line is not understood.", start)
        return None

    def _substitution(self, opener: str, *, quoted: bool) -> Substitution:
        start = self.position
        self.count(start)
        self.position += len(opener)
        if self.at("(") or self.at("\\\n"):
            raise self.refusal(
                "Two brackets in a row are not understood here.", start, self.position + 1
            )
        script = self.enclosed_script(start)
        if self.peek() != ")":
            raise self.refusal(f"A `{opener}` that is never closed is not understood.", start)
        self.position += 1
        return Substitution(script, Span(start, self.position), opener, quoted)

    def process_substitution(self) -> Substitution:
        """Read `<(...)` or `>(...)` at the cursor."""
        return self._substitution(self.text[self.position : self.position + 2], quoted=False)

    def backticks(self, *, quoted: bool) -> Substitution:
        """Read the text between backticks, as bash reads it after it has unescaped it."""
        start = self.position
        self.count(start)
        match = self.take(_BACKTICKS)
        if match is None:
            raise self.refusal("A backtick that is never closed is not understood.", start)
        body = match[1]
        doubtful = "<<" in body or "\\\n" in body or (quoted and ('"' in body or "\\" in body))
        if doubtful:
            raise self.refusal(
                "Quoting or heredocs between backticks are not understood.", *match.span()
            )
        inner = self.detached(_BACKTICK_ESCAPE.sub(r"\1", body), start + 1)
        script = inner.enclosed_script(start)
        if inner.position != inner.end:
            raise self.refusal(
                "What stands between these backticks is not understood.", *match.span()
            )
        self.rejoin(inner)
        return Substitution(script, Span(*match.span()), "`", quoted)

    def _parameter(self, start: int, *, quoted: bool) -> Variable:
        for pattern, form in _WHOLE_FORMS:
            if (match := self.take(pattern)) is not None:
                return Variable(match[1], Span(start, self.position), quoted, form)
        match = self.take(_OPERATION)
        if match is None:
            raise self.refusal("This form of `${...}` is not understood.", start, start + 2)
        name, operator, transformation, offset, length = match.groups()
        argument: Word | None = None
        if offset is not None:
            operator = ":"
            span = Span(match.start(4), match.end())
            argument = self.computed_word([Literal(offset + (length or ""), span, True)], span)
        elif transformation is not None:
            operator = transformation
        else:
            argument = self._operand(start, quoted=quoted, replaces=operator in {"/", "//"})
        if self.peek() != "}":
            raise self.refusal("A `${` that is never closed is not understood.", start, start + 2)
        self.position += 1
        return Variable(name, Span(start, self.position), quoted, operator, argument)

    def _operand(self, start: int, *, quoted: bool, replaces: bool) -> Word:
        self.descend(start)
        segments: list[Segment] = []
        begin = self.position
        escape = _QUOTED_OPERAND_ESCAPE if quoted else _OPERAND_ESCAPE
        while (character := self.peek()) not in {"}", ""}:
            if (run := self.take(_OPERAND_RUN)) is not None:
                segments.append(Literal(run.group(), Span(*run.span()), quoted))
            elif replaces and (match := self.take(_NEWLINE)):
                segments.append(Literal(_NEWLINES[match[1]], Span(*match.span()), True))
            elif character == "\\":
                segments.append(self._operand_escape(escape))
            elif character in "\"'" and not quoted:
                segments += self.double_quoted() if character == '"' else [self.single_quoted()]
            elif character == "$":
                segments.append(self._operand_dollar(quoted=quoted))
            elif character == "`":
                segments.append(self.backticks(quoted=quoted))
            else:
                raise self.refusal(
                    "This character inside `${...}` is not understood.", self.position
                )
        self.depth -= 1
        span = Span(begin, self.position)
        return self.computed_word(segments or [Literal("", span, quoted)], span)

    def _operand_escape(self, pattern: re.Pattern[str]) -> Literal:
        match = self.take(pattern)
        if match is None:
            raise self.refusal("This backslash inside `${...}` is not understood.", self.position)
        return Literal(match.group()[1:], Span(*match.span()), True)

    def single_quoted(self) -> Literal:
        """Read `'...'` at the cursor."""
        start = self.position
        close = self.text.find("'", start + 1, self.end)
        if close < 0:
            raise self.refusal("A single quote that is never closed is not understood.", start)
        self.position = close + 1
        return Literal(self.text[start + 1 : close], Span(start, close + 1), True)

    def _operand_dollar(self, *, quoted: bool) -> Segment:
        start = self.position
        segment = self.dollar(quoted=quoted)
        if segment is not None:
            return segment
        if self.text[start + 1 : start + 2] in {"'", '"'}:
            raise self.refusal(
                "`$` before a quote inside `${...}` is not understood.", start, start + 2
            )
        self.position += 1
        return Literal("$", Span(start, start + 1), quoted)

    def expression(
        self, read: Callable[..., Expression | None], *, nests: bool = True
    ) -> Arithmetic | None:
        """Read the arithmetic at the cursor; None where it is not understood.

        Args:
            read: Finds its end.
            nests: Whether it may hold `$(...)`.
        """
        start = self.position
        inner: list[Substitution] = []

        def substitution(position: int) -> int:
            self.position = position
            inner.append(self._substitution("$(", quoted=True))
            return self.position

        found = read(self.text, start, self.end, substitution=substitution if nests else None)
        if found is None:
            return None
        self.position = found.end
        return Arithmetic(
            self.text[start : found.end],
            Span(start, found.end),
            found.names,
            assigned=found.assigned,
            substitutions=tuple(inner),
        )

    def _arithmetic(self, start: int, *, quoted: bool) -> Arithmetic:
        self.position += len("$((")
        found = self.expression(read_expression)
        if found is None or not self.at("))"):
            raise self.refusal("This arithmetic is not understood.", start, start + len("$(("))
        self.position += len("))")
        return replace(found, span=Span(start, self.position), quoted=quoted)
