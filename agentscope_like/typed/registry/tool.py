"""Defines `Tool`, which names a registered tool and its parameters."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from agentscope_like.nearest import refuse_unknown_fields

__all__ = ["Tool"]


class Tool(BaseModel):
    """A tool to be made by a registry (seed 004): it can be written in a configuration.

    Attributes:
        name: The name under which it was registered.
        params: What it is made with.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    params: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, data: Any) -> Any:
        refuse_unknown_fields(data, cls.model_fields, why="a typo does not go unnoticed")
        return data
