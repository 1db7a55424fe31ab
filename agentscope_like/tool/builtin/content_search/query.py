"""Defines a search query and its results."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from agentscope_like.tool.builtin.file_errors import MAX_WHOLE_BYTES, FileToolError

__all__ = [
    "FileMatches",
    "MatchLine",
    "OutputMode",
    "Query",
    "SearchResult",
    "bad_pattern",
    "found_by_worker",
    "json_lines",
    "worker_job",
]

MAX_PATTERN_CHARACTERS = 10_000
"""The maximum length of a pattern."""

OutputMode: TypeAlias = Literal["content", "files_with_matches", "count"]


class Query(Struct, frozen=True):
    """What to search for.

    Attributes:
        pattern: A regular expression in the common syntax of ripgrep and Python.
        mode: The result for each file: its matching lines, whether it matches, or the number of
            lines.
        ignore_case: Whether to ignore case.
        multiline: Whether a match may span lines, `.` matching their ends.
        before: Lines of context before each match.
        after: Lines of context after each match.
    """

    pattern: str
    mode: OutputMode = "files_with_matches"
    ignore_case: bool = False
    multiline: bool = False
    before: int = 0
    after: int = 0

    @property
    def has_context(self) -> bool:
        """Return whether lines around the matches are wanted."""
        return self.before > 0 or self.after > 0

    def check(self) -> None:
        """Refuse patterns that ripgrep and Python would interpret differently.

        Raises:
            FileToolError: The message says what is wrong, and what to write instead.
        """
        if len(self.pattern) > MAX_PATTERN_CHARACTERS or "\0" in self.pattern:
            raise FileToolError(
                f"The pattern is longer than {MAX_PATTERN_CHARACTERS:,} characters or contains "
                "NUL. Search for a shorter one."
            )
        try:
            self.pattern.encode()
        except UnicodeEncodeError:
            raise FileToolError(
                "The pattern holds half of a surrogate pair, which no text has. Leave it out."
            ) from None
        for token in _TOKEN.findall(self.pattern):
            if token in _UNCOMMON or (token[0] == "\\" and token[1:] in _BACK_REFERENCES):
                raise FileToolError(
                    f"The pattern uses `{token}`: look-around, atomic groups and back-references "
                    "are not supported. Search for something simpler and look at the results."
                )
            if not self.multiline and _is_line_end(token):
                raise FileToolError(
                    "The pattern spans lines: set `multiline` to search across line ends."
                )


_CLASS_ITEM = r"(?:\\.|\[:\w+:\]|[^\]\\])"
_TOKEN = re.compile(
    rf"\\.|\[\^?\]?{_CLASS_ITEM}*\]|\(\?(?:<?[=!]|[>#(]|P[=>])|.",
    re.DOTALL,
)
_ESCAPES = re.compile(r"\\.|.", re.DOTALL)
_BACK_REFERENCES = frozenset("123456789")
_UNCOMMON = frozenset({"(?=", "(?!", "(?<=", "(?<!", "(?>", "(?#", "(?(", "(?P=", "(?P>"})


def _is_line_end(token: str) -> bool:
    """Return whether a token of a pattern matches a line end, by itself or in a class."""
    if token.startswith("[^"):
        return False
    return any(part in ("\\n", "\n") for part in _ESCAPES.findall(token))


class MatchLine(Struct, frozen=True):
    """A matching line of a file, or a line of its context."""

    number: int
    is_match: bool
    text: str


class FileMatches(Struct):
    """The matches in one file.

    Attributes:
        relative: Its path below the searched directory.
        count: The number of matching lines; at least 1 if only files are wanted.
        lines: The lines, in order; only where contents are wanted.
    """

    relative: str
    count: int = 0
    lines: list[MatchLine] = field(default_factory=list)


class SearchResult(Struct, frozen=True):
    """The results of a search, ordered by path.

    Attributes:
        files: The files that match.
        cut: Whether the search was stopped at the limit of its output.
    """

    files: list[FileMatches]
    cut: bool


def worker_job(query: Query, files: Sequence[str]) -> dict[str, Any]:
    """Return the job for this project's search program."""
    return {
        "pattern": query.pattern,
        "mode": query.mode,
        "ignore_case": query.ignore_case,
        "multiline": query.multiline,
        "before": query.before,
        "after": query.after,
        "max_bytes": MAX_WHOLE_BYTES,
        "files": files,
    }


def found_by_worker(output: bytes) -> Iterator[FileMatches]:
    """Parse the output of this project's search program."""
    for record in json_lines(output):
        lines = [MatchLine(number, is_match, text) for number, is_match, text in record["lines"]]
        yield FileMatches(record["path"], record["count"], lines)


def json_lines(output: bytes) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON of each complete line; the last line may have been cut."""
    lines = output.split(b"\n")
    lines.pop()
    return (json.loads(line) for line in lines)


def bad_pattern(error: str) -> FileToolError:
    """Return the error for a pattern that is not a regular expression."""
    said = " ".join(error.replace("regex parse error:", "").split())
    return FileToolError(
        f"The pattern is not a valid regular expression: {said[:500]}. Put a backslash before each "
        r"of `( ) [ ] { } . * + ? | ^ $ \` that is meant as itself."
    )
