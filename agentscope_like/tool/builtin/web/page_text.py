"""Turns HTML into text that a model reads: headings, lists, links and tables stay recognizable."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

__all__ = ["page_text"]

# A tag ends at the first > outside quoted values. The loop never gives back what it took, so a page
# of unfinished tags takes no longer than any other.
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)((?:=\s*+\"[^\"]*+\"|=\s*+'[^']*+'|[^>])*+)>", re.DOTALL)
_ATTRIBUTE = re.compile(
    r"(?<![^\s/\"'])([^\s=/\"'>]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s>]++))"
)
_SPACE = re.compile(r"[ \t\r\n\f\v\xa0]+")
_BLANK_LINES = re.compile(r"\n{3,}")

_SKIPPED = frozenset({"script", "style", "template", "iframe", "svg", "object", "math"})
_HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
_PARAGRAPHS = _HEADINGS | frozenset({"address", "article", "aside", "blockquote", "body"})
_PARAGRAPHS |= frozenset({"details", "dialog", "dl", "fieldset", "figure", "footer", "form"})
_PARAGRAPHS |= frozenset({"header", "hgroup", "main", "nav", "ol", "p", "pre", "section"})
_PARAGRAPHS |= frozenset({"table", "ul"})
_LINES = frozenset({"div", "li", "tr", "dt", "dd", "figcaption", "summary", "option", "caption"})
_CELLS = frozenset({"td", "th"})
_MOST_NESTED = 20
_MOST_TOKENS = 200_000
"""No page that people read has more tags and texts; what follows them is left out."""


class _Tag(NamedTuple):
    name: str
    closes: bool
    attributes: str


def page_text(source: str, base_url: str) -> tuple[str, str]:
    """Return the title and the text of an HTML page.

    Args:
        source: The page.
        base_url: What its links are relative to.
    """
    writer = _Writer(base_url)
    for token in islice(_tokens(source), _MOST_TOKENS):
        if isinstance(token, str):
            writer.text(_unescaped(token))
        else:
            writer.tag(token)
    return writer.finish()


def _tokens(source: str) -> Iterator[str | _Tag]:
    """Return the texts and tags; an unfinished tag, comment or script reaches to the end."""
    position = 0
    while (start := source.find("<", position)) >= 0:
        if start > position:
            yield source[position:start]
        following = source[start + 1 : start + 2]
        if source.startswith("<!--", start):
            end = source.find("-->", start + 4)
            position = end + 3
        elif following in ("!", "?"):
            end = source.find(">", start)
            position = end + 1
        elif following == "/" or (following.isascii() and following.isalpha()):
            found = _TAG.match(source, start)
            if found is None:
                if following != "/" or source[start + 2 : start + 3].isalpha():
                    return
                yield "<"
                position = start + 1
                continue
            end = found.end()
            tag = _Tag(found[2].lower(), bool(found[1]), found[3])
            if tag.name in _SKIPPED and not tag.closes:
                closing = re.compile(f"</{tag.name}", re.IGNORECASE).search(source, end)
                end = -1 if closing is None else closing.start()
            else:
                yield tag
            position = end
        else:
            yield "<"
            position, end = start + 1, start
        if end < 0:
            return
    yield source[position:]


class _Writer:
    """Writes the text of a page, piece by piece."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._pieces: list[str] = []
        self._title: list[str] = []
        self._in_title = False
        self._preformatted = 0
        self._nested = 0
        self._links: list[str | None] = []
        self._newlines = 2
        self._space = False
        self._prefix = ""

    def text(self, text: str) -> None:
        """Write text between tags."""
        if self._in_title:
            self._title.append(text)
        elif self._preformatted:
            self._put(text)
        else:
            squeezed = _SPACE.sub(" ", text)
            words = squeezed.strip(" ")
            if squeezed.startswith(" "):
                self._space = True
            if words:
                self._put(words)
                self._space = squeezed.endswith(" ")

    def tag(self, tag: _Tag) -> None:
        """Write what a tag means."""
        name = tag.name
        if name == "title":
            self._in_title = not tag.closes and not self._title
        elif name in _PARAGRAPHS:
            self._block(2)
            self._paragraph(tag)
        elif name in _LINES:
            self._block(1)
            if name == "li" and not tag.closes:
                self._prefix = "  " * max(0, self._nested - 1) + "- "
        elif name == "br":
            self._block(1)
        elif name == "hr":
            self._block(2)
            self._put("---")
            self._block(2)
        elif name in _CELLS and not tag.closes and not self._newlines:
            self._put(" | ")
        elif name == "a":
            self._link(tag)
        elif name == "img" and (told := _attribute(tag, "alt")):
            self.text(f" [image: {told}] ")

    def finish(self) -> tuple[str, str]:
        """Return the title and the text."""
        while self._links:
            self._end_link()
        text = _BLANK_LINES.sub("\n\n", "".join(self._pieces)).strip("\n")
        return _SPACE.sub(" ", "".join(self._title)).strip(), text

    def _paragraph(self, tag: _Tag) -> None:
        step = -1 if tag.closes else 1
        if tag.name == "pre":
            self._preformatted = max(0, self._preformatted + step)
        elif tag.name in ("ul", "ol"):
            self._nested = min(_MOST_NESTED, max(0, self._nested + step))
        elif not tag.closes and tag.name in _HEADINGS:
            self._prefix = f"{'#' * int(tag.name[1])} "

    def _link(self, tag: _Tag) -> None:
        if self._links:
            self._end_link()
        if tag.closes:
            return
        target = _link_target(_attribute(tag, "href"), self._base_url)
        if target is not None:
            self._put("[")
            self._links.append(target)

    def _end_link(self) -> None:
        target = self._links.pop()
        self._space = False
        self._put(f"]({target})")

    def _block(self, newlines: int) -> None:
        """End the line, and leave a blank one for a paragraph."""
        self._space = False
        self._prefix = ""
        if self._newlines < newlines:
            self._pieces.append("\n" * (newlines - self._newlines))
            self._newlines = newlines

    def _put(self, text: str) -> None:
        if not text:
            return
        if self._prefix:
            self._pieces.append(self._prefix)
            self._prefix = ""
        elif self._space and not self._newlines:
            self._pieces.append(" ")
        self._space = False
        self._pieces.append(text)
        self._newlines = len(text) - len(text.rstrip("\n"))


def _attribute(tag: _Tag, name: str) -> str:
    for found in _ATTRIBUTE.finditer(tag.attributes):
        if found[1].lower() == name:
            return _unescaped(found[2] or found[3] or found[4] or "").strip()
    return ""


def _unescaped(text: str) -> str:
    try:
        return html.unescape(text)
    except ValueError:  # the number of a character with more digits than Python reads
        return text


def _link_target(href: str, base_url: str) -> str | None:
    """Return the whole address of a link to another page, or None."""
    if not href or href.startswith("#"):
        return None
    try:
        target = urljoin(base_url, href)
        return target if urlsplit(target).scheme in ("http", "https") else None
    except ValueError:
        return None
