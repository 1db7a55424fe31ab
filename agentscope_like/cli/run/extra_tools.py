"""Makes the tools of the terminal program that reach further than the project and one command.

Each kind can be switched off by name (`run --without web`).
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from agentscope_like.cli.errors import CliError
from agentscope_like.nearest import nearest

if TYPE_CHECKING:
    from agentscope_like.checkpoint import CheckpointStore
    from agentscope_like.tool import BackgroundCommands, ToolBase

__all__ = ["EXTRAS", "extra_tools", "parse_extras"]

EXTRAS = ("web", "memory", "background", "undo")
"""The kinds."""


def parse_extras(words: Collection[str] | None) -> frozenset[str]:
    """Return the kinds that are switched off.

    Raises:
        CliError: There is no such kind.
    """
    for word in words or ():
        if word not in EXTRAS:
            raise CliError(
                f"unknown value {word!r} of --without (there are: {', '.join(EXTRAS)})"
                f"{nearest(word, EXTRAS)}"
            )
    return frozenset(words or ())


def extra_tools(
    without: Collection[str],
    *,
    memories: Path | None,
    owner: str,
    background: BackgroundCommands | None,
    directory: Path,
    checkpoints: CheckpointStore | None = None,
) -> list[ToolBase]:
    """Return the tools of the kinds that are not switched off.

    Args:
        without: The kinds that are switched off.
        memories: The file that keeps memories; None if none are kept.
        owner: Whose memories they are.
        background: The commands in the background; None if there are none.
        directory: The project's.
        checkpoints: Keeps what files were before tools change them; None if nothing does.
    """
    import agentscope_like.tool as tools

    found: list[ToolBase] = []
    if "web" not in without:
        found.append(tools.WebFetch())
    if memories is not None and "memory" not in without:
        from agentscope_like.session import SQLiteMemoryStore

        store = SQLiteMemoryStore(memories)
        kinds = (tools.MemorySave, tools.MemorySearch, tools.MemoryDelete)
        found += [kind(store, owner) for kind in kinds]
    if background is not None:
        found += [
            kind(background) for kind in (tools.CommandWait, tools.CommandOutput, tools.CommandStop)
        ]
    if checkpoints is not None:
        found += [tools.Restore(checkpoints, cwd=directory), tools.Checkpoints(checkpoints)]
    return found
