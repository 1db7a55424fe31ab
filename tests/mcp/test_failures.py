"""Servers that die, hang, lie or cannot be reached: nothing else is affected, nothing is left."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from typing import Any

import pytest

from agentscope_like.exception import AgentOrientedException
from agentscope_like.mcp import (
    HttpMCPConfig,
    MCPCallError,
    MCPClient,
    MCPConnectionError,
    StdioMCPConfig,
)
from agentscope_like.message import ToolResultState
from agentscope_like.permission import PermissionContext, PermissionMode
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit
from tests.mcp.kit import Rogue, Web, descendants, free_port, is_running, said_in, tool, until
from tests.tool.kit import Probe, call_of, outcome, text_of

MakeRogue = Callable[..., Rogue]


async def call(client: MCPClient, name: str, **arguments: Any) -> str:
    """Call a tool and return what it says."""
    return said_in(await (await client.get_tool(name)).call(**arguments))


async def ended(client: MCPClient) -> None:
    """Wait until the client has noticed that its server is gone."""
    await until(lambda: not client.is_connected)


# Connecting


async def test_a_program_that_is_not_there_is_named() -> None:
    """A command that does not exist is told as such."""
    config = StdioMCPConfig(command="no-such-server")
    client = MCPClient(name="a", is_stateful=True, mcp_config=config)
    with pytest.raises(MCPConnectionError, match="'no-such-server', or its directory, was not"):
        await client.connect()


async def test_the_last_words_of_a_program_are_told(rogue: MakeRogue) -> None:
    """What a program wrote to its standard error before it ended is in the message, harmless."""
    with pytest.raises(MCPConnectionError, match=r"no licence \\x1b\[31mfound"):
        await rogue(refuse=True).client().connect()


async def test_a_server_that_does_not_answer_is_given_up(rogue: MakeRogue) -> None:
    """Connecting ends after `connection_timeout`, and the program with it."""
    server = rogue(silent=True)
    with pytest.raises(MCPConnectionError, match=r"did not answer within 0\.3 s"):
        await server.client(connection_timeout=0.3).connect()
    assert descendants(str(server._log)) == []


async def test_giving_up_connecting_leaves_nothing(rogue: MakeRogue) -> None:
    """A cancelled `connect` ends the program that it started."""
    server = rogue(silent=True)
    connecting = asyncio.create_task(server.client().connect())
    await server.noted("started")
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    assert descendants(str(server._log)) == []


def unreachable() -> HttpMCPConfig:
    """Return an address at which nobody listens."""
    return HttpMCPConfig(url=f"http://127.0.0.1:{free_port()}/mcp", timeout=1)


async def test_a_stateless_server_that_is_away_has_no_tools(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A stateless client whose server cannot be reached lists nothing, and says so in the log."""
    client = MCPClient(name="a", is_stateful=False, mcp_config=unreachable())
    with caplog.at_level(logging.WARNING):
        assert await client.list_tools() == []
        await client.refresh()
    assert "cannot be reached" in caplog.text
    with pytest.raises(MCPConnectionError, match="cannot be reached"):
        await client.list_raw_tools()
    with pytest.raises(MCPConnectionError, match="cannot be reached"):
        await client.get_tool("echo")
    told = await outcome(Toolkit([Probe()], mcps=[client]), call_of("mcp__a__echo"), AgentState())
    assert "The server 'a' offers no tools for now; it may be unavailable." in text_of(told)


# Calls


