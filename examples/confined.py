"""An agent whose commands run in a sandbox: no network, no files of yours, nothing left behind.

The model is recorded. Its commands are allowed without a question, since the sandbox is made for
this run and thrown away after it. Needs Linux with bubblewrap.

    python examples/confined.py
"""

from __future__ import annotations

import asyncio
import sys

from agentscope_like import (
    Agent,
    AgentState,
    Bash,
    PermissionContext,
    PermissionMode,
    ScriptedModel,
    Toolkit,
    UserMsg,
    Write,
)
from agentscope_like.event import ToolResultEndEvent, ToolResultTextDeltaEvent
from agentscope_like.exception import IsolationError
from agentscope_like.model import Script
from agentscope_like.sandbox import SandboxConfig, SandboxProviderFactory

SCRIPT = Script.parse("""\
{"calls": [{"id": "a", "name": "Write", "input": {"file_path": "job.sh", "content": "sort names > sorted\\ncat sorted\\n"}}]}
{"calls": [{"id": "b", "name": "Bash", "input": {"command": "printf 'eve\\nada\\n' > names && sh job.sh"}}]}
{"calls": [{"id": "c", "name": "Bash", "input": {"command": "ls ~/.ssh; cat /etc/shadow; (exec 3<>/dev/tcp/1.1.1.1/53) && echo online"}}]}
{"say": "Sorted."}
""")


async def main() -> int:
    """Run the agent, and print what its commands say."""
    try:
        sandbox = await SandboxProviderFactory.create(SandboxConfig())
    except IsolationError as error:
        print(f"nothing was run: {error}")
        return 0
    async with sandbox:
        toolkit = Toolkit([Bash(backend=sandbox), Write(backend=sandbox)])
        policy = PermissionContext(mode=PermissionMode.BYPASS)
        agent = Agent(
            "robot",
            "You sort names.",
            ScriptedModel(SCRIPT),
            toolkit,
            state=AgentState(permission_context=policy),
        )
        async for event in agent.reply_stream(UserMsg("user", "Sort the names.")):
            if isinstance(event, ToolResultTextDeltaEvent):
                print(event.delta, end="")
            elif isinstance(event, ToolResultEndEvent):
                print(f"\n-- {event.tool_call_id}: {event.state.value}")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
