"""Whether the symlinks below a directory that is searched lead to credentials."""

from __future__ import annotations

from itertools import pairwise, takewhile

from agentscope_like.paths import FileKind, Location, PathError, TooManyFilesError, is_below
from agentscope_like.shell.analysis import Part, answered_once
from agentscope_like.shell.facts import follows
from agentscope_like.shell.names import plain_name
from agentscope_like.shell.surroundings import Surroundings

__all__ = ["links_objection"]

_TOO_MANY_LINKS = "there are too many symlinks to check each one"

_OTHERWISE = frozenset({",", "-L", "-follow", "-o", "-or", "!", "-not", "("})
"""Words with which a test need not hold for all that is listed."""

_ACTIONS = ("-exec", "-ok", "-print", "-ls", "-fprint", "-fls", "-delete")


def links_objection(
    directory: Location, part: Part, around: Surroundings, *, opens_links: bool
) -> str | None:
    """Return why not to read what the symlinks below a directory lead to, or None.

    Args:
        directory: The directory.
        part: What searches it.
        around: Where the command runs.
        opens_links: Whether other parts open what this one lists.
    """
    compares = part.program == "diff" and "--no-dereference" not in part.argv
    is_told_to_follow = follows(part, otherwise=compares)
    if not (is_told_to_follow or (opens_links and not _finds_files_alone(part))):
        return None
    try:
        for link in around.links_below(directory):
            if reason := _target_objection(link, directory, around):
                return reason
    except TooManyFilesError:
        return _TOO_MANY_LINKS if is_told_to_follow else None
    return None


def _target_objection(link: str, directory: Location, around: Surroundings) -> str | None:
    """Return why not to read what a symlink leads to; what is below the directory is read."""
    try:
        target = around.locate(link)
    except PathError:
        return None
    if is_below(target.resolved, directory.resolved):
        return None
    return around.read_objection(target, recursive=target.kind is FileKind.DIRECTORY)


@answered_once
def _finds_files_alone(part: Part) -> bool:
    """Return whether a part is `find` with `-type f`, which holds for all that it lists."""
    words = part.argv
    if plain_name(part.program or "") != "find" or not _OTHERWISE.isdisjoint(words):
        return False
    tests = takewhile(lambda word: word is None or not word.startswith(_ACTIONS), words)
    return ("-type", "f") in pairwise(tests)
