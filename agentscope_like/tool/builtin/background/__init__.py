"""Commands that go on while the agent does other things, and the tools to follow them."""

from agentscope_like.tool.builtin.background.background_commands import BackgroundCommands
from agentscope_like.tool.builtin.background.command_tools import (
    CommandOutput,
    CommandStop,
    CommandWait,
)

__all__ = ["BackgroundCommands", "CommandOutput", "CommandStop", "CommandWait"]
