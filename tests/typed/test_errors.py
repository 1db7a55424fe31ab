"""Errors become results that a model reads; no value of a secret field is in them."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field, SecretStr, field_validator

from agentscope_like.agent import Agent
from agentscope_like.exception import AgentOrientedException, ConfigurationError
from agentscope_like.message import TextBlock, ToolResponse, ToolResultState, UserMsg
from agentscope_like.tool import Toolkit
from agentscope_like.typed import (
    Action,
    ErrorObservation,
    Observation,
    ToolConversation,
    ToolDefinition,
    ToolExecutor,
    observation_of,
)
from tests.agent.kit import agent_of, results_of
from tests.tool.kit import call_of
from tests.typed.kit import run, state_in


class Login(Action):
    """A call with secrets."""

    user: str = Field(max_length=8)
    password: SecretStr = Field(min_length=4)
    pin: int = Field(default=0, json_schema_extra={"secret": True}, ge=0, le=9999)
    token: str = Field(default="", json_schema_extra={"secret": True})

    @field_validator("token")
    @classmethod
    def _is_no_joke(cls, token: str) -> str:
        if token == "joke":
            raise ValueError(f"it is a {token}")
        return token


class LoginExecutor(ToolExecutor[Login, Observation]):
    """Fails as the test says, with all that it was given in the error."""

    def __init__(self, how: str = "raise") -> None:
        self.how = how

    def __call__(self, action: Login, conversation: ToolConversation | None = None) -> Observation:
        said = f"bad: {action.password.get_secret_value()!r} {action.pin} {action.token}"
        if self.how == "observe":
            return Observation.from_text(said, is_error=True)
        if self.how == "agent":
            raise AgentOrientedException(said)
        if self.how == "developer":
            raise ConfigurationError("mended by the developer")
        if self.how == "other":
            return "not an observation"  # type: ignore[return-value]
        raise ValueError(said)


def login_tool(how: str = "raise") -> ToolDefinition[Login, Observation]:
    """Return a tool that takes secrets and fails."""
    return ToolDefinition(
        name="login",
        description="Logs in.",
        action_type=Login,
        observation_type=Observation,
        executor=LoginExecutor(how),
    )


def text_in(response: ToolResponse | None) -> str:
    """Return what the model reads."""
    assert response is not None
    return "".join(getattr(block, "text", "") for block in response.content)


SECRETS = {"user": "me", "password": 'hunt"er2\n', "pin": 4711, "token": "s3cr3t"}


@pytest.mark.parametrize("how", ["raise", "observe", "agent"])
async def test_what_an_executor_raises_is_an_error_without_secrets(
    how: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The model reads what failed; where a secret was, there are asterisks, also in the log."""
    with caplog.at_level(logging.DEBUG):
        _, response = await run(
            Toolkit([login_tool(how)]), "login", json.dumps(SECRETS), state_in("bypass")
        )
    text = text_in(response)
    assert response is not None
    assert response.state is ToolResultState.ERROR
    assert "bad: " in text
    assert "*****" in text
    for told in (text, json.dumps(response.metadata), caplog.text):
        assert all(one not in told for one in ("hunt", "er2", "4711", "s3cr3t"))
    observation = observation_of(response)
    assert observation.is_error
    assert isinstance(observation, ErrorObservation) is (how != "observe")


@pytest.mark.parametrize(
    "wrong",
    [
        {"user": 3},
        {"password": "abc"},
        {"pin": 123456},
        {"pin": "onetwothree"},
        {"token": "joke"},
        {"token": ["s3cr3t"]},
        {"more": "s3cr3t"},
        {"user": "muchtoolong"},
    ],
)
async def test_arguments_that_do_not_fit_are_an_error_without_secrets(
    wrong: dict[str, Any],
) -> None:
    """The message names the place and what is expected, and shows no value."""
    toolkit, given = Toolkit([login_tool()]), {**SECRETS, **wrong}
    call, response = await run(toolkit, "login", json.dumps(given), state_in())
    text = text_in(response)
    assert response is not None
    assert response.state is ToolResultState.ERROR
    assert next(iter(wrong)) in text
    assert ("it is a ***" in text) is (wrong == {"token": "joke"})
    values = [str(value) for name, value in given.items() if name not in ("user", "more")]
    assert all(value not in text for value in values)
    assert call.state == "finished"  # nobody was asked


TEXTS = st.text(st.characters(exclude_characters="*", exclude_categories=["Cs"]), min_size=4)


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.integers(10, 9999), TEXTS)
def test_no_text_of_an_error_shows_a_secret(password: str, pin: int, token: str) -> None:
    """Whatever the values are, what an executor says of them is hidden."""
    given = {"user": "", "password": password, "pin": pin, "token": token}
    toolkit, arguments = Toolkit([login_tool()]), json.dumps(given)
    _, response = asyncio.run(run(toolkit, "login", arguments, state_in("bypass")))
    said = text_in(response).partition("bad: ")[2]
    assert "*" in said or token == "joke"
    assert all(value not in said for value in (password, str(pin), token))


