"""What a real server does besides answering calls: it asks, reports, and has more than tools."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from agentscope_like.exception import AgentOrientedException
from agentscope_like.mcp import (
    Elicitation,
    ElicitationAnswer,
    HttpMCPConfig,
    MCPCallError,
    MCPClient,
    MCPConnectionError,
    StdioMCPConfig,
)
from agentscope_like.message import DataBlock, TextBlock
from agentscope_like.progress import (
    ProgressQueue,
    bind_tool_progress,
    register_progress_queue,
    unregister_progress_queue,
)
from tests.mcp.kit import SERVERS, Rogue, free_port, said_in, tool, wait_for

pytestmark = pytest.mark.slow

MakeRogue = Callable[..., Rogue]
Config = StdioMCPConfig | HttpMCPConfig


@pytest.fixture(scope="module", params=["stdio", "old", "http"])
def config(request: pytest.FixtureRequest) -> Iterator[Config]:
    """Say how to reach the server, over stdio and over streamable HTTP."""
    program = [sys.executable, "-m", "tests.mcp.servers.asking"]
    if request.param != "http":
        script = "older.py" if request.param == "old" else "asking.py"
        yield StdioMCPConfig(command=program[0], args=[str(SERVERS / script)])
        return
    port = free_port()
    server = subprocess.Popen([*program, str(port)])
    wait_for(port)
    yield HttpMCPConfig(url=f"http://127.0.0.1:{port}/mcp", timeout=5)
    server.kill()
    server.wait()


def client_of(config: Config, **options: object) -> MCPClient:
    """Return a client of the server."""
    return MCPClient.model_validate(
        {"name": "asking", "is_stateful": True, "mcp_config": config, **options}
    )


async def call(client: MCPClient, name: str, **arguments: object) -> str:
    """Call a tool and return what it says."""
    return said_in(await (await client.get_tool(name)).call(**arguments))


# Asking a person


async def test_a_person_is_asked_in_the_name_of_the_server(config: Config) -> None:
    """The question is labelled with the server, and the answer goes on with the same call."""
    asked = list[Elicitation]()

    async def answer(question: Elicitation) -> ElicitationAnswer:
        asked.append(question)
        return ElicitationAnswer("accept", {"name": "Ada"})

    async with client_of(config, on_elicitation=answer, execution_timeout=10) as client:
        assert await call(client, "greet") == "hello Ada"
    (question,) = asked
    assert str(question).startswith("The MCP server 'asking' asks: What is your name?")
    assert "name" in (question.schema or {})["properties"]


async def test_a_person_may_decline(config: Config) -> None:
    """The server is told what the person chose."""

    async def decline(question: Elicitation) -> ElicitationAnswer:
        del question
        return ElicitationAnswer("decline")

    async with client_of(config, on_elicitation=decline) as client:
        assert await call(client, "greet") == "decline"


async def test_an_answer_has_to_fit_what_was_asked(config: Config) -> None:
    """Values that the server did not ask for do not reach it."""

    async def wrong(question: Elicitation) -> ElicitationAnswer:
        del question
        return ElicitationAnswer("accept", {"name": 5})

    async with client_of(config, on_elicitation=wrong) as client:
        try:
            said = await call(client, "greet")
        except AgentOrientedException as error:
            said = str(error)
        assert "hello" not in said


async def test_where_nobody_can_be_asked_the_call_says_so(config: Config) -> None:
    """Without a handler the call fails, and others go on."""
    async with client_of(config) as client:
        try:
            said = await call(client, "greet")
        except AgentOrientedException as error:
            said = str(error)
        assert "hello" not in said
        assert await call(client, "large", size=3) == "xxx"


async def test_no_time_passes_while_a_person_thinks(config: Config) -> None:
    """The timeout of a call does not count the time that a person takes."""

    async def slow(question: Elicitation) -> ElicitationAnswer:
        del question
        await asyncio.sleep(0.8)
        return ElicitationAnswer("accept", {"name": "Ada"})

    async with client_of(config, on_elicitation=slow, execution_timeout=0.5) as client:
        assert await call(client, "greet") == "hello Ada"


# Progress


async def test_progress_is_shown_while_the_call_runs(config: Config) -> None:
    """What the server reports is live progress of the call."""
    queue = ProgressQueue()
    token = register_progress_queue(queue)
    try:
        async with client_of(config) as client:
            with bind_tool_progress("call-1"):
                assert await call(client, "count", seconds=0.1, steps=2) == "counted"
    finally:
        unregister_progress_queue(token)
    texts = ""
    while (event := queue.get_nowait()) is not None:
        texts += event.text
    assert "1/2 step 1\n" in texts
    assert "2/2 step 2\n" in texts


async def test_progress_is_a_sign_of_life(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no timeout is given, a call ends that is silent, and not one that reports."""
    monkeypatch.setattr("agentscope_like.mcp.server.DEFAULT_SILENCE", 0.6)
    async with client_of(config) as client:
        assert await call(client, "count", seconds=1.2, steps=6) == "counted"
        with pytest.raises(AgentOrientedException, match="did not answer in time"):
            await call(client, "count", seconds=1.5, steps=1)


