"""Makes models of a server's JSON Schemas, which stay whole: the schema itself validates."""

from __future__ import annotations

import hashlib
import json
import keyword
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar, Self, TypeVar

from pydantic import (
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializerFunctionWrapHandler,
    create_model,
    model_validator,
)
from typing_extensions import override

from agentscope_like.exception import ConfigurationError
from agentscope_like.tool.arguments import ArgumentValidator, copied
from agentscope_like.typed.schema import KIND, Schema, register_kind
from agentscope_like.typed.secret_fields import has_secrets, marked_values

__all__ = ["model_of_schema"]

SchemaT = TypeVar("SchemaT", bound=Schema)

ARGUMENTS = "arguments"
_MOST_MODELS = 512


def model_of_schema(base: type[SchemaT], name: str, schema: Mapping[str, Any]) -> type[SchemaT]:
    """Return a subclass of `base` for values that the JSON Schema of an object describes.

    Its fields are named as the properties; a property whose name cannot be one has a similar name.
    Equal schemas of one name give one class.

    Args:
        base: The class to extend.
        name: The name of the new class.
        schema: The schema; it is copied.

    Raises:
        ConfigurationError: It is not valid, or describes no object.
    """
    text = json.dumps(schema)
    model: type[SchemaT] = _model(base, name, text)
    return model


@lru_cache(maxsize=_MOST_MODELS)
def _model(base: type[Any], name: str, text: str) -> Any:
    schema = json.loads(text)
    if schema.setdefault("type", "object") != "object":
        raise ConfigurationError(
            f"the schema of {name} describes no object, but {schema['type']!r}: give it "
            '`"type": "object"`'
        )
    validator = ArgumentValidator(name, schema, closed=False, hides_values=has_secrets(schema))
    properties = schema.get("properties", {})
    required = schema.get("required", ())
    fields: dict[str, Any] = {}
    for prop, inner in properties.items():
        told = inner if isinstance(inner, Mapping) else {}
        default = ... if prop in required else told.get("default")
        field = Field(default, alias=prop, description=told.get("description"))
        fields[_field_name(prop, fields, base)] = (Any, field)
    create: Any = create_model  # its checker's plug-in knows no base that is given as a value
    model = create(name, __base__=(base, _ServerValues), __module__=__name__, **fields)
    model.raw_schema, model.raw_validator = json.loads(text), validator
    model.__qualname__ = f"{name}[{hashlib.sha256(text.encode()).hexdigest()[:12]}]"
    register_kind(model)
    return model


class _ServerValues(Schema):
    """Values that a server's schema describes."""

    model_config = ConfigDict(extra="allow", validate_by_name=False)

    raw_schema: ClassVar[dict[str, Any]] = {}
    raw_validator: ClassVar[ArgumentValidator | None] = None

    _given: dict[str, Any] = PrivateAttr(default_factory=dict)

    @classmethod
    @override
    def to_mcp_schema(cls) -> dict[str, Any]:
        schema: dict[str, Any] = copied(cls.raw_schema)
        return schema

    @model_validator(mode="wrap")
    @classmethod
    def _of_its_kind(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(value, dict):
            return handler(value)
        given = cls._fields_of(value) if KIND in value and cls._is_dump(value) else value
        if cls.raw_validator is not None:
            cls.raw_validator.check(given)
        made = handler(given)
        made._given = copied(given)  # noqa: SLF001 - of its own class
        return made

    @property
    def arguments(self) -> dict[str, Any]:
        """Return the values as they were given, by the schema's names."""
        given: dict[str, Any] = copied(self._given)
        return given

    @override
    def __given__(self) -> dict[str, Any]:
        return self.arguments

    @override
    def __secrets__(self) -> list[str]:
        return marked_values(type(self).raw_schema, self._given)

    @classmethod
    @override
    def _is_dump(cls, value: dict[str, Any]) -> bool:
        return value[KIND] == cls.kind and value.keys() == {KIND, ARGUMENTS}

    @classmethod
    @override
    def _dumped(cls, value: Any, dump_fields: SerializerFunctionWrapHandler) -> dict[str, Any]:
        del dump_fields
        return {ARGUMENTS: value.arguments}

    @classmethod
    @override
    def _fields_of(cls, dumped: dict[str, Any]) -> dict[str, Any]:
        fields: dict[str, Any] = dumped[ARGUMENTS]
        return fields


def _field_name(prop: str, taken: Mapping[str, Any], base: type[Schema]) -> str:
    """Return the name of the property's field, which pydantic and Python accept."""
    name = re.sub(r"\W", "_", prop, flags=re.ASCII).lstrip("_")
    if not name or name[0].isdigit() or name.startswith("model_"):
        name = f"arg_{name}"
    while name in taken or keyword.iskeyword(name) or _is_of(base, name):
        name = f"{name}_"
    return name


def _is_of(base: type[Schema], name: str) -> bool:
    """Return whether the name already means something for such models."""
    return hasattr(_ServerValues, name) or hasattr(base, name) or name in base.model_fields
