"""Skills: instructions for particular kinds of work, which a model reads when it needs them."""

from agentscope_like.skill.base import Skill, SkillLoaderBase
from agentscope_like.skill.front_matter import SkillFileError
from agentscope_like.skill.local import LocalSkillLoader

__all__ = ["LocalSkillLoader", "Skill", "SkillFileError", "SkillLoaderBase"]
