"""A judge for other programs: calls as JSON lines on standard input, decisions on standard output.

Any program, in any language, can ask it before it runs something, and keeps running it itself:

    $ echo '{"tool": "Bash", "arguments": {"command": "git status"}}' | python examples/judge.py
    {"decision": "allow", "message": "It only reads."}

Rules are given as arguments: python examples/judge.py 'allow Bash(npm run:*)' 'deny Read(.env)'.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from agentscope_like import (
    AgentState,
    Bash,
    Edit,
    Glob,
    Grep,
    PermissionContext,
    PermissionEngine,
    Read,
    ToolCallBlock,
    Toolkit,
    Write,
)


async def judged(toolkit: Toolkit, policy: PermissionContext, line: str) -> dict[str, Any]:
    """Return the decision about the call in a line of JSON; what is no call is denied."""
    try:
        request = json.loads(line)
        name, arguments = str(request["tool"]), json.dumps(request["arguments"])
    except (ValueError, TypeError, KeyError) as error:
        return {"decision": "deny", "message": f"Not a call: {error!r}"}
    call = ToolCallBlock(id="1", name=name, input=arguments)
    decided = await toolkit.decide(call, AgentState(permission_context=policy))
    answer: dict[str, Any] = {"decision": decided.behavior.value, "message": decided.message}
    if call.suggested_rules:
        answer["spared_by"] = [str(rule) for rule in call.suggested_rules]
    return answer


async def main() -> None:
    """Judge line by line, until the input ends."""
    policy = PermissionContext()
    engine = PermissionEngine(policy)
    for rule in sys.argv[1:]:
        engine.add_rule(rule)
    toolkit = Toolkit([Bash(), Read(), Write(), Edit(), Glob(), Grep()])
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await judged(toolkit, policy, line)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
