"""Runs an agent under a profile: with a budget, a journal, and a state that says how it ended."""

from __future__ import annotations

from agentscope_like.runs.agent_run import AgentRun
from agentscope_like.runs.outcome import RunControl, RunError, RunState

__all__ = ["AgentRun", "RunControl", "RunError", "RunState"]
