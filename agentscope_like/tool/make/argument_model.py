"""Builds a pydantic model of a function's arguments from its signature."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from agentscope_like.exception import ConfigurationError
from agentscope_like.tool.base import without_titles

if TYPE_CHECKING:
    from docstring_parser import Docstring

__all__ = [
    "ArgumentModel",
    "behind_partial",
    "implementation",
    "model_of_signature",
    "parsed_docstring",
]


def behind_partial(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that a `functools.partial`, also a nested one, calls."""
    while isinstance(func, partial):
        func = func.func
    return func


def implementation(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that finally runs: that of a partial, or the `__call__` of an object."""
    func = behind_partial(func)
    if inspect.isroutine(func):
        return func
    found: Callable[..., Any] = type(func).__call__
    return found


def parsed_docstring(func: Callable[..., Any]) -> Docstring:
    """Return the docstring of the function, or of its object's class, in parts."""
    return _parsed(implementation(func).__doc__ or behind_partial(func).__doc__ or "")


@lru_cache(maxsize=1)  # it is asked for the description, and again for the parameters
def _parsed(text: str) -> Docstring:
    import docstring_parser

    return docstring_parser.parse(inspect.cleandoc(text))


class ArgumentModel(Struct, frozen=True):
    """A model whose fields are arguments.

    Attributes:
        model: The model.
        names: The function's parameter for each field.
        left_to_function: Fields that are passed on only if given: the function has its own default.
    """

    model: type[BaseModel]
    names: Mapping[str, str]
    left_to_function: frozenset[str] = frozenset()

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema, without titles."""
        return without_titles(self.model.model_json_schema(schema_generator=_QuietJsonSchema))

    def values(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments as Python values, by parameter.

        Raises:
            pydantic.ValidationError: They do not fit.
        """
        validated = self.model.model_validate(arguments)
        left_out = self.left_to_function - validated.model_fields_set
        values = {
            parameter: getattr(validated, field)
            for field, parameter in self.names.items()
            if field not in left_out
        }
        return values | (validated.model_extra or {})


class _QuietJsonSchema(GenerateJsonSchema):
    """Leaves a default that is no JSON out of the schema, without a warning."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012


def model_of_signature(
    tool_name: str,
    func: Callable[..., Any],
    parameters: Mapping[str, inspect.Parameter],
    extra: inspect.Parameter | None,
) -> tuple[ArgumentModel, dict[str, Any]]:
    """Return a model of the parameters with their descriptions from the docstring.

    Args:
        tool_name: The tool's name, for messages.
        func: The function.
        parameters: The parameters that a model may set.
        extra: The function's `**kwargs`, if any; a model may then add arguments of its own.

    Raises:
        ConfigurationError: A type is unknown, or has no JSON form.
    """
    hints = _type_hints(tool_name, func)
    texts = {param.arg_name: param.description for param in parsed_docstring(func).params}
    fields: dict[str, tuple[Any, Any]] = {}
    for name, parameter in parameters.items():
        # Pydantic refuses some names for fields, `_x` and `json` among them; an alias may be any.
        annotation = _annotation(parameter, hints.get(name, Any))
        fields[f"p{len(fields)}"] = annotation, _field(parameter, annotation, texts.get(name))
    names = dict(zip(fields, parameters, strict=True))
    left = frozenset(field for field, name in names.items() if _has_default(parameters[name]))
    make_base = partial(_open_base, hints.get(extra.name, Any)) if extra else None
    try:
        base = make_base() if make_base else BaseModel
        model = ArgumentModel(_create(tool_name, base, fields), names, left)
        return model, model.schema()
    except (PydanticUserError, TypeError):
        # built one by one they tell which of them it is
        base = _checked(tool_name, extra.name, make_base) if extra and make_base else BaseModel
        for field, name in names.items():
            _checked(tool_name, name, partial(_create, tool_name, base, {field: fields[field]}))
        raise


def _type_hints(tool_name: str, func: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(implementation(func), include_extras=True)
    except (NameError, TypeError) as error:
        raise ConfigurationError(
            f"the type hints of {tool_name} cannot be resolved: {error}. Define the types at the "
            "top of the module, or give an `input_schema`"
        ) from None


def _annotation(parameter: inspect.Parameter, hint: Any) -> Any:
    if isinstance(parameter.default, FieldInfo):
        return Annotated[hint, parameter.default]
    return hint | None if parameter.default is None and hint is not Any else hint


def _has_default(parameter: inspect.Parameter) -> bool:
    return parameter.default is not parameter.empty and not isinstance(parameter.default, FieldInfo)


def _field(parameter: inspect.Parameter, annotation: Any, text: str | None) -> Any:
    declared = FieldInfo.from_annotation(annotation)
    told: dict[str, Any] = {}
    if declared.alias is None:
        told["alias"] = parameter.name
    if text and declared.description is None:
        told["description"] = " ".join(text.split())
    if _has_default(parameter):
        told["default"] = parameter.default
    return Field(**told)


def _open_base(extra_hint: Any) -> type[BaseModel]:
    namespace: dict[str, Any] = {
        "__module__": __name__,
        "__annotations__": {"__pydantic_extra__": dict[str, extra_hint]},
        "model_config": ConfigDict(extra="allow"),
    }
    return type("Arguments", (BaseModel,), namespace)


def _create(tool_name: str, base: type[BaseModel], fields: dict[str, Any]) -> type[BaseModel]:
    model: type[BaseModel] = create_model(tool_name, __base__=base, **fields)
    return model


def _checked(tool_name: str, name: str, build: Callable[[], type[BaseModel]]) -> type[BaseModel]:
    try:
        model = build()
        ArgumentModel(model, {}).schema()
    except (PydanticUserError, TypeError) as error:
        found = str(error).splitlines()[0].split(". ")[0]
        raise ConfigurationError(
            f"the parameter {name!r} of {tool_name} has a type that no JSON value fits: {found}. "
            "Take a type that pydantic can read from JSON, bind the parameter with "
            "functools.partial, or give an `input_schema`"
        ) from None
    return model
