"""Keeping secrets of the environment out of what runs unasked.

A proven read may print any variable: `env`, `echo $API_KEY`, or an error message that quotes its
argument. What it prints goes to the model. So variables that look like secrets are empty there,
unless a program that needs them runs alone with what cannot show them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agentscope_like.permission.shell.analysis import CommandAnalysis, Part
from agentscope_like.permission.shell.tree import Literal, Word

__all__ = ["without_secrets"]

_SECRET = re.compile(
    r"((^|_)(KEY|SECRETS|CREDENTIALS?|PAT)|._PWD"
    r"|APIKEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE)(_|$|\d)",
    re.IGNORECASE,
)

_NEED_THEM = frozenset(
    {"aws", "az", "docker", "doctl", "fly", "gcloud", "gh", "git", "glab", "helm", "heroku"}
    | {"kubectl", "npm", "oc", "pip", "pip3", "podman", "terraform", "tofu", "vercel"}
)
"""Programs whose reads of a service need the user's credentials."""

_SHOWING = {
    "helm": re.compile("env"),
    **dict.fromkeys(("docker", "podman"), re.compile("config|convert")),
}
"""By which of its words such a program prints variables: `docker compose config` fills them in."""

_TAKES_JQ = re.compile(r"-[a-zA-Z]*q.*|--jq.*", re.DOTALL)
_ENVIRONMENT = re.compile(r"(?:^-[a-zA-Z]*q|(?<![.\w]))(?:env|ENV)\b")
"""What a program for jq calls the variables by; behind a dot it is a key."""

_SHOW_NOTHING = frozenset(
    {"cat", "cut", "grep", "head", "sort", "tail", "tee", "tr", "uniq", "wc", "true", "cd", "pwd"}
)
"""Programs that cannot show a variable which the command line does not name."""


def without_secrets(analysis: CommandAnalysis, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what to set so that a proven read shows no secret: the suspicious names, empty.

    Args:
        analysis: The proven command.
        environment: The environment that it would run in.
    """
    secrets = [name for name in environment if _SECRET.search(name)]
    programs = {part.program for part in analysis.parts}
    is_needed = not programs.isdisjoint(_NEED_THEM) and programs <= _NEED_THEM | _SHOW_NOTHING
    is_shown = any(name in analysis.command for name in secrets)
    if is_needed and not is_shown and not any(map(_shows_variables, analysis.parts)):
        return {}
    return dict.fromkeys(secrets, "")


def _shows_variables(part: Part) -> bool:
    """Return whether a program that needs variables may print any of them."""
    if part.program != "gh":
        telling = _SHOWING.get(part.program or "")
        return telling is not None and any(telling.fullmatch(word or "") for word in part.argv)
    if not any(_TAKES_JQ.fullmatch(_beginning(word)) for word in part.words):
        return False
    return any(word is None or _ENVIRONMENT.search(word) for word in part.argv)


def _beginning(word: Word) -> str:
    """Return the literal text that a word begins with."""
    first = word.segments[0] if word.segments else None
    return first.text if isinstance(first, Literal) else ""
