"""Keeping secrets of the environment out of what runs unasked.

A proven read may print any variable: `env`, `echo $API_KEY`, or an error message that quotes its
argument. What it prints goes to the model. So variables that look like secrets are empty there,
unless a program that needs them runs alone with what cannot show them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agentscope_like.permission.shell.analysis import CommandAnalysis

__all__ = ["without_secrets"]

_SECRET = re.compile(
    r"(^|_)(KEY|APIKEY|TOKEN|SECRET|SECRETS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT)(_|$|\d)",
    re.IGNORECASE,
)

_NEED_THEM = frozenset(
    {"aws", "az", "docker", "doctl", "fly", "gcloud", "gh", "git", "glab", "helm", "heroku"}
    | {"kubectl", "npm", "oc", "pip", "pip3", "podman", "terraform", "tofu", "vercel"}
)
"""Programs whose reads of a service need the user's credentials."""

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
    if is_needed and not any(name in analysis.command for name in secrets):
        return {}
    return dict.fromkeys(secrets, "")