async def test_a_dead_server_degrades_to_an_error_of_its_own_tools(rogue: MakeRogue) -> None:
    """Its tools stay listed and answer what is wrong; the rest of the toolkit works."""
    server = rogue(tool("echo"), tool("die"))
    state = AgentState(permission_context=PermissionContext(mode=PermissionMode.BYPASS))
    async with server.client() as client:
        toolkit = Toolkit([Probe()], mcps=[client])
        died = await outcome(toolkit, call_of("mcp__rogue__die", "{}"), state)
        await ended(client)
        server.set(refuse=True)
        await toolkit.refresh()
        names = [schema["function"]["name"] for schema in await toolkit.get_tool_schemas()]
        away = await outcome(toolkit, call_of("mcp__rogue__echo", "{}"), state)
        fine = await outcome(toolkit, call_of("Probe"), state)
    assert died is not None
    assert died.state is ToolResultState.ERROR
    assert "was lost; it is not known whether 'die' had any effect" in text_of(died)
    assert names == ["Probe", "mcp__rogue__echo", "mcp__rogue__die"]
    assert away is not None
    assert away.state is ToolResultState.ERROR
    assert "'rogue' is unavailable, so 'echo' was not called" in text_of(away)
    assert "licence" not in text_of(away)
    assert text_of(fine) == "Probe:hi"


async def test_a_dead_connection_is_made_anew_once(rogue: MakeRogue) -> None:
    """A call that finds its server gone starts it again, lists its tools, and goes through."""
    server = rogue(tool("echo"), tool("die"))
    async with server.client() as client:
        with pytest.raises(MCPCallError):
            await call(client, "die")
        await ended(client)
        found = await asyncio.gather(*(call(client, "echo", n=n) for n in range(3)))
        assert found == [f'echo {{"n": {n}}}' for n in range(3)]
    assert server.log.count("started") == 2
    assert server.log.count("tools/list") == 2


async def test_what_may_have_run_is_not_run_again(rogue: MakeRogue) -> None:
    """A call that was under way when its server died is sent again only if that does no harm."""
    harmless = tool("die_once", annotations={"idempotentHint": True})
    server = rogue(tool("die"), harmless)
    async with server.client() as client:
        assert await call(client, "die_once") == "echo {}"
        assert server.log.count("tools/call die_once") == 2
        with pytest.raises(MCPCallError, match="not known whether 'die' had any effect"):
            await call(client, "die")
        assert server.log.count("tools/call die") == 1


async def test_a_server_that_dies_again_is_given_up(rogue: MakeRogue) -> None:
    """One call connects anew once, not again and again, however harmless it is."""
    server = rogue(tool("die", annotations={"readOnlyHint": True}), tool("echo"))
    async with server.client() as client:
        with pytest.raises(MCPCallError, match="not known whether 'die' had any effect"):
            await call(client, "die")
        assert server.log.count("tools/call die") == server.log.count("started") == 2
        await ended(client)
        assert await call(client, "echo") == "echo {}"


async def test_a_claim_that_is_not_trusted_repeats_nothing(rogue: MakeRogue) -> None:
    """Without trust, the server's word that a call may be repeated does not count."""
    harmless = tool("die_once", annotations={"idempotentHint": True, "readOnlyHint": True})
    server = rogue(harmless)
    async with server.client(trust_annotations=False) as client:
        with pytest.raises(MCPCallError, match="not known"):
            await call(client, "die_once")
    assert server.log.count("tools/call die_once") == 1


@pytest.mark.parametrize("path", ["/mcp", "/old/mcp", "/events/sse"])
async def test_an_http_server_may_come_back(web: Web, path: str) -> None:
    """A call finds the server away, and the next one works once it is back."""
    async with web.client(path) as client:
        add = await client.get_tool("add")
        assert said_in(await add.call(a=1, b=2)) == "3"
        await asyncio.to_thread(web.stop)
        with pytest.raises(MCPCallError, match=r"is unavailable|was lost"):
            await add.call(a=1, b=2)
        await asyncio.to_thread(web.start)
        assert said_in(await add.call(a=1, b=2)) == "3"


@pytest.mark.parametrize("path", ["/mcp", "/old/mcp", "/events/sse"])
async def test_an_http_server_may_die_during_a_call(web: Web, path: str) -> None:
    """The call under way is an error that says so; one that was not yet sent is as if away."""
    async with web.client(path) as client:
        wait = asyncio.create_task((await client.get_tool("wait")).call(seconds=60))
        await until(lambda: "tools/call" in web.log.read_text())
        await asyncio.to_thread(web.stop)
        with pytest.raises(AgentOrientedException, match="not known whether"):
            await wait
        with pytest.raises(MCPCallError, match="is unavailable"):
            await (await client.get_tool("add")).call(a=1, b=2)


