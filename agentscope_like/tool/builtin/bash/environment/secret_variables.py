"""Empties secret variables in the environment of commands that run without approval.

A proven read may print any variable: `env`, `echo $API_KEY`, or an error message that quotes its
argument. What it prints goes to the model. So variables that look like secrets, by their name or as
an address with a password, are empty there, unless the command consists of a program that needs
them and of programs that cannot print them. Even then a program gets only its own if a project file
(`.npmrc`) may send others elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from agentscope_like.shell import CommandAnalysis, Part
from agentscope_like.shell.catalog import canonical, programs_with
from agentscope_like.shell.syntax import Literal, Word
from agentscope_like.toml_tables import Expression, table_beside

__all__ = ["secret_names", "without_secrets"]

_SECRET = re.compile(
    r"((^|_)(KEY|SECRETS|CREDENTIALS?|PAT)|._PWD"
    r"|APIKEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE)(_|$|\d)",
    re.IGNORECASE,
)

_IN_ADDRESS = re.compile(r"https?://[^/?#\s@]+@|://[^/?#\s@]*:[^/?#\s@]+@", re.IGNORECASE)
"""A password or token in an address, as `DATABASE_URL` and `PIP_INDEX_URL` may have one."""

_TAKES_JQ = re.compile(r"-[a-zA-Z]*q.*|--jq.*", re.DOTALL)
_ENVIRONMENT = re.compile(r"(?:^-[a-zA-Z]*q|(?<![.\w]))(?:env|ENV)\b")
"""What a program for jq calls the variables by; behind a dot it is a key."""


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `secrets.toml`, which says what each field is."""

    own: dict[str, Expression]
    fills_in: dict[str, Expression]


_table = table_beside(__file__, "secrets.toml", _Table)


def without_secrets(analysis: CommandAnalysis, environment: Mapping[str, str]) -> dict[str, str]:
    """Return what to set so that a proven read shows no secret: suspicious variables, empty.

    Args:
        analysis: The proven command.
        environment: The environment that it would run in.
    """
    secrets = secret_names(environment)
    programs = {part.program for part in analysis.parts}
    need_them = programs_with("needs_credentials")
    others = programs - need_them
    is_needed = others != programs and others <= programs_with("shows_no_variable")
    if not is_needed or any(name in analysis.command for name in secrets):
        return dict.fromkeys(secrets, "")
    if any(map(_shows_variables, analysis.parts)):
        return dict.fromkeys(secrets, "")
    return dict.fromkeys((name for name in secrets if not _is_kept(name, analysis)), "")


def secret_names(environment: Mapping[str, str]) -> list[str]:
    """Return the names of the variables that look like secrets."""
    return [
        name
        for name, value in environment.items()
        if _SECRET.search(name) or ("@" in value and _IN_ADDRESS.search(value))
    ]


def _is_kept(name: str, analysis: CommandAnalysis) -> bool:
    """Return whether each part may have a variable."""
    owners = [_table().own.get(canonical(part.program or "")) for part in analysis.parts]
    return all(own is None or own.match(name) is not None for own in owners)


def _shows_variables(part: Part) -> bool:
    """Return whether a program that needs variables may print any of them."""
    if part.program == "gh":
        takes_jq = any(_TAKES_JQ.fullmatch(_beginning(word)) for word in part.words)
        return takes_jq and any(word is None or _ENVIRONMENT.search(word) for word in part.argv)
    telling = _table().fills_in.get(canonical(part.program or ""))
    return telling is not None and any(telling.fullmatch(word or "") for word in part.argv)


def _beginning(word: Word) -> str:
    """Return the literal text that a word begins with."""
    first = word.segments[0] if word.segments else None
    return first.text if isinstance(first, Literal) else ""
