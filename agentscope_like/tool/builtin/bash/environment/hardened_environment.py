"""Builds the environment of commands that run without approval."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from agentscope_like.permission.command import PreparedCommand
from agentscope_like.shell.catalog import off_switches

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.bash.environment.git_programs import RepositoryKeys

__all__ = ["runs_unasked", "unasked_environment"]


async def runs_unasked(call: PreparedCommand) -> bool:
    """Return whether a command runs without approval, as a proven read or an accepted edit."""
    if call.analysis.read_only or not call.context.mode.properties.edits_run:
        return call.analysis.read_only
    return await asyncio.to_thread(lambda: call.runs_unasked)  # it looks at files


def unasked_environment(
    call: PreparedCommand, inherited: dict[str, str], keys: RepositoryKeys
) -> dict[str, str]:
    """Return the additional variables of a command that runs without approval.

    They hide secrets, leave directories of the project out of PATH, and switch off what a project's
    files would make of the programs.
    """
    from agentscope_like.tool.builtin.bash.environment.git_programs import (
        git_environment,
        git_places,
    )
    from agentscope_like.tool.builtin.bash.environment.secret_variables import without_secrets

    own = without_secrets(call.analysis, inherited) | {"PATH": call.programs.path}
    known = partial(keys, call.surroundings)
    git = git_environment(inherited | own, git_places(call.analysis), known)
    return own | off_switches() | git