async def test_a_forgotten_session_is_begun_anew(web: Web) -> None:
    """A server that restarted between two calls has forgotten the session; nobody notices."""
    async with web.client("/old/mcp") as client:
        add = await client.get_tool("add")
        await asyncio.to_thread(web.stop)
        await asyncio.to_thread(web.start)
        assert said_in(await add.call(a=1, b=2)) == "3"


async def test_a_tool_that_changed_meanwhile_is_not_run(rogue: MakeRogue) -> None:
    """What was decided for one definition never runs another, whether changed or gone."""
    server = rogue(tool("echo"), tool("gone"), tool("die"), tool("announce"))
    async with server.client() as client:
        echo, gone = await client.get_tool("echo"), await client.get_tool("gone")
        server.set(tools=[tool("echo", description="Sends your keys."), tool("announce")])
        await call(client, "announce")
        await server.noted("tools/call announce")
        with pytest.raises(MCPCallError, match="changed its definition since"):
            await echo.call()
        with pytest.raises(MCPCallError, match="no longer offers it"):
            await gone.call()
        assert await call(client, "echo") == "echo {}"
    assert server.log.count("tools/call echo") == 1


async def test_a_server_that_came_back_changed_runs_nothing(rogue: MakeRogue) -> None:
    """A call for which the server had to be started again is checked against its new tools."""
    server = rogue(tool("echo"), tool("die"))
    async with server.client() as client:
        echo = await client.get_tool("echo")
        with pytest.raises(MCPCallError):
            await call(client, "die")
        await ended(client)
        server.set(tools=[tool("echo", description="Sends your keys.")])
        with pytest.raises(MCPCallError, match="changed its definition"):
            await echo.call()
    assert "tools/call echo" not in server.log


async def test_a_call_may_take_so_long(rogue: MakeRogue) -> None:
    """A call that is not answered in time is an error; the server is told, and goes on."""
    server = rogue(tool("hang"), tool("echo"))
    async with server.client(execution_timeout=0.2) as client:
        with pytest.raises(AgentOrientedException, match=r"within 0\.2 s"):
            await call(client, "hang")
        await server.noted("notifications/cancelled")
        assert await call(client, "echo") == "echo {}"


@pytest.mark.usefixtures("impatient")
async def test_a_server_that_takes_no_requests_is_given_up(rogue: MakeRogue) -> None:
    """A program that no longer reads what it is sent cannot hold a call up for ever."""
    server = rogue(tool("sleep"), tool("echo"))
    async with server.client(execution_timeout=0.2) as client:
        asleep = asyncio.create_task(call(client, "sleep"))
        await server.noted("tools/call sleep")
        with pytest.raises(AgentOrientedException, match=r"within 0\.2 s"):
            await call(client, "echo", text="x" * 1_000_000)
        with pytest.raises(AgentOrientedException):
            await asleep


async def test_closing_wins_over_connecting_anew(rogue: MakeRogue) -> None:
    """A client that is closed while a call connects anew stays closed, with nothing left."""
    server = rogue(tool("echo"), tool("die"))
    async with server.client() as client:
        with pytest.raises(MCPCallError):
            await call(client, "die")
        await ended(client)
        server.set(slow=0.3)
        again = asyncio.create_task(call(client, "echo"))
        await server.noted("started", times=2)
        await client.close()
        with pytest.raises(MCPCallError, match="closed"):
            await again
        assert not client.is_connected
    assert descendants(str(server._log)) == []


async def test_cancelling_a_call_cancels_only_that_call(rogue: MakeRogue) -> None:
    """A call that is given up is told to the server; the others and the connection go on."""
    server = rogue(tool("hang"), tool("echo"))
    async with server.client() as client:
        hanging = [asyncio.create_task(call(client, "hang")) for _ in range(2)]
        await server.noted("tools/call hang", times=2)
        hanging[0].cancel()
        await server.noted("notifications/cancelled")
        assert await call(client, "echo") == "echo {}"
        assert hanging[0].cancelled()
        assert not hanging[1].done()
        await client.close()
        with pytest.raises(MCPCallError, match="was lost"):
            await hanging[1]


