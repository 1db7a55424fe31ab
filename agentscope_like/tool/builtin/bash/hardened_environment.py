"""Builds the environment of commands that run without approval."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from agentscope_like.permission.command import PreparedCommand

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.bash.command_shell import RepositoryKeys

__all__ = ["runs_unasked", "unasked_environment"]

_OWN_TOOLCHAINS = {"GOTOOLCHAIN": "local", "RUSTUP_AUTO_INSTALL": "0"}
"""Keeps `go version` and `cargo --version` from fetching the toolchain that a project names
(https://go.dev/doc/toolchain; rustup 1.28)."""

_NO_SCRIPTS = {"COMPOSER_SKIP_SCRIPTS": "init,command,pre-command-run,pre-file-download"}
"""Keeps `composer show` from running what a project's composer.json has for these events
(https://getcomposer.org/doc/03-cli.md#composer-skip-scripts; composer 2.8.6)."""

_NO_LOGS = {"npm_config_logs_max": "0", "npm_config_update_notifier": "false"}
"""Keeps npm from writing logs to where a project's `.npmrc` has them, and from asking for updates
(https://docs.npmjs.com/cli/using-npm/config)."""


async def runs_unasked(call: PreparedCommand) -> bool:
    """Return whether a command runs without approval, as a proven read or an accepted edit."""
    if call.analysis.read_only or not call.context.mode.properties.edits_run:
        return call.analysis.read_only
    return await asyncio.to_thread(lambda: call.runs_unasked)  # it looks at files


def unasked_environment(
    call: PreparedCommand, inherited: dict[str, str], keys: RepositoryKeys
) -> dict[str, str]:
    """Return the additional variables of a command that runs without approval.

    They hide secrets, leave directories of the project out of PATH, and disable programs that a
    repository names or a project has fetched.
    """
    from agentscope_like.tool.builtin.bash.environment import (
        git_environment,
        git_places,
        without_secrets,
    )

    own = without_secrets(call.analysis, inherited) | {"PATH": call.programs.path}
    known = partial(keys, call.surroundings)
    git = git_environment(inherited | own, git_places(call.analysis), known)
    return own | _OWN_TOOLCHAINS | _NO_SCRIPTS | _NO_LOGS | git
