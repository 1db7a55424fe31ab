"""Reads words: their quotes, escapes and expansions, as bash joins them."""

from __future__ import annotations

import re

from agentscope_like.shell.syntax.tree import Literal, Segment, Span, Word
from agentscope_like.shell.syntax.words import ansi_quotes as ansi
from agentscope_like.shell.syntax.words.braces import expand_braces
from agentscope_like.shell.syntax.words.dollar_expansions import ExpansionReader
from agentscope_like.shell.syntax.words.globs_and_tildes import (
    assignment_value,
    mark_globs,
    mark_tildes,
)

__all__ = ["RESERVED", "WordReader", "bare_text"]

RESERVED = frozenset(
    {
        *("if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case"),
        *("esac", "in", "{", "}", "[[", "]]", "!", "time", "function", "select", "coproc"),
    }
)
"""Words that bash 5.2 and 5.3 treat as syntax where a command may begin."""

_PIECE_LENGTH = 16
"""Characters of a word with braces that count as one piece in each word made of it."""

_RUN = re.compile(r"[^ \t\n|&;()<>\"'$`\\]+")
_ESCAPES = re.compile(r"(?:\\[^\n])+")
_ESCAPE = re.compile(r"\\([^\n])")
_SIMPLE_QUOTES = re.compile(r'"([^"\\$`]*)"')
_QUOTED_RUN = re.compile(r'[^"\\$`]+')
_HEREDOC_RUN = re.compile(r"[^\\$`]+")


def bare_text(segments: list[Segment]) -> str | None:
    """Return a word's text where nothing in it is quoted or computed, else None."""
    if len(segments) != 1:
        return None
    only = segments[0]
    return only.text if isinstance(only, Literal) and not only.quoted else None


def _weight(segments: list[Segment]) -> int:
    """Return the budget cost of a word from brace expansion, by its length."""
    length = sum(len(each.text) for each in segments if isinstance(each, Literal))
    return len(segments) + length // _PIECE_LENGTH


