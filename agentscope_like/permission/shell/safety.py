"""What a person looks at each time, whatever the rules say (seed 002, "Bash")."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from msgspec import Struct, field

from agentscope_like.permission.errors import PathError
from agentscope_like.permission.paths import FileKind
from agentscope_like.permission.shell.analysis import CommandAnalysis, Effect, EffectKind, Part
from agentscope_like.permission.shell.dangers import danger_of
from agentscope_like.permission.shell.expansion import TooManyFilesError
from agentscope_like.permission.shell.families import families
from agentscope_like.permission.shell.gate import check_text
from agentscope_like.permission.shell.readings import (
    bare_name,
    raw_readings,
    raw_words,
    readings,
    runs_unseen_text,
)
from agentscope_like.permission.shell.surroundings import Surroundings
from agentscope_like.permission.shell.tree import Span, Substitution, Word

__all__ = ["INTERPRETERS", "LISTING", "Finding", "find_danger"]

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

_FILE_READERS = frozenset(
    {
        *("cat", "tac", "head", "tail", "less", "more", "nl", "wc", "sort", "uniq", "cut", "paste"),
        *("od", "xxd", "hexdump", "strings", "base64", "md5sum", "sha1sum", "sha256sum", "cksum"),
        *("sha512sum", "b2sum", "sum", "sed", "gsed", "awk", "gawk", "mawk", "jq", "yq", "bat"),
        *("batcat", "ln", "gln"),
    }
)
"""Programs that read nothing of a directory, given one."""

_CHANGES = frozenset({EffectKind.WRITE, EffectKind.DELETE})
_REMOVERS = frozenset({"rm", "grm", "rmdir", "unlink", "shred", "srm", "trash"})
_NAME_TESTS = frozenset({"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex"})
_RIGHTS = frozenset({"chmod", "chown", "chgrp", "setfacl"})
INTERPRETERS = frozenset(
    {
        *("python", "python2", "python3", "node", "nodejs", "ruby", "perl", "php", "lua", "deno"),
        *("osascript", "pwsh", "tclsh", "Rscript", "bun"),
    }
)
_DOWNLOADERS = frozenset(
    {"curl", "wget", "aria2c", "http", "https", "xh", "fetch", "lwp-download", "lynx", "nc", "ncat"}
)

_SHOWN_CHARACTERS = 80
_FUNCTION = re.compile(r"([^\s(){};|&<>\"'`$]{1,64})[ \t]{0,8}\([ \t]{0,8}\)\s{0,8}\{")
_FEEDING = re.compile(r"\||\$\(|`|<\(")
_BLANKS = re.compile(r"\s+")
_MOST_FUNCTIONS = 32
_MOST_REMOVED = 256


class Finding(Struct, frozen=True):
    """Why a person has to look at a command.

    Attributes:
        message: A sentence that names the sub-command and says why.
        reason: The why alone, in a few words.
        span: Where the sub-command stands.
    """

    message: str
    reason: str
    span: Span


class _Look(Struct, frozen=True):
    """What a check of one part goes by.

    Attributes:
        analysis: The whole command.
        around: Where it runs.
        reads_unseen: Whether some part reads files that others find, so that to list is to read.
        told: Words that have been looked at already.
    """

    analysis: CommandAnalysis
    around: Surroundings
    reads_unseen: bool
    told: set[str] = field(default_factory=set)


def find_danger(analysis: CommandAnalysis, surroundings: Surroundings) -> Finding | None:
    """Return why a person has to look at the command, the first thing found, or None.

    Args:
        analysis: The command, as it was read.
        surroundings: Where it runs, and what is sensitive there.
    """
    if analysis.script is None:
        return _in_unread_text(analysis, surroundings)
    look = _Look(analysis, surroundings, any(map(_reads_unseen, analysis.parts)))
    for part in analysis.parts:
        for find in _PART_CHECKS:
            if reason := find(part, look):
                return _finding(analysis.command, part.span, reason)
    if not analysis.read_only and _breeds(analysis.command):
        return _finding(analysis.command, Span(0, len(analysis.command)), _BREEDING)
    return None


def _finding(command: str, span: Span, reason: str) -> Finding:
    shown = " ".join(command[span.start : span.end].split())
    if len(shown) > _SHOWN_CHARACTERS:
        shown = shown[: _SHOWN_CHARACTERS - 1] + "…"
    return Finding(f"`{shown}` {reason}.", reason, span)


# Parts


def _computed_program(part: Part, look: _Look) -> str | None:
    del look
    if part.argv and part.argv[0] is None:
        return "runs a program whose name is computed, so that nobody can tell which"
    return None


def _dangerous_command(part: Part, look: _Look) -> str | None:
    del look
    if part.read_only:
        return None
    return next((reason for words in readings(part) if (reason := danger_of(words))), None)


def _hidden_code(part: Part, look: _Look) -> str | None:
    """Say so where a shell or interpreter runs text that does not stand in the command."""
    if runs_unseen_text(part):
        computed = None in part.argv
        what = "text that is computed" if computed else "whatever it is given as input"
        return f"runs {what}, so that nobody can tell what"
    if part.read_only or not part.argv or part.argv[0] is None:
        return None
    name = bare_name(part.argv[0])
    if name not in INTERPRETERS and name not in families().shells:
        return None
    if any(_is_fed(word) for word in part.words[1:]):
        return "runs the output of another command as a program"
    has_no_operand = all(word is not None and word.startswith("-") for word in part.argv[1:])
    downloads = has_no_operand and any(_downloads(other) for other in look.analysis.parts)
    return "may run what is downloaded, so that nobody can tell what" if downloads else None


def _downloads(part: Part) -> bool:
    return bool(part.argv) and bare_name(part.argv[0] or "") in _DOWNLOADERS


def _is_fed(word: Word) -> bool:
    return any(isinstance(each, Substitution) and each.opener == "<(" for each in word.segments)


def _reads_unseen(part: Part) -> bool:
    """Return whether the part reads files that it is only told of while it runs."""
    return part.program not in LISTING and any(
        effect.kind is EffectKind.READ and effect.path is None for effect in part.effects
    )


def _sensitive_path(part: Part, look: _Look) -> str | None:
    for effect in part.effects:
        if reason := _of_effect(effect, part, look):
            return reason
    changes = any(effect.kind in _CHANGES for effect in part.effects)
    if look.reads_unseen or not (part.read_only or changes):
        # What it is told about is all there is to go by.
        for word in part.argv[1:]:
            if not word or word in look.told:
                continue
            if reason := look.around.why_not_touch(word):
                return f"names a sensitive path: {reason}"
            look.told.add(word)
    return None


def _of_effect(effect: Effect, part: Part, look: _Look) -> str | None:
    try:
        if effect.kind is EffectKind.READ:
            return _of_read(effect, part, look)
        if effect.kind in _CHANGES:
            return _of_change(effect, part, look.around)
    except PathError as error:
        return f"acts on a path that cannot be judged: {error}"
    except TooManyFilesError:
        return f"reaches too many files with `{effect.target}` to look at each"
    return None


def _of_read(effect: Effect, part: Part, look: _Look) -> str | None:
    lists = part.program in LISTING and not _in_redirect(effect, part)
    if lists and not look.reads_unseen:
        return None
    for location in look.around.locations(effect) or ():
        searched = not lists and part.program not in _FILE_READERS
        recursive = searched and location.kind is FileKind.DIRECTORY
        if reason := look.around.why_not_read(location, recursive=recursive):
            return f"would read what is to be kept secret: {reason}"
    return None


def _of_change(effect: Effect, part: Part, around: Surroundings) -> str | None:
    removes = effect.kind is EffectKind.DELETE
    if effect.path is None:
        if removes and effect.recursive and part.program in _REMOVERS:
            return "removes something, and all below it, that is not known before it runs"
        return None
    if removes and effect.glob and (reason := _everything_in(effect, around)):
        return reason
    return _of_places(effect, part, around)


def _of_places(effect: Effect, part: Part, around: Surroundings) -> str | None:
    """Return why a person has to look at a change, from where it leads."""
    removes = effect.kind is EffectKind.DELETE
    changes_rights = effect.recursive and part.program in _RIGHTS
    picks = part.program == "find" and _picks(part)
    for location in around.locations(effect) or ():
        is_picking = picks and around.contains(location)
        if removes and not is_picking and (reason := around.why_not_remove(location)):
            return f"would remove what must stay: {reason}"
        if reason := around.why_not_write(location, recursive=effect.recursive):
            verb = "remove" if removes else "write"
            return f"would {verb} something sensitive: {reason}"
        if changes_rights and (reason := around.why_not_remove(location)):
            return f"would change the rights of all below what matters: {reason}"
    return None


def _picks(part: Part) -> bool:
    """Return whether `find` acts on some of what it finds only, going by a name."""
    return any(
        word in _NAME_TESTS and value is not None and bool(value.strip("*?./"))
        for word, value in pairwise(part.argv)
    )


def _everything_in(effect: Effect, around: Surroundings) -> str | None:
    """Say so where all that is in a critical directory would be removed."""
    directory, _, name = (effect.path or "").rpartition("/")
    if name.strip("*?.") and name not in (".*", "*", ".[!.]*", ".??*"):
        return None
    reason = around.why_not_remove(around.locate(directory or "/"))
    return f"would remove all that is in a place that must stay: {reason}" if reason else None


def _in_redirect(effect: Effect, part: Part) -> bool:
    return any(redirect.span == effect.span for redirect in part.redirects)


_PART_CHECKS: tuple[Callable[[Part, _Look], str | None], ...] = (
    _dangerous_command,
    _sensitive_path,
    _hidden_code,
    _computed_program,
)


# Text that was not understood


_BREEDING = "defines a function that starts itself over and over, which brings the machine down"


def _in_unread_text(analysis: CommandAnalysis, around: Surroundings) -> Finding | None:
    command = analysis.command
    whole = Span(0, min(len(command), _SHOWN_CHARACTERS))
    if refused := check_text(command):
        return Finding(refused.message, refused.message, refused.span)
    if _breeds(command):
        return _finding(command, whole, _BREEDING)
    words = raw_words(command)
    names = {bare_name(word) for word in words}
    runs_code = not names.isdisjoint(INTERPRETERS | families().shells)
    if runs_code and names & _DOWNLOADERS and _FEEDING.search(command):
        return _finding(
            command, whole, "cannot be understood, and may run what is downloaded as a program"
        )
    removed: dict[str, None] = {}
    for reading in raw_readings(words):
        if reason := danger_of(reading):
            return _finding(command, whole, f"cannot be understood, and perhaps {reason}")
        if reading[0] in _REMOVERS:
            removed.update(dict.fromkeys(filter(None, reading[1:])))
    if reason := _of_removed(tuple(removed), around):
        return _finding(command, whole, f"cannot be understood, and perhaps {reason}")
    return None


def _of_removed(words: Sequence[str], around: Surroundings) -> str | None:
    if len(words) > _MOST_REMOVED:
        return "removes what must stay: it names too many paths to look at each"
    for word in words:
        if word.startswith("-"):
            continue
        try:
            reason = around.why_not_remove(around.locate(word.rstrip("*") or "/"))
        except PathError:
            continue
        if reason:
            return f"removes what must stay: {reason}"
    return None


def _breeds(command: str) -> bool:
    """Return whether a function of the text pipes itself into itself: a fork bomb."""
    text = None
    for number, match in enumerate(_FUNCTION.finditer(command)):
        if number >= _MOST_FUNCTIONS:
            return False
        text = text if text is not None else _BLANKS.sub("", command)
        if f"{match[1]}|{match[1]}" in text:
            return True
    return False
