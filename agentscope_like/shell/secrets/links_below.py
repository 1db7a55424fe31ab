"""Whether the symlinks below a directory that is searched lead to credentials."""

from __future__ import annotations

from agentscope_like.paths import FileKind, Location, PathError, TooManyFilesError, is_below
from agentscope_like.shell.analysis import Part
from agentscope_like.shell.facts import follows
from agentscope_like.shell.names import finds_files_alone
from agentscope_like.shell.surroundings import Surroundings

__all__ = ["links_objection"]

_TOO_MANY_LINKS = "there are too many symlinks to check each one"


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
    if not (is_told_to_follow or (opens_links and not finds_files_alone(part))):
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
