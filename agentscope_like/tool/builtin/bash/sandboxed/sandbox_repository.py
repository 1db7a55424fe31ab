"""Tells whether a repository of a sandbox leads git to files outside the workspace.

A sandbox answers by commands, so that one command lists what there is to judge.
"""

from __future__ import annotations

import os
import posixpath
import shlex
from collections.abc import Iterator, Sequence

from agentscope_like.paths import is_below

__all__ = ["INCLUDED", "foreign_file", "listing_command"]

_LISTING = r"""(
cd -- {directory} && command -v git && own=$({git} rev-parse --absolute-git-dir) || exit 0
common=$(cd -- "$({git} rev-parse --git-common-dir)" && pwd -P) || exit 0
exec >&3
printf '%s\0' "$(cd -- {workspace} && pwd -P)" "$(pwd -P)"
printf '%s\0' "$common" "$own" "$({git} rev-parse --show-toplevel)"
find "$own" "$common" \( -path '*/objects/[0-9a-f][0-9a-f]' -o -name hooks -o -name modules \) \
    -prune -o -type l -exec readlink -f {{}} \; | tr '\n' '\000'
[ ! -s "$common/objects/info/alternates" ] || tr '\n' '\000' < "$common/objects/info/alternates"
) 3>&1 >/dev/null 2>&1
"""

_PATHS = r"^include(if\..*)?\.path$"
INCLUDED = ("config", "--null", "--local", "--includes", "--get-regexp", _PATHS)
"""Makes git list the files that a repository's configuration includes."""


def listing_command(directory: str, git: Sequence[str], workspace: str) -> str:
    """Return a command that lists where git is, and what its repository leads to.

    Args:
        directory: Where git starts.
        git: The words that git is called by, with the options that select the repository.
        workspace: The workspace.
    """
    return _LISTING.format(
        directory=shlex.quote(directory), git=shlex.join(git), workspace=shlex.quote(workspace)
    )


def foreign_file(listed: bytes, included: bytes) -> str | None:
    """Return a path outside the workspace that the repository leads git to, or None.

    Of a repository outside the workspace, its own place counts.

    Args:
        listed: What the command has printed.
        included: What git prints for `INCLUDED`.
    """
    fields = [os.fsdecode(each) for each in listed.split(b"\0")]
    if len(fields) < len(("workspace", "here", "common", "own", "tree")):
        return None
    workspace, here, common, *led_to = fields
    led_to += [os.fsdecode(each.partition(b"\n")[2]) for each in included.split(b"\0")]
    root = workspace if is_below(here, workspace) else posixpath.dirname(common)
    found = _resolved((common, *led_to), common)
    return next((path for path in found if not is_below(path, root)), None)


def _resolved(paths: Sequence[str], common: str) -> Iterator[str]:
    """Yield the paths; a relative one is of the objects or the configuration."""
    for path in filter(None, paths):
        yield path if path[0] == "~" else posixpath.normpath(posixpath.join(common, path))
