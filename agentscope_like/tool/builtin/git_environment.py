"""Keeping a proven git read from running programs that the repository names.

`git status` runs `core.fsmonitor`, `git diff` runs external diffs, text converters and clean
filters: all named in `.git/config`, which a stranger may have written. Configuration given by
environment (git-config(1), `GIT_CONFIG_COUNT`) outranks the repository's, so what is always the
same is set always, and what has a name of the repository's own choice is looked up first.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from agentscope_like.permission.shell.analysis import CommandAnalysis, Part

__all__ = ["GitPlace", "git_environment", "git_places"]

_GIT_PLACES = ("/usr/bin/git", "/bin/git", "/usr/local/bin/git")
_LOOKUP_SECONDS = 2.0
_MAX_PLACES = 8
_OWN_SCOPES = frozenset({b"local", b"worktree"})

_VARIABLES = {
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
    "protocol.ext.allow": "never",
    "status.submoduleSummary": "false",
    "diff.ignoreSubmodules": "dirty",
}
"""Git reads a submodule's own configuration in a process that these do not reach, so it is only
compared by its commit."""

_WHERE_SET = (
    (r"filter\..+\.(clean|smudge|process)", ""),
    (r"filter\..+\.required", "false"),
    (r"diff\..+\.textconv", "cat"),
    (r"diff\..+\.cachetextconv", "false"),
    (r"diff\.external|diff\..+\.command", ""),
    (r"gpg\.program|gpg\..+\.program", "false"),
    (r"gpg\..+\.defaultkeycommand", "false"),
    (r"core\.(askpass|gitproxy|editor)", ""),
    (r"core\.(sshcommand)", "ssh"),
    (r"core\.alternaterefscommand", "true"),
    (r"credential\..*helper", ""),
    (r"remote\..+\.uploadpack", "git-upload-pack"),
    (r"submodule\..+\.ignore", "dirty"),
    (r"man\.viewer", "man"),
    (r"(man|browser)\..+\.(cmd|path)", "false"),
)
"""Overrides for keys that the repository's own configuration has (git-config(1), "Variables")."""

_WHERE_SET_PATTERNS = tuple((re.compile(key, re.IGNORECASE), value) for key, value in _WHERE_SET)


class GitPlace(NamedTuple):
    """A repository that a command looks at: where git starts, and the options that lead there."""

    directory: str
    options: tuple[str, ...]


def git_places(analysis: CommandAnalysis) -> tuple[GitPlace, ...]:
    """Return the places of the git commands, without repetition; the first eight of them."""
    places = (
        GitPlace(part.directory or analysis.directory, tuple(_leading_options(part)))
        for part in analysis.parts
        if part.program == "git"
    )
    return tuple(dict.fromkeys(places))[:_MAX_PLACES]


def git_environment(
    inherited: Mapping[str, str], places: Iterable[GitPlace] = ()
) -> dict[str, str]:
    """Return the variables that switch off the programs a repository names; may run `git config`.

    Args:
        inherited: The environment that they are added to; configuration in it is kept.
        places: The repositories to look at.
    """
    settings = dict(_ALWAYS)
    for place in places:
        settings.update(_overrides(place, inherited))
    count = inherited.get("GIT_CONFIG_COUNT", "0")
    first = int(count) if count.isdigit() else 0
    environment = dict(_VARIABLES)
    environment["GIT_CONFIG_COUNT"] = str(first + len(settings))
    for number, (key, value) in enumerate(settings.items(), first):
        environment[f"GIT_CONFIG_KEY_{number}"] = key
        environment[f"GIT_CONFIG_VALUE_{number}"] = value
    return environment


def _leading_options(part: Part) -> Iterator[str]:
    """Yield git's own options that name the repository: `-C dir`, `--git-dir=dir`."""
    words = iter(part.argv[1:])
    for word in words:
        if word is None or not word.startswith("-"):
            return
        if word in ("-C", "--git-dir", "--work-tree"):
            value = next(words, None)
            if value is not None:
                yield from (word, value)
        elif word.startswith(("--git-dir=", "--work-tree=")):
            yield word
        elif word == "-c":
            next(words, None)


def _overrides(place: GitPlace, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for key in _repository_keys(place, environment):
        for pattern, value in _WHERE_SET_PATTERNS:
            if pattern.fullmatch(key):
                yield key, value


def _repository_keys(place: GitPlace, environment: Mapping[str, str]) -> list[str]:
    """Return the names of what the repository's own configuration sets; none where it has none."""
    arguments = [*place.options, "config", "--list", "--name-only", "--show-scope", "-z"]
    for git in _GIT_PLACES:
        try:
            listed = subprocess.run(
                [git, *arguments],
                cwd=place.directory,
                env={**environment, **_VARIABLES},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=_LOOKUP_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        fields = listed.stdout.split(b"\0")
        scoped = zip(fields[::2], fields[1::2], strict=False)
        return [os.fsdecode(name) for scope, name in scoped if scope in _OWN_SCOPES]
    return []
