"""Plain functions as tools."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import logging
import math
import subprocess
import sys
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing
from datetime import date
from decimal import Decimal
from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field

from agentscope_like.exception import ConfigurationError, ToolArgumentError
from agentscope_like.message import (
    Base64Source,
    DataBlock,
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolChunk,
    ToolResponse,
    ToolResultState,
)
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionRule,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import FunctionTool, Toolkit, ToolMiddlewareBase

VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("VARIABLE", default="unset")


class Color(Enum):
    """A plain enumeration."""

    RED = "red"
    BLUE = "blue"


class Size(StrEnum):
    """An enumeration of text."""

    SMALL = "s"
    LARGE = "l"


class Point(BaseModel):
    """A place."""

    x: int
    y: int = 0


def get_weather(city: str, unit: str = "celsius") -> str:
    """Get the current weather for a city.

    Args:
        city: The city name to look up.
        unit: Temperature unit, either "celsius" or "fahrenheit".
    """
    return f"The weather in {city} is 22°{unit[0].upper()}"


async def chunks_of(tool: FunctionTool, **kwargs: Any) -> list[ToolChunk]:
    async with aclosing(tool(**kwargs)) as stream:
        return [chunk async for chunk in stream]


async def text_of(tool: FunctionTool, **kwargs: Any) -> str:
    response = ToolResponse()
    for chunk in await chunks_of(tool, **kwargs):
        response.append_chunk(chunk)
    return "".join(block.text for block in response.content if isinstance(block, TextBlock))


# The definition


def test_the_seed_s_example_is_described_to_the_model() -> None:
    """Name, description, schema and parameter texts come from the function itself."""
    tool = FunctionTool(get_weather)
    assert tool.name == "get_weather"
    assert tool.description == "Get the current weather for a city."
    assert tool.input_schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "The city name to look up."},
            "unit": {
                "type": "string",
                "default": "celsius",
                "description": 'Temperature unit, either "celsius" or "fahrenheit".',
            },
        },
        "required": ["city"],
    }
    assert (tool.is_concurrency_safe, tool.is_read_only, tool.is_state_injected) == (
        True,
        False,
        False,
    )


def test_what_is_given_replaces_what_would_be_read() -> None:
    """Name, description and traits can be given."""
    tool = FunctionTool(
        get_weather,
        name="weather",
        description="Weather.",
        is_concurrency_safe=False,
        is_read_only=True,
        is_idempotent=True,
    )
    assert (tool.name, tool.description) == ("weather", "Weather.")
    assert (tool.is_concurrency_safe, tool.is_read_only, tool.is_idempotent) == (False, True, True)


def _schema_of(func: Callable[..., Any], **kwargs: Any) -> dict[str, Any]:
    return FunctionTool(func, **kwargs).input_schema


def test_types_become_json_schema() -> None:
    """Optional, Literal, Enum, containers, models and Annotated fields keep their meaning."""

    def func(  # type: ignore[no-untyped-def]  # noqa: D417
        a: Optional[int],  # noqa: UP045
        b: Literal["x", "y"],
        c: Color,
        d: list[int],
        e: dict[str, float],
        f: Annotated[int, Field(ge=1, description="own words")],
        g: Point,
        h: str | None = None,
        i: int = None,  # type: ignore[assignment]  # noqa: RUF013
        j=3,  # noqa: ANN001
        k: int = Field(7, le=9),
    ) -> None:
        """Do it.

        Args:
            f: other words
        """

    schema = _schema_of(func)
    properties = schema["properties"]
    assert properties["a"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    assert properties["b"] == {"enum": ["x", "y"], "type": "string"}
    assert properties["c"] == {"$ref": "#/$defs/Color"}
    assert schema["$defs"]["Color"]["enum"] == ["red", "blue"]
    assert properties["d"] == {"items": {"type": "integer"}, "type": "array"}
    assert properties["e"] == {"additionalProperties": {"type": "number"}, "type": "object"}
    assert properties["f"] == {"description": "own words", "minimum": 1, "type": "integer"}
    assert properties["g"] == {"$ref": "#/$defs/Point"}
    assert properties["h"]["default"] is None
    assert properties["i"]["anyOf"] == [{"type": "integer"}, {"type": "null"}]
    assert properties["j"] == {"default": 3}
    assert properties["k"] == {"default": 7, "maximum": 9, "type": "integer"}
    assert schema["required"] == ["a", "b", "c", "d", "e", "f", "g"]


def test_names_that_pydantic_keeps_for_itself_are_fine() -> None:
    """A parameter may be called `json`, `schema`, `model_config` or `_private`."""

    def func(json: int, schema: str, model_config: str, _private: int = 1) -> str:
        return f"{json}{schema}{model_config}{_private}"

    assert list(_schema_of(func)["properties"]) == ["json", "schema", "model_config", "_private"]


def test_a_default_that_is_no_json_stays_out_of_the_schema() -> None:
    """The parameter is optional all the same."""

    def func(a: int = object()) -> None:  # type: ignore[assignment]
        del a

    assert _schema_of(func) == {"type": "object", "properties": {"a": {"type": "integer"}}}


def test_keywords_without_names_open_the_schema() -> None:
    """`**kwargs` becomes `additionalProperties`, of the annotated type."""

    def numbers(a: int, **more: int) -> str:
        return f"{a} {more}"

    def anything(**more) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN003
        return f"{more}"

    assert _schema_of(numbers)["additionalProperties"] == {"type": "integer"}
    assert _schema_of(anything)["additionalProperties"] is True


def _star(*args: int) -> None:
    del args


def _a_lock(lock: threading.Lock) -> None:
    del lock


def _a_callback(then: Callable[[int], int]) -> None:
    del then


def _a_lock_among_others(a: int, lock: threading.Lock, b: str = "") -> None:
    del a, lock, b


def _locks_by_name(a: int, **locks: threading.Lock) -> None:
    del a, locks


def _unknown_type(a: Missing) -> None:  # type: ignore[name-defined]  # noqa: F821
    del a


def _wants_state(_agent_state: AgentState) -> None:
    del _agent_state


def _no_state(a: int) -> None:
    del a


@pytest.mark.parametrize(
    ("func", "kwargs", "fix"),
    [
        (_star, {}, "args: list"),
        (_a_lock, {}, "'lock'.*functools.partial"),
        (_a_callback, {}, "'then'"),
        (_a_lock_among_others, {}, "'lock'.*functools.partial"),
        (_locks_by_name, {}, "'locks'"),
        (_unknown_type, {}, "Missing.*input_schema"),
        (lambda a: a, {}, "name="),
        (functools.partial(lambda a: a, 1), {}, "name="),
        (Point, {}, "not a function"),
        ("text", {}, "not a function"),
        (_wants_state, {}, "is_state_injected=True"),
        (_no_state, {"is_state_injected": True}, "_agent_state: AgentState"),
        (_no_state, {"input_schema": {"type": "string"}}, '"type": "object"'),
        (_no_state, {"input_schema": {"type": "object", "properties": {"b": {}}}}, "does not take"),
        (_no_state, {"input_schema": {"type": "object", "properties": {}}}, "needs 'a'"),
        (_no_state, {"input_schema": Point}, "offers 'x'"),
        (
            _wants_state,
            {
                "input_schema": {"type": "object", "properties": {"_agent_state": {}}},
                "is_state_injected": True,
            },
            "must not set",
        ),
    ],
)
def test_a_definition_that_cannot_work_says_how_to_mend_it(
    func: Any, kwargs: dict[str, Any], fix: str
) -> None:
    """Each mistake in a definition is a ConfigurationError with the fix."""
    with pytest.raises(ConfigurationError, match=fix):
        FunctionTool(func, **kwargs)


# What can be wrapped


class Greeter:
    """Greets."""

    def __init__(self, word: str) -> None:
        self.word = word

    def greet(self, name: str) -> str:
        """Greet somebody."""
        return f"{self.word} {name}"

    def __call__(self, name: str) -> str:
        return self.greet(name)

    @classmethod
    def kind(cls, suffix: str) -> str:
        """Name the class."""
        return cls.__name__ + suffix

    @staticmethod
    def plain(a: int) -> int:
        """Return it."""
        return a


async def _async(name: str) -> str:
    """Greet later."""
    await asyncio.sleep(0)
    return f"hi {name}"


def _decorated(func: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return wrapper


def _positional(a: int, b: int = 2, /, c: int = 3, *, d: int = 4) -> str:
    return f"{a}{b}{c}{d}"


@pytest.mark.parametrize(
    ("func", "kwargs", "name", "description", "arguments", "text"),
    [
        (Greeter("hi").greet, {}, "greet", "Greet somebody.", {"name": "Ann"}, "hi Ann"),
        (Greeter("hi"), {"name": "g"}, "g", "Greets.", {"name": "Ann"}, "hi Ann"),
        (Greeter.kind, {}, "kind", "Name the class.", {"suffix": "!"}, "Greeter!"),
        (Greeter.plain, {}, "plain", "Return it.", {"a": 1}, "1"),
        (functools.partial(get_weather, "Rome"), {}, "get_weather", None, {}, "Rome is 22°C"),
        (functools.partial(get_weather, unit="f"), {}, "get_weather", None, {"city": "X"}, "22°F"),
        (functools.partial(_async, "Bo"), {}, "_async", "Greet later.", {}, "hi Bo"),
        (lambda a=1: a + 1, {"name": "inc"}, "inc", "", {"a": 4}, "5"),
        (_async, {}, "_async", "Greet later.", {"name": "Ann"}, "hi Ann"),
        (_decorated(_async), {}, "_async", "Greet later.", {"name": "Ann"}, "hi Ann"),
        (_decorated(get_weather), {}, "get_weather", None, {"city": "Rome"}, "Rome"),
        (_positional, {}, "_positional", "", {"a": 1, "c": 7}, "1274"),
        (math.sqrt, {}, "sqrt", None, {"x": 4}, "2.0"),
    ],
)
async def test_every_kind_of_callable_is_wrapped(
    func: Any,
    kwargs: dict[str, Any],
    name: str,
    description: str | None,
    arguments: dict[str, Any],
    text: str,
) -> None:
    """Methods, partials, objects with `__call__`, lambdas, wrappers and built-ins all run."""
    tool = FunctionTool(func, **kwargs)
    assert tool.name == name
    assert description is None or tool.description == description
    assert set(arguments) <= set(tool.input_schema["properties"])
    assert text in await text_of(tool, **arguments)


async def test_what_a_partial_binds_is_out_of_the_model_s_reach() -> None:
    """A bound keyword is neither shown nor accepted, not even by a function that takes any."""

    def func(secret: str, **more: Any) -> str:
        return f"{secret} {more}"

    tool = FunctionTool(functools.partial(func, secret="bound"))
    assert "secret" not in tool.input_schema["properties"]
    assert await text_of(tool, other=1) == "bound {'other': 1}"
    with pytest.raises(ToolArgumentError, match="no argument 'secret'"):
        await text_of(tool, secret="stolen")


# Arguments


async def test_arguments_become_values_of_the_annotated_types() -> None:
    """Models, enumerations, dates, sets and extra keywords arrive as Python values."""
    got: dict[str, Any] = {}

    def func(
        point: Point,
        points: list[Point],
        color: Color,
        size: Size,
        day: date,
        price: Decimal,
        path: Path,
        tags: set[str],
        **more: Point,
    ) -> None:
        got.update(locals())

    await text_of(
        FunctionTool(func),
        point={"x": 1},
        points=[{"x": 2, "y": 3}],
        color="blue",
        size="l",
        day="2024-02-29",
        price="1.50",
        path="/tmp",
        tags=["a", "a"],
        home={"x": 9},
    )
    assert got["point"] == Point(x=1)
    assert got["points"] == [Point(x=2, y=3)]
    assert (got["color"], got["size"]) == (Color.BLUE, Size.LARGE)
    assert (got["day"], got["price"]) == (date(2024, 2, 29), Decimal("1.50"))
    assert (got["path"], got["tags"]) == (Path("/tmp"), {"a"})
    assert got["more"] == {"home": Point(x=9)}


async def test_the_function_keeps_its_own_defaults() -> None:
    """A default is not copied, and a default declared as a Field is filled in."""
    sentinel = object()

    def func(a: Any = sentinel, b: int = Field(5)) -> str:
        return f"{a is sentinel} {b}"

    assert await text_of(FunctionTool(func)) == "True 5"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"point": {"x": "one"}}, r"point\.x: .*integer"),
        ({}, "point: Field required"),
        ({"point": {"x": 1}, "colour": "red"}, "no argument 'colour'; did you mean 'color'"),
    ],
)
async def test_arguments_that_do_not_fit_are_told_to_the_model(
    arguments: dict[str, Any], message: str
) -> None:
    """A misfit says where it is and what was expected; the function does not run."""

    def func(point: Point, color: Color = Color.RED) -> None:
        raise AssertionError((point, color))

    with pytest.raises(ToolArgumentError, match=message):
        await chunks_of(FunctionTool(func), **arguments)


async def test_a_given_schema_passes_arguments_as_they_are() -> None:
    """With a schema as a dictionary nothing is converted, and hints need not resolve."""
    schema = {"type": "object", "properties": {"a": {"type": "object"}}, "required": ["a"]}
    tool = FunctionTool(_unknown_type, input_schema=schema)
    assert tool.input_schema == schema
    assert await text_of(tool, a={"x": 1}) == "Done."
    with pytest.raises(ToolArgumentError, match="needs the argument 'a'"):
        await chunks_of(tool)


async def test_a_given_model_validates_and_fills_in() -> None:
    """With a model class the function gets the values of its fields, defaults included."""

    class Search(BaseModel):
        """What to look for."""

        near: Point
        limit: int = Field(10, le=50)

    def func(near: Point, limit: int) -> str:
        return f"{near.x} {limit}"

    tool = FunctionTool(func, input_schema=Search)
    assert tool.input_schema["properties"]["limit"]["default"] == 10
    assert await text_of(tool, near={"x": 4}) == "4 10"
    with pytest.raises(ToolArgumentError, match="limit"):
        await chunks_of(tool, near={"x": 4}, limit=51)


@pytest.mark.parametrize("has_parameter", [True, False])
async def test_the_state_is_injected_and_never_taken_from_the_model(has_parameter: bool) -> None:
    """`_agent_state` is not in the schema; it comes from the runtime."""

    def named(a: int, _agent_state: AgentState) -> str:
        return f"{a} {_agent_state.session_id}"

    def open_(a: int, **more: Any) -> str:
        return f"{a} {more['_agent_state'].session_id}"

    tool = FunctionTool(named if has_parameter else open_, is_state_injected=True)
    assert list(tool.input_schema["properties"]) == ["a"]
    assert await text_of(tool, a=1, _agent_state=AgentState(session_id="s")) == "1 s"


async def test_a_state_that_nobody_injects_cannot_come_from_the_model() -> None:
    """An optional `_agent_state` stays at its default where it is not injected."""

    def func(_agent_state: Any = None, **more: Any) -> str:
        return f"{_agent_state} {more}"

    with pytest.raises(ToolArgumentError, match="_agent_state"):
        await text_of(FunctionTool(func), _agent_state="forged")
    assert await text_of(FunctionTool(func), a=1) == "None {'a': 1}"


# Results


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("plain\ntext", "plain\ntext"),
        ("", ""),
        (None, "Done."),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        (1.5, "1.5"),
        (False, "false"),
        (Point(x=1), '{"x":1,"y":0}'),
        (Color.RED, '"red"'),
        (date(2024, 2, 29), '"2024-02-29"'),
        ([TextBlock(text="a"), TextBlock(text="b")], "ab"),
        ([], "[]"),
        (b"\xff", "b'\\xff'"),
        ("half \ud800", "half \\ud800"),
        ({"k": "\ud800"}, "\\ud800"),
    ],
)
async def test_results_become_text(result: Any, text: str) -> None:
    """Text stays as it is, all else becomes JSON, and nothing that a function returns breaks."""
    got = await text_of(FunctionTool(lambda: result, name="give"))
    assert got == text or (isinstance(result, dict) and text in got)


async def test_a_value_that_json_does_not_know_is_shown() -> None:
    """An object of a foreign class appears by its `str`; one that contains itself by its repr."""

    class Odd:
        def __str__(self) -> str:
            return "odd one"

    cyclic: list[Any] = []
    cyclic.append(cyclic)
    assert await text_of(FunctionTool(lambda: [Odd()], name="give")) == '["odd one"]'
    assert await text_of(FunctionTool(lambda: cyclic, name="give")) == "[[...]]"


async def test_chunks_and_blocks_are_passed_on() -> None:
    """A ToolChunk is the result itself; a data block is content, not JSON."""
    chunk = ToolChunk(content=[], state=ToolResultState.ERROR, metadata={"a": 1})
    image = DataBlock(source=Base64Source(data="AA==", media_type="image/png"))
    assert await chunks_of(FunctionTool(lambda: chunk, name="give")) == [chunk]
    assert (await chunks_of(FunctionTool(lambda: image, name="give")))[0].content == [image]


# Generators


def _counting(n: int) -> Generator[str, None, None]:
    for i in range(n):
        yield f"{i} "


async def _counting_async(n: int) -> AsyncGenerator[str, None]:
    for i in range(n):
        await asyncio.sleep(0)
        yield f"{i} "


async def _later(n: int) -> Generator[str, None, None]:
    return _counting(n)


async def _later_async(n: int) -> AsyncGenerator[str, None]:
    return _counting_async(n)


@pytest.mark.parametrize(
    "func",
    [
        _counting,
        _counting_async,
        _later,
        _later_async,
        functools.partial(_counting),
        _decorated(_counting_async),
        _decorated(_counting),
    ],
)
async def test_generators_stream(func: Any) -> None:
    """Every kind of generator, and coroutines that return one, give a chunk for each item."""
    chunks = await chunks_of(FunctionTool(func), n=3)
    assert [chunk.is_last for chunk in chunks] == [False] * 3
    assert await text_of(FunctionTool(func), n=3) == "0 1 2 "


async def test_streamed_values_are_lines_of_json() -> None:
    """Values that are no text follow each other on lines; None says nothing."""

    def func() -> Generator[Any, None, None]:
        yield {"a": 1}
        yield None
        yield [2]

    assert await text_of(FunctionTool(func)) == '{"a":1}\n[2]\n'


# Threads


async def test_blocking_functions_run_off_the_loop() -> None:
    """A function and each step of a generator run elsewhere; coroutines run on the loop."""
    here = threading.get_ident()

    def plain() -> bool:
        return threading.get_ident() == here

    def steps() -> Generator[bool, None, None]:
        yield threading.get_ident() == here

    async def on_loop() -> bool:
        return threading.get_ident() == here

    assert await text_of(FunctionTool(plain)) == "false"
    assert await text_of(FunctionTool(steps)) == "false\n"
    assert await text_of(FunctionTool(on_loop)) == "true"


async def test_the_loop_goes_on_while_a_function_blocks() -> None:
    """Two functions that wait for each other both finish."""
    barrier = threading.Barrier(2, timeout=20)

    def meet() -> int:
        barrier.wait()
        return 1

    tool = FunctionTool(meet)
    assert list(await asyncio.gather(text_of(tool), text_of(tool))) == ["1", "1"]


async def test_context_variables_are_copied() -> None:
    """A thread sees the caller's values; a generator keeps its own; nothing leaks back."""

    def plain() -> str:
        seen = VARIABLE.get()
        VARIABLE.set("changed")
        return seen

    def steps() -> Generator[str, None, None]:
        yield VARIABLE.get()
        VARIABLE.set("mine")
        yield ","
        yield VARIABLE.get()

    VARIABLE.set("outside")
    assert await text_of(FunctionTool(plain)) == "outside"
    assert await text_of(FunctionTool(steps)) == "outside,mine"
    assert VARIABLE.get() == "outside"


