"""Converts a function's parameters to a JSON Schema, and JSON values back to Python values."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from pydantic import BaseModel, ValidationError

from agentscope_like.exception import ConfigurationError, ToolArgumentError
from agentscope_like.nearest import nearest
from agentscope_like.tool.base import check_schema
from agentscope_like.tool.make.argument_model import ArgumentModel, model_of_signature

__all__ = ["STATE", "Parameters"]

STATE = "_agent_state"
"""The parameter that gets the agent's state; models neither see nor set it."""

_SHOWN_ERRORS = 3


class Parameters:
    """The parameters of a function, and the conversion of a model's arguments to them.

    Parameters bound by a `functools.partial` are hidden from models.

    Args:
        tool_name: The tool's name, for messages.
        func: The function.
        given: A schema instead of the one from the signature: a dictionary, with which arguments
            are passed on unchanged; or a model class, which validates them, and whose field values
            the function gets.
        wants_state: Whether the function gets the agent's state as `_agent_state`.

    Attributes:
        schema: The JSON Schema for the model.

    Raises:
        ConfigurationError: The function cannot be called with JSON arguments.
    """

    def __init__(
        self,
        tool_name: str,
        func: Callable[..., Any],
        given: Mapping[str, Any] | type[BaseModel] | None = None,
        *,
        wants_state: bool = False,
    ) -> None:
        self._tool_name = tool_name
        self._func = func
        self._wants_state = wants_state
        self._signature = _signature(tool_name, func)
        self._hidden = {STATE, *_bound_keywords(func)}
        self._extra: inspect.Parameter | None = None
        self._open: dict[str, inspect.Parameter] = {}
        self._positional_only: dict[str, inspect.Parameter] = {}
        for name, parameter in self._signature.parameters.items():
            if parameter.kind is parameter.VAR_KEYWORD:
                self._extra = parameter
                continue
            if parameter.kind is parameter.POSITIONAL_ONLY:
                self._positional_only[name] = parameter
            if name not in self._hidden:
                self._open[name] = parameter
        self._required = [
            name for name, parameter in self._open.items() if parameter.default is parameter.empty
        ]
        self._check_state()
        self._model, self.schema = self._read(given)

    # The definition

    def _read(
        self, given: Mapping[str, Any] | type[BaseModel] | None
    ) -> tuple[ArgumentModel | None, dict[str, Any]]:
        if given is None:
            return model_of_signature(self._tool_name, self._func, self._open, self._extra)
        if isinstance(given, type):
            self._check_takes(given.model_fields)
            model = ArgumentModel(given, {name: name for name in given.model_fields})
            return model, model.schema()
        check_schema(self._tool_name, given)
        self._check_takes(given["properties"])
        return None, dict(given)

    def _check_state(self) -> None:
        has_place = STATE in self._signature.parameters or self._extra is not None
        if self._wants_state and not has_place:
            raise ConfigurationError(
                f"{self._tool_name} is to get the agent's state, but its function has no parameter "
                f"for it: add `{STATE}: AgentState`, or leave out `is_state_injected`"
            )
        parameter = self._signature.parameters.get(STATE)
        if parameter is not None and parameter.default is parameter.empty and not self._wants_state:
            raise ConfigurationError(
                f"the function of {self._tool_name} needs `{STATE}`, but nothing injects it: set "
                "`is_state_injected=True`"
            )

    def _check_takes(self, names: Collection[str]) -> None:
        for name in names:
            if name in self._hidden:
                raise ConfigurationError(
                    f"the input schema of {self._tool_name} offers {name!r}, which a model must "
                    "not set: remove it from the schema"
                )
            if name not in self._open and self._extra is None:
                raise ConfigurationError(
                    f"the input schema of {self._tool_name} offers {name!r}, which its function "
                    f"does not take{nearest(name, self._open)}; rename it, or give the function "
                    "`**kwargs`"
                )
        for name in self._required:
            if name not in names:
                raise ConfigurationError(
                    f"the function of {self._tool_name} needs {name!r}, which its input schema "
                    "does not offer: add it to the schema, or give it a default"
                )

    # A call

    def bind(self, arguments: Mapping[str, Any], state: Any = None) -> Callable[[], Any]:
        """Return the call of the function with these arguments, as Python values.

        Args:
            arguments: JSON values, or Python values of the annotated types.
            state: The agent's state, for a function that needs it.

        Raises:
            ToolArgumentError: An argument is unknown, missing or does not fit its type.
        """
        self._refuse_unknown(arguments)
        values = self._converted(arguments)
        self._refuse_missing(values)
        if self._wants_state:
            values[STATE] = state
        positional = [
            values.pop(name, parameter.default) for name, parameter in self._positional_only.items()
        ]
        return partial(self._func, *positional, **values)

    def _refuse_missing(self, values: Mapping[str, Any]) -> None:
        for name in self._required:
            if name not in values:
                raise ToolArgumentError(f"{self._tool_name} needs the argument {name!r}.")

    def _refuse_unknown(self, arguments: Mapping[str, Any]) -> None:
        known = self.schema["properties"]
        for name in arguments:
            if name in self._hidden or (name not in known and self._extra is None):
                raise ToolArgumentError(
                    f"{self._tool_name} has no argument {name!r}{nearest(name, known)}."
                )

    def _converted(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if self._model is None:
            return dict(arguments)
        try:
            return self._model.values(arguments)
        except ValidationError as error:
            raise ToolArgumentError(
                f"The arguments of {self._tool_name} do not fit: {_misfits(error)}. "
                "Correct them and call again."
            ) from None


def _misfits(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False, include_context=False)
    places = [".".join(str(part) for part in one["loc"]) for one in found]
    texts = [
        f"{place}: {one['msg']}".lstrip(": ") for place, one in zip(places, found, strict=True)
    ]
    more = len(texts) - _SHOWN_ERRORS
    return "; ".join(texts[:_SHOWN_ERRORS]) + (f" (and {more} more)" if more > 0 else "")


def _signature(tool_name: str, func: Callable[..., Any]) -> inspect.Signature:
    try:
        signature = inspect.signature(func)
    except (ValueError, TypeError) as error:
        raise ConfigurationError(
            f"{tool_name} has no signature to read ({error}): wrap it in a function of your own"
        ) from None
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            raise ConfigurationError(
                f"{tool_name} takes `*{parameter.name}`, which arguments with names cannot fill: "
                f"take a list instead, `{parameter.name}: list[...]`"
            )
    return signature


def _bound_keywords(func: Callable[..., Any]) -> set[str]:
    bound: set[str] = set()
    while isinstance(func, partial):
        bound |= func.keywords.keys()
        func = func.func
    return bound
