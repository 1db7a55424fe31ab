"""Switches off the programs that a repository's configuration names, for a proven git read.

`git status` runs `core.fsmonitor`, `git diff` runs external diffs, text converters and clean
filters: all named in `.git/config`, which may be hostile. Configuration in the environment
(git-config(1), `GIT_CONFIG_COUNT`) overrides the repository's. So fixed keys are always set, and
keys with names that the repository chooses are looked up first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.exception import ToolArgumentError
from agentscope_like.shell import CommandAnalysis, Part, Surroundings, Words
from agentscope_like.tool.builtin.bash.environment.printed_names import odd_name_error
from agentscope_like.tool.builtin.bash.environment.repository import MAX_SUBMODULES, Repositories

__all__ = [
    "LOOKUP_VARIABLES",
    "MAX_PLACES",
    "GitPlace",
    "RepositoryKeys",
    "Told",
    "git_environment",
    "git_places",
    "keys_below",
    "not_told",
    "overrides",
    "place_in",
    "places_of",
    "repository_keys",
]

MAX_PLACES = 64
"""The maximum number of repositories of one command line that runs without approval."""

_OWN_SCOPES = frozenset({b"local", b"worktree"})

LOOKUP_VARIABLES = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
}

_ALWAYS = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.pager": "cat",
    "log.showSignature": "false",
    "gpg.program": "false",
    "gpg.openpgp.program": "false",
    "gpg.ssh.program": "false",
    "gpg.x509.program": "false",
    "protocol.ext.allow": "never",
    "status.submoduleSummary": "false",
    "diff.ignoreSubmodules": "dirty",
    "diff.submodule": "short",
    "help.format": "man",
    "column.ui": "never",
}
"""No signature is checked, though the repository's `format.pretty` asks for it: gpg makes its home.
A submodule is only compared by its commit, unless an option or `.gitmodules` says otherwise; what
changed in one is not shown, which may be one that only the history knows."""

_PLAIN_DIFF = 'f() { diff -u --label "a/$1" --label "b/$1" -- "$2" "$5"; :; }; f'
"""Shows what an external program for differences would have shown, in git's own way; none at all
cannot be set, git dies of an empty one (git(1), `GIT_EXTERNAL_DIFF`)."""

_WHERE_SET = (
    (r"filter\..+\.(clean|smudge|process)", ""),
    (r"filter\..+\.required", "false"),
    (r"diff\..+\.textconv", "cat"),
    (r"diff\..+\.cachetextconv", "false"),
    (r"diff\.external|diff\..+\.command", _PLAIN_DIFF),
    (r"gpg\..+\.defaultkeycommand", "false"),
    (r"core\.(askpass|gitproxy|editor)", ""),
    (r"core\.(sshcommand)", "ssh"),
    (r"core\.alternaterefscommand", "true"),
    (r"credential\..*helper", ""),
    (r"submodule\..+\.ignore", "dirty"),
    (r"merge\..+\.driver", "false"),
    (r"log\.diffmerges", "separate"),
    (r"man\.viewer", "man"),
    (r"(man|browser)\..+\.(cmd|path)", "false"),
    (r"column\.(branch|tag)", "never"),
    (r"alias\.(lfs|whatchanged)(\..+)?", ""),
    (r"http\.(.+\.)?savecookies", "false"),
    (r"(http\.(.+\.)?cookiefile|mailmap\.file)", ""),
    (r"(format\.signature|diff\.order|core\.(excludes|attributes))file", "/dev/null"),
    (r"commit\.template", "/dev/null"),
)
"""Overrides for keys that the repository's own configuration has (git-config(1), "Variables").

