"""Defines `GlobTool`, with which a model finds files by name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from pydantic import Field
from typing_extensions import override

from agentscope_like.state import AgentState
from agentscope_like.typed.action import Action
from agentscope_like.typed.annotations import ToolAnnotations
from agentscope_like.typed.observation import Observation
from agentscope_like.typed.tools.path_tool import PathActionTool

__all__ = ["GlobAction", "GlobObservation", "GlobTool"]


class GlobAction(Action):
    """Which files to find."""

    pattern: str = Field(description="The glob, such as `**/*.py`.")
    path: str | None = Field(
        default=None, description="The directory to search; the working directory by default."
    )


class GlobObservation(Observation):
    """The files, one path in each line of the content.

    Attributes:
        total_files: How many there are; the content may list fewer.
    """

    total_files: int = 0


class GlobTool(PathActionTool[GlobAction, GlobObservation]):
    """Finds files by their names, as the built-in Glob does, and judged as it is (seed 004)."""

    description = (
        "Finds files by a glob, such as `**/*.py` or `src/{a,b}/*.ts`, the last modified first. "
        "`*` stays within a name and `**` is any number of directories, so `*.py` finds only what "
        "lies directly in the searched directory. Symlinks are not followed. At most 500 files "
        "are listed."
    )
    is_concurrency_safe = True
    stands_for: ClassVar[tuple[str, ...]] = ("Glob",)
    annotations = ToolAnnotations(
        title="Find files",
        readOnlyHint=True,
        destructiveHint=False,
        idempotentHint=True,
        openWorldHint=False,
    )

    @classmethod
    @override
    def create(
        cls,
        conv_state: AgentState | None = None,
        *,
        working_dir: str | os.PathLike[str] | None = None,
        **params: Any,
    ) -> Sequence[Self]:
        """Return the tool.

        Args:
            conv_state: Not used: rules come with each call.
            working_dir: Where relative paths start; by default, the process's own directory.
            **params: What the constructor takes.
        """
        from agentscope_like.typed.tools.glob.impl import GlobExecutor

        del conv_state
        executor = GlobExecutor(working_dir, name=params.get("name") or cls.name)
        return [cls(executor=executor, cwd=working_dir, **params)]
