"""Every code block of seed 002 runs as it is printed, but for the name of the package."""

from __future__ import annotations

import re
import textwrap
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.agent import Agent
from agentscope_like.event import RequireExternalExecutionEvent
from agentscope_like.mcp import HttpMCPConfig, MCPClient
from agentscope_like.message import ToolCallState, UserMsg
from agentscope_like.tool import Bash, FunctionTool, ToolBase, ToolChunk, Toolkit
from tests.agent.kit import (
    DictatedModel,
    agent_of,
    events_of,
    executed,
    results_of,
    text_of,
)
from tests.seed.kit import (
    ALLOW,
    ASK,
    BLOCKS,
    BYPASS,
    DEFAULT,
    DONE,
    EXPLORE,
    Echo,
    Layer,
    call,
    call_of,
    decide,
    permitting,
    rule,
    run,
    run_block,
    said,
    shown,
    state_of,
)
from tests.seed.servers.office import OfficeAddress
from tests.skill.kit import write_skill

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^( *)```python[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def test_the_blocks_are_those_of_the_document() -> None:
    """Each block is kept, in order and to the letter, where the document is at hand."""
    found = sorted((ROOT.parent / "shared" / "seeds").glob("002_*.txt"))
    if not found:
        pytest.skip("the document is not at hand")
    there = [textwrap.dedent(block[2]) for block in FENCE.finditer(found[0].read_text())]
    here = [file.read_text() for file in sorted(BLOCKS.iterdir())]
    assert here == [block.replace("from agentscope.", "from agentscope_like.") for block in there]


def test_every_block_is_run() -> None:
    """No block is kept that no test runs."""
    run_here = re.findall(r'run_block\(\s*"([^"]+)"', Path(__file__).read_text())
    assert sorted(set(run_here)) == sorted(file.stem for file in BLOCKS.iterdir())


async def test_01_toolkit(work: Path) -> None:
    """The tools of a toolkit are told and dispatched."""
    toolkit = (await run_block("01-toolkit"))["toolkit"]
    assert await shown(toolkit) == ["Bash", "Read", "Write", "Edit"]
    assert await said(toolkit, "Bash", command="pwd") == f"{work}\n"


async def test_02_bash_dangerous_paths(work: Path) -> None:
    """The added names are dangerous as the known ones are; others are not."""
    bash = (await run_block("02-bash-dangerous-paths"))["bash"]
    for command in ("touch .secrets", "touch .credentials/key", "touch .bashrc"):
        assert (await decide(bash, rule("Bash"), command=command)).behavior is ASK, command
    assert (await decide(bash, rule("Bash"), command="touch secrets")).behavior is ALLOW
    assert ".secrets" in bash.dangerous_files
    assert ".credentials" in bash.dangerous_directories


async def test_03_custom_tool() -> None:
    """The custom tool is validated, allowed by itself, and run."""

    async def do_search(query: str) -> str:
        return f"nothing about {query}"

    namespace = await run_block("03-custom-tool", do_search=do_search)
    agent = agent_of([namespace["WebSearch"]()], [call_of("WebSearch", query="owls")], DONE)
    await events_of(agent, "Search.")
    (result,) = agent.state.context[-1].get_content_blocks("tool_result")
    assert (result.output[0].text, result.state) == ("nothing about owls", "success")  # type: ignore[union-attr]


async def test_04_function_tool() -> None:
    """Name, description and schema come from the function; it runs once it is allowed."""
    toolkit = (await run_block("04-function-tool"))["toolkit"]
    ((told),) = [schema["function"] for schema in await toolkit.get_tool_schemas()]
    assert told["name"] == "get_weather"
    assert told["description"] == "Get the current weather for a city."
    assert told["parameters"]["required"] == ["city"]
    assert told["parameters"]["properties"]["unit"]["default"] == "celsius"
    assert await call(toolkit, "get_weather", city="Rome") is None
    allowed = state_of(permitting(rule("get_weather")))
    assert await said(toolkit, "get_weather", allowed, city="Rome") == (
        "The weather in Rome is 22°C"
    )


async def test_05_external_tool() -> None:
    """A call of the tool is allowed, and then waits for somebody outside."""
    tool = (await run_block("05-external-tool"))["HumanApproval"]()
    asked = call_of("HumanApproval", action="deploy", reason="it is Friday")
    events = await events_of(agent_of([tool], [asked]), "Deploy.")
    required = events[-1]
    assert isinstance(required, RequireExternalExecutionEvent)
    assert [one.state for one in required.tool_calls] == [ToolCallState.SUBMITTED]


async def test_06_attach_middleware() -> None:
    """The first middleware of the list is the outer one."""
    notes: list[str] = []

    def make(label: str) -> Any:
        return lambda: Layer(label, notes)

    bash = (
        await run_block(
            "06-attach-middleware",
            Bash=Bash,
            LoggingMiddleware=make("log"),
            MetricsMiddleware=make("metrics"),
        )
    )["bash"]
    assert await run(bash, command="echo done") == "done\n"
    assert notes == ["log before", "metrics before", "metrics after", "log after"]


async def test_07_middleware(capsys: pytest.CaptureFixture[str]) -> None:
    """Logging and retrying, around the shell and around a tool that fails twice."""
    made = await run_block("07-middleware")
    assert await run(made["bash"], command="echo done") == "done\n"
    assert capsys.readouterr().out.splitlines() == [
        "→ Calling Bash with {'command': 'echo done'}",
        "✓ Bash finished",
    ]
    attempts = iter([OSError("one"), OSError("two"), None])

    class Flaky(Echo):
        async def call(self, text: str) -> ToolChunk:
            if (error := next(attempts)) is not None:
                raise error
            return await super().call(text)

    flaky = Flaky(middlewares=[made["RetryMiddleware"](max_attempts=3)])
    assert await run(flaky, text="third time") == "third time"
    assert capsys.readouterr().out.splitlines() == [
        "Attempt 1 failed: one, retrying…",
        "Attempt 2 failed: two, retrying…",
    ]


@pytest.mark.usefixtures("programs")
async def test_08_mcp_stdio(work: Path) -> None:
    """A program's tools are offered and run for as long as the client is connected."""
    (work / "notes.txt").write_text("buy milk")
    made = await run_block("08-mcp-stdio", places={"/my/project": str(work)})
    try:
        explore = state_of(permitting(mode=EXPLORE))
        text = await said(made["toolkit"], "mcp__filesystem__read_file", explore, path="notes.txt")
        assert text == "buy milk"
        assert made["client"].is_connected
    finally:
        await made["client"].close()
    assert not made["client"].is_connected


async def test_09_mcp_http(office: OfficeAddress) -> None:
    """One connection to an address; the headers are sent along."""
    made = await run_block("09-mcp-http", places={"https://api.weather.com/mcp": office.url})
    try:
        bypass = state_of(permitting(mode=BYPASS))
        text = await said(made["toolkit"], "mcp__weather__place_order", bypass, item="an umbrella")
        assert text == "place_order: an umbrella"
        assert office.office.authorization == "Bearer xxx"
    finally:
        await made["client"].close()


async def test_10_mcp_stateless(office: OfficeAddress) -> None:
    """No `connect` and no `close`: each call makes a connection of its own."""
    made = await run_block("10-mcp-stateless", places={"https://api.search.com/mcp": office.url})
    explore = state_of(permitting(mode=EXPLORE))
    text = await said(made["toolkit"], "mcp__search__web_search", explore, query="owls")
    assert text == "web_search: owls"
    assert not made["client"].is_connected


async def test_11_mcp_enable_tools(office: OfficeAddress) -> None:
    """Only the tools that are named are offered."""
    made = await run_block(
        "11-mcp-enable-tools",
        places={"https://api.search.com/mcp": office.url},
        MCPClient=MCPClient,
        HttpMCPConfig=HttpMCPConfig,
    )
    names = [tool.name for tool in await made["client"].list_tools()]
    assert names == ["mcp__search__web_search", "mcp__search__image_search"]


async def test_12_skill_directory(work: Path) -> None:
    """The skills of the directory are told of, and shown."""
    write_skill(work / "pdf", text="Use `forms.py`.")
    made = await run_block("12-skill-directory", places={"/path/to/skills": str(work)})
    assert "- pdf: Fill in forms." in (await made["toolkit"].get_skill_instructions() or "")
    assert "Use `forms.py`." in await said(made["toolkit"], "Skill", skill="pdf")


async def test_13_skill_loader(work: Path) -> None:
    """The loader finds skills at any depth."""
    write_skill(work / "office" / "deep" / "pdf")
    made = await run_block("13-skill-loader", places={"/path/to/skills": str(work)})
    assert "- pdf: " in (await made["toolkit"].get_skill_instructions() or "")


async def test_14_tool_groups() -> None:
    """The groups are hidden until the model activates them, with their instructions."""

    def tool(name: str) -> ToolBase:
        return FunctionTool(lambda: name, name=name, description="Does its work.")

    made = await run_block(
        "14-tool-groups",
        db_query_tool=tool("db_query"),
        db_migrate_tool=tool("db_migrate"),
        deploy_tool=tool("deploy"),
        rollback_tool=tool("rollback"),
    )
    toolkit, state = made["toolkit"], state_of(permitting(mode=DEFAULT))
    basic = ["Bash", "Read", "Write", "Edit", "reset_tools"]
    assert await shown(toolkit) == basic
    answer = await said(toolkit, "reset_tools", state, database=True)
    assert "Always wrap mutations in a transaction." in answer
    active = state.tool_context.activated_groups
    assert await shown(toolkit, *active) == [*basic, "db_query", "db_migrate"]


@pytest.mark.usefixtures("programs")
async def test_the_blocks_together_are_one_program(work: Path, office: OfficeAddress) -> None:
    """All run one after the other in one namespace, and an agent uses what they made."""

    async def do_search(query: str) -> str:
        return f"nothing about {query}"

    (work / "notes.txt").write_text("buy milk")
    write_skill(work / "skills" / "pdf", text="Use `forms.py`.")
    search, skills = {"https://api.search.com/mcp": office.url}, str(work / "skills")
    places = {
        "08-mcp-stdio": {"/my/project": str(work)},
        "09-mcp-http": {"https://api.weather.com/mcp": office.url},
        "10-mcp-stateless": search,
        "11-mcp-enable-tools": search,
        "12-skill-directory": {"/path/to/skills": skills},
        "13-skill-loader": {"/path/to/skills": skills},
    }
    tools = ("db_query_tool", "db_migrate_tool", "deploy_tool", "rollback_tool")
    names: dict[str, Any] = {
        name: FunctionTool(lambda: "done", name=name, description="Works.") for name in tools
    }
    layer = partial(Layer, "layer", [])
    names |= {"do_search": do_search, "LoggingMiddleware": layer, "MetricsMiddleware": layer}
    clients: list[MCPClient] = []
    try:
        for block in sorted(file.stem for file in BLOCKS.iterdir()):
            names = await run_block(block, places=places.get(block), **names)
            if "-mcp-" in block:
                clients.append(names["client"])
        kit = Toolkit(
            tools=[names["bash"], names["WebSearch"](), names["HumanApproval"]()],
            mcps=clients[:1],
            skills_or_loaders=[names["loader"]],
        )
        calls = {
            "b": call_of("Bash", command="cat notes.txt"),
            "w": call_of("WebSearch", query="owls"),
            "m": call_of("mcp__filesystem__read_file", path="notes.txt"),
            "s": call_of("Skill", skill="pdf"),
            "h": call_of("HumanApproval", action="deploy", reason="it is Friday"),
        }
        turn = [one.model_copy(update={"id": name}) for name, one in calls.items()]
        state = state_of(permitting(rule("mcp__filesystem__read_file"), mode=DEFAULT))
        agent = Agent("robot", "Help.", DictatedModel(turn, DONE), kit, state=state)
        events = [event async for event in agent.reply_stream(UserMsg("user", "Go."))]
        assert any(isinstance(event, RequireExternalExecutionEvent) for event in events)
        results = {name: text_of(result) for name, result in results_of(agent).items()}
        assert results["b"] == results["m"] == "buy milk"
        assert results["w"] == "nothing about owls"
        assert "Use `forms.py`." in results["s"]
        reply = await agent.reply(executed(agent, "h", "approved"))
        assert reply.finished_reason == "completed"
    finally:
        for client in clients:
            await client.close()
