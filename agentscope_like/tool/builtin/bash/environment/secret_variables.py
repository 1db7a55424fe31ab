"""Empties secret variables in the environment of commands that run without approval.

A proven read may print any variable: `env`, `echo $API_KEY`, or an error message that quotes its
argument. What it prints goes to the model. So variables that look like secrets are empty there,
unless a program that needs them runs alone with what cannot show them. Even then it gets only its
own where the project says what is done with the others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agentscope_like.shell import CommandAnalysis, Part
from agentscope_like.shell.syntax import Literal, Word

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

_OWN = {"npm": re.compile(r"(NPM|NODE_AUTH)_", re.IGNORECASE)}
"""Of these programs, the variables that are theirs: a project's `.npmrc` may send any other to a
host that it names, as `${NAME}` (docs.npmjs.com/cli/configuring-npm/npmrc)."""

_FILL_IN = {
    "npm": re.compile("config|get"),
    "helm": re.compile("env"),
    **dict.fromkeys(("docker", "podman"), re.compile("config|convert")),
}
"""By which of its words such a program prints variables, or a file with variables filled in."""

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
    if not is_needed or any(name in analysis.command for name in secrets):
        return dict.fromkeys(secrets, "")
    if any(map(_shows_variables, analysis.parts)):
        return dict.fromkeys(secrets, "")
    return dict.fromkeys((name for name in secrets if not _is_kept(name, analysis)), "")


def _is_kept(name: str, analysis: CommandAnalysis) -> bool:
    """Return whether each part may have a variable."""
    owners = [_OWN.get(part.program or "") for part in analysis.parts]
    return all(own is None or own.match(name) is not None for own in owners)


def _shows_variables(part: Part) -> bool:
    """Return whether a program that needs variables may print any of them."""
    if part.program == "gh":
        takes_jq = any(_TAKES_JQ.fullmatch(_beginning(word)) for word in part.words)
        return takes_jq and any(word is None or _ENVIRONMENT.search(word) for word in part.argv)
    telling = _FILL_IN.get(part.program or "")
    return telling is not None and any(telling.fullmatch(word or "") for word in part.argv)


def _beginning(word: Word) -> str:
    """Return the literal text that a word begins with."""
    first = word.segments[0] if word.segments else None
    return first.text if isinstance(first, Literal) else ""
