"""Computes a unified diff of two texts in bounded time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile

from agentscope_like.permission.explain import visible
from agentscope_like.tool.builtin.files.text_format import LINE_END

__all__ = ["unified_diff"]

CONTEXT_LINES = 3
"""The number of unchanged lines around a change, as in `diff -u`."""

MAX_COMPARISONS = 4_000_000
"""The maximum of old lines times new lines in the changed part; beyond it, the part is shown as one
replacement."""

MAX_DIFF_CHARACTERS = 200_000
"""The maximum length of a diff in characters; the rest is replaced by a note."""

_Opcode = tuple[str, int, int, int, int]


def unified_diff(before: str, after: str, path: str) -> str:
    r"""Return the unified diff; empty if the texts are equal.

    Line ends are compared, and shown, as `\n`.

    Args:
        before: The old text; empty for a new file.
        after: The new text.
        path: The path in the two header lines.
    """
    old, new = _lines(before), _lines(after)
    if old == new:
        return ""
    head = visible(path, layout="")
    parts = [f"--- {head}\n+++ {head}\n"]
    size = 0
    for group in _groups(old, new):
        for line in _hunk(group, old, new):
            size += len(line)
            if size > MAX_DIFF_CHARACTERS:
                parts.append("... the rest of the difference is left out\n")
                return "".join(parts)
            parts.append(line)
    return "".join(parts)


def _lines(text: str) -> list[str]:
    lines = LINE_END.sub("\n", text).split("\n")
    last = lines.pop()
    whole = [f"{line}\n" for line in lines]
    return [*whole, f"{last}\n\\ No newline at end of file\n"] if last else whole


def _groups(old: Sequence[str], new: Sequence[str]) -> Iterator[list[_Opcode]]:
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    end, new_end = len(old) - tail, len(new) - tail
    if (end - head) * (new_end - head) <= MAX_COMPARISONS:
        middle = SequenceMatcher(None, old[head:end], new[head:new_end], autojunk=False)
        changes = [
            (tag, a + head, b + head, c + head, d + head)
            for tag, a, b, c, d in middle.get_opcodes()
        ]
    else:
        changes = [("replace", head, end, head, new_end)]
    before = min(head, CONTEXT_LINES)
    after = min(tail, CONTEXT_LINES)
    yield from _split(
        [
            ("equal", head - before, head, head - before, head),
            *changes,
            ("equal", end, end + after, new_end, new_end + after),
        ]
    )


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _split(opcodes: Sequence[_Opcode]) -> Iterator[list[_Opcode]]:
    """Split at stretches of unchanged lines that are longer than the context of both sides."""
    group: list[_Opcode] = []
    for tag, a, b, c, d in opcodes:
        if tag == "equal" and group and b - a > 2 * CONTEXT_LINES:
            group.append((tag, a, a + CONTEXT_LINES, c, c + CONTEXT_LINES))
            yield group
            group = [(tag, b - CONTEXT_LINES, b, d - CONTEXT_LINES, d)]
        else:
            group.append((tag, a, b, c, d))
    yield group


def _hunk(group: Sequence[_Opcode], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    first, last = group[0], group[-1]
    yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"
    for tag, a, b, c, d in group:
        if tag == "equal":
            yield from (f" {line}" for line in old[a:b])
        else:
            yield from (f"-{line}" for line in old[a:b])
            yield from (f"+{line}" for line in new[c:d])


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"
