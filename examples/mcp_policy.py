"""The tools of an MCP server under a policy: one is allowed, one asks, one is denied.

The server is this file as well (`--serve`), so that the example needs nothing else.

    python examples/mcp_policy.py
"""

from __future__ import annotations

import asyncio
import sys

from mcp.server.mcpserver import MCPServer

from agentscope_like import AgentState, PermissionContext, ToolCallBlock, Toolkit
from agentscope_like.mcp import MCPClient, StdioMCPConfig
from agentscope_like.message import TextBlock, ToolResponse

NOTES = ["buy milk", "call Ada"]


def serve() -> None:
    """Serve three tools over standard input and output."""
    server = MCPServer("notes", log_level="ERROR")

    @server.tool()
    def find(word: str) -> str:
        """Find a note."""
        return "; ".join(note for note in NOTES if word in note) or "nothing"

    @server.tool()
    def add(text: str) -> str:
        """Add a note."""
        NOTES.append(text)
        return f"added {text}"

    @server.tool()
    def clear() -> str:
        """Delete all notes."""
        NOTES.clear()
        return "all gone"

    server.run("stdio")


async def main() -> None:
    """Call each tool as a model would."""
    program = StdioMCPConfig(command=sys.executable, args=[__file__, "--serve"])
    policy = PermissionContext.from_rules(
        allow=["mcp__notes__find"],
        deny=["mcp__notes__clear"],
    )
    state = AgentState(permission_context=policy)
    async with MCPClient(name="notes", is_stateful=True, mcp_config=program) as client:
        toolkit = Toolkit(mcps=[client])
        await toolkit.refresh()
        calls = {"find": '{"word": "milk"}', "add": '{"text": "x"}', "clear": "{}"}
        for name, arguments in calls.items():
            call = ToolCallBlock(id=name, name=f"mcp__notes__{name}", input=arguments)
            decided = await toolkit.decide(call, state)
            print(f"{decided.behavior:5} {call.name} - {decided.message}")
            if decided.grant is not None:
                async for item in toolkit.run(decided.grant, state):
                    if isinstance(item, ToolResponse):
                        said = [
                            block.text for block in item.content if isinstance(block, TextBlock)
                        ]
                        print("     ", *said)


if __name__ == "__main__":
    serve() if "--serve" in sys.argv else asyncio.run(main())
