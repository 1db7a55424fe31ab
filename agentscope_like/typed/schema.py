"""Defines `Schema`, the base of actions and observations, which JSON finds again by their kind."""

from __future__ import annotations

import hashlib
import json
import keyword
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar, Self, cast
from weakref import WeakValueDictionary

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ModelWrapValidatorHandler,
    PrivateAttr,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    create_model,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema
from typing_extensions import override

from agentscope_like.exception import ConfigurationError
from agentscope_like.nearest import nearest
from agentscope_like.tool.arguments import ArgumentValidator, copied
from agentscope_like.tool.base import without_titles
from agentscope_like.typed.secret_fields import has_secrets, marked_values, secret_values

__all__ = ["KIND", "Schema", "class_of_kind", "register_kind"]

KIND = "kind"
ARGUMENTS = "arguments"
_MOST_MODELS = 512


class Schema(BaseModel):
    """A frozen model without unknown fields, whose JSON says which class it is of.

    A value that is dumped has the further key `kind`. Where a class is expected, the JSON of any
    of its subclasses is read as that subclass. Only classes that were already imported are found.

    Attributes:
        kind: The module and the qualified name of the class, as `module:Name`.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_by_name=True,
        validate_by_alias=True,
        defer_build=True,
        hide_input_in_errors=True,
    )

    kind: ClassVar[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        if KIND in cls.__annotations__:  # before pydantic warns of it
            raise ConfigurationError(
                f"{cls.__name__} has a field named `kind`, which is what its JSON calls its class: "
                'name the field otherwise, and give it `Field(alias="kind")`'
            )
        super().__init_subclass__(**kwargs)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        register_kind(cls)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)

        def dump(
            value: Any, dump_fields: SerializerFunctionWrapHandler, info: SerializationInfo
        ) -> Any:
            if type(value) is not cls and isinstance(value, Schema):
                return value.__pydantic_serializer__.to_python(value, **_options(info))
            return {KIND: cls.kind, **cls._dumped(value, dump_fields)}

        serialization = core_schema.wrap_serializer_function_ser_schema(dump, info_arg=True)
        return cast("CoreSchema", {**schema, "serialization": serialization})

    @model_validator(mode="wrap")
    @classmethod
    def _of_its_kind(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(value, dict) or KIND not in value or not cls._is_dump(value):
            return handler(value)
        kind = value[KIND]
        if kind == cls.kind:
            return handler(cls._fields_of(value))
        named = class_of_kind(kind)
        if not issubclass(named, cls):
            raise ValueError(f"it is of the kind {kind!r}, which is no {cls.__name__}")
        return named.model_validate(value)

    @classmethod
    def _is_dump(cls, value: dict[str, Any]) -> bool:
        """Return whether the key `kind` of the value names its class, and is no field."""
        is_field = any(field.alias == KIND for field in cls.model_fields.values())
        return not is_field or value[KIND] == cls.kind

    @classmethod
    def _dumped(cls, value: Any, dump_fields: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the fields of a value of this class, for its JSON."""
        fields: dict[str, Any] = dump_fields(value)
        return fields

    @classmethod
    def _fields_of(cls, dumped: dict[str, Any]) -> dict[str, Any]:
        """Return what `_dumped` gave."""
        return {key: item for key, item in dumped.items() if key != KIND}

    def __given__(self) -> dict[str, Any]:
        """Return the values that were given, by the names of their fields."""
        fields, given = type(self).model_fields, self.model_fields_set
        return {name: getattr(self, name) for name in fields if name in given}

    def __secrets__(self) -> list[str]:
        """Return the texts in fields that are marked secret, the longest first.

        A field is marked by a type such as `SecretStr`, or by `json_schema_extra={"secret": True}`.
        """
        return secret_values(self)

    @classmethod
    def from_mcp_schema(cls, name: str, schema: Mapping[str, Any]) -> type[Self]:
        """Return a subclass for values that a JSON Schema of an object describes.

        Nothing of the schema is lost: it validates the values as it is, and `to_mcp_schema` of the
        class returns it. Equal schemas of one name give one class.

        Args:
            name: The name of the class.
            schema: The schema.

        Raises:
            ConfigurationError: It is not valid, or describes no object.
        """
        model: type[Self] = _model_of_schema(cls, name, json.dumps(schema))
        return model

    @classmethod
    def to_mcp_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of the fields; built once, and copied for each caller."""
        schema: dict[str, Any] = copied(_fields_schema(cls))
        return schema

    @classmethod
    def from_json(cls, data: dict[str, Any] | str | bytes) -> Self:
        """Return the value that JSON holds, of this class or the subclass that its kind names.

        Args:
            data: What `model_dump(mode="json")` or `model_dump_json` gave.

        Raises:
            pydantic.ValidationError: It does not fit, or its kind is not known.
        """
        if isinstance(data, dict):
            return cls.model_validate(data)
        return cls.model_validate_json(data)


@lru_cache(maxsize=1024)
def _fields_schema(cls: type[Schema]) -> dict[str, Any]:
    return without_titles(cls.model_json_schema())


def register_kind(cls: type[Schema]) -> None:
    """Make the class one that JSON finds by its kind."""
    cls.kind = f"{cls.__module__}:{cls.__qualname__}"
    _classes[cls.kind] = cls


def class_of_kind(kind: object) -> type[Schema]:
    """Return the class of this kind, if its module was imported.

    Raises:
        ValueError: There is none; the message says what to do.
    """
    found = _classes.get(kind) if isinstance(kind, str) else None
    if found is None:
        module = kind.partition(":")[0] if isinstance(kind, str) else ""
        told = f"; import {module} first, which is never done unasked" if module else ""
        raise ValueError(
            f"no class of the kind {kind!r} is known{nearest(str(kind), _classes)}{told}"
        )
    return found


def _options(info: SerializationInfo) -> dict[str, Any]:
    return {
        "mode": info.mode,
        "by_alias": info.by_alias,
        "exclude_unset": info.exclude_unset,
        "exclude_defaults": info.exclude_defaults,
        "exclude_none": info.exclude_none,
        "round_trip": info.round_trip,
        "context": info.context,
    }


_classes: WeakValueDictionary[str, type[Schema]] = WeakValueDictionary()


# Subclasses made of a server's JSON Schema, which stays whole: the schema itself validates.


@lru_cache(maxsize=_MOST_MODELS)
def _model_of_schema(base: type[Any], name: str, text: str) -> Any:
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
