"""Lets an agent give tasks to other agents and wait for their results."""

from __future__ import annotations

from agentscope_like.delegation.agent_await import AWAIT, AgentAwait, Awaited
from agentscope_like.delegation.agent_delegate import AgentDelegate, asked_of
from agentscope_like.delegation.agent_list import AgentList
from agentscope_like.delegation.child_runner import ChildRunner, Delegator
from agentscope_like.delegation.result_files import ResultFiles
from agentscope_like.delegation.task_return import MAX_RESULT, RETURN, TaskReturn

__all__ = [
    "AWAIT",
    "MAX_RESULT",
    "RETURN",
    "AgentAwait",
    "AgentDelegate",
    "AgentList",
    "Awaited",
    "ChildRunner",
    "Delegator",
    "ResultFiles",
    "TaskReturn",
    "asked_of",
]
