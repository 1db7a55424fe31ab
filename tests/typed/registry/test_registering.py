"""Tools are registered under a name, and made from specifications."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import pytest
from pydantic import ValidationError

from agentscope_like import typed
from agentscope_like.exception import ConfigurationError
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit
from agentscope_like.typed import Tool, ToolRegistry
from tests.typed.kit import TouchExecutor, TouchTool, run, state_in, touch_tool


class RoomTool(TouchTool):
    """A tool that is made for a session, with parameters of its own."""

    def __init__(self, conv_state: AgentState | None, room: str, limit: int) -> None:
        super().__init__(executor=TouchExecutor())
        self.made_for = conv_state
        self.room, self.limit = room, limit

    @classmethod
    def create(  # type: ignore[override]
        cls, conv_state: AgentState | None = None, *, working_dir: str, limit: int = 3
    ) -> Sequence[Self]:
        return [cls(conv_state, working_dir, limit)]


def registry_of(**tools: Any) -> ToolRegistry:
    """Return a registry of these tools."""
    registry = ToolRegistry()
    for name, tool in tools.items():
        registry.register(name, tool)
    return registry


def test_a_registered_tool_is_returned_as_it_is() -> None:
    """An instance comes back as the same object, each time, and takes no parameters."""
    tool, _ = touch_tool()
    registry = registry_of(touch=tool)
    assert registry.resolve(Tool(name="touch"))[0] is tool
    assert registry.resolve(Tool(name="touch")) == [tool]
    with pytest.raises(ConfigurationError, match=r"takes no parameters: leave out 'cwd'"):
        registry.resolve(Tool(name="touch", params={"cwd": "/"}))


def test_a_class_makes_tools_for_a_session() -> None:
    """`create` gets the parameters and the state, and makes other tools each time."""
    registry = registry_of(Room=RoomTool)
    state = AgentState()
    spec = Tool(name="Room", params={"working_dir": "/w"})
    (first,), (second,) = registry.resolve(spec, state), registry.resolve(spec)
    assert isinstance(first, RoomTool)
    assert isinstance(second, RoomTool)
    assert (first.room, first.limit, first.made_for) == ("/w", 3, state)
    assert second is not first
    assert second.made_for is None


def test_a_function_makes_one_tool_or_several() -> None:
    """A function gets the state only if it takes it; one tool is as good as a list."""
    state = AgentState()
    seen: list[object] = []

    def one(cwd: str) -> TouchTool:
        return touch_tool(cwd=cwd)[0]

    def several(conv_state: AgentState | None, **names: str) -> list[TouchTool]:
        seen.append(conv_state)
        return [touch_tool(name=name)[0] for name in names.values()]

    registry = registry_of(one=one, several=several)
    (made,) = registry.resolve(Tool(name="one", params={"cwd": "/w"}), state)
    assert made.cwd == "/w"
    names = {"first": "a", "second": "b"}
    pair = registry.resolve(Tool(name="several", params=names), state)
    assert [tool.name for tool in pair] == ["a", "b"]
    assert seen == [state]


async def test_a_resolved_tool_runs_in_a_toolkit() -> None:
    """What a specification makes is decided and run as every tool is."""
    registry = registry_of(touch=TouchTool)
    toolkit = Toolkit(registry.resolve(Tool(name="touch")))
    call, response = await run(toolkit, "touch", "{}", state_in())
    assert (response, call.state) == (None, "asking")
    _, response = await run(toolkit, "touch", "{}", state_in("bypass"))
    assert response is not None
    assert response.metadata["observation"]["runs"] == 1


# What does not fit


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"working_dirr": "/w"}, r"'working_dirr'; did you mean 'working_dir'\?; it takes: "),
        ({"working_dir": "/w", "limits": 1}, r"'limits'; did you mean 'limit'\?"),
        ({}, "cannot be made: missing a required argument: 'working_dir'"),
        ({"working_dir": "/w", "conv_state": None}, "'conv_state': it is an argument of"),
        ({"working_dir": "/w", "trust": True}, "'trust': a specification cannot trust"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(params: dict[str, Any], told: str) -> None:
    """The message names the parameter, and the nearest known one."""
    registry = registry_of(Room=RoomTool)
    with pytest.raises(ConfigurationError, match=told):
        registry.resolve(Tool(name="Room", params=params))


def test_a_parameter_that_only_the_constructor_knows_is_one() -> None:
    """Where `create` passes everything on, the constructor says what is known."""
    registry = registry_of(touch=TouchTool)
    (tool,) = registry.resolve(Tool(name="touch", params={"cwd": "/w"}))
    assert tool.cwd == "/w"
    with pytest.raises(ConfigurationError, match=r"'descriptoin'; did you mean 'description'\?"):
        registry.resolve(Tool(name="touch", params={"descriptoin": "x"}))


def test_an_error_within_a_function_stays_what_it_is() -> None:
    """A mistake of the function itself is not taken for one of the parameters."""

    def broken(cwd: str) -> TouchTool:
        return TouchTool(colour="red")  # type: ignore[call-arg]

    with pytest.raises(TypeError, match="colour"):
        registry_of(broken=broken).resolve(Tool(name="broken", params={"cwd": "/"}))


def test_an_unknown_name_says_the_nearest() -> None:
    """A typo of a name is told what was meant."""
    registry = registry_of(file_editor=TouchTool, grep=TouchTool)
    with pytest.raises(ConfigurationError, match=r"no tool 'file_editr'.*did you mean 'file_edit"):
        registry.resolve(Tool(name="file_editr"))


async def _tool_later() -> TouchTool:
    return touch_tool()[0]


@pytest.mark.parametrize("tool", [None, 3, "touch", AgentState, [TouchTool], _tool_later])
def test_what_makes_no_tools_is_not_registered(tool: Any) -> None:
    """Only a tool, a class of tools, or a function is registered."""
    with pytest.raises(ConfigurationError, match="give a ToolDefinition, a subclass of it"):
        registry_of(strange=tool)


@pytest.mark.parametrize("made", [None, "touch", [None], {}])
def test_what_a_function_made_must_be_tools(made: Any) -> None:
    """Something else than tools is an error where it is made."""
    with pytest.raises(ConfigurationError, match="which is no ToolDefinition"):
        registry_of(odd=lambda: made).resolve(Tool(name="odd"))


def test_a_specification_has_no_other_fields() -> None:
    """A typo in a specification is refused, and says what was meant; it does not change."""
    with pytest.raises(ValidationError, match=r"unknown field 'parms'; did you mean 'params'\?"):
        Tool.model_validate({"name": "touch", "parms": {}})
    spec = Tool(name="touch", params={"cwd": "/w"})
    assert Tool.model_validate_json(spec.model_dump_json()) == spec
    with pytest.raises(ValidationError, match="frozen"):
        spec.name = "other"  # type: ignore[misc]


# Names


def test_a_name_is_registered_once() -> None:
    """The error names both places, and the first registration stays."""
    first, second = touch_tool()[0], touch_tool()[0]
    registry = registry_of(touch=first)
    here = Path(__file__).name
    with pytest.raises(ConfigurationError, match=rf"twice: .*{here}:\d+ and .*{here}:\d+\.") as no:
        registry.register("touch", second)
    lines = {part.partition(" ")[0].rstrip(".") for part in str(no.value).split(f"{here}:")[1:]}
    assert len(lines) == 2
    assert registry.resolve(Tool(name="touch")) == [first]
    registry.unregister("touch")
    registry.register("touch", second)
    assert registry.resolve(Tool(name="touch")) == [second]
    with pytest.raises(ConfigurationError, match="no tool 'touhc' is registered; did you mean"):
        registry.unregister("touhc")


def test_names_are_found_by_a_pattern() -> None:
    """A pattern finds names, in order, as names or as specifications."""
    registry = registry_of(file_viewer=TouchTool, grep=TouchTool, file_editor=TouchTool)
    assert registry.names() == ["file_editor", "file_viewer", "grep"]
    assert registry.names("file_*") == ["file_editor", "file_viewer"]
    assert registry.find("*_editor") == [Tool(name="file_editor")]
    assert registry.find("shell*") == []


def test_the_functions_use_the_registry_of_the_process() -> None:
    """What is registered by the functions is seen by them, and by `default_registry`."""
    tool, _ = touch_tool()
    typed.register_tool("tests_touch", tool)
    try:
        assert typed.resolve_tool(Tool(name="tests_touch")) == [tool]
        assert typed.list_registered_tools("tests_*") == ["tests_touch"]
        assert typed.find_tools("tests_*") == [Tool(name="tests_touch")]
        assert "tests_touch" in typed.default_registry().names()
    finally:
        typed.unregister_tool("tests_touch")
    assert typed.list_registered_tools("tests_*") == []


def test_of_many_threads_one_registers_a_name() -> None:
    """Each other thread is told that the name is taken; other names are not lost."""
    registry = ToolRegistry()
    begin = threading.Barrier(8)
    refused: list[str] = []

    def register(number: int) -> None:
        begin.wait()
        registry.register(f"own_{number}", TouchTool)
        try:
            registry.register("shared", TouchTool)
        except ConfigurationError as error:
            refused.append(error.message)

    threads = [threading.Thread(target=register, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 7
    assert registry.names() == sorted(["shared", *(f"own_{number}" for number in range(8))])


# Trust


@pytest.mark.parametrize("as_what", ["instance", "class", "function"])
def test_trust_is_given_by_who_registers(as_what: str) -> None:
    """A tool is trusted where it is registered so, or resolved so, and not otherwise."""

    def made(what: str) -> Any:
        kinds = {"instance": touch_tool()[0], "class": TouchTool, "function": TouchTool.create}
        return kinds[what]

    registry = ToolRegistry()
    registry.register("plain", made(as_what))
    registry.register("trusted", made(as_what), trust=True)
    (plain,), (trusted,) = (
        registry.resolve(Tool(name="plain")),
        registry.resolve(Tool(name="trusted")),
    )
    assert (plain.trust, trusted.trust) == (False, True)
    (raised,) = registry.resolve(Tool(name="plain"), trust=True)
    assert raised.trust is True


def test_a_class_or_function_does_not_trust_its_own_tools() -> None:
    """What `create` says of itself does not count; who registers it decides."""

    class SlyTool(TouchTool):
        @classmethod
        def create(cls, conv_state: AgentState | None = None, **params: Any) -> Sequence[Self]:
            return [cls(executor=TouchExecutor(), trust=True)]

    registry = registry_of(sly=SlyTool, made=SlyTool.create)
    for name in ("sly", "made"):
        (tool,) = registry.resolve(Tool(name=name))
        assert tool.trust is False
