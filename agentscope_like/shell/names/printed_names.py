"""Tells which file names commands print, take from their input, and are handed by others.

`find . | xargs cat`, `cat $(git ls-files)`, `while read f; do cat "$f"; done`: such names pass
where each program that prints them is known to print names, and each one behind it to pass them on
(`name_sources.toml`). Every other name is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from agentscope_like.shell.analysis import EffectKind, Part
from agentscope_like.shell.catalog import programs_with
from agentscope_like.shell.draft import Draft, Pipe, Source, shortened
from agentscope_like.shell.facts import is_redirect, lists_only
from agentscope_like.shell.names.name_sources import Prints, name_source, splits_at_blanks
from agentscope_like.shell.values import (
    NO_NAMES,
    UNKNOWN_NAMES,
    Argument,
    Names,
    Unknown,
    any_of,
    names_of,
    put_together,
    unknown_names,
)

__all__ = ["handed", "names_from", "names_read"]

_NUMBER = Names(exact=False)


def names_from(source: Source) -> Names:
    """Return what is known of the names that come from a source of input."""
    return _names_from(source, {})


def names_read(draft: Draft) -> Names:
    """Return what is known of the names that `read` or `mapfile` takes from its input."""
    part = draft.finish()
    names = names_from(draft.source)
    separators = [each.value.literal for each in part.assignments if each.name == "IFS"]
    is_plain = all(each is not None and not each.strip() for each in separators)
    return names if is_plain and splits_at_blanks(part.argv) else _cut(names)


def handed(
    before: Sequence[Argument], after: Sequence[Argument], wrapper: Draft, inner: Draft
) -> list[Argument]:
    """Return the arguments of a command with what is known of those that its wrapper adds.

    Args:
        before: The arguments as written.
        after: The same with what the wrapper puts in, and adds behind them.
        wrapper: The part of the wrapper.
        inner: The part of the command.
    """
    if list(before) == list(after):
        return list(after)
    part = wrapper.finish()
    names = _found_by(wrapper, part) if part.is_a("finder") else _fed_to(wrapper, part, inner)
    stands_for_one = {"{}", *part.values_of(("-I", "-i", "--replace"))}
    known: list[Argument] = []
    for number, value in enumerate(after):
        own = before[number] if number < len(before) else None
        if isinstance(value, Unknown) and not isinstance(own, Unknown):
            is_whole = own is None or own in stands_for_one
            told = names if is_whole else _within(value, names, inner)
            known.append(replace(value, names=told))
        else:
            known.append(value)
    return known


def _found_by(finder: Draft, part: Part) -> Names:
    """Return what is known of the names that `find` or `fd` hands on."""
    names = Names((_number(finder),), exact=_is_known(part) and name_source(part) is not None)
    if finder.program == "fd" and name_source(part) is None:
        return replace(names, unknown=f"files whose names `{finder.program}` changes")
    return names


def _fed_to(xargs: Draft, part: Part, inner: Draft) -> Names:
    """Return what is known of the names that `xargs` takes from its input for its command.

    Whatever stands behind the first word of what it runs is no option of it.
    """
    if lists := [each.target for each in part.effects if not is_redirect(each, part)]:
        return unknown_names(f"the files listed in `{shortened(lists[0])}`")
    names = names_from(xargs.source)
    places = [id(word) for word in part.words]
    own = part.argv[: places.index(id(inner.words[0]))]
    return names if splits_at_blanks(own) else _cut(names)


def _cut(names: Names) -> Names:
    """Return names that are cut from texts, of which nothing is known."""
    return replace(names, unknown="files whose names are cut from other text", exact=False)


def _names_from(source: Source, known: dict[int, Names]) -> Names:
    """Return what is known of the names from a source; `known` has the pipes looked at so far."""
    if isinstance(source, Names):
        return source
    names = known.get(id(source))
    if names is None:
        drafts = [each for each in source.printers if isinstance(each, Draft)]
        carriers = {draft.parent for draft in drafts}
        printing = [draft for draft in drafts if draft.index not in carriers or _finds(draft)]
        found = [_printed_by(draft, known) for draft in printing]
        found += [_names_from(each, known) for each in source.printers if isinstance(each, Pipe)]
        names = known[id(source)] = any_of([*found, NO_NAMES])
    return names


def _finds(draft: Draft) -> bool:
    return draft.program in programs_with("finder")


def _printed_by(draft: Draft, known: dict[int, Names]) -> Names:
    """Return what is known of the names that a part prints by itself."""
    if not draft.words:  # `$(< file)`, or an assignment
        return UNKNOWN_NAMES if any(each.feeds for each in draft.redirects) else NO_NAMES
    if draft.body is not None:
        return _names_from(draft.body, known)
    part = draft.finish()
    names = _NUMBER
    match name_source(part):
        case None:
            names = _text_of(draft, part, known)
        case Prints.PATHS:
            names = Names((_number(draft),), exact=_is_known(part))
        case Prints.NAMES:
            names = Names((_number(draft),), exact=False)
        case Prints.MATCHES:
            what = f"the files that `{part.program}` names"
            names = Names((_number(draft),), what, exact=False, starts_lines=True)
        case Prints.ITS_WORDS:
            names = _said_by(draft)
        case Prints.NEW_WORDS:
            said = _said_by(draft)
            what = f"files whose names `{part.program}` builds"
            names = replace(said, unknown=said.unknown or what)
        case Prints.ITS_LINES if _is_known(part):
            names = _names_from(draft.source, known)
        case Prints.ITS_LINES | Prints.ITS_PIECES:
            names = replace(_names_from(draft.source, known), exact=False)
        case Prints.FIRST_FIELDS:
            fed = _names_from(draft.source, known)
            names = replace(fed, unknown="", exact=False) if fed.starts_lines else _cut(fed)
            names = replace(names, starts_lines=False)
    return names


def _text_of(draft: Draft, part: Part, known: dict[int, Names]) -> Names:
    """Return unknown names for what a part prints, with the producers of its input."""
    name = f"git {part.git_command}" if part.git_command else part.name
    for effect in part.effects:
        if effect.kind is EffectKind.READ and not lists_only(effect, part):
            listed = f"listed in `{shortened(effect.target)}`"
            which = listed if effect.path else f"that `{name}` names"
            return unknown_names(f"the files {which}")
    own = (_number(draft),) if part.is_a("shows_names") else ()
    names = _names_from(draft.source, known)
    what = f"the files that `{name}` names"
    return replace(names, producers=(*own, *names.producers), unknown=what, exact=False)


def _number(draft: Draft) -> int:
    """Return the number that a draft's part is going to have."""
    return 0 if draft.index is None else draft.index


def _said_by(draft: Draft) -> Names:
    """Return what is known of the words that `echo` and its kin print."""
    return replace(any_of([*map(names_of, draft.arguments[1:]), NO_NAMES]), exact=False)


def _within(value: Unknown, names: Names, inner: Draft) -> Names:
    """Return what is known of names that stand behind or before other text of a word."""
    if value.end:
        return replace(names, spoken=True, exact=False)  # its known end is looked at
    is_placed = value.prefix.startswith("/") or bool(inner.directories)
    if names.spoken or not (is_placed and value.prefix.endswith("/")):
        return put_together(names)
    return replace(names, exact=False)


def _is_known(part: Part) -> bool:
    """Return whether all words of a part are known, and what it reaches."""
    return None not in part.argv and all(effect.path for effect in part.effects)
