"""A tool of your own, with a rule language of its own.

The tool sends messages to a chat. Reading a channel is free; writing asks, unless a rule names
the channel: `allow Chat(#builds)`. Whatever the rules say, messages to everyone ask.

    python examples/own_tool.py
"""

from __future__ import annotations

import asyncio
import json
from fnmatch import fnmatchcase
from typing import Any

from agentscope_like import (
    AgentState,
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionRule,
    ToolBase,
    ToolCallBlock,
    Toolkit,
)
from agentscope_like.message import TextBlock, ToolChunk


class Chat(ToolBase):
    """Reads channels of a chat, and writes to them."""

    name = "Chat"
    description = "Reads a channel; writes to it where `text` is given."
    input_schema = {  # noqa: RUF012
        "type": "object",
        "properties": {"channel": {"type": "string"}, "text": {"type": "string"}},
        "required": ["channel"],
    }
    is_concurrency_safe = True
    is_read_only = False

    async def check_read_only(self, tool_input: dict[str, Any]) -> bool:
        """Return whether the call only reads: it has no text."""
        return "text" not in tool_input

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Allow reading; ask about messages to everyone whatever the rules say."""
        del context
        channel = tool_input["channel"]
        if await self.check_read_only(tool_input):
            return PermissionDecision(PermissionBehavior.ALLOW, f"Chat reads {channel}.")
        if "@everyone" in tool_input["text"]:
            return PermissionDecision(
                PermissionBehavior.ASK, "This would notify everyone.", bypass_immune=True
            )
        return PermissionDecision(PermissionBehavior.PASSTHROUGH, f"Chat would write to {channel}.")

    async def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool:
        """Return whether the rule names the channel, as a glob: `Chat(#team-*)`."""
        return rule_content is None or fnmatchcase(tool_input["channel"], rule_content)

    async def generate_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
        """Offer a rule for this one channel."""
        text = f"allow Chat({tool_input['channel']})"
        return [PermissionRule.parse(text, source="suggestion")]

    async def call(self, channel: str, text: str | None = None) -> ToolChunk:
        """Read or write."""
        said = f"nothing new in {channel}" if text is None else f"wrote to {channel}: {text}"
        return ToolChunk(content=[TextBlock(text=said)])


async def main() -> None:
    """Decide about some calls under one rule."""
    toolkit = Toolkit([Chat()])
    policy = PermissionContext.from_rules(allow=["Chat(#builds)"], deny=["Chat(#board)"])
    state = AgentState(permission_context=policy)
    for arguments in (
        {"channel": "#general"},
        {"channel": "#builds", "text": "green"},
        {"channel": "#builds", "text": "@everyone: green"},
        {"channel": "#general", "text": "hello"},
        {"channel": "#board"},
    ):
        call = ToolCallBlock(id="1", name="Chat", input=json.dumps(arguments))
        decided = await toolkit.decide(call, state)
        offered = ", ".join(str(rule) for rule in call.suggested_rules)
        print(f"{decided.behavior:5} {arguments} - {decided.message}")
        if decided.behavior == "ask" and offered:
            print(f"      spared by: {offered}")


if __name__ == "__main__":
    asyncio.run(main())
