"""Seed 000, 1.1 and 5.1, "Write a Local Tool": functions that are declared to be tools."""

from __future__ import annotations

import functools
import importlib
import json
import logging
from collections.abc import AsyncGenerator, Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from agentscope_like.exception import ConfigurationError
from agentscope_like.permission import PermissionContext, PermissionMode
from agentscope_like.state import AgentState
from agentscope_like.tool import FunctionTool, ToolManager, ToolProxy, ToolSpec, tool
from tests.agent.kit import text_of

Importer = Callable[[str, str], ModuleType]

WEATHER = '''
from agentscope_like.tool import tool


@tool(name="get_weather", description="Look up the weather of a city")
async def weather(city: str) -> dict:
    """Say nothing of this."""
    return {"city": city, "temp_c": 23, "condition": "sunny"}
'''
TWO = '''
from agentscope_like.tool import tool


@tool
def first() -> str:
    """Do the first thing."""
    return "first"


@tool(is_read_only=True)
def second(number: int) -> str:
    """Do the second thing."""
    return "second"
'''
WHERE = '''
import threading

from agentscope_like.tool import tool


@tool(inline=True)
def inline() -> bool:
    """Say whether the event loop runs this."""
    return threading.current_thread() is threading.main_thread()


@tool
def elsewhere() -> bool:
    """Say whether the event loop runs this."""
    return threading.current_thread() is threading.main_thread()
'''
FORWARD = '''
from __future__ import annotations

from pydantic import BaseModel

from agentscope_like.tool import tool


@tool
def draw(shape: Shape) -> str:
    """Draw."""
    return shape.kind


class Shape(BaseModel):
    kind: str
'''


def anything() -> AgentState:
    """Return a state in which every call may run."""
    return AgentState(permission_context=PermissionContext(mode=PermissionMode.BYPASS))


async def said(manager: ToolManager, name: str, **arguments: Any) -> str:
    """Return what a call comes to."""
    return text_of(await manager.run_tool(name, arguments, anything()))


def test_sage_t_01_importing_the_module_is_enough(imported: Importer) -> None:
    """A manager offers what is declared in a module that was imported before it was made."""
    imported("weather_before", WEATHER)
    assert "get_weather" in ToolManager().list_all_tools_name()


async def test_sage_t_01_a_module_that_is_imported_later_is_found_too(imported: Importer) -> None:
    """A manager that was there first, and a view of it, offer what is imported afterwards."""
    manager = ToolManager()
    proxy = ToolProxy([manager], ["get_weather"])
    assert "get_weather" not in manager.list_all_tools_name()
    imported("weather_later", WEATHER)
    assert proxy.list_all_tools_name() == ["get_weather"]
    assert "get_weather" in manager.list_all_tools_name()
    assert "Ulm" in await said(manager, "get_weather", city="Ulm")


async def test_sage_t_01_an_agent_s_next_reply_sees_what_was_imported(imported: Importer) -> None:
    """What an agent does once for each reply is enough for it to be told of new tools."""
    manager = ToolManager()
    imported("weather_refreshed", WEATHER)
    before = [one["function"]["name"] for one in await manager.get_tool_schemas()]
    await manager.refresh()
    after = [one["function"]["name"] for one in await manager.get_tool_schemas()]
    assert set(after) - set(before) == {"get_weather"}


def test_sage_t_01_no_library_remembers_what_was_declared(imported: Importer) -> None:
    """A declaration lives in its module: with the module it is gone."""
    imported("weather_gone", WEATHER)
    manager = ToolManager()
    assert "get_weather" in manager.list_all_tools_name()
    importlib.sys.modules.pop("weather_gone")  # type: ignore[attr-defined]
    assert "get_weather" not in manager.list_all_tools_name()
    assert "get_weather" not in ToolManager().list_all_tools_name()


