"""Reads redirections and heredocs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentscope_like.shell.syntax.tree import Heredoc, Literal, Redirect, Span, Word
from agentscope_like.shell.syntax.words import WordReader, bare_text

if TYPE_CHECKING:
    from agentscope_like.shell.syntax.tree import Segment

__all__ = ["RedirectReader"]

_OPERATOR = re.compile(r"([0-9]*)(<<<|<<-|<<|<>|<&|<(?!\()|>>|>&|>\||>(?!\())|(&>>|&>)")
_DESCRIPTOR = re.compile(r"([0-9]{1,3}|-)(?=[ \t\n|&;()<>]|\Z)")
_DESCRIPTOR_LIKE = re.compile(r"[0-9]+-?|-.*", re.DOTALL)
_DELIMITER = re.compile(
    r"(?:'([^'\n\\]+)'|\"([A-Za-z0-9_.+ -]+)\"|(\\)?([A-Za-z0-9_.+-]+))(?=[ \t\n|&;()<>]|\Z)"
)
_DIGITS = frozenset("0123456789")

_MAXIMUM_DESCRIPTOR_DIGITS = 3


class RedirectReader(WordReader):
    """Reads redirections."""

    def redirect(self) -> Redirect | None:
        """Read the redirection at the cursor; None where none stands there."""
        match = _OPERATOR.match(self.text, self.position, self.end)
        if match is None:
            return None
        start = self.position
        digits, operator, both = match.groups()
        operator = operator or both
        if digits and len(digits) > _MAXIMUM_DESCRIPTOR_DIGITS:
            raise self.refusal("A descriptor of so many digits is not understood.", *match.span())
        self.position = match.end()
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
        match = _DESCRIPTOR.match(self.text, self.position, self.end)
        if match is not None:
            self.position = match.end()
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
        match = _DELIMITER.match(self.text, self.position, self.end)
        if match is None:
            raise self.refusal("This delimiter of a heredoc is not understood.", self.position)
        single, double, backslash, bare = match.groups()
        self.position = match.end()
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
