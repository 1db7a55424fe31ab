"""Replays recorded sessions as a model."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.model.scripted.script import RecordedAnswer, RecordedCall, Script, Turn
    from agentscope_like.model.scripted.scripted_model import ScriptedModel

__all__ = [
    "RecordedAnswer",
    "RecordedCall",
    "Script",
    "ScriptedModel",
    "Turn",
]

__getattr__ = on_first_use(
    __name__,
    {
        "RecordedAnswer": "script",
        "RecordedCall": "script",
        "Script": "script",
        "ScriptedModel": "scripted_model",
        "Turn": "script",
    },
)