A name that git itself may not have could be an alias; files may be any that the user can read."""

_LIST = ("config", "--list", "--name-only", "--show-scope", "-z")
"""Makes git list the names that configuration sets, each after its scope."""

_TELLING_NAMES = frozenset(
    {"branch", "describe", "for-each-ref", "rev-parse", "symbolic-ref", "tag"}
)
"""Sub-commands whose output is taken for words that are no options."""

_SKIPPING = {
    "blame": "blame.ignorerevsfile",
    "annotate": "blame.ignorerevsfile",
    "fsck": "fsck.skiplist",
}
"""Settings that name files which git reads, and quotes where it does not understand them; a later
setting resets none of them, or only those that sort before it."""

_HEEDED = _TELLING_NAMES | _SKIPPING.keys() | {"ls-remote", "remote"}
"""Words of which one stands in each command that more than its repository counts of."""

_OPTION_LIKE = tuple(
    f"refs/{kind}-*{below}" for kind in ("", "heads/", "tags/", "remotes/") for below in ("", "/**")
)
_NAMES = ("for-each-ref", "--count=1", "--format=%(refname)", *_OPTION_LIKE)
_BRANCH = ("symbolic-ref", "-q", "HEAD")
"""What names the repository has that begin with a dash, and the branch, which need not exist."""

_LISTED = {
    "branch": ("branch", "--format=%(refname)"),
    "describe": ("for-each-ref", "--format=%(tag)", "refs/tags"),
}
"""Lists what a sub-command prints that is no ref: a rebase under way, the names in tags."""

_OPTION_IN_TEXT = re.compile(rb"(?:^|\s)-|[*?\[\\]")

_LINKS = ("-c", "core.fsmonitor=false", "ls-files", "--stage", "-z")
_GITLINK = "160000 "

_UPLOAD_PACK = re.compile(r"remote\..+\.(uploadpack|vcs)", re.IGNORECASE)
"""Git takes the first of these, so that no later setting wins."""

_WHERE_SET_PATTERNS = tuple((re.compile(key, re.IGNORECASE), value) for key, value in _WHERE_SET)


class GitPlace(Struct, frozen=True):
    """A repository that a command reads: the directory and the options that select it.

    `tells_names` are the sub-commands that print the name of a branch or tag, which other commands
    may get as an argument, and `skips` are the settings that name lists of commits or objects to
    skip.
    """

    directory: str
    options: tuple[str, ...]
    reaches_remote: bool = False
    tells_names: frozenset[str] = frozenset()
    skips: frozenset[str] = frozenset()


RepositoryKeys: TypeAlias = Callable[[Surroundings, GitPlace, Mapping[str, str]], Sequence[str]]
"""Returns the names of what a repository's own configuration sets, in an environment."""


def git_places(analysis: CommandAnalysis) -> tuple[GitPlace, ...]:
    """Return every repository that the git commands may read, without repetition.

    Raises:
        ToolArgumentError: It is not known which repository one of them reads.
    """
    found = (place for part in analysis.parts for place in places_of(part, analysis))
    return tuple(dict.fromkeys(found))


def places_of(part: Part, analysis: CommandAnalysis) -> list[GitPlace]:
    """Return every repository that a part may read; none if it does not run git.

    Raises:
        ToolArgumentError: It is not known which.
    """
    if not part.is_a("runs_git"):
        return []
    place = place_in(analysis.directory, part.argv, is_alone=len(analysis.parts) == 1)
    return [
        replace(place, directory=directory, options=options)
        for directory in part.directories or (analysis.directory,)
        for options in _leading_options(part)
    ]


def place_in(directory: str, words: Words, *, is_alone: bool) -> GitPlace:
    """Return the repository of a directory, as a command reads it that names no other.

    Args:
        directory: The directory that git runs in.
        words: The words of the command, the program's name first.
        is_alone: Whether no other command may get what it prints.
    """
    if _HEEDED.isdisjoint(words):
        return GitPlace(directory, ())
    remote = "ls-remote" in words or ("remote" in words and "show" in words)
    tells = frozenset[str]() if is_alone else _TELLING_NAMES.intersection(words)
    skips = frozenset(map(_SKIPPING.__getitem__, _SKIPPING.keys() & words))
    return GitPlace(directory, (), remote, tells, skips)


def git_environment(
    inherited: Mapping[str, str],
    places: Sequence[GitPlace],
    keys: Callable[[GitPlace, Mapping[str, str]], Sequence[str]],
) -> dict[str, str]:
    """Return the variables that switch off the programs a repository names.

    Args:
        inherited: The environment that they are added to; configuration in it is kept.
        places: The repositories to look at.
        keys: Returns the names of what a repository's own configuration sets.

    Raises:
        ToolArgumentError: The programs that a repository names are unknown, so git may not run.
    """
    if len(places) > MAX_PLACES:
        raise ToolArgumentError(
            f"The command runs git in up to {len(places)} places; at most {MAX_PLACES} can be "
            "checked for programs that their configuration names. Split it into several calls."
        )
    settings = dict(_ALWAYS)
    for place in places:
        settings.update(overrides(place, keys(place, inherited)))
    count = inherited.get("GIT_CONFIG_COUNT", "0")
    first = int(count) if count.isdigit() else 0
    environment = dict(LOOKUP_VARIABLES)
    environment["GIT_CONFIG_COUNT"] = str(first + len(settings))
    for number, (key, value) in enumerate(settings.items(), first):
        environment[f"GIT_CONFIG_KEY_{number}"] = key
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return environment


def _leading_options(part: Part) -> list[tuple[str, ...]]:
    """Return what git's own options may be that name the repository: `-C dir`, `--git-dir=dir`."""
    found: list[tuple[str, ...]] = [()]
    words = iter(enumerate(part.argv[1:], 1))
    for _, word in words:
        if word is None or not word.startswith("-"):
            break
        if word in ("-C", "--git-dir", "--work-tree"):
            index, value = next(words, (0, ""))
            values = [value] if value is not None else _computed_places(part, index)
            found = [(*options, word, each) for options in found for each in values]
        elif word.startswith(("--git-dir=", "--work-tree=")):
            found = [(*options, word) for options in found]
        elif word == "-c":
            next(words, None)
    return found