def test_sage_t_01_one_may_say_which_modules_count(imported: Importer) -> None:
    """A manager that is given modules offers what these declare, and nothing else."""
    imported("weather_unwanted", WEATHER)
    wanted = imported("two_wanted", TWO)
    assert ToolManager(modules=[wanted]).list_all_tools_name() == ["first", "second"]
    assert ToolManager(modules=[]).list_all_tools_name() == []


def test_sage_t_01_a_module_that_is_loaded_again_replaces_its_tools(imported: Importer) -> None:
    """A function that is declared anew, as in a notebook, takes the place of its earlier self."""
    module = imported("two_again", TWO)
    manager = ToolManager(modules=[module])
    before = manager.get_tool_spec("first")
    exec(compile(TWO.replace("first thing", "very first thing"), "again", "exec"), vars(module))
    after = manager.get_tool_spec("first")
    assert before is not None
    assert after is not None
    assert [before.description, after.description] == [
        "Do the first thing.",
        "Do the very first thing.",
    ]


def test_a_function_stays_what_it_is(imported: Importer) -> None:
    """A declared function is called as before."""
    assert imported("two_called", TWO).first() == "first"


def test_sage_t_03_name_and_description_are_those_that_were_given(imported: Importer) -> None:
    """The decorator's words count, not those of the function."""
    module = imported("weather_named", WEATHER)
    spec = ToolManager(modules=[module]).get_tool_spec("get_weather")
    assert spec is not None
    assert spec.description == "Look up the weather of a city"
    assert ToolManager(modules=[module]).get_tool_spec("weather") is None


