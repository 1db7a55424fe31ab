"""Checks the variables that are named for the environment of a sandbox."""

from __future__ import annotations

import re

from agentscope_like.exception import ToolArgumentError

__all__ = ["EVERYTHING", "check_name"]

EVERYTHING = "*"
"""Stands for all variables in `SandboxConfig.pass_env`."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check_name(name: str, value: str) -> None:
    """Refuse a variable that cannot be passed to a process.

    Raises:
        ToolArgumentError: The name is not one of a variable, or the value has a NUL character.
    """
    if _NAME.fullmatch(name) is None:
        raise ToolArgumentError(
            f"{name!r} is not the name of an environment variable: use letters, digits and `_`."
        )
    if "\0" in value:
        raise ToolArgumentError(f"The variable {name} contains a NUL character: leave it out.")
