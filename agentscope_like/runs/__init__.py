"""Runs agents under profiles: with a budget, a journal, and tasks that they give to one another."""

from __future__ import annotations

from agentscope_like.runs.agent_run import AgentRun
from agentscope_like.runs.child_worker import AgentMaker
from agentscope_like.runs.children import Children
from agentscope_like.runs.outcome import RunControl, RunError, RunState

__all__ = ["AgentMaker", "AgentRun", "Children", "RunControl", "RunError", "RunState"]
