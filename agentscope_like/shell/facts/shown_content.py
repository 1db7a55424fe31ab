"""What a part shows of the files that it reads: what is in them, how much, or their names."""

from __future__ import annotations

import re

from agentscope_like.shell.analysis import Effect, EffectKind, Part, answered_once
from agentscope_like.shell.catalog import COPIERS, FINDERS, GREPS, MOVERS

__all__ = [
    "LISTING",
    "counts",
    "follows",
    "is_redirect",
    "lists_only",
    "reads_no_directory",
    "reads_unseen_files",
    "shows_unseen_files",
]

_READ = EffectKind.READ

LISTING = frozenset(
    {
        *("ls", "dir", "vdir", "stat", "du", "find", "tree", "realpath", "readlink", "basename"),
        *("dirname", "test", "[", "[[", "cd", "pushd", "namei", "lsattr", "getfacl", "file", "fd"),
        *("fdfind", "eza", "exa", "lsd", "df", "findmnt", "mountpoint", "lsof", "fuser", "getcap"),
        *("getfattr", "getconf", "gls", "gstat", "gdu", "gfind", "grealpath", "greadlink"),
        *("chmod", "chown", "ln", "git"),
    }
)
"""Programs that look at names and metadata, not at what is in a file."""

_COUNTING = frozenset(
    {
        *("wc", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"),
        *("cksum", "sum", "shasum", "md5", "cloc", "tokei", "scc"),
    }
)
"""Programs that tell how much is in a file, or a number made of it."""

_FILE_READERS = frozenset(
    {
        *("cat", "tac", "head", "tail", "less", "more", "nl", "wc", "sort", "uniq", "cut", "paste"),
        *("od", "xxd", "hexdump", "strings", "base64", "md5sum", "sha1sum", "sha256sum", "cksum"),
        *("sha512sum", "b2sum", "sum", "sed", "gsed", "awk", "gawk", "mawk", "jq", "yq", "bat"),
        *("batcat", "ln", "gln"),
    }
)
"""Programs that read nothing of a directory, given one."""

_SHOWN_BY_GIT = frozenset({"diff", "blame", "annotate", "grep", "config"})
"""Sub-commands of git that show what is in the files that they are given."""

_NAME_LISTS = {
    "file": re.compile(r"-[a-zA-Z0]*f.*|--f.*", re.DOTALL),
    **dict.fromkeys(("du", "gdu", "wc"), re.compile(r"--f.*", re.DOTALL)),
    **dict.fromkeys(("fd", "fdfind"), re.compile(r"--ignore-f.*", re.DOTALL)),
}
"""Options of programs that list or count, which print what is in the file that they are given."""

_FOLLOW_FLAGS = (
    dict.fromkeys(GREPS, "R")
    | dict.fromkeys({*FINDERS, *COPIERS, "du", "rg", "ls", "chown"}, "L")
    | dict.fromkeys(("ag", "ack", "ack-grep"), "f")
    | {"tree": "l"}
    | dict.fromkeys({*MOVERS, "git", "chmod"}, "")
)
"""By which flags programs follow the symlinks that they come upon; all others always may."""


def lists_only(effect: Effect, part: Part) -> bool:
    """Return whether a part looks at the name and metadata of what it reads, and no further."""
    if part.program not in LISTING or is_redirect(effect, part):
        return False
    if part.program == "git":
        moves = part.git_command != "grep" and effect.target in part.values_of(("-C",))
        return moves or part.git_command not in _SHOWN_BY_GIT
    return not _takes_names(part)


def shows_unseen_files(part: Part) -> bool:
    """Return whether a part shows what is in files that it is only told of while it runs."""
    return reads_unseen_files(part) and not counts(part)


def reads_unseen_files(part: Part) -> bool:
    """Return whether a part reads files that it is only told of while it runs."""
    for effect in part.effects:
        if effect.path is None and effect.kind is _READ and not lists_only(effect, part):
            return True
    return False


def counts(part: Part) -> bool:
    """Return whether a part tells no more of files than how much is in them."""
    return part.program in _COUNTING and not _takes_names(part)


def _takes_names(part: Part) -> bool:
    """Return whether a part quotes what is in a file, which it takes for names or patterns."""
    return part.program in _NAME_LISTS and _is_told_of_names(part)


@answered_once
def _is_told_of_names(part: Part) -> bool:
    option = _NAME_LISTS[part.program or ""]
    return any(map(option.fullmatch, part.options))


def reads_no_directory(part: Part) -> bool:
    """Return whether a part reads nothing of a directory, given one."""
    return part.program in _FILE_READERS


def follows(part: Part, *, otherwise: bool) -> bool:
    """Return whether a part may follow the symlinks that it comes upon.

    Args:
        part: The part.
        otherwise: The answer for a program of which nobody knows.
    """
    letters = _FOLLOW_FLAGS.get(part.program or "")
    if letters is None:
        return otherwise
    return part.has_flag(letters, "--dereference-recursive", "--dereference", "--follow", "-follow")


def is_redirect(effect: Effect, part: Part) -> bool:
    """Return whether an effect is that of a redirection."""
    return bool(part.redirects) and effect.span in part.redirected
