"""Reads simple commands: assignments, words and redirections."""

from __future__ import annotations

import re
from abc import abstractmethod

from agentscope_like.shell.syntax.tree import (
    Assignment,
    Function,
    Heredoc,
    Literal,
    Redirect,
    Segment,
    SimpleCommand,
    Span,
    Word,
)
from agentscope_like.shell.syntax.words import RESERVED, WordReader, bare_text

__all__ = ["SimpleReader"]

_OPERATOR = re.compile(r"([0-9]*)(<<<|<<-|<<|<>|<&|<(?!\()|>>|>&|>\||>(?!\())|(&>>|&>)")
_DESCRIPTOR = re.compile(r"([0-9]{1,3}|-)(?=[ \t\n|&;()<>]|\Z)")
_DESCRIPTOR_LIKE = re.compile(r"[0-9]+-?|-.*", re.DOTALL)
_DELIMITER = re.compile(
    r"(?:'([^'\n\\]+)'|\"([A-Za-z0-9_.+ -]+)\"|(\\)?([A-Za-z0-9_.+-]+))(?=[ \t\n|&;()<>]|\Z)"
)
_DIGITS = frozenset("0123456789")

_MAXIMUM_DESCRIPTOR_DIGITS = 3


class _RedirectReader(WordReader):
    """Reads redirections."""

    def redirect(self) -> Redirect | None:
        """Read the redirection at the cursor; None where none stands there."""
        start = self.position
        match = self.take(_OPERATOR)
        if match is None:
            return None
        digits, operator, both = match.groups()
        operator = operator or both
        if digits and len(digits) > _MAXIMUM_DESCRIPTOR_DIGITS:
            raise self.refusal("A descriptor of so many digits is not understood.", *match.span())
        self.whole_operator(operator, start)
        return self.redirect_target(operator, int(digits) if digits else None, start)

    def redirect_target(self, operator: str, fd: int | None, start: int) -> Redirect:
        """Read what follows a redirection's operator."""
        target: Word | Heredoc
        if operator in {"<<", "<<-"}:
            target = self._heredoc(start, strip_tabs=operator == "<<-")
        elif operator in {">&", "<&"}:
            return self._duplicate(operator, fd, start)
        elif operator == "<<<":
            segments, span = self._target_segments(start)
            target = self.plain_word(segments, span)
        else:
            target = self._file(start)
        return Redirect(operator, target, Span(start, self.position), fd)

    def redirects(self) -> tuple[Redirect, ...]:
        """Read the redirections that follow a compound command."""
        found: list[Redirect] = []
        stop = self.position
        self.skip_blanks()
        while (redirect := self.redirect()) is not None:
            found.append(redirect)
            stop = self.position
            self.skip_blanks()
        self.position = stop
        return tuple(found)

    def begins_redirect(self, segments: list[Segment]) -> bool:
        """Return whether a word just read is the descriptor of a redirection that follows it."""
        if self.peek() not in {"<", ">"}:
            return False
        text = bare_text(segments)
        if text is None:
            return False
        if text.startswith("{") and text.endswith("}"):
            raise self.refusal("A descriptor in braces is not understood.", self.position)
        return bool(text) and _DIGITS.issuperset(text)

    def _target_segments(self, start: int) -> tuple[list[Segment], Span]:
        self.skip_blanks()
        begin = self.position
        segments = self.segments()
        if not segments:
            raise self.refusal("A redirection without a target is not understood.", start)
        if self.begins_redirect(segments):
            raise self.refusal("A descriptor in the place of a target is not understood.", begin)
        return segments, Span(begin, self.position)

    def _file(self, start: int) -> Word:
        segments, span = self._target_segments(start)
        words = self.expanded_words(segments, span)
        if len(words) != 1:
            raise self.refusal("A redirection to several files is not understood.", *span)
        return words[0]

    def _duplicate(self, operator: str, fd: int | None, start: int) -> Redirect:
        """Read the target of `>&` or `<&`; `>&file` means the same as `&>file`."""
        self.skip_blanks()
        if (match := self.take(_DESCRIPTOR)) is not None:
            span = Span(*match.span())
            return Redirect(
                operator, Word((Literal(match[1], span),), span), Span(start, span.end), fd
            )
        target = self._file(start)
        name = target.literal
        if operator != ">&" or fd is not None or not name or _DESCRIPTOR_LIKE.fullmatch(name):
            raise self.refusal(f"This target of `{operator}` is not understood.", *target.span)
        return Redirect("&>", target, Span(start, self.position))

    def _heredoc(self, start: int, *, strip_tabs: bool) -> Heredoc:
        self.skip_blanks()
        match = self.take(_DELIMITER)
        if match is None:
            raise self.refusal("This delimiter of a heredoc is not understood.", self.position)
        single, double, backslash, bare = match.groups()
        quoted = bare is None or backslash is not None
        delimiter = single or double or bare
        begin = self.begin_heredoc(start)
        end, resume = self._find_end(begin, delimiter, quoted=quoted, strip_tabs=strip_tabs)
        self.end_heredoc(resume)
        body = self.text[begin:end]
        stripped = re.sub(r"^\t+", "", body, flags=re.MULTILINE) if strip_tabs else body
        if quoted:
            span = Span(begin, end)
            return Heredoc(Word((Literal(stripped, span, True),), span), True)
        return Heredoc(self._heredoc_body(stripped, begin, end), False)

    def _find_end(
        self, begin: int, delimiter: str, *, quoted: bool, strip_tabs: bool
    ) -> tuple[int, int]:
        """Return where a heredoc's body ends, and where the line after its delimiter begins."""
        position = begin
        continued = False
        prefix = ""
        while position < self.end:
            stop = self.text.find("\n", position, self.end)
            stop = self.end if stop < 0 else stop
            line = self.text[position:stop]
            if strip_tabs:
                line = line.lstrip("\t")
            whole = prefix + line
            if whole == delimiter and not continued:
                return position, min(stop + 1, self.end)
            if whole == delimiter or (self.depth and line.startswith(delimiter)):
                raise self.refusal(
                    "A line like this heredoc's delimiter is not understood.", position
                )
            continued = not quoted and (len(line) - len(line.rstrip("\\"))) % 2 == 1
            if continued and strip_tabs:
                raise self.refusal(
                    "A continued line in a `<<-` heredoc is not understood.", position
                )
            prefix = whole[:-1] if continued else ""
            position = stop + 1
        raise self.refusal("A heredoc that is never closed is not understood.", begin - 1)

    def _heredoc_body(self, body: str, begin: int, end: int) -> Word:
        reader = self.detached(body, begin)
        word = Word(tuple(reader.heredoc_text()), Span(begin, end))
        self.rejoin(reader)
        return word


