"""Defines `GrepTool`, with which a model searches the contents of files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import Field
from typing_extensions import override

from agentscope_like.state import AgentState
from agentscope_like.typed.action import Action
from agentscope_like.typed.annotations import ToolAnnotations
from agentscope_like.typed.observation import Observation
from agentscope_like.typed.tools.path_tool import PathActionTool

__all__ = ["GrepAction", "GrepObservation", "GrepTool"]


class GrepAction(Action):
    """What to search for, and where."""

    pattern: str = Field(description="The regular expression, in ripgrep's dialect.")
    path: str | None = Field(
        default=None,
        description="The file or directory to search; the working directory by default.",
    )
    include: str | None = Field(
        default=None, description="Only files that match this glob, such as `*.py`."
    )
    output_mode: Literal["content", "files_with_matches", "count"] = Field(
        default="files_with_matches",
        description="What to show: matching lines, files, or lines counted by file.",
    )
    ignore_case: bool = Field(default=False, description="Whether to ignore case.")
    context: int = Field(
        default=0, ge=0, le=100, description="Lines to show before and after each match."
    )
    offset: int = Field(default=0, ge=0, description="How many results to leave out first.")


class GrepObservation(Observation):
    """What was found, a result in each line of the content.

    Attributes:
        files: How many files match.
        matches: How many lines match.
    """

    files: int = 0
    matches: int = 0


class GrepTool(PathActionTool[GrepAction, GrepObservation]):
    """Searches files, as the built-in Grep does, and judged as it is (seed 004)."""

    description = (
        "Searches the contents of files with a regular expression, without look-around. By "
        "default lists the files that match; `output_mode` content shows the lines, count counts "
        "them. Binary files are not searched, nor are directories of version control, "
        "dependencies and caches, unless `path` or `include` names them. 250 results are shown; "
        "`offset` shows later ones."
    )
    is_concurrency_safe = True
    stands_for: ClassVar[tuple[str, ...]] = ("Grep",)
    annotations = ToolAnnotations(
        title="Search files",
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
        from agentscope_like.typed.tools.grep.impl import GrepExecutor

        del conv_state
        executor = GrepExecutor(working_dir, name=params.get("name") or cls.name)
        return [cls(executor=executor, cwd=working_dir, **params)]