def test_sage_t_03_without_them_the_function_s_own_count(imported: Importer) -> None:
    """Name and docstring are the defaults, and what else is said reaches the tool."""
    manager = ToolManager(modules=[imported("two_unnamed", TWO)])
    assert manager.get_tool_spec("second") == ToolSpec(
        "second",
        "Do the second thing.",
        {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
    )


async def asynchronous(text: str) -> str:
    """Answer."""
    return f"async {text}"


def synchronous(text: str) -> str:
    """Answer."""
    return f"sync {text}"


def generator(text: str) -> Iterator[str]:
    """Answer in two parts."""
    yield "gen "
    yield text


async def async_generator(text: str) -> AsyncGenerator[str, None]:
    """Answer in two parts."""
    yield "agen "
    yield text


@pytest.mark.parametrize(
    ("func", "answer"),
    [
        (asynchronous, "async x"),
        (synchronous, "sync x"),
        (generator, "gen x"),
        (async_generator, "agen x"),
    ],
)
async def test_sage_t_04_every_kind_of_function_can_be_a_tool(
    func: Callable[..., Any], answer: str
) -> None:
    """`async` functions, plain ones and generators of both kinds run."""
    manager = ToolManager(modules=[])
    manager.register_tool(func)
    assert await said(manager, func.__name__, text="x") == answer


async def test_sage_t_05_a_dict_is_returned_as_json(imported: Importer) -> None:
    """What a function returns is told to the model as JSON, with nothing around it."""
    manager = ToolManager(modules=[imported("weather_json", WEATHER)])
    text = await said(manager, "get_weather", city="Köln")
    assert json.loads(text) == {"city": "Köln", "temp_c": 23, "condition": "sunny"}


async def test_sage_t_06_a_spec_has_the_form_of_function_calls(imported: Importer) -> None:
    """The specification of a tool gives the schema that models are told of."""
    manager = ToolManager(modules=[imported("two_specified", TWO)])
    spec = manager.get_tool_spec("second")
    assert spec is not None
    shown = {one["function"]["name"]: one for one in await manager.get_tool_schemas()}
    assert spec.to_openai() == shown["second"]
    assert shown["second"]["type"] == "function"


async def test_a_function_that_never_blocks_is_declared_to_run_on_the_loop(
    imported: Importer,
) -> None:
    """Where it runs is said where it is declared."""
    manager = ToolManager(modules=[imported("where", WHERE)])
    assert await said(manager, "inline") == "true"
    assert await said(manager, "elsewhere") == "false"


def test_two_tools_of_one_name_are_told_of(
    imported: Importer, caplog: pytest.LogCaptureFixture
) -> None:
    """Of two modules that declare one name the first is taken, and the log says so."""
    modules = [imported("weather_one", WEATHER), imported("weather_two", WEATHER)]
    assert ToolManager(modules=modules).list_all_tools_name() == ["get_weather"]
    assert "'get_weather' of the source '@tool' is hidden" in caplog.text


def test_what_was_registered_is_not_replaced_by_what_is_declared(
    imported: Importer, caplog: pytest.LogCaptureFixture
) -> None:
    """A module that happens to be imported cannot take the place of a tool that was given."""

    def get_weather() -> str:
        """Look out of the window."""
        return "rain"

    manager = ToolManager([get_weather], modules=[imported("weather_rival", WEATHER)])
    spec = manager.get_tool_spec("get_weather")
    assert spec is not None
    assert spec.description == "Look out of the window."


def test_a_declaration_that_makes_no_tool_is_left_out_and_logged(
    imported: Importer, caplog: pytest.LogCaptureFixture
) -> None:
    """What one module gets wrong keeps nobody from the other tools; the log names the function."""
    module = imported("two_broken", TWO.replace("@tool\n", '@tool(name="not a name")\n'))
    with caplog.at_level(logging.WARNING):
        assert ToolManager(modules=[module]).list_all_tools_name() == ["second"]
    assert "not a name" in caplog.text


async def test_types_may_be_defined_after_the_function(imported: Importer) -> None:
    """A declaration is read when it is looked for, when all of its module is there."""
    manager = ToolManager(modules=[imported("shapes", FORWARD)])
    assert await said(manager, "draw", shape={"kind": "circle"}) == "circle"


def test_a_declared_function_is_registered_as_it_was_declared(imported: Importer) -> None:
    """`register_tool` goes by the declaration, where there is one."""
    manager = ToolManager(modules=[])
    manager.register_tool(imported("weather_registered", WEATHER).weather)
    spec = manager.get_tool_spec("get_weather")
    assert spec is not None
    assert spec.description == "Look up the weather of a city"


def test_a_function_within_a_decorator_is_declared_where_it_stands(imported: Importer) -> None:
    """A decorator of another module around the function does not take it away from its own."""
    wrapped = WEATHER.replace("async def", "@kept\nasync def").replace(
        "from agentscope_like.tool import tool",
        "from agentscope_like.tool import tool\nfrom tests.tool.test_discovery import kept",
    )
    module = imported("weather_wrapped", wrapped)
    assert ToolManager(modules=[module]).list_all_tools_name() == ["get_weather"]


def kept(func: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function without changing what it does."""

    @functools.wraps(func)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        return await func(*args, **kwargs)

    return wrapper


def test_what_cannot_be_a_tool_is_refused_where_it_stands() -> None:
    """Classes, calls and methods are no functions; each error says what to do."""
    with pytest.raises(ConfigurationError, match="is for functions"):
        tool(functools.partial(synchronous, text="x"))
    with pytest.raises(ConfigurationError, match="belongs to a class"):

        class Shop:
            @tool
            def buy(self) -> None: ...

    with pytest.raises(TypeError, match="nam"):
        tool(nam="x")(synchronous)  # type: ignore[call-overload]


async def test_every_manager_makes_its_own_tools(imported: Importer) -> None:
    """Two managers share no tool, so that nothing done to one of them reaches the other."""
    module = imported("two_shared", TWO)
    one, other = ToolManager(modules=[module]), ToolManager(modules=[module])
    assert isinstance(await one.get_tool("first"), FunctionTool)
    assert await one.get_tool("first") is not await other.get_tool("first")
    assert await one.get_tool("first") is await one.get_tool("first")
