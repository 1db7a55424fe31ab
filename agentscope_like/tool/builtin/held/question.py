"""Shows a person what a held run would change, before it is applied."""

from __future__ import annotations

import os
import posixpath
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from agentscope_like.permission.explain import visible
from agentscope_like.sandbox.layer import (
    Change,
    FileKind,
    FileState,
    Layer,
    LayerDescriptors,
    Sort,
    SortedChange,
    read_file_below,
)
from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.files import decode, unified_diff
from agentscope_like.tool.builtin.held.outcome import HeldChanges, Outcome

__all__ = ["HeldQuestion", "held_question"]

MOST_LISTED = 20
"""How many files are listed one by one; more are counted by directory."""

MOST_OUTPUT_LINES = 10
"""How many lines of the end of the output are shown."""

_MOST_COMPARED_BYTES = 1 << 20
_FIRST = (Sort.SETTING, Sort.LOST)
_COUNTED = {Sort.CACHE: "in caches", Sort.GIT: "in .git"}


class HeldQuestion(Struct, frozen=True):
    """What a person is shown.

    Attributes:
        title: One line: how many files would change, and of what kind.
        lines: The list: what was asked about first and in full, then the files.
        difference: The unified diff of all text files; for whoever asks for it.
        output: The end of the run's output, each line behind a gutter.
        exit_status: The run's exit status.
    """

    title: str
    lines: tuple[str, ...]
    difference: str
    output: tuple[str, ...]
    exit_status: int

    @property
    def text(self) -> str:
        """Return title, list, output and exit status as one text."""
        parts = [self.title, *self.lines]
        if self.output:
            parts += ["The end of its output:", *self.output]
        return "\n".join([*parts, f"It ended with status {self.exit_status}."])


def held_question(
    layer: Layer, held: Sequence[HeldChanges], outcome: Outcome, *, output: str, exit_status: int
) -> HeldQuestion:
    """Return what a person is shown of a held run.

    Nothing that the run wrote can be taken for a line of this list: names and contents are escaped,
    and output stands behind a gutter.

    Args:
        layer: The layer of the run.
        held: Its sorted changes, in the order of the layer's directories.
        outcome: What of them is asked about.
        output: What the run printed.
        exit_status: How it ended.

    Raises:
        IsolationError: The layer is gone.
    """
    with layer.descriptors() as opened:
        shown = [
            _Shown(each, one.directory, descriptors)
            for one, descriptors in zip(held, opened, strict=True)
            for each in one.changes
        ]
        listed = [each for each in shown if each.is_listed]
        first = {reason.path for reason in outcome.reasons}
        others = [each for each in listed if each.path not in first]
        lines = (*_first(shown, outcome), *_files(others))
        difference = "".join(each.difference() for each in listed)
    tail = output.rstrip("\n").split("\n")[-MOST_OUTPUT_LINES:] if output.strip() else []
    return HeldQuestion(
        _title(shown, listed),
        lines,
        difference,
        tuple(f"  | {visible(line, layout='')}" for line in tail),
        exit_status,
    )


