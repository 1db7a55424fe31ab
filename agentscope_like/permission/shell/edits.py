"""Whether editing files inside the working directories is all that a command does."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from agentscope_like.permission.errors import PathError
from agentscope_like.permission.mode import PermissionMode
from agentscope_like.permission.paths import FileKind
from agentscope_like.permission.shell.analysis import CommandAnalysis, Effect, EffectKind, Part
from agentscope_like.permission.shell.expansion import TooManyFilesError
from agentscope_like.permission.shell.surroundings import Surroundings
from agentscope_like.permission.shell.tree import Script, SimpleCommand

__all__ = [
    "EDITING_RUNS",
    "redirects_stay_inside",
    "why_not_a_part",
    "why_not_an_edit",
    "why_not_through_links",
]

EDITING_RUNS = (PermissionMode.ACCEPT_EDITS, PermissionMode.DONT_ASK)
"""The modes in which edits inside the working directories are part of the work."""

_EDITORS = frozenset(
    {"mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed", "ln", "tee", "gsed", "gcp", "gmv", "grm"}
)
"""Programs whose changes are edits in ACCEPT_EDITS and DONT_ASK."""

_PLAIN = frozenset({"mkdir", "touch", "rm", "rmdir", "sed", "gsed", "tee", "grm"})
"""Those of them that never make a link, nor move one to another place."""

_COPIERS = frozenset({"cp", "gcp"})
_HARMLESS_COPY = re.compile(r"-[finuvpx]+|--(?:force|interactive|no-clobber|update|verbose)")
"""Flags with which `cp` follows symlinks, as it does without any."""

_LINKERS = _COPIERS | {"ln"}
_MOVERS = frozenset({"mv", "gmv"})
_CHANGES = frozenset({EffectKind.WRITE, EffectKind.DELETE})


class _Change(Struct, frozen=True):
    """One effect of one part."""

    part: Part
    effect: Effect
    by_redirect: bool


def why_not_an_edit(analysis: CommandAnalysis, surroundings: Surroundings) -> str | None:
    """Return why a command is more than edits inside the working directories, or None if it is not.

    Every effect of every part counts, but for parts that are proven to read only. A link that one
    part makes or moves counts for the paths of all others.

    Args:
        analysis: The command, as it was read.
        surroundings: Where it runs.
    """
    if analysis.script is None or analysis.doubts:
        return analysis.doubts[0].message if analysis.doubts else "it could not be read"
    if not analysis.parts:
        return "there is no command in it"
    for part in analysis.parts:
        if not part.read_only and (reason := why_not_a_part(part, surroundings)):
            return reason
    return why_not_through_links(analysis)


def why_not_through_links(analysis: CommandAnalysis) -> str | None:
    """Return why a path may lead elsewhere by the time that it is written, or None.

    Where one part makes or moves a link, a path at or below it cannot be judged beforehand.
    """
    changes = [change for part in analysis.parts for change in _changes(part)]
    if not any(map(_may_make_links, changes)):
        return None
    in_order = analysis.script is not None and _is_sequence(analysis.script)
    return _through_links(changes, in_order=in_order)


def redirects_stay_inside(part: Part, surroundings: Surroundings) -> bool:
    """Return whether all that the redirections of a part write lies in a working directory."""
    spans = {redirect.span for redirect in part.redirects}
    doubted = {doubt.span for doubt in part.doubts if doubt.span in spans}
    explained = set()
    for effect in part.effects:
        if effect.span not in doubted:
            continue
        if effect.kind not in (EffectKind.WRITE, EffectKind.READ):
            return False
        if _why_outside(effect, surroundings):
            return False
        explained.add(effect.span)
    return doubted <= explained


def why_not_a_part(part: Part, surroundings: Surroundings) -> str | None:
    """Return why one part is more than edits inside the working directories, or None."""
    if not part.effects:
        return "nothing in it is known to be an edit"
    places = {effect.span for effect in part.effects if effect.kind in _CHANGES}
    for doubt in part.doubts:
        if doubt.span not in places:
            return doubt.message
    for effect in part.effects:
        if reason := _why_no_edit(effect, part) or _why_outside(effect, surroundings):
            return reason
    if part.program in _MOVERS:
        return _hidden_secret(part, surroundings)
    return _bad_link(part, surroundings) if part.program in _LINKERS else None


def _hidden_secret(part: Part, surroundings: Surroundings) -> str | None:
    """Say so where a symlink to a secret is moved: under its new name, nobody would know it."""
    for effect in part.effects:
        if effect.kind is not EffectKind.DELETE:
            continue
        for link in surroundings.locations(effect) or ():
            if link.kind is not FileKind.SYMLINK:
                continue
            if reason := surroundings.why_not_read(surroundings.locate(link.absolute)):
                return f"the link `{effect.target}` leads to what is to be kept secret: {reason}"
    return None


def _why_no_edit(effect: Effect, part: Part) -> str | None:
    if effect.kind is EffectKind.READ:
        return None
    if effect.kind not in _CHANGES:
        return next((doubt.message for doubt in part.doubts), "it may do anything")
    if part.program not in _EDITORS and not _is_redirect(effect, part):
        return f"`{part.program}` is no plain edit of files"
    return None


def _why_outside(effect: Effect, surroundings: Surroundings) -> str | None:
    if effect.path is None:
        return f"where `{effect.target}` leads is not known before it runs"
    try:
        locations = surroundings.locations(effect)
    except PathError as error:
        return str(error)
    except TooManyFilesError:
        return f"`{effect.target}` reaches too many paths to look at each"
    for location in locations or ():
        if not surroundings.contains(location):
            return f"`{location.absolute}` lies outside the working directories"
        if effect.kind in _CHANGES and (
            reason := surroundings.why_not_write(location, recursive=effect.recursive)
        ):
            return reason
    return None


def _bad_link(part: Part, surroundings: Surroundings) -> str | None:
    """Say so where a symlink is made to something outside: its target counts from its own place."""
    words = [word for word in part.argv[1:] if word is not None]
    short = "".join(word[1:] for word in words if word[:1] == "-" and word[:2] != "--")
    if "s" not in short and not any(word.startswith("--s") for word in words):
        return None
    targets = [effect.target for effect in part.effects if effect.kind is EffectKind.READ]
    links = [effect.path for effect in part.effects if effect.kind is EffectKind.WRITE]
    for target in targets:
        for link in links:
            if link is None:
                return "where the link stands is not known before it runs"
            directory = link.rpartition("/")[0] or "/"
            path = target if target.startswith("/") else f"{directory}/{target}"
            location = surroundings.locate(path)
            if not surroundings.contains(location):
                return f"the link to `{target}` leads outside the working directories"
            if reason := surroundings.why_not_write(location, recursive=True):
                return f"the link leads to something sensitive: {reason}"
    return None


def _changes(part: Part) -> Iterator[_Change]:
    for effect in part.effects:
        if effect.kind in _CHANGES:
            yield _Change(part, effect, _is_redirect(effect, part))


def _is_redirect(effect: Effect, part: Part) -> bool:
    return any(redirect.span == effect.span for redirect in part.redirects)


def _is_sequence(script: Script) -> bool:
    """Return whether simple commands, one after the other, are all there is."""
    return all(
        isinstance(statement.command, SimpleCommand) and statement.connector != "&"
        for statement in script.statements
    )


def _may_make_links(change: _Change) -> bool:
    if change.by_redirect or change.effect.kind is not EffectKind.WRITE:
        return False
    part = change.part
    if part.program not in _COPIERS:
        return part.program not in _PLAIN
    flags = [word for word in part.argv[1:] if word is None or word.startswith("-")]
    return not all(word is not None and _HARMLESS_COPY.fullmatch(word) for word in flags)


def _through_links(changes: list[_Change], *, in_order: bool) -> str | None:
    """Say so where one part acts on what another one may have turned into a link."""
    for number, one in enumerate(changes):
        if not _may_make_links(one):
            continue
        base = one.effect.path or "/"
        for other in changes[number:] if in_order else changes:
            path = other.effect.path or "/"
            if other.part is not one.part and (path == base or path.startswith(f"{base}/")):
                return (
                    f"`{other.effect.target}` is reached through `{one.effect.target}`, which may "
                    "have become a link by then"
                )
    return None
