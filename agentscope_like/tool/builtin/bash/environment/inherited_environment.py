"""Builds the environment of a command without variables that change how bash reads it.

A command is decided by its text. Variables that make bash or the loader do more than the text says
are removed (bash(1), "Shell Variables" and "Functions"; ld.so(8)), and no program waits for input
from a person.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agentscope_like.sandbox.host import MARK_VARIABLE

__all__ = ["in_english", "is_inherited", "shell_environment"]

_DROPPED = frozenset(
    {
        *("BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "BASH_COMPAT"),
        *("BASH_LOADABLES_PATH", "BASH_XTRACEFD", "POSIXLY_CORRECT", "POSIX_PEDANTIC", "FUNCNEST"),
        *("CDPATH", "GLOBIGNORE", "EXECIGNORE", "FIGNORE", "IFS", "TMOUT", "OPTIND", "OPTERR"),
        *("HISTFILE", "HISTCONTROL", "MAIL", "MAILPATH", "MAILCHECK", "OLDPWD"),
    }
)
_ENGLISH = re.compile(r"(?:|C|POSIX|en)(?:[._@:].*)?\Z", re.DOTALL)
_DROPPED_PREFIXES = ("BASH_FUNC_", "LD_", "DYLD_")
_KEPT = frozenset({"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"})

_UNATTENDED = {
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GH_PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "AWS_PAGER": "",
    "GIT_TERMINAL_PROMPT": "0",
    "GH_PROMPT_DISABLED": "1",
    "DEBIAN_FRONTEND": "noninteractive",
}


def shell_environment(inherited: Mapping[str, str], mark: str) -> dict[str, str]:
    """Return the environment of a command.

    Args:
        inherited: The process's own environment.
        mark: The mark that identifies the command's processes; added to the marks of the commands
            that this process itself runs under.
    """
    environment = {name: value for name, value in inherited.items() if is_inherited(name)}
    if "PATH" in environment:
        environment["PATH"] = _absolute_entries(environment["PATH"])
    environment.update(_UNATTENDED)
    outer = inherited.get(MARK_VARIABLE)
    environment[MARK_VARIABLE] = f"{outer}:{mark}" if outer else mark
    return environment


def in_english(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which programs print messages in English.

    Collation and character classes keep the user's locale. If that is English or unset, nothing is
    changed.

    Args:
        environment: The variables of a command; locale(7) and gettext(3) say what they mean.
    """
    everything = environment.get("LC_ALL", "")
    messages = everything or environment.get("LC_MESSAGES", "") or environment.get("LANG", "")
    chosen = environment.get("LANGUAGE", "") if messages not in ("", "C", "POSIX") else ""
    if _ENGLISH.match(messages) and _ENGLISH.match(chosen):
        return dict(environment)
    changed = {name: value for name, value in environment.items() if name != "LANGUAGE"}
    if everything:
        changed = {name: changed[name] for name in changed if not name.startswith("LC_")}
        changed["LANG"] = everything
    return {**changed, "LC_MESSAGES": "C"}


def is_inherited(name: str) -> bool:
    """Return whether a command gets an inherited variable of this name."""
    if name in _DROPPED:
        return False
    return name in _KEPT or not name.startswith(_DROPPED_PREFIXES)


def _absolute_entries(path: str) -> str:
    """Return PATH without entries that mean another directory after each `cd`."""
    return ":".join(entry for entry in path.split(":") if entry.startswith("/"))