async def test_all_steps_of_a_generator_share_a_thread() -> None:
    """What a generator keeps per thread, a database connection say, stays usable."""
    seen: list[int] = []

    def steps() -> Generator[int, None, None]:
        try:
            for i in range(3):
                seen.append(threading.get_ident())
                yield i
        finally:
            seen.append(threading.get_ident())

    async with aclosing(FunctionTool(steps)()) as stream:
        await anext(stream)
        await anext(stream)
    assert len(seen) == 3
    assert len(set(seen)) == 1


async def test_an_early_close_closes_the_generator() -> None:
    """Whoever stops listening lets the generator clean up before `aclose` returns."""
    closed: list[str] = []

    def steps() -> Generator[int, None, None]:
        try:
            yield 1
            yield 2
        finally:
            closed.append("sync")

    async def async_steps() -> AsyncGenerator[int, None]:
        try:
            yield 1
            yield 2
        finally:
            closed.append("async")

    for func in (steps, async_steps):
        async with aclosing(FunctionTool(func)()) as stream:
            await anext(stream)
    assert closed == ["sync", "async"]


async def test_a_cancelled_generator_is_closed_after_its_step() -> None:
    """Cancelling does not wait for a blocked step, and the generator is closed when it ends."""
    blocked, release, closed = threading.Event(), threading.Event(), threading.Event()

    def steps() -> Generator[int, None, None]:
        try:
            blocked.set()
            release.wait(20)
            yield 1
        finally:
            closed.set()

    task = asyncio.create_task(chunks_of(FunctionTool(steps)))
    await asyncio.to_thread(blocked.wait, 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not closed.is_set()
    release.set()
    assert await asyncio.to_thread(closed.wait, 20)


async def test_a_cancelled_function_runs_on_and_that_is_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Cancelling returns at once; the log says that the thread could not be stopped."""
    blocked, release, ended = threading.Event(), threading.Event(), threading.Event()

    def func() -> None:
        blocked.set()
        release.wait(20)
        ended.set()

    task = asyncio.create_task(chunks_of(FunctionTool(func)))
    await asyncio.to_thread(blocked.wait, 20)
    task.cancel()
    with caplog.at_level(logging.WARNING), pytest.raises(asyncio.CancelledError):
        await task
    assert "cannot be stopped" in caplog.text
    release.set()
    assert await asyncio.to_thread(ended.wait, 20)


async def test_threads_are_used_again() -> None:
    """Calls one after another run in one thread; calls at once each have their own."""

    def ident() -> int:
        return threading.get_ident()

    barrier = threading.Barrier(12, timeout=20)

    def meet() -> int:
        barrier.wait()
        return threading.get_ident()

    one_by_one = {await text_of(FunctionTool(ident)) for _ in range(5)}
    together = await asyncio.gather(*(text_of(FunctionTool(meet)) for _ in range(12)))
    assert len(one_by_one) == 1
    assert len(set(together)) == 12


async def test_a_hanging_call_holds_nobody_up() -> None:
    """While more functions hang than workers are kept, others run; idle workers stay few."""
    release = threading.Event()
    hanging = [asyncio.create_task(text_of(FunctionTool(_waiting(release)))) for _ in range(20)]
    await asyncio.sleep(0)
    assert await text_of(FunctionTool(get_weather), city="Rome") == "The weather in Rome is 22°C"
    release.set()
    await asyncio.gather(*hanging)
    await _until(lambda: _workers() <= 8)


def _waiting(release: threading.Event) -> Callable[[], None]:
    def wait() -> None:
        release.wait(20)

    return wait


def _workers() -> int:
    return sum(thread.name == "tool-call" for thread in threading.enumerate())


async def _until(is_so: Callable[[], bool]) -> None:
    for _ in range(200):
        if is_so():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it never came to be")


async def test_an_idle_thread_keeps_no_result() -> None:
    """What a function returned is let go once nobody else has it."""

    class Result:
        pass

    made: list[weakref.ref[Result]] = []

    def func() -> str:
        result = Result()
        made.append(weakref.ref(result))
        VARIABLE.set(result)  # type: ignore[arg-type]
        return "done"

    assert await text_of(FunctionTool(func)) == "done"
    await _until(lambda: made[0]() is None)


def test_a_hanging_call_does_not_keep_the_process() -> None:
    """A program whose function never returns ends all the same; one call more runs in a fork."""
    program = """
import asyncio, os, threading
from agentscope_like.tool import FunctionTool
def ready(): return "ready"
def hang(): threading.Event().wait()
async def text(func):
    return [chunk.content[0].text async for chunk in FunctionTool(func)()]
async def main():
    print(await text(ready))
    asyncio.create_task(text(hang))
    await asyncio.sleep(0.05)
asyncio.run(main())
if (child := os.fork()) == 0:
    print(asyncio.run(text(ready)), flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.count("['ready']") >= 2


async def test_an_inline_function_runs_on_the_loop() -> None:
    """With `inline` a function and each step of a generator run on the loop, errors included."""
    here = threading.get_ident()
    closed: list[int] = []

    def plain() -> bool:
        return threading.get_ident() == here

    def steps() -> Generator[bool, None, None]:
        try:
            yield threading.get_ident() == here
            yield False
        finally:
            closed.append(threading.get_ident())

    def fails() -> None:
        raise StopIteration("boom")

    assert await text_of(FunctionTool(plain, inline=True)) == "true"
    async with aclosing(FunctionTool(steps, inline=True)()) as stream:
        (block,) = (await anext(stream)).content
        assert isinstance(block, TextBlock)
        assert block.text == "true\n"
    assert closed == [here]
    with pytest.raises(RuntimeError):
        await text_of(FunctionTool(fails, inline=True))


@pytest.mark.parametrize("error", [ValueError("boom"), StopIteration("boom")])
async def test_what_a_function_raises_comes_through(error: Exception) -> None:
    """An exception is passed on from the thread; StopIteration too, as a RuntimeError."""

    def func() -> None:
        raise error

    def steps() -> Generator[int, None, None]:
        yield 1
        raise error

    expected = RuntimeError if isinstance(error, StopIteration) else ValueError
    for one in (func, steps):
        with pytest.raises(expected):
            await chunks_of(FunctionTool(one))


# In a toolkit


async def test_a_function_asks_unless_a_rule_allows_it() -> None:
    """The default is a plain ASK, which an allow rule silences."""
    toolkit = Toolkit([FunctionTool(get_weather)])
    state = AgentState()
    call = ToolCallBlock(id="1", name="get_weather", input='{"city": "Rome"}')
    assert [item async for item in toolkit.call_tool(call, state)] == []
    assert call.state is ToolCallState.ASKING
    state.permission_context.allow_rules["get_weather"] = [
        PermissionRule(tool_name="get_weather", behavior=PermissionBehavior.ALLOW)
    ]
    again = ToolCallBlock(id="2", name="get_weather", input='{"city": "Rome"}')
    *_, response = [item async for item in toolkit.call_tool(again, state)]
    assert isinstance(response, ToolResponse)
    assert response.state is ToolResultState.SUCCESS


@pytest.mark.parametrize("behavior", list(PermissionBehavior))
async def test_a_given_permission_is_what_the_check_says(behavior: PermissionBehavior) -> None:
    """`permission=` replaces the ASK."""
    decision = PermissionDecision(behavior, "because")
    tool = FunctionTool(get_weather, permission=decision)
    assert await tool.check_permissions({}, PermissionContext()) is decision


async def test_middlewares_surround_the_function() -> None:
    """Layers given to the tool see its chunks."""

    class Shout(ToolMiddlewareBase):
        async def on_tool_call(
            self, tool: Any, input_kwargs: dict[str, Any], next_handler: Any
        ) -> AsyncGenerator[ToolChunk, None]:
            async for _ in next_handler(**input_kwargs):
                yield ToolChunk(content=[TextBlock(text="LOUD")])

    assert await text_of(FunctionTool(get_weather, middlewares=[Shout()]), city="x") == "LOUD"
