"""Reads which aliases git has for a command, from the repository's and the user's configuration."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from agentscope_like.exception import ToolArgumentError
from agentscope_like.paths import GitSetting
from agentscope_like.shell import CommandAnalysis, Surroundings
from agentscope_like.tool.builtin.bash.environment.git_programs import GitPlace, git_places
from agentscope_like.tool.builtin.bash.environment.repository import Repositories, settings_in

__all__ = ["aliases_of_git"]

_ALIAS = re.compile(r"alias\.(.+?)(?:\.command)?", re.DOTALL)
_CORRECTION = "help.autocorrect"
_SYSTEM = ("/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig")
_UNREAD = ("GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_DIR", "GIT_COMMON_DIR")


def aliases_of_git(
    analysis: CommandAnalysis, around: Surroundings, environment: Mapping[str, str]
) -> Mapping[str, Sequence[str]] | None:
    """Return what aliases stand for, by their names in lowercase; None where that is not known.

    `help.autocorrect` is among them where git would take a name that it does not know for another.

    Args:
        analysis: The command.
        around: Where it runs.
        environment: The variables that git would see.
    """
    if any(name in environment for name in _UNREAD):
        return None
    found: dict[str, list[str]] = {}
    try:
        places = git_places(analysis)
        for key, value in _settings(places, around, environment):
            if match := _ALIAS.fullmatch(key):
                found.setdefault(match[1].lower(), []).append(value or "")
            elif key == _CORRECTION:
                found.setdefault(key, []).append(value or "")
    except ToolArgumentError:
        return None
    return found


def _settings(
    places: Sequence[GitPlace], around: Surroundings, environment: Mapping[str, str]
) -> Iterator[GitSetting]:
    home = around.home or "/nonexistent"
    own = environment.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    usual = (os.path.join(own, "git", "config"), os.path.join(home, ".gitconfig"))
    chosen = environment.get("GIT_CONFIG_GLOBAL")
    system = environment.get("GIT_CONFIG_SYSTEM")
    files = (*((system,) if system else _SYSTEM), *((chosen,) if chosen else usual))
    for path in files:
        yield from settings_in(path, home)
    repositories = Repositories(around, environment)
    for place in places:
        yield from repositories.settings(place.directory, place.options)