class WordReader(ExpansionReader):
    """Reads words.

    A word with an unquoted variable or substitution may expand to several arguments or none. It is
    one `Word` here; only a word whose `literal` is not None is certainly one argument.
    """

    def segments(self) -> list[Segment]:
        """Read the segments of the word at the cursor; none where no word stands there.

        Braces, tildes and globs are not looked at yet: they are plain unquoted literals.
        """
        text, end = self.text, self.end
        found: list[Segment] = []
        if self.at("#"):
            return found
        while self.position < end:
            start = self.position
            run = _RUN.match(text, start, end)
            if run is not None:
                self.position = run.end()
                self._add_bare(found, run.group(), start)
                continue
            character = text[start]
            if character == "'":
                found.append(self.single_quoted())
            elif character == '"':
                found.extend(self.double_quoted())
            elif character == "\\":
                self._escape(found)
            elif character == "$":
                self._dollar(found)
            elif character == "`":
                found.append(self.backticks(quoted=False))
            elif character in "<>" and text.startswith("(", start + 1, end):
                if found:
                    raise self.refusal(
                        "A process substitution inside a word is not understood.", start
                    )
                found.append(self.process_substitution())
            else:
                break
        self.count_pieces(len(found), self.position)
        self.stay_on_line()
        return found

    def expanded_words(self, segments: list[Segment], span: Span) -> list[Word]:
        """Return the words after brace expansion; tildes and globs are marked."""
        if Literal not in map(type, segments):  # nothing but what bash computes
            return [Word(tuple(segments), span)]
        expansions = expand_braces(segments, span)
        if expansions is None:
            return [self._marked(segments, span, value=assignment_value(segments))]
        self.count_pieces(sum(map(_weight, expansions)), span.start)
        return [self._marked(each, span) for each in expansions]

    def computed_word(self, segments: list[Segment], span: Span) -> Word:
        """Make one word; braces are plain characters, tildes and globs are marked."""
        return self._marked(segments, span)

    def value_word(self, segments: list[Segment], span: Span) -> Word:
        """Make the value of an assignment: no braces, no globs, tildes also after a colon."""
        return Word(tuple(mark_tildes(segments, value=0)) or (Literal("", span),), span)

    def plain_word(self, segments: list[Segment], span: Span) -> Word:
        """Make a word without word splitting and globbing, as after `<<<`."""
        return Word(tuple(mark_tildes(segments)), span)

    def _marked(self, segments: list[Segment], span: Span, *, value: int | None = None) -> Word:
        marked = mark_globs(mark_tildes(segments, value=value))
        if marked is not segments:
            self.count_pieces(len(marked), span.start)
        return Word(tuple(marked), span)

    def _add_bare(self, found: list[Segment], text: str, start: int) -> None:
        last = found[-1] if found else None
        if isinstance(last, Literal) and not last.quoted:
            text = last.text + text
            start = last.span.start
            found.pop()
        found.append(Literal(text, Span(start, self.position)))

    def _escape(self, found: list[Segment]) -> None:
        start = self.position
        if (match := self.take(_ESCAPES)) is not None:
            found.append(Literal(_ESCAPE.sub(r"\1", match.group()), Span(*match.span()), True))
        elif self.at("\\\n"):
            self.position += 2
        else:
            raise self.refusal("A backslash at the very end is not understood.", start)

    def _dollar(self, found: list[Segment]) -> None:
        start = self.position
        if self.at("$'"):
            match = self.take(ansi.QUOTED)
            text = None if match is None else ansi.decode(match[1])
            if match is None or text is None:
                raise self.refusal("This `$'...'` is not understood.", start, start + 2)
            found.append(Literal(text, Span(*match.span()), True))
            return
        if self.at('$"'):
            if "TEXTDOMAIN" in self.text:
                raise self.refusal('A translated `$"..."` is not understood.', start, start + 2)
            self.position += 1
            found.extend(self.double_quoted())
            return
        segment = self.dollar(quoted=False)
        if segment is not None:
            found.append(segment)
            return
        self.position += 1
        self._add_bare(found, "$", start)

    def double_quoted(self) -> list[Segment]:
        """Read `"..."` at the cursor."""
        start = self.position
        if (simple := self.take(_SIMPLE_QUOTES)) is not None:
            return [Literal(simple[1], Span(start, self.position), True)]
        self.position += 1
        found = self.quoted_text(_QUOTED_RUN, '"', escapable='$`"\\')
        if self.peek() != '"':
            raise self.refusal("A double quote that is never closed is not understood.", start)
        self.position += 1
        return found

    def heredoc_text(self) -> list[Segment]:
        """Read the body of an unquoted heredoc, up to `end`."""
        return self.quoted_text(_HEREDOC_RUN, "", escapable="$`\\")

    def quoted_text(self, run: re.Pattern[str], closing: str, *, escapable: str) -> list[Segment]:
        """Read text in which only `$`, backticks and some backslashes are special."""
        found: list[Segment] = []
        pieces: list[str] = []
        begin = self.position

        def flush() -> None:
            if pieces:
                found.append(Literal("".join(pieces), Span(begin, self.position), True))
                pieces.clear()

        while (character := self.peek()) not in {closing, ""}:
            if (match := self.take(run)) is not None:
                pieces.append(match.group())
            elif character == "\\":
                pieces.append(self._quoted_escape(escapable))
            elif character == "`":
                flush()
                found.append(self.backticks(quoted=True))
                begin = self.position
            else:
                position = self.position
                segment = self.dollar(quoted=True)
                if segment is None:
                    pieces.append("$")
                    self.position += 1
                    continue
                end, self.position = self.position, position
                flush()
                found.append(segment)
                begin = self.position = end
        flush()
        return found or [Literal("", Span(begin, self.position), True)]

    def _quoted_escape(self, escapable: str) -> str:
        start = self.position
        following = self.text[start + 1] if start + 1 < self.end else ""
        if not following:
            raise self.refusal("A backslash at the very end is not understood.", start)
        self.position += 2
        if following == "\n":
            return ""
        return following if following in escapable else "\\" + following
