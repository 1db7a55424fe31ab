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
    from agentscope_like.agent.reply.prompt_context import PromptContext
    from agentscope_like.agent.reply.reply_parts import ReplyParts
    from agentscope_like.agent.reply.reply_tools import reply_toolkit
    from agentscope_like.agent.reply.rounds import Rounds
    from agentscope_like.agent.reply.structured_output import StructuredSchema
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
    "PromptContext",
    "ReplyEnding",
    "ReplyParts",
    "Rounds",
    "StructuredSchema",
    "ToolSelector",
    "ToolSuggestion",
    "Workflow",
    "WorkflowChoice",
    "WorkflowSelector",
    "listed",
    "refuse_while_waiting",
    "reply_toolkit",
]

__getattr__ = on_first_use(
    __name__,
    {
        "AgentInput": "beginning",
        "BROKEN_OFF": "ending",
        "Beginning": "beginning",
        "NEVER_RAN": "ending",
        "PromptContext": "prompt_context",
        "ReplyEnding": "ending",
        "ReplyParts": "reply_parts",
        "Rounds": "rounds",
        "StructuredSchema": "structured_output",
        "ToolSelector": "tool_suggestion",
        "ToolSuggestion": "tool_suggestion",
        "Workflow": "workflow_choice",
        "WorkflowChoice": "workflow_choice",
        "WorkflowSelector": "workflow_choice",
        "listed": "beginning",
        "refuse_while_waiting": "beginning",
        "reply_toolkit": "reply_tools",
    },
)
