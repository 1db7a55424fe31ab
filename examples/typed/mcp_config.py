"""An agent whose MCP servers are in a configuration, in the form that clients share.

The server is one that comes along, so that nothing is downloaded; `uvx` and `npx` are written in
the same place.

    python examples/typed/mcp_config.py
"""

from __future__ import annotations

import asyncio
import os
import sys

from agentscope_like import Agent, AgentState, PermissionContext, ScriptedModel, UserMsg
from agentscope_like.message import ToolResultBlock
from agentscope_like.model import Script
from agentscope_like.typed import observation_of

MCP_CONFIG = {
    "mcpServers": {
        "time": {
            "command": sys.executable,
            "args": ["-P", "-m", "agentscope_like.mcp.bundled.serve", "time"],
            "env": {"CLOCK_TOKEN": "${CLOCK_TOKEN}"},
        },
        "fetch": {"command": "uvx", "args": ["mcp-server-fetch"], "disabled": True},
    }
}

SCRIPT = """\
{"say": "I look at the clock.", "calls": [{"name": "mcp__time__convert_time", "input": {"time": "2026-03-29T02:30", "to_timezone": "Asia/Tokyo"}}]}
{"say": "It is half past eleven in Tokyo."}
"""


async def main() -> None:
    """Let the agent use its server; one rule allows the call."""
    os.environ.setdefault("CLOCK_TOKEN", "a secret of the server")
    policy = PermissionContext.from_rules(allow=["mcp__time__convert_time"])
    agent = Agent(
        "clerk",
        "You tell times.",
        ScriptedModel(Script.parse(SCRIPT)),
        state=AgentState(permission_context=policy),
        mcp_config=MCP_CONFIG,
        mcp_variables=["CLOCK_TOKEN"],
    )
    async with agent:
        for schema in await agent.toolkit.get_tool_schemas():
            print("offers", schema["function"]["name"])
        answer = await agent.reply(
            UserMsg("you", "It is 02:30 in London. What time is it in Tokyo?")
        )
    for block in answer.content:
        if isinstance(block, ToolResultBlock):
            print(block.state.value, observation_of(block).text)
    print(answer.get_text_content())


if __name__ == "__main__":
    asyncio.run(main())
