"""Tells which file names commands print, and are handed by `find` or `xargs`.

`find . | xargs cat`, `cat $(git ls-files)`, `while read f; do cat "$f"; done`: such names pass
where each program that prints them is known to print names, and each one behind it to pass them on
(`name_sources.toml`). Every other name is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from agentscope_like.shell.analysis import Part
from agentscope_like.shell.draft import Draft, shortened
from agentscope_like.shell.facts import is_redirect
from agentscope_like.shell.names.name_sources import Prints, name_source, splits_at_blanks
from agentscope_like.shell.values import (
    NO_NAMES,
    Argument,
    Names,
    Unknown,
    any_of,
    names_of,
    put_together,
    unknown_names,
)

__all__ = ["handed", "names_printed", "names_read"]

_NOTHING_NAMED = Names(exact=False)
_CUT = "files whose names are cut from other text"


def names_printed(drafts: Sequence[Draft], parent: int | None) -> Names:
    """Return what is known of the names that some commands print.

    Args:
        drafts: Their parts, and all parts within these.
        parent: The number of the part that runs the commands, or None at the top.
    """
    own = [_printed(draft, drafts) for draft in drafts if draft.parent == parent]
    return any_of([*own, NO_NAMES])


def names_read(draft: Draft) -> Names:
    """Return what is known of the names that `read` or `mapfile` takes from its input."""
    part = draft.finish()
    separators = [each.value.literal for each in part.assignments if each.name == "IFS"]
    is_plain = all(each is not None and not each.strip() for each in separators)
    return _taken(draft.source, is_plain=is_plain and splits_at_blanks(part.argv))


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
    if name_source(part) is None:
        return unknown_names(f"files whose names `{part.program}` changes")
    return Names((_number(finder),), exact=_is_known(part))


def _fed_to(xargs: Draft, part: Part, inner: Draft) -> Names:
    """Return what is known of the names that `xargs` takes from its input for its command."""
    if lists := [each.target for each in part.effects if not is_redirect(each, part)]:
        return unknown_names(f"the files listed in `{shortened(lists[0])}`")
    places = [id(word) for word in part.words]
    own = part.argv[: places.index(id(inner.words[0]))] if inner.words else part.argv
    return _taken(xargs.source, is_plain=splits_at_blanks(own))


def _taken(names: Names, *, is_plain: bool) -> Names:
    """Return what is known of names that are split, at blanks or line ends or elsewhere."""
    return names if is_plain else replace(names, unknown=names.unknown or _CUT, exact=False)


def _printed(draft: Draft, drafts: Sequence[Draft]) -> Names:
    """Return what is known of the names that a part prints, by itself or by what it runs."""
    own = set(map(id, draft.words))
    inner = [
        _printed(each, drafts)
        for each in drafts
        if each.parent == draft.index and each.words and id(each.words[0]) in own
    ]
    part = draft.finish()
    if inner and not part.is_a("finder"):
        return any_of(inner)
    return any_of([*inner, _printed_alone(draft, part)])


def _printed_alone(draft: Draft, part: Part) -> Names:
    """Return what is known of the names that a part prints by itself."""
    names = _NOTHING_NAMED
    match name_source(part):
        case None if part.words or part.effects:  # not an assignment
            name = f"git {part.git_command}" if part.git_command else part.program or "<"
            names = unknown_names(f"the files that `{name}` names")
        case Prints.PATHS:
            names = Names((_number(draft),), exact=_is_known(part))
        case Prints.NAMES:
            names = Names((_number(draft),), exact=False)
        case Prints.ITS_WORDS:
            said = [names_of(each) for each in draft.arguments[1:]]
            names = replace(any_of([*said, NO_NAMES]), exact=False)
        case Prints.ITS_LINES if _is_known(part):
            names = draft.source
        case Prints.ITS_LINES | Prints.ITS_PIECES:
            names = replace(draft.source, exact=False)
    return names


def _number(draft: Draft) -> int:
    """Return the number that a draft's part is going to have."""
    return 0 if draft.index is None else draft.index


def _within(value: Unknown, names: Names, inner: Draft) -> Names:
    """Return what is known of names that stand behind or before other text of a word."""
    if value.suffix:
        return replace(names, spoken=True, exact=False)  # its known end is looked at
    is_placed = value.prefix.startswith("/") or bool(inner.directories)
    if names.spoken or not (is_placed and value.prefix.endswith("/")):
        return put_together(names)
    return replace(names, exact=False)


def _is_known(part: Part) -> bool:
    """Return whether all words of a part are known, and what it reaches."""
    return None not in part.argv and all(effect.path for effect in part.effects)
