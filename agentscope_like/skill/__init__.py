"""Skills: instructions for particular kinds of work, which a model reads when it needs them."""

from agentscope_like.skill.base import Skill, SkillLoaderBase
from agentscope_like.skill.local import LocalSkillLoader
from agentscope_like.skill.yaml_fields import SkillFileError

__all__ = ["LocalSkillLoader", "Skill", "SkillFileError", "SkillLoaderBase"]
