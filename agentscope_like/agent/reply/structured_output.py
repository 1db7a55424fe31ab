"""Provides the tool through which the model returns structured output."""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

from pydantic import BaseModel, ValidationError
from typing_extensions import override

from agentscope_like.agent.object_schema import object_schema
from agentscope_like.exception import ToolArgumentError
from agentscope_like.message import TextBlock, ToolChunk, ToolResultState
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolBase

__all__ = ["FINISHING_TOOL", "FinishingTool", "StructuredSchema", "finishing_tool"]

FINISHING_TOOL = "generate_structured_output"
"""The name of the tool through which the model returns its answer."""

StructuredSchema: TypeAlias = type[BaseModel] | dict[str, Any]
"""A pydantic model, or a JSON Schema of an object."""

TAKEN = "Taken as the final answer."


class FinishingTool(ToolBase):
    """Takes the final answer of a reply and validates it by a schema.

    Args:
        schema: The JSON Schema, of an object.
        model: A pydantic model that validates further than the schema; None if there is none.
    """

    name = FINISHING_TOOL
    description = (
        "Gives the final answer as data. Call it once all work is done, with everything that the "
        "user asked for; the reply ends with it."
    )
    is_concurrency_safe = True
    is_read_only = True
    is_state_injected = True
    touches_only_agent_state: ClassVar[bool] = True

    def __init__(self, schema: dict[str, Any], model: type[BaseModel] | None = None) -> None:
        super().__init__()
        self.input_schema = schema
        self._model = model

    @override
    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Allow the call: it only returns the answer."""
        del tool_input, context
        return PermissionDecision(PermissionBehavior.ALLOW, "It only answers.")

    @override
    async def call(self, /, _agent_state: AgentState, **answer: Any) -> ToolChunk:
        """Keep the answer in the state.

        Raises:
            ToolArgumentError: The pydantic model rejects it.
        """
        if self._model is not None:
            try:
                answer = self._model.model_validate(answer).model_dump(mode="json")
            except ValidationError as error:
                raise ToolArgumentError(_told(error)) from error
        _agent_state.reply_context.structured_output = answer
        return ToolChunk(content=[TextBlock(text=TAKEN)], state=ToolResultState.SUCCESS)


def finishing_tool(schema: StructuredSchema) -> FinishingTool:
    """Return the tool for answers of this schema.

    Raises:
        ConfigurationError: The schema does not describe an object.
    """
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return FinishingTool(object_schema(schema.model_json_schema(), "structured_schema"), schema)
    return FinishingTool(object_schema(schema, "structured_schema"))


def _told(error: ValidationError) -> str:
    misfits = [
        f"{'.'.join(map(str, one['loc'])) or 'the answer'}: {one['msg']}" for one in error.errors()
    ]
    return f"The answer does not fit: {'; '.join(misfits)}. Correct it and call again."
