"""Parses the JSON text that a model wrote and validates the arguments against the schema."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from agentscope_like.exception import ConfigurationError, ToolArgumentError, ToolJSONDecodeError
from agentscope_like.nearest import nearest
from agentscope_like.strict_json import read_json

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

__all__ = [
    "MAX_DEPTH",
    "MAX_INPUT_CHARACTERS",
    "MAX_VALUES",
    "ArgumentValidator",
    "check_fit",
    "copied",
    "parse_arguments",
    "same_json",
    "shortened",
]

MAX_INPUT_CHARACTERS = 10_000_000
"""The maximum length of a call's arguments as JSON text, in characters."""

MAX_DEPTH = 100
"""The maximum depth of nested lists and objects, which recursive code can process safely."""

MAX_VALUES = 100_000
"""Most values in lists and objects that the arguments of a call hold, at all depths."""

_READ_TWICE = 1_000_000
"""Characters up to which broken JSON is read once more, to say where it is broken."""

_SHOWN_ERRORS = 3
_COUNTED_ERRORS = 1000
_SHOWN_CHARACTERS = 200
_OPEN_KEYWORDS = {
    "additionalProperties",
    "patternProperties",
    "unevaluatedProperties",
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
}


def parse_arguments(tool_name: str, text: str) -> dict[str, Any]:
    """Parse a call's arguments from JSON text.

    Args:
        tool_name: The tool's name, for messages.
        text: The model's text, one JSON object; blank text means no arguments.

    Raises:
        ToolJSONDecodeError: It is not a JSON object, one that could be read in two ways, or one of
            more than `MAX_VALUES` values.
    """
    if len(text) > MAX_INPUT_CHARACTERS:
        raise ToolJSONDecodeError(
            f"The arguments of {tool_name} are {len(text):,} characters long; at most "
            f"{MAX_INPUT_CHARACTERS:,} are read. Split the work into smaller calls."
        )
    if not text.strip():
        return {}
    try:
        arguments = _read_json(tool_name, text)
        _refuse_depth(text, arguments)
        _refuse_lone_surrogates(text, arguments)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ToolJSONDecodeError(
            f"The arguments of {tool_name} are not valid JSON: {reason}. Send one JSON object."
        ) from None
    if not isinstance(arguments, dict):
        raise ToolJSONDecodeError(
            f"The arguments of {tool_name} are a JSON {_json_type(arguments)}, not an object. "
            'Send one JSON object, such as {"name": "value"}.'
        )
    return arguments


def _read_json(tool_name: str, text: str) -> Any:
    """Return what the text says, and refuse what only some readers would take.

    The fast parser keeps the last of two equal keys. If the objects have as many keys as the text
    has colons, no key was given twice.
    """
    try:
        read = msgspec.json.decode(text)
    except (ValueError, RecursionError):  # its messages do not say where
        if len(text) > _READ_TWICE:
            raise
        return read_json(text)
    _refuse_many(tool_name, text, read)
    is_flat = isinstance(read, dict) and len(read) == text.count(":")
    return read if is_flat else read_json(text)


def shortened(text: str) -> str:
    """Return the text, shortened for a message."""
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "..."


def _shortened_amid(text: str) -> str:
    """Return the text, shortened in its middle: a message ends with what is expected."""
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    half = _SHOWN_CHARACTERS // 2
    return f"{text[:half]}...{text[-half:]}"