class _Shown:
    """One change, as it is shown."""

    def __init__(self, each: SortedChange, directory: str, descriptors: LayerDescriptors) -> None:
        self.change = each.change
        self.sort = each.sort
        self.because = each.because
        self.path = posixpath.join(directory, each.change.path)
        self._descriptors = descriptors

    @property
    def is_listed(self) -> bool:
        """Return whether it is listed by itself: not a cache, git's own, or only a directory."""
        states = (self.change.before, self.change.after)
        kinds = {state.kind for state in states if state is not None}
        return self.sort not in _COUNTED and kinds != {FileKind.DIRECTORY}

    @property
    def name(self) -> str:
        """Return its path relative to the working directory, escaped."""
        return visible(self.change.path, layout="")

    def line(self) -> str:
        """Return it as a line of the list."""
        return f"  {self.name} ({self._what()})"

    def difference(self) -> str:
        """Return the unified diff of a text file; empty for others."""
        texts = self._texts()
        if texts is None:
            return ""
        return visible(unified_diff(*texts, self.change.path), layout="\n\t")

    def _what(self) -> str:
        change = self.change
        told = [_kind_words(change)] if _kind_words(change) else []
        texts = self._texts()
        if texts is None and _is_file(change.after) and change.renamed_from is None:
            told.append(f"binary, {change.after.size if change.after else 0:,} bytes")
        elif texts is not None and change.renamed_from is None:
            told.append(_counts(unified_diff(*texts, "")))
        if change.special:
            told.append(f"{change.special} left out")
        return ", ".join(filter(None, told)) or "changed times"

    def _texts(self) -> tuple[str, str] | None:
        """Return the old and the new text of a file; None where one is no text."""
        change = self.change
        if not (_is_file(change.before) or _is_file(change.after)):
            return None
        before = self._text(change.before, self._descriptors.lower)
        after = self._text(change.after, self._descriptors.upper)
        return None if before is None or after is None else (before, after)

    def _text(self, state: FileState | None, top: int) -> str | None:
        """Return the text of a file; empty where there is no file, None where it is no text."""
        if not _is_file(state):
            return ""
        data = read_file_below(top, self.change.path, _MOST_COMPARED_BYTES)
        try:
            return None if data is None else decode(data, self.change.path)[0]
        except FileToolError:
            return None


def _is_file(state: FileState | None) -> bool:
    return state is not None and state.kind is FileKind.FILE


def _kind_words(change: Change) -> str:
    """Return in words what happened to a path, other than to its content."""
    before, after = change.before, change.after
    if after is None:
        return "removed"
    if change.renamed_from is not None:
        return f"renamed from {visible(change.renamed_from, layout='')}"
    if after.kind is FileKind.LINK:
        return f"link to {visible(after.content, layout='')}"
    if before is None:
        return "new"
    if before.kind is not after.kind:
        return f"a {before.kind.value} before"
    return f"mode {before.mode:o} to {after.mode:o}" if before.mode != after.mode else ""


def _counts(difference: str) -> str:
    """Return how many lines a unified diff adds and takes."""
    lines = difference.split("\n")[2:]
    added = sum(line.startswith("+") for line in lines)
    taken = sum(line.startswith("-") for line in lines)
    return " ".join(([f"+{added}"] if added else []) + ([f"-{taken}"] if taken else []))


def _title(shown: Sequence[_Shown], listed: Sequence[_Shown]) -> str:
    counted = Counter(_COUNTED[each.sort] for each in shown if each.sort in _COUNTED)
    parts = [f"{len(listed):,} file{'' if len(listed) == 1 else 's'}"]
    parts += [f"{number:,} {where}" for where, number in counted.items()]
    return f"The run would change {'; '.join(parts)}. Apply?"


def _first(shown: Sequence[_Shown], outcome: Outcome) -> Iterator[str]:
    """Yield what is asked about, in full."""
    by_path = {each.path: each for each in shown}
    for reason in outcome.reasons:
        each = by_path.get(reason.path)
        what = each.line() if each is not None else f"  {visible(reason.path, layout='')}"
        yield f"! {what.strip()}: {visible(reason.because, layout='')}"


def _files(listed: Sequence[_Shown]) -> Iterator[str]:
    """Yield removals in full, then other files, or how many there are by directory.

    Args:
        listed: What is not asked about by itself, and listed before.
    """
    removed = [each for each in listed if each.change.after is None]
    others = [each for each in listed if each.change.after is not None]
    yield from (each.line() for each in removed)
    if len(others) <= MOST_LISTED:
        yield from (each.line() for each in others)
        return
    places = Counter(os.path.dirname(each.name) or "." for each in others)
    for place, number in sorted(places.items()):
        yield f"  {place}/ ({number:,} files)"
