"""Measures openhands-sdk, in its own environment; prints JSON: `-m benchmarks.typed.there`."""

from __future__ import annotations

import json
import logging
import os
import tempfile
import time
from typing import Any

from benchmarks.typed.work import (
    ARGUMENTS,
    CALLS,
    TOOLS,
    footprint,
    import_seconds,
    microseconds,
    report,
)

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("OPENHANDS_SUPPRESS_BANNER", "1")


def main() -> None:
    """Measure, and print."""
    from openhands.sdk import Agent, Conversation, Tool, register_tool  # type: ignore[import-not-found]
    from openhands.sdk.llm import Message, MessageToolCall, TextContent  # type: ignore[import-not-found]
    from openhands.sdk.testing import TestLLM  # type: ignore[import-not-found]
    from openhands.sdk.tool import Action, Observation, ToolDefinition, ToolExecutor  # type: ignore[import-not-found]

    logging.disable(logging.CRITICAL)

    class LookAction(Action):  # type: ignore[misc]
        path: str
        count: int
        deep: bool = False

    class LookObservation(Observation):  # type: ignore[misc]
        count: int

    class LookExecutor(ToolExecutor):  # type: ignore[misc]
        def __call__(self, action: Any, conversation: Any = None) -> Any:
            return LookObservation.from_text(action.path, count=action.count)

    class LookTool(ToolDefinition):  # type: ignore[misc]
        @classmethod
        def create(cls, *args: Any, **kwargs: Any) -> Any:
            return [
                cls(
                    description="Looks at a path.",
                    action_type=LookAction,
                    observation_type=LookObservation,
                    executor=LookExecutor(),
                )
            ]

    (tool,) = LookTool.create()
    tools = [LookTool.create()[0] for _ in range(TOOLS)]
    register_tool("look", LookTool)

    def execute() -> None:
        _ = tool(tool.action_from_arguments(ARGUMENTS)).to_llm_content

    def schemas() -> None:
        for one in tools:
            one.to_openai_tool(add_security_risk_prediction=True)

    def loop_call() -> float:
        turns = [
            Message(
                role="assistant",
                content=[TextContent(text="")],
                tool_calls=[
                    MessageToolCall(
                        id=f"c{n}",
                        name="look",
                        arguments=json.dumps({**ARGUMENTS, "count": n}),
                        origin="completion",
                    )
                ],
            )
            for n in range(CALLS)
        ]
        done = Message(role="assistant", content=[TextContent(text="Done.")])
        model = TestLLM.from_messages([*turns, done])
        agent = Agent(llm=model, tools=[Tool(name="look")], include_default_tools=[])
        with tempfile.TemporaryDirectory() as place:
            conversation = Conversation(
                agent=agent, workspace=place, visualizer=None, stuck_detection=False
            )
            conversation.send_message("Look.")
            begin = time.process_time()
            conversation.run()
            took = time.process_time() - begin
            conversation.close()
        return took / CALLS * 1e6

    schemas()
    packages, size = footprint("openhands-sdk", "openhands-tools")
    loop = min(loop_call() for _ in range(4))
    report(
        {
            "import": import_seconds("from openhands.sdk.tool import ToolDefinition, Action"),
            "import_all": import_seconds("import openhands.sdk"),
            "executor": microseconds(execute, 3000),
            "guarded": loop,
            "guarded_thread": loop,
            "loop": loop,
            "schemas": microseconds(schemas, 3) / 1e3,
            "size": size,
            "packages": packages,
        }
    )


if __name__ == "__main__":
    main()
