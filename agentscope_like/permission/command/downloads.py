"""Detects command lines that may run what they themselves download."""

from __future__ import annotations

import re

from msgspec import Struct

from agentscope_like.shell import CommandAnalysis, EffectKind, Part, Words
from agentscope_like.shell.catalog import bare_name, families, programs_with
from agentscope_like.shell.facts import INPUT
from agentscope_like.toml_tables import Expression, table_beside

__all__ = ["download_objection"]

_MODULE = re.compile(r"-[A-Za-z]*m.*", re.DOTALL)
_MAY_RUN = "may run downloaded code, which cannot be checked"


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `downloads.toml`, which says what each field is."""

    other_code: Expression
    shell_code: Expression
    with_value: frozenset[str]
    sub_commands: frozenset[str]
    code: dict[str, Expression]
    keeping: dict[str, Expression]
    output: tuple[str, ...]
    data: Expression


_table = table_beside(__file__, "downloads.toml", _Table)


def download_objection(part: Part, analysis: CommandAnalysis) -> str | None:
    """Return why a part may run what its command downloads, or None.

    A script or code that stands in its words is no downloaded code as long as the line keeps
    nothing in files.
    """
    if part.read_only or not _runs_a_script(part):
        return None
    downloaders = programs_with("downloader")
    loading = [each for each in analysis.parts if each.name in downloaders]
    if not loading:
        return None
    within = range(part.span.start, part.span.end)
    if _has_code(part) and any(each.span.start in within for each in loading):
        return "runs downloaded code, which cannot be checked"  # as `sh -c "$(curl x)"` does
    words = _code_words(part)
    return _MAY_RUN if words is None or _is_kept(part, words, analysis) else None


def _is_kept(part: Part, words: Words, analysis: CommandAnalysis) -> bool:
    """Return whether another part may keep what is downloaded in a file that may be run."""
    own = {id(part), *map(id, analysis.carriers(part))}
    others = [each for each in analysis.parts if id(each) not in own]
    return any(_may_be_code(name, words) for each in others for name in _kept_names(each))


def _runs_a_script(part: Part) -> bool:
    """Return whether a part runs code: a shell, an interpreter, or a program of the project."""
    if part.name in programs_with("sourcer") or families().runs_code(part.name):
        return True
    return part.program is None and bool(part.argv) and "/" in (part.argv[0] or "")


def _has_code(part: Part) -> bool:
    """Return whether an option of a shell or an interpreter has code as its value."""
    name = part.name
    if families().is_shell(name):
        return any(map(_table().shell_code.fullmatch, part.options))
    interpreter = families().interpreter(name)
    code = _table().code.get(interpreter or "", _table().other_code)
    return interpreter is not None and any(map(code.fullmatch, part.options))


def _code_words(part: Part) -> Words | None:
    """Return the words that name what a part runs: up to its script; None if it is not known."""
    if _has_code(part):
        return None if None in part.argv else part.argv
    if part.name not in programs_with("sourcer") and not families().runs_code(part.name):
        return part.argv[:1]  # it is the script itself
    previous, table = "", _table()
    for number, word in enumerate(part.argv[1:], 1):
        if word is None or (word == "-" and previous not in table.with_value):
            break
        is_module = _MODULE.fullmatch(word) is not None
        is_option = word.startswith(("-", "+")) or word in table.sub_commands
        if previous not in table.with_value and (is_module or not is_option):
            words = part.argv[: number + 1 + is_module]
            return None if words[-1] is None or INPUT.fullmatch(word) else words
        previous = word
    return None


def _may_be_code(name: str, words: Words) -> bool:
    """Return whether a file may be code, or one of some words names it."""
    last = bare_name(name)
    return _table().data.fullmatch(last) is None or any(
        last in (word or "").casefold() for word in words
    )


def _kept_names(part: Part) -> tuple[str, ...]:
    """Return the names of the files that a part may keep a download in; empty for any name."""
    redirected = (each for each in part.effects if each.span in part.redirected)
    written = (each for each in redirected if each.kind is EffectKind.WRITE)
    names = ["" if each.glob else each.path or "" for each in written]
    keeping = _table().keeping.get(part.name)
    if keeping is None:
        if not part.read_only and part.name not in programs_with("keeps_contents"):
            names.append("")
        return tuple(names)
    words = (*part.options, *[each.prefix for each in part.computed])
    found = [word for word in words if keeping.fullmatch(word)]
    named = part.values_of(_table().output) if found else ()
    is_known = bool(named) and all(word.startswith(_table().output) for word in found)
    return (*names, *(named if is_known or not found else ("",)))
