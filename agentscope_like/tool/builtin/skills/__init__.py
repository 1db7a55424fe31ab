"""Manages the skills of a toolkit, and provides the tools with which a model reads them."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.skills.agent_skills import SkillList, SkillRead, SkillSearch
    from agentscope_like.tool.builtin.skills.load_skill import LoadSkill
    from agentscope_like.tool.builtin.skills.skill_library import SCOPES, SkillLibrary
    from agentscope_like.tool.builtin.skills.skill_shelf import VIEWER, SkillShelf
    from agentscope_like.tool.builtin.skills.skill_viewer import SkillViewer

__all__ = [
    "SCOPES",
    "VIEWER",
    "LoadSkill",
    "SkillLibrary",
    "SkillList",
    "SkillRead",
    "SkillSearch",
    "SkillShelf",
    "SkillViewer",
]

__getattr__ = on_first_use(
    __name__,
    {
        "LoadSkill": "load_skill",
        "SCOPES": "skill_library",
        "SkillLibrary": "skill_library",
        "SkillList": "agent_skills",
        "SkillRead": "agent_skills",
        "SkillSearch": "agent_skills",
        "SkillShelf": "skill_shelf",
        "SkillViewer": "skill_viewer",
        "VIEWER": "skill_shelf",
    },
)
