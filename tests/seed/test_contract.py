"""The public names of AgentScope's documents, their parameters and defaults, against those here.

`contract/*.txt` lists them as Python signatures without types: `Model` and `Dataclass` are classes
with fields, `...` is a default that is computed or too long to compare, and `property` is something
that instances have. `contract/differences.toml` lists what differs, and why.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel

from agentscope_like import tool as tools

HERE = Path(__file__).parent / "contract"
MODULES = sorted(file.stem for file in HERE.glob("*.txt"))
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
SOME = object()
"""A default that is there, and is not compared."""

MOST = 40
"""Characters of a default that is worth showing."""

REQUIRED = inspect.Parameter.empty


class Given(NamedTuple):
    """A parameter: its default, or REQUIRED; and its place, or None where it has none."""

    default: Any
    place: int | None


def value_of(node: ast.expr | None) -> Any:
    """Return the default that is written there."""
    if node is None:
        return REQUIRED
    value = ast.literal_eval(node)
    return SOME if value is ... else value


def listed_parameters(arguments: ast.arguments) -> dict[str, Given]:
    """Return the parameters of a listed function, without `self`."""
    names = [one.arg for one in arguments.args]
    defaults = [None] * (len(names) - len(arguments.defaults)) + list(arguments.defaults)
    found = {name: value_of(node) for name, node in zip(names, defaults, strict=True)}
    found.pop("self", None)
    positional = {name: Given(found[name], place) for place, name in enumerate(found)}
    keywords = {
        one.arg: Given(value_of(node), None)
        for one, node in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    }
    return positional | keywords


def plain(value: Any) -> Any:
    """Return the value as a list of the contract has it."""
    return list(value) if isinstance(value, tuple) else value


def real_parameters(function: Any) -> dict[str, Given]:
    """Return the parameters of a function or class, without `self`."""
    if isinstance(function, type) and issubclass(function, BaseModel):
        return {
            name: Given(
                REQUIRED if one.is_required() else SOME if one.default_factory else one.default,
                None,
            )
            for name, one in function.model_fields.items()
        }
    parameters = [
        one
        for one in inspect.signature(function).parameters.values()
        if one.kind not in VARIABLE and one.name != "self"
    ]
    places = [one.name for one in parameters if one.kind in POSITIONAL]
    return {
        one.name: Given(plain(one.default), places.index(one.name) if one.name in places else None)
        for one in parameters
    }


def differing(
    where: str, listed: dict[str, Given], real: dict[str, Given], *, takes_any: bool = False
) -> Iterator[str]:
    """Yield how real parameters fall short of those that are listed."""
    for name, (default, place) in listed.items():
        if name not in real:
            if not takes_any:
                yield f"{where}({name}) is missing"
            continue
        given = real[name]
        if default is not REQUIRED and given.default is REQUIRED:
            yield f"{where}({name}) has no default"
        elif default not in (REQUIRED, SOME) and given.default != default:
            shown = repr(given.default)
            yield f"{where}({name}) is {shown if len(shown) < MOST else 'another'} by default"
        if place is not None and given.place != place:
            yield f"{where}({name}) has another place"
    for name, given in real.items():
        if name not in listed and given.default is REQUIRED and not takes_any:
            yield f"{where}({name}) is demanded"


def differences_of_function(
    where: str, node: ast.FunctionDef | ast.AsyncFunctionDef, real: Any
) -> Iterator[str]:
    """Yield how a function differs from the listed one."""
    is_async = inspect.iscoroutinefunction(real) or inspect.isasyncgenfunction(real)
    if is_async != isinstance(node, ast.AsyncFunctionDef):
        yield f"{where} is {'' if is_async else 'not '}async"
    takes_any = node.args.kwarg is not None
    yield from differing(
        where, listed_parameters(node.args), real_parameters(real), takes_any=takes_any
    )


def differences_of_class(where: str, node: ast.ClassDef, real: Any) -> Iterator[str]:
    """Yield how a class differs from the listed one."""
    kind = node.bases[0].id if node.bases and isinstance(node.bases[0], ast.Name) else ""
    fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
    if fields:
        listed = {
            one.target.id: Given(value_of(one.value), place if kind == "Dataclass" else None)
            for place, one in enumerate(fields)
            if isinstance(one.target, ast.Name)
        }
        yield from differing(where, listed, real_parameters(real))
    for one in node.body:
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            method = getattr(real, one.name, None)
            name = where if one.name == "__init__" else f"{where}.{one.name}"
            if method is None:
                yield f"{name} is missing"
            elif one.name == "__init__":
                yield from differing(name, listed_parameters(one.args), real_parameters(real))
            else:
                yield from differences_of_function(name, one, method)
        elif isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
            yield from differences_of_attribute(where, one.targets[0].id, one.value, real, kind)


def differences_of_attribute(
    where: str, name: str, node: ast.expr, real: Any, kind: str
) -> Iterator[str]:
    """Yield how an attribute of a class differs from the listed one."""
    if kind == "Enum":
        members = {key: member.value for key, member in real.__members__.items()}
        if members.get(name) != value_of(node):
            yield f"{where}.{name} is {members.get(name)!r}"
    elif isinstance(node, ast.Name):  # property
        declared = {key for base in real.__mro__ for key in getattr(base, "__annotations__", ())}
        if not hasattr(real, name) and name not in declared:
            yield f"{where}.{name} is missing"
    elif getattr(real, name, None) != value_of(node):
        yield f"{where}.{name} is {getattr(real, name, None)!r}"


def differences_of_module(name: str) -> Iterator[str]:
    """Yield how a module differs from the listed one."""
    module = importlib.import_module(f"agentscope_like.{name}")
    for node in ast.parse((HERE / f"{name}.txt").read_text()).body:
        assert isinstance(node, ast.ClassDef | ast.FunctionDef)
        where, real = f"{name}.{node.name}", getattr(module, node.name, None)
        if real is None:
            yield f"{where} is missing"
        elif isinstance(node, ast.FunctionDef):
            yield from differences_of_function(where, node, real)
        else:
            base = ast.unparse(node.bases[0]) if node.bases else "object"
            if base not in ("Model", "Dataclass", *(one.__name__ for one in real.__mro__)):
                yield f"{where} is no {base}"
            yield from differences_of_class(where, node, real)


def expected(name: str) -> dict[str, str]:
    """Return the differences of a module that are known, with their reasons."""
    known = tomllib.loads((HERE / "differences.toml").read_text())
    return {what: why for what, why in known.items() if what.split(".")[0] == name}


@pytest.mark.parametrize("name", MODULES)
def test_names_parameters_and_defaults_are_those_of_the_contract(name: str) -> None:
    """But for what is listed with its reason; what is listed does differ."""
    assert sorted(differences_of_module(name)) == sorted(expected(name))


def test_every_difference_belongs_to_a_module_and_has_a_reason() -> None:
    """A reason says that it is on purpose, or that it is not there yet."""
    known = tomllib.loads((HERE / "differences.toml").read_text())
    assert {what.split(".")[0] for what in known} <= set(MODULES)
    assert {why.partition(": ")[0] for why in known.values()} <= {"on purpose", "not yet"}


def undescribed(schema: Any) -> Any:
    """Return a JSON Schema without its descriptions."""
    if isinstance(schema, dict):
        return {
            key: undescribed(value)
            for key, value in schema.items()
            if key != "description" or not isinstance(value, str)
        }
    return [undescribed(one) for one in schema] if isinstance(schema, list) else schema


SCHEMAS = json.loads((HERE / "schemas.json").read_text())


@pytest.mark.parametrize("name", [name for name in SCHEMAS if hasattr(tools, name)])
def test_the_built_in_tools_take_the_contract_s_arguments(name: str) -> None:
    """Names, types, defaults and bounds of the arguments are the same; texts are our own."""
    assert undescribed(getattr(tools, name)().input_schema) == SCHEMAS[name]


def test_only_two_schemas_are_of_tools_that_cannot_be_made() -> None:
    """The viewer of skills is made by the toolkit; PowerShell is not there."""
    assert {name for name in SCHEMAS if not hasattr(tools, name)} == {"PowerShell", "Skill"}
