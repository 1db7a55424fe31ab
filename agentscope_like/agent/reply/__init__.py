"""Runs one reply of an agent, from its beginning to its end."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.agent.reply.beginning import (
        AgentInput,
        Beginning,
        listed,
        refuse_while_waiting,
    )
    from agentscope_like.agent.reply.ending import BROKEN_OFF, NEVER_RAN, ReplyEnding
    from agentscope_like.agent.reply.model_calls import ModelCalls
    from agentscope_like.agent.reply.recorder import ReplyRecorder
    from agentscope_like.agent.reply.reply_parts import ReplyParts
    from agentscope_like.agent.reply.reply_tools import reply_toolkit
    from agentscope_like.agent.reply.rounds import Rounds
    from agentscope_like.agent.reply.structured_output import StructuredSchema, object_schema
    from agentscope_like.agent.reply.tool_suggestion import ToolSelector, ToolSuggestion
    from agentscope_like.agent.reply.workflow_choice import (
        Workflow,
        WorkflowChoice,
        WorkflowSelector,
    )

__all__ = [
    "BROKEN_OFF",
    "NEVER_RAN",
    "AgentInput",
    "Beginning",
    "ModelCalls",
    "ReplyEnding",
    "ReplyParts",
    "ReplyRecorder",
    "Rounds",
    "StructuredSchema",
    "ToolSelector",
    "ToolSuggestion",
    "Workflow",
    "WorkflowChoice",
    "WorkflowSelector",
    "listed",
    "object_schema",
    "refuse_while_waiting",
    "reply_toolkit",
]

__getattr__ = on_first_use(
    __name__,
    {
        "AgentInput": "beginning",
        "BROKEN_OFF": "ending",
        "Beginning": "beginning",
        "ModelCalls": "model_calls",
        "NEVER_RAN": "ending",
        "ReplyEnding": "ending",
        "ReplyParts": "reply_parts",
        "ReplyRecorder": "recorder",
        "Rounds": "rounds",
        "StructuredSchema": "structured_output",
        "ToolSelector": "tool_suggestion",
        "ToolSuggestion": "tool_suggestion",
        "Workflow": "workflow_choice",
        "WorkflowChoice": "workflow_choice",
        "WorkflowSelector": "workflow_choice",
        "listed": "beginning",
        "object_schema": "structured_output",
        "refuse_while_waiting": "beginning",
        "reply_toolkit": "reply_tools",
    },
)