def _computed_places(part: Part, index: int) -> list[str]:
    """Return the absolute directories that a computed word may name; an empty one is none."""
    span = part.words[index].span if index < len(part.words) else part.span
    effects = [effect for effect in part.effects if effect.span in (span, part.span)]
    paths = [effect.path or effect.target for effect in effects]
    if not paths or not all(path == "" or path.startswith("/") for path in paths):
        raise ToolArgumentError(
            "It is not known in which directory git would run, so that its configuration cannot be "
            "checked. Name the directory."
        )
    return paths


def overrides(place: GitPlace, keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the settings that switch off what a repository sets.

    Raises:
        ToolArgumentError: It sets something that no setting overrules.
    """
    for key in keys:
        if place.reaches_remote and _UPLOAD_PACK.fullmatch(key):
            raise ToolArgumentError(
                f"the repository at {place.directory!r} names a program of its own for a remote "
                f"({key}), which no setting can override. Reading that remote is left to the user."
            )
        if key.lower() in place.skips:
            raise ToolArgumentError(
                f"the repository at {place.directory!r} names a file of commits to leave out "
                f"({key}), which may be any file, and which no setting can override. That is left "
                "to the user."
            )
        for pattern, value in _WHERE_SET_PATTERNS:
            if pattern.fullmatch(key):
                yield key, value


def repository_keys(
    around: Surroundings, place: GitPlace, environment: Mapping[str, str]
) -> list[str]:
    """Return the names of what a repository's own configuration sets, and its submodules' too.

    Args:
        around: Where the command runs.
        place: The repository.
        environment: The variables that git would see.

    Raises:
        ToolArgumentError: Git would read files elsewhere, or it is not known what it reads.
    """
    repositories = Repositories(around, environment)
    return repositories.keys(place.directory, place.options, tells_names=place.tells_names)


class Told(Protocol):
    """Runs git with some arguments in a repository, and returns what it prints."""

    def __call__(self, arguments: Sequence[str], only: str = "") -> bytes:
        """Return the records, each ended by a null byte; only those that begin with `only`."""


def keys_below(place: GitPlace, told: Told) -> list[str]:
    """Return the names of what a repository and the submodules in it set by themselves.

    Git looks into a submodule by a process of its own (`git diff-index`, `--submodule=diff`,
    `ignore = none` in `.gitmodules`), which inherits configuration given by environment.

    Args:
        place: The repository.
        told: Asks git there.

    Raises:
        ToolArgumentError: There are too many submodules to look at, or a name that git prints would
            be taken for an option.
    """
    if place.tells_names:
        _refuse_odd_names(place, told)
    found: dict[str, None] = {}
    pending = [(place.options, ":/")]
    for number, (options, top) in enumerate(pending):
        if number > MAX_SUBMODULES:
            raise ToolArgumentError(
                f"{place.directory!r} has more than {MAX_SUBMODULES} submodules, too many to check "
                "for programs that their configuration names, so no git command is run there "
                "unasked."
            )
        found |= dict.fromkeys(_listed_keys(told([*options, *_LIST])))
        records = told([*options, *_LINKS, top], _GITLINK).split(b"\0")
        links = {os.fsdecode(each.partition(b"\t")[2]) for each in records}
        # Within one that is not checked out, git lists what is there of the repository around it.
        pending += [((*options, "-C", link), ".") for link in sorted(links) if _leads_down(link)]
    return list(found)


def _leads_down(link: str) -> bool:
    """Return whether a path has a name in it; `...` is one, though of dots alone."""
    return not {"", ".", ".."}.issuperset(link.split("/"))


def _refuse_odd_names(place: GitPlace, told: Told) -> None:
    """Raise an error if git prints a name like an option; a clone copies any name."""
    branch = told([*place.options, *_BRANCH])
    is_odd = branch.startswith(b"refs/heads/-")
    odd = branch if is_odd else told([*place.options, *_NAMES])
    for command in sorted(place.tells_names & _LISTED.keys()):
        for line in told([*place.options, *_LISTED[command]]).splitlines():
            odd = odd or (line if _OPTION_IN_TEXT.search(line) else b"")
    if odd:
        raise odd_name_error(place.directory, os.fsdecode(odd).strip())


def _listed_keys(output: bytes) -> list[str]:
    """Return the names that a repository's own configuration sets, of what git has listed."""
    fields = output.split(b"\0")
    scoped = zip(fields[::2], fields[1::2], strict=False)
    return [os.fsdecode(name) for scope, name in scoped if scope in _OWN_SCOPES]


def not_told(place: GitPlace, error: Exception) -> ToolArgumentError:
    """Return the error for a repository whose configuration git does not list."""
    return ToolArgumentError(
        f"git could not be asked what the configuration of {place.directory!r} sets "
        f"({type(error).__name__}), so no git command runs there without approval. Try it again."
    )