async def test_a_server_s_secrets_are_hidden() -> None:
    """A schema that came from a server marks secrets as well, at any depth and by reference."""
    schema = {
        "type": "object",
        "properties": {
            "keys": {"type": "array", "items": {"$ref": "#/$defs/key"}},
            "auth": {"anyOf": [{"type": "object", "properties": {"pass": {"writeOnly": True}}}]},
            "note": {"type": "string"},
        },
        "$defs": {"key": {"type": "string", "format": "password", "minLength": 3}},
    }

    class Leaking(ToolExecutor[Any, Observation]):
        def __call__(
            self, action: Any, conversation: ToolConversation | None = None
        ) -> Observation:
            raise ValueError(f"cannot do {action.arguments}")

    action_type = Action.from_mcp_schema("leak", schema)
    tool = ToolDefinition[Any, Observation](
        name="leak", description="Leaks.", action_type=action_type, executor=Leaking()
    )
    given = {"keys": ["k3y-one", "k3y-two"], "auth": {"pass": "pa55"}, "note": "shown"}
    _, response = await run(Toolkit([tool]), "leak", json.dumps(given), state_in("bypass"))
    told = text_in(response)
    assert "shown" in told
    assert all(one not in told for one in ("k3y-one", "k3y-two", "pa55"))
    assert "k3y" not in tool.action_from_arguments(given).visualize.plain
    _, response = await run(Toolkit([tool]), "leak", '{"keys": ["k3"]}', state_in("bypass"))
    assert "k3" not in text_in(response)


async def test_a_mistake_of_the_developer_is_raised() -> None:
    """What only the developer can mend does not go to the model."""
    with pytest.raises(ConfigurationError, match="mended"):
        await run(
            Toolkit([login_tool("developer")]), "login", json.dumps(SECRETS), state_in("bypass")
        )


async def test_what_is_no_observation_is_an_error() -> None:
    """An executor that returns something else fails, and says what it returned."""
    _, response = await run(
        Toolkit([login_tool("other")]), "login", json.dumps(SECRETS), state_in("bypass")
    )
    assert "returned str, not Observation" in text_in(response)


async def test_the_loop_goes_on_after_errors() -> None:
    """An unknown tool, wrong arguments and a failure are results; then the model goes on."""
    agent: Agent = agent_of(
        [login_tool()],
        [call_of("nope", "{}", "c1")],
        [call_of("login", '{"user": 3}', "c2")],
        [call_of("login", "not json", "c3")],
        [call_of("login", json.dumps(SECRETS), "c4")],
        [TextBlock(text="done")],
        state=state_in("bypass"),
    )
    message = await agent.reply(UserMsg("user", "go"))
    results = results_of(agent)
    assert {name: result.state for name, result in results.items()} == dict.fromkeys(
        ("c1", "c2", "c3", "c4"), ToolResultState.ERROR
    )
    assert all(observation_of(result).is_error for result in results.values())
    assert (message.get_text_content() or "").endswith("done")


class Sleeper(ToolExecutor[Action, Observation]):
    """Blocks until it is interrupted."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()
        self.interrupts = 0

    def __call__(self, action: Action, conversation: ToolConversation | None = None) -> Observation:
        self.begun.set()
        self.ended.wait(20)
        return Observation.from_text("ended")

    def interrupt(self) -> None:
        self.interrupts += 1
        self.ended.set()


async def test_a_cancelled_call_interrupts_its_executor() -> None:
    """Cancelling a call calls `interrupt`, so that what blocks in its thread ends."""
    sleeper = Sleeper()
    tool = ToolDefinition[Any, Any](
        name="sleep", description="Sleeps.", action_type=Action, executor=sleeper
    )
    task = asyncio.create_task(run(Toolkit([tool]), "sleep", "{}", state_in("bypass")))
    await asyncio.to_thread(sleeper.begun.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sleeper.ended.is_set()
    assert sleeper.interrupts == 1


class Closing(ToolExecutor[Action, Observation]):
    """Notes that it was closed, and may fail then."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails
        self.closed = 0

    def __call__(self, action: Action, conversation: ToolConversation | None = None) -> Observation:
        return Observation.from_text("ran")

    def close(self) -> None:
        self.closed += 1
        if self.fails:
            raise OSError("it is stuck")


def closing_tools() -> tuple[list[Closing], Toolkit]:
    """Return executors, the second of which cannot be closed, and a toolkit of their tools."""
    executors = [Closing(), Closing(fails=True), Closing()]
    tools = [
        ToolDefinition[Any, Any](
            name=f"t{n}", description="Runs.", action_type=Action, executor=executor
        )
        for n, executor in enumerate(executors)
    ]
    return executors, Toolkit(tools)


async def test_every_executor_is_closed_whatever_another_one_raised() -> None:
    """Closing a toolkit closes all of its executors, once, and then raises what failed."""
    executors, toolkit = closing_tools()
    with pytest.raises(ExceptionGroup) as raised:
        await toolkit.close()
    assert [type(error) for error in raised.value.exceptions] == [OSError]
    await toolkit.close()
    assert [executor.closed for executor in executors] == [1, 1, 1]
    _, response = await run(toolkit, "t0", "{}", state_in("bypass"))
    assert "was closed" in text_in(response)


async def test_an_agent_closes_its_toolkit() -> None:
    """Leaving an agent's block closes the executors of its tools."""
    executors, toolkit = closing_tools()
    executors[1].fails = False
    agent = agent_of([], [TextBlock(text="hi")])
    agent.toolkit = toolkit
    async with agent:
        await agent.reply(UserMsg("user", "go"))
        assert [executor.closed for executor in executors] == [0, 0, 0]
    assert [executor.closed for executor in executors] == [1, 1, 1]


async def test_a_long_observation_is_kept_once() -> None:
    """Content that is too long for the metadata is restored from the result."""

    class Long(ToolExecutor[Action, Observation]):
        inline = True

        def __call__(self, action: Action) -> Observation:  # type: ignore[override]
            return Observation.from_text("x" * 30_000)

    tool = ToolDefinition[Any, Any](
        name="long", description="Says much.", action_type=Action, executor=Long()
    )
    _, response = await run(Toolkit([tool]), "long", "{}", state_in("bypass"))
    assert response is not None
    assert "content" not in response.metadata["observation"]
    assert observation_of(response).text == "x" * 30_000