def copied(value: Any) -> Any:
    """Return a deep copy of JSON data."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value


def same_json(first: Any, second: Any) -> bool:
    """Return whether two values from JSON are the same; 1, 1.0 and true are not."""
    if type(first) is not type(second):
        return False
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(
            same_json(value, second[key]) for key, value in first.items()
        )
    if isinstance(first, list):
        return len(first) == len(second) and all(map(same_json, first, second))
    return bool(first == second)


def _refuse_many(tool_name: str, text: str, value: Any) -> None:
    if text.count(",") < MAX_VALUES:
        return
    count, left = 0, [value]
    while left:
        value = left.pop()
        if isinstance(value, dict | list):
            count += len(value)
            if count > MAX_VALUES:
                raise ToolJSONDecodeError(
                    f"The arguments of {tool_name} hold more than {MAX_VALUES:,} values. Send "
                    "fewer, or put them in a file and name that."
                )
            left += value.values() if isinstance(value, dict) else value


def _refuse_depth(text: str, arguments: Any) -> None:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    level, depth = [arguments], 0
    while level := [value for value in level if isinstance(value, dict | list)]:
        depth += 1
        if depth > MAX_DEPTH:
            raise ValueError(f"it is nested too deeply, more than {MAX_DEPTH} levels")
        level = [
            inner
            for value in level
            for inner in (value.values() if isinstance(value, dict) else value)
        ]


def _refuse_lone_surrogates(text: str, arguments: Any) -> None:
    if text.isascii() and "\\u" not in text:
        return
    try:
        json.dumps(arguments, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("it holds half of a surrogate pair, which is no character") from None


def _json_type(value: Any) -> str:
    if value is None:
        return "null"
    names: dict[type, str] = {bool: "boolean", int: "number", float: "number", str: "string"}
    return names.get(type(value), "array")


class ArgumentValidator:
    """Checks arguments against one tool's input schema.

    Args:
        tool_name: The tool's name, for messages.
        schema: Its JSON Schema (2020-12 unless it says otherwise); references are not fetched.
        closed: Whether to refuse arguments that the schema neither names nor mentions: a Python
            function could not accept them.
        hides_values: Whether messages hide the values that do not fit.

    Raises:
        ConfigurationError: The schema is not valid.
    """

    def __init__(
        self,
        tool_name: str,
        schema: Mapping[str, Any],
        *,
        closed: bool,
        hides_values: bool = False,
    ) -> None:
        from jsonschema_rs import validator_for

        checked = dict(schema)
        if closed and _OPEN_KEYWORDS.isdisjoint(schema):
            checked["additionalProperties"] = False
        try:
            mask = "the value" if hides_values else None
            self._validator = validator_for(checked, retriever=_fetch_nothing, mask=mask)
        except ValueError as error:
            reason = getattr(error, "message", str(error))
            raise ConfigurationError(
                f"the input schema of {tool_name} is not valid: {reason}"
            ) from None
        self._tool_name = tool_name
        self._schema = schema

    def check(self, arguments: dict[str, Any]) -> None:
        """Refuse arguments that do not fit.

        Raises:
            ToolArgumentError: The message names the place and the expected value of each error.
        """
        if self._validator.is_valid(arguments):
            return
        errors = list(islice(self._validator.iter_errors(arguments), _COUNTED_ERRORS))
        shown = [self._describe(error) for error in errors[:_SHOWN_ERRORS]]
        more = len(errors) - len(shown)
        tail = f" (and {more} more)" if more > 0 else ""
        raise ToolArgumentError(
            f"The arguments of {self._tool_name} do not fit: {'; '.join(shown)}{tail}. "
            "Correct them and call again."
        )

    def _describe(self, error: ValidationError) -> str:
        where = ".".join(map(str, error.instance_path))
        if error.kind.name == "additionalProperties":
            return self._describe_unknown(error, where)
        message, where = _shortened_amid(error.message), shortened(where)
        return f"{where}: {message}" if where else message

    def _describe_unknown(self, error: ValidationError, where: str) -> str:
        known = _names_at(self._schema, error.schema_path[:-1])
        unknown = [shortened(str(name)) for name in getattr(error.kind, "unexpected", ())]
        place = f" of {shortened(where)}" if where else ""
        hints = [
            f"unknown argument {name!r}{place}{nearest(name, known)}"
            for name in unknown[:_SHOWN_ERRORS]
        ]
        more = len(unknown) - len(hints)
        return "; ".join([*hints, f"{more} more unknown ones"] if more else hints)


def _names_at(schema: Any, path: Iterable[str | int]) -> list[str]:
    """Return the names that the object at this place of a schema has; none if it is a reference."""
    for key in path:
        try:
            schema = schema[key]
        except (KeyError, IndexError, TypeError):
            return []
    return list(schema.get("properties", ())) if isinstance(schema, Mapping) else []


def check_fit(schema: Mapping[str, Any], value: Any, name: str) -> None:
    """Refuse a value that does not fit the JSON Schema.

    Args:
        schema: The schema.
        value: The value.
        name: Its name in messages, as in `metadata.answers.0: ...`.

    Raises:
        ValueError: The message names the place and the expected value of each error.
    """
    from jsonschema_rs import validator_for

    misfits = [
        f"{'.'.join(map(str, [name, *error.instance_path]))}: {shortened(error.message)}"
        for error in validator_for(dict(schema), retriever=_fetch_nothing).iter_errors(value)
    ]
    if misfits:
        raise ValueError("; ".join(misfits[:_SHOWN_ERRORS]))


def _fetch_nothing(uri: str) -> NoReturn:
    raise ValueError(f"it refers to {uri}, which is not fetched: put the schema in place")