_SURE_WORD = re.compile(
    r"""(?:(?!\#)([^ \t\n|&;()<>"'$`\\*?\[{~]+)|'([^'\n]*)'|"([^"\\$`\n]*)")"""
    r"(?:[ \t]+|(?=[\n|&;)]|\Z))"
)
"""A word of which every character stands for itself, or a wholly quoted one, and its blanks."""

_REDIRECT_STARTS = frozenset("0123456789<>&")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
_LOCALE_ASSIGNMENT = re.compile(r"[^\W\d]\w*(?:\+?=|\[)")
_SUBSCRIPT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[")
_ARRAY_END = re.compile(r"[ \t\n;|&)]|\Z")
_FUNCTION_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


class SimpleReader(_RedirectReader):
    """Reads simple commands."""

    @abstractmethod
    def function(self, name: str, start: int) -> Function:
        """Read a function's definition from its `(` on."""

    def simple(self) -> SimpleCommand | Function:
        """Read the simple command, or the function definition, at the cursor."""
        start = stop = self.position
        self.count(start)
        assignments: list[Assignment] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            stop = self._sure_words(words) or stop
            character = self.peek()
            if character in "\n;|)#" or (character == "&" and not self.at("&>")):
                break
            if character in " \t" or self.at("\\\n"):
                self.skip_blanks()
                continue
            if character == "(":
                return self._function(start, words, plain=not (assignments or redirects))
            redirect = self.redirect() if character in _REDIRECT_STARTS else None
            if redirect is not None:
                redirects.append(redirect)
            else:
                self._word(assignments, words)
            stop = self.position
        if words and any(each.elements is not None for each in assignments):
            raise self.refusal("An array before a command is not understood.", start)
        if not (words or assignments or redirects):
            raise self.refusal("A command is missing here; this is not understood.", self.position)
        return SimpleCommand(tuple(assignments), tuple(words), tuple(redirects), Span(start, stop))

    def _sure_words(self, words: list[Word]) -> int:
        """Read the plain words; return where the last one ends, or 0."""
        text, end = self.text, self.end
        position = self.position
        stop = 0
        while (match := _SURE_WORD.match(text, position, end)) is not None:
            group = match.lastindex or 0
            bare = group == 1
            value = match[group]
            if bare and not words and ("=" in value or value in RESERVED):
                break
            stop = match.end(1) if bare else match.end(group) + 1
            span = Span(position, stop)
            words.append(Word((Literal(value, span, not bare),), span))
            position = match.end()
        self.position = position
        return stop

    def _word(self, assignments: list[Assignment], words: list[Word]) -> None:
        """Read a word that is not plain."""
        begin = self.position
        segments = self.segments()
        span = Span(begin, self.position)
        if self.begins_redirect(segments):
            raise self.refusal("A descriptor on a line of its own is not understood.", begin)
        if words:
            words.extend(self.expanded_words(segments, span))
        else:
            self._first_word(segments, span, assignments, words)

    def argument(self, words: list[Word]) -> bool:
        """Read the argument at the cursor into `words`; return False where none stands there."""
        begin = self.position
        segments = self.segments()
        if not segments:
            return False
        if self.begins_redirect(segments):
            raise self.refusal("A redirection is not understood here.", self.position)
        words.extend(self.expanded_words(segments, Span(begin, self.position)))
        return True

    def _first_word(
        self,
        segments: list[Segment],
        span: Span,
        assignments: list[Assignment],
        words: list[Word],
    ) -> None:
        """Read the first word: an assignment, or the command's name."""
        if not segments:
            raise self.refusal("This character is not understood here.", self.position)
        first, *others = segments
        head = ""
        if isinstance(first, Literal) and not first.quoted:
            head = first.text
            if (match := _ASSIGNMENT.match(head)) is not None:
                assignments.append(self._assignment(match, first, others, span))
                return
        if _SUBSCRIPT.match(head) or (not head.isascii() and _LOCALE_ASSIGNMENT.match(head)):
            raise self.refusal("An array's subscript is not understood.", *span)
        if bare_text(segments) in RESERVED:
            raise self.refusal(f"`{head}` is not understood here.", *span)
        words.extend(self.expanded_words(segments, span))

    def _assignment(
        self, match: re.Match[str], first: Literal, others: list[Segment], span: Span
    ) -> Assignment:
        """Split a word that assigns, and read the list of values that may follow it."""
        if self.peek() == "(":
            return self._array(match, span)
        begin = min(first.span.start + match.end(), first.span.end)
        rest = first.text[match.end() :]
        value: list[Segment] = [Literal(rest, Span(begin, first.span.end))] if rest else []
        value.extend(others)
        word = self.value_word(value, Span(begin, span.end))
        return Assignment(match[1], word, span, match[2] == "+")

    def _array(self, match: re.Match[str], span: Span) -> Assignment:
        """Read the words of `name=(...)`; `[subscript]=value`, which is computed, is not read."""
        if span.end - span.start != len(match.group()) or self.heredoc_waits():
            raise self.refusal("This array is not understood.", *span)
        begin = self.position
        self.count(begin)
        self.position += 1
        words: list[Word] = []
        self.skip_lines()
        while self.peek() != "[" and self.argument(words):
            self.skip_lines()
        if self.peek() != ")":
            raise self.refusal("The content of this array is not understood.", self.position)
        self.position += 1
        if _ARRAY_END.match(self.text, self.position, self.end) is None:
            raise self.refusal("What follows this array is not understood.", self.position)
        list_span = Span(begin, self.position)
        value = Word((Literal("", list_span, True),), list_span)
        whole = Span(span.start, self.position)
        return Assignment(match[1], value, whole, match[2] == "+", tuple(words))

    def _function(self, start: int, words: list[Word], *, plain: bool) -> Function:
        name = words[0].segments[0] if words else None
        if (
            not plain
            or len(words) != 1
            or not isinstance(name, Literal)
            or name.quoted
            or len(words[0].segments) != 1
            or _FUNCTION_NAME.fullmatch(name.text) is None
        ):
            raise self.refusal("An opening bracket is not understood here.", self.position)
        return self.function(name.text, start)
