"""Validates the arguments of a call as an action, and shows no value of a secret field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError
from typing_extensions import override

from agentscope_like.exception import ToolArgumentError
from agentscope_like.tool.arguments import ArgumentValidator
from agentscope_like.typed.action import Action
from agentscope_like.typed.secret_fields import has_secrets, marked_values, without_values

__all__ = ["ActionValidator", "action_of"]

ActionT = TypeVar("ActionT", bound=Action)

_SHOWN_ERRORS = 3


class ActionValidator(ArgumentValidator):
    """Checks arguments against the schema of an action, then with its own validators.

    Args:
        tool_name: The tool's name, for messages.
        schema: The JSON Schema.
        action_type: The class of the action.

    Raises:
        ConfigurationError: The schema is not valid.
    """

    def __init__(
        self, tool_name: str, schema: Mapping[str, Any], action_type: type[Action]
    ) -> None:
        super().__init__(tool_name, schema, closed=False, hides_values=has_secrets(dict(schema)))
        self._action_type = action_type

    @override
    def check(self, arguments: dict[str, Any]) -> None:
        """Refuse arguments that do not fit.

        Raises:
            ToolArgumentError: The message names the place and the expected value of each error.
        """
        super().check(arguments)
        action_of(self._tool_name, self._action_type, arguments)


def action_of(tool_name: str, action_type: type[ActionT], arguments: Mapping[str, Any]) -> ActionT:
    """Return the action of a call's arguments.

    Raises:
        ToolArgumentError: They do not fit; no value is shown.
    """
    try:
        return action_type.model_validate(dict(arguments))
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        told = "; ".join(_described(one) for one in found[:_SHOWN_ERRORS])
        told = without_values(told, marked_values(action_type.to_mcp_schema(), arguments))
        more = len(found) - _SHOWN_ERRORS
        tail = f" (and {more} more)" if more > 0 else ""
    raise ToolArgumentError(
        f"The arguments of {tool_name} do not fit: {told}{tail}. Correct them and call again."
    )


def _described(error: Any) -> str:
    where = ".".join(map(str, error["loc"]))
    return f"{where}: {error['msg']}" if where else str(error["msg"])