async def test_a_given_timeout_holds_whatever_is_reported(config: Config) -> None:
    """Progress does not prolong a timeout that the program has set."""
    async with client_of(config, execution_timeout=0.5) as client:
        with pytest.raises(AgentOrientedException, match=r"within 0\.5 s"):
            await call(client, "count", seconds=2, steps=20)


# Resources and prompts


async def test_resources_and_prompts_are_read(config: Config) -> None:
    """They are listed and read; one that does not exist is an error."""
    async with client_of(config) as client:
        assert [str(each.uri) for each in await client.list_resources()] == ["notes://all"]
        (block,) = await client.read_resource("notes://all")
        assert isinstance(block, TextBlock)
        assert "buy milk" in block.text
        assert [each.name for each in await client.list_prompts()] == ["review"]
        (message,) = await client.get_prompt("review", {"what": "a.py"})
        assert message.role == "user"
        assert message.get_text_content() == "Please review a.py."
        with pytest.raises(MCPConnectionError, match="does not answer"):
            await client.read_resource("notes://none")


# Results


async def test_a_picture_arrives_once(config: Config) -> None:
    """A picture is one block of data, and its base64 is in no text."""
    async with client_of(config) as client:
        for name in ("picture", "pictures"):
            chunk = await (await client.get_tool(name)).call()
            data = [each for each in chunk.content if isinstance(each, DataBlock)]
            assert str(chunk.model_dump_json()).count("iVBORyBwaWN0dXJl") == 1, name
            assert len(data) == (name == "picture")


async def test_a_large_result_takes_linear_time(config: Config) -> None:
    """16 MB arrive whole, in about four times the time of 4 MB."""
    async with client_of(config) as client:
        times = []
        for size in (4_000_000, 16_000_000):
            started = time.perf_counter()
            assert len(await call(client, "large", size=size)) == size
            times.append(time.perf_counter() - started)
    assert times[1] < 12 * times[0] + 1


async def test_a_result_over_the_limit_is_refused_in_words(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is too large is not read; the call says so, and the next one is served."""
    monkeypatch.setattr("agentscope_like.mcp.transport.oversized.MAX_MESSAGE_BYTES", 1_000_000)
    monkeypatch.setattr("agentscope_like.mcp.transport.program.MAX_MESSAGE_BYTES", 1_000_000)
    async with client_of(config) as client:
        with pytest.raises(AgentOrientedException, match="may have had its effect"):
            await call(client, "large", size=3_000_000)
        assert await call(client, "large", size=3) == "xxx"


# Faults


async def test_a_banner_is_no_traceback(rogue: MakeRogue, caplog: pytest.LogCaptureFixture) -> None:
    """A line on stdout that is no message is not logged as an error."""
    with caplog.at_level(logging.DEBUG):
        async with rogue(tool("echo"), noise=True).client() as client:
            assert await call(client, "echo") == "echo {}"
    assert not [each for each in caplog.records if each.exc_info]


async def test_a_server_that_only_prints_is_quoted(rogue: MakeRogue) -> None:
    """What a program prints on stdout in the place of messages is in the error."""
    with pytest.raises(MCPConnectionError, match="it printed: usage: rogue --licence FILE"):
        await rogue(banner=True).client().connect()


async def test_what_may_have_run_is_not_called_uncalled(rogue: MakeRogue) -> None:
    """A read that died with its server, which does not come back, may have had its effect."""
    reads = {"readOnlyHint": True}
    server = rogue(tool("die_then_refuse", annotations=reads), tool("echo", annotations=reads))
    async with server.client() as client:
        with pytest.raises(MCPCallError, match="not known whether 'die_then_refuse'"):
            await call(client, "die_then_refuse")
        with pytest.raises(MCPCallError, match="'echo' was not called"):
            await call(client, "echo")


async def test_a_tool_that_needs_tasks_is_left_out(rogue: MakeRogue) -> None:
    """It is not offered, and the client says why; one that may run as a task is offered."""
    version = "2025-11-25"
    needs = tool("long", execution={"taskSupport": "required"})
    may = tool("echo", execution={"taskSupport": "optional"})
    async with rogue(needs, may, version=version).client() as client:
        assert [each.name for each in await client.list_tools()] == ["mcp__rogue__echo"]
        assert "task" in client.left_out["long"]


@pytest.mark.usefixtures("impatient")
async def test_a_connection_that_hangs_is_renewed(rogue: MakeRogue) -> None:
    """After a call that timed out, a server that answers nothing is started anew for the next."""
    server = rogue(tool("sleep"), tool("echo"))
    async with server.client(execution_timeout=0.3) as client:
        with pytest.raises(AgentOrientedException, match=r"within 0\.3 s"):
            await call(client, "sleep")
        assert not client.is_connected
        assert await call(client, "echo") == "echo {}"
    assert server.log.count("started") == 2


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait less long for programs that do not end or read by themselves."""
    monkeypatch.setattr("agentscope_like.mcp.transport.program._EXIT_SECONDS", 0.2)
    monkeypatch.setattr("agentscope_like.mcp.transport.program._KILL_SECONDS", 0.2)
    monkeypatch.setattr("agentscope_like.mcp.connection._PROBE_TIMEOUT", 0.2)
