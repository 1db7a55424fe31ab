"""Defines tool groups and tool sources, from which toolkits are built."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.group.attempt import Attempts
    from agentscope_like.tool.group.skill_names import SkillNames
    from agentscope_like.tool.group.tool_group import BASIC, SkillSource, ToolGroup, listed
    from agentscope_like.tool.group.tool_source import ImmediateSource, ToolSource

__all__ = [
    "BASIC",
    "Attempts",
    "ImmediateSource",
    "SkillNames",
    "SkillSource",
    "ToolGroup",
    "ToolSource",
    "listed",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Attempts": "attempt",
        "BASIC": "tool_group",
        "ImmediateSource": "tool_source",
        "SkillNames": "skill_names",
        "SkillSource": "tool_group",
        "ToolGroup": "tool_group",
        "ToolSource": "tool_source",
        "listed": "tool_group",
    },
)
