"""Builds the environment of commands that run without approval."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agentscope_like.permission.command import PreparedCommand
from agentscope_like.shell import CommandAnalysis
from agentscope_like.shell.catalog import off_switches

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.bash.command_shell import RepositoryKeys

__all__ = ["runs_unasked", "unasked_environment"]


async def runs_unasked(call: PreparedCommand) -> bool:
    """Return whether a command runs without approval, as a proven read or an accepted edit."""
    if call.analysis.read_only or not call.context.mode.properties.edits_run:
        return call.analysis.read_only
    return await asyncio.to_thread(lambda: call.runs_unasked)  # it looks at files


def unasked_environment(
    analysis: CommandAnalysis, inherited: dict[str, str], keys: RepositoryKeys
) -> dict[str, str]:
    """Return the additional variables of a command that runs without approval.

    They hide secrets, and switch off what a project's files would make of the programs.
    """
    from agentscope_like.tool.builtin.bash.environment import (
        git_environment,
        git_places,
        without_secrets,
    )

    secrets = without_secrets(analysis, inherited)
    git = git_environment(inherited | secrets, git_places(analysis), keys)
    return secrets | off_switches() | git