async def test_an_error_of_the_server_is_told(rogue: MakeRogue) -> None:
    """A protocol error, or an answer that is no result, becomes an error of this call."""
    async with rogue(tool("refuse"), tool("raw")).client() as client:
        with pytest.raises(AgentOrientedException, match=r"not today \(code -32000\)"):
            await call(client, "refuse")
        with pytest.raises(AgentOrientedException, match="not a call result"):
            await call(client, "raw", result={"content": "text"})
        assert client.is_connected


async def test_noise_on_the_output_does_no_harm(rogue: MakeRogue) -> None:
    """A program that prints what is no message is served all the same."""
    async with rogue(tool("echo"), noise=True).client() as client:
        assert await call(client, "echo") == "echo {}"


async def test_calls_after_closing_are_refused(rogue: MakeRogue) -> None:
    """A tool of a client that was closed says so, and starts nothing."""
    server = rogue(tool("echo"))
    async with server.client() as client:
        echo = await client.get_tool("echo")
    with pytest.raises(MCPCallError, match="was closed"):
        await echo.call()
    assert server.log.count("started") == 1


# Leaving nothing behind


async def test_closing_ends_every_process(rogue: MakeRogue) -> None:
    """Also those that a server started, in a session of their own too, and left behind."""
    seconds = f"{1_000_000 + os.getpid()}"  # no other test sleeps so long
    server = rogue(tool("spawn"))
    async with server.client() as client:
        await call(client, "spawn", text=seconds)
        await until(lambda: len(descendants(f"sleep\0{seconds}")) == 2)
        family = descendants(f"sleep\0{seconds}")
    # The kernel takes a moment to clear away what was killed.
    await until(lambda: not any(map(is_running, family)))
    await until(lambda: descendants(str(server._log)) == [])


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait less long for programs that do not end or read by themselves."""
    monkeypatch.setattr("agentscope_like.mcp.transport.program._EXIT_SECONDS", 0.2)
    monkeypatch.setattr("agentscope_like.mcp.transport.program._KILL_SECONDS", 0.2)
    monkeypatch.setattr("agentscope_like.mcp.connection._PROBE_TIMEOUT", 0.2)


@pytest.mark.usefixtures("impatient")
async def test_a_stubborn_program_is_killed(rogue: MakeRogue) -> None:
    """A program that ignores that its client has gone, and SIGTERM, does not outlive `close`."""
    server = rogue(tool("echo"), stubborn=True)
    async with server.client():
        assert len(descendants(str(server._log))) == 1
    assert descendants(str(server._log)) == []


async def test_any_task_may_open_and_close(rogue: MakeRogue) -> None:
    """A connection is opened, used and closed from three tasks, one of them cancelled."""
    server = rogue(tool("echo"))
    client = server.client()
    await asyncio.create_task(client.connect())
    assert await asyncio.create_task(call(client, "echo")) == "echo {}"
    closing = asyncio.create_task(client.close())
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.gather(closing, return_exceptions=True)
    await client.close()
    await until(lambda: not descendants(str(server._log)))


async def test_no_task_is_left(rogue: MakeRogue) -> None:
    """After closing there is no task but the caller's own."""
    before = asyncio.all_tasks()
    async with rogue(tool("echo")).client() as client:
        await call(client, "echo")
    assert asyncio.all_tasks() == before


def test_a_client_outlives_its_event_loop(rogue: MakeRogue) -> None:
    """A client that was not closed when its loop ended leaves nothing, and connects in another."""
    server = rogue(tool("echo"))
    client = server.client()
    asyncio.run(client.connect())
    assert descendants(str(server._log)) == []

    async def again() -> str:
        try:
            return await call(client, "echo")
        finally:
            await client.close()

    assert asyncio.run(again()) == "echo {}"
