"""Skills: instructions for particular kinds of work, which a model reads when it needs them."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use
from agentscope_like.skill.base import Skill, SkillLoaderBase
from agentscope_like.skill.local import LocalSkillLoader
from agentscope_like.skill.yaml_fields import SkillFileError

if TYPE_CHECKING:
    from agentscope_like.skill.manager import SkillManager
    from agentscope_like.skill.proxy import SkillProxy
    from agentscope_like.skill.registry import SkillRegistry
    from agentscope_like.skill.sandbox_manager import SandboxSkillManager
    from agentscope_like.skill.schema import SkillSchema

__all__ = [
    "LocalSkillLoader",
    "SandboxSkillManager",
    "Skill",
    "SkillFileError",
    "SkillLoaderBase",
    "SkillManager",
    "SkillProxy",
    "SkillRegistry",
    "SkillSchema",
]

__getattr__ = on_first_use(
    __name__,
    {
        "SandboxSkillManager": "sandbox_manager",
        "SkillManager": "manager",
        "SkillProxy": "proxy",
        "SkillRegistry": "registry",
        "SkillSchema": "schema",
    },
)
