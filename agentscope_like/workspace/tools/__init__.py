"""Provides the tools on a workspace."""

from __future__ import annotations

from agentscope_like.conversation import CommitSink
from agentscope_like.tool import ToolBase
from agentscope_like.workspace.run_control import RunControl
from agentscope_like.workspace.tools.ending import Commit, CommitError, Finish
from agentscope_like.workspace.tools.reading import ListFiles, ReadFile, SearchFiles
from agentscope_like.workspace.tools.writing import ApplyPatch, WriteFile
from agentscope_like.workspace.workspace import Workspace

__all__ = [
    "ApplyPatch",
    "Commit",
    "CommitError",
    "Finish",
    "ListFiles",
    "ReadFile",
    "SearchFiles",
    "WriteFile",
    "workspace_tools",
]


def workspace_tools(
    workspace: Workspace, control: RunControl | None = None, sink: CommitSink | None = None
) -> list[ToolBase]:
    """Return the tools on a workspace.

    Args:
        workspace: The workspace.
        control: The run; without it there is no `workspace.finish`, as for a child task.
        sink: Where commits go; without it there is no `workspace.commit`.
    """
    kinds = (ListFiles, SearchFiles, ReadFile, WriteFile, ApplyPatch)
    tools: list[ToolBase] = [kind(workspace) for kind in kinds]
    if control is not None and sink is not None:
        tools.append(Commit(workspace, control, sink))
    if control is not None:
        tools.append(Finish(workspace, control))
    return tools
