"""A model that says what a test dictates, and helpers to follow an agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any, TypeAlias

from agentscope_like.agent import Agent, AgentInput, InjectionConfig, ReActConfig
from agentscope_like.event import (
    AgentEvent,
    ConfirmResult,
    EventType,
    ExternalExecutionResultEvent,
    UserConfirmResultEvent,
)
from agentscope_like.message import (
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from agentscope_like.middleware import MiddlewareBase
from agentscope_like.model import Answer, ChatModelBase, ChatResponse
from agentscope_like.permission import PermissionRule
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolBase, ToolChoice, Toolkit

UNTOLD = InjectionConfig(inject_runtime_state=False)

Block: TypeAlias = TextBlock | ToolCallBlock
Turn: TypeAlias = Sequence[Block] | Exception | Callable[[], AsyncGenerator[ChatResponse, None]]


class DictatedModel(ChatModelBase):
    """Gives one turn after the other: blocks, an exception to raise, or a stream to give."""

    def __init__(self, *turns: Turn) -> None:
        super().__init__("dictated", max_retries=0)
        self.turns = list(turns)
        self.seen: list[list[Msg]] = []
        self.shown_tools: list[list[str]] = []
        self.choices: list[ToolChoice | None] = []

    async def _call_api(
        self,
        model_name: str,
        messages: list[Msg],
        tools: list[dict[str, Any]] | None = None,
        tool_choice: ToolChoice | None = None,
        **kwargs: Any,
    ) -> Answer:
        self.seen.append([message.model_copy(deep=True) for message in messages])
        self.shown_tools.append([tool["function"]["name"] for tool in tools or ()])
        self.choices.append(tool_choice)
        turn = self.turns.pop(0)
        if isinstance(turn, Exception):
            raise turn
        if callable(turn):
            return turn()
        return ChatResponse(content=list(turn), is_last=True)


def agent_of(
    tools: Sequence[ToolBase],
    *turns: Turn,
    state: AgentState | None = None,
    config: ReActConfig | None = None,
    middlewares: Sequence[MiddlewareBase] = (),
    injection: InjectionConfig = UNTOLD,
) -> Agent:
    """Return an agent whose model takes these turns, and is not told of the runtime's state."""
    return Agent(
        "robot",
        "Be helpful.",
        DictatedModel(*turns),
        Toolkit(tools),
        middlewares,
        state=state,
        react_config=config,
        injection_config=injection,
    )


def model_of(agent: Agent) -> DictatedModel:
    """Return the agent's model, which remembers what it was shown."""
    assert isinstance(agent.model, DictatedModel)
    return agent.model


def reloaded(agent: Agent, tools: Sequence[ToolBase], *turns: Turn) -> Agent:
    """Return an agent that goes on from the JSON of another's state, as a new process would."""
    state = AgentState.model_validate_json(agent.state.model_dump_json())
    return agent_of(
        tools, *turns, state=state, config=agent.react_config, middlewares=agent.middlewares
    )


async def events_of(agent: Agent, inputs: AgentInput | str = None) -> list[AgentEvent]:
    """Return everything that the agent says to an input."""
    given = UserMsg("user", inputs) if isinstance(inputs, str) else inputs
    return [e async for e in agent.reply_stream(given) if not isinstance(e, Msg)]


SHOWN = {
    EventType.REPLY_START,
    EventType.REPLY_END,
    EventType.TOOL_RESULT_START,
    EventType.TOOL_RESULT_END,
    EventType.REQUIRE_USER_CONFIRM,
    EventType.REQUIRE_EXTERNAL_EXECUTION,
    EventType.EXCEED_MAX_ITERS,
}


def outline(events: Sequence[AgentEvent]) -> list[str]:
    """Return the events of calls and replies in short: `TOOL_RESULT_END c1 success`."""
    lines = []
    for event in events:
        if event.type in SHOWN:
            calls = getattr(event, "tool_calls", [])
            subject = getattr(event, "tool_call_id", " ".join(call.id for call in calls))
            ended = getattr(event, "state", "") or getattr(event, "finished_reason", "")
            lines.append(" ".join(filter(None, [event.type.value, subject, str(ended)])))
    return lines


def calls_of(agent: Agent) -> dict[str, ToolCallBlock]:
    """Return the calls of the agent's last message, by id."""
    blocks = agent.state.context[-1].content
    return {block.id: block for block in blocks if isinstance(block, ToolCallBlock)}


def results_of(agent: Agent) -> dict[str, ToolResultBlock]:
    """Return the results in the agent's last message, by id."""
    blocks = agent.state.context[-1].content
    return {block.id: block for block in blocks if isinstance(block, ToolResultBlock)}


def text_of(result: ToolResultBlock) -> str:
    """Return the text of a result."""
    if isinstance(result.output, str):
        return result.output
    return "".join(block.text for block in result.output if isinstance(block, TextBlock))


def answer(
    agent: Agent,
    *call_ids: str,
    confirmed: bool = True,
    rules: list[PermissionRule] | None = None,
    arguments: str | None = None,
    message: str | None = None,
) -> UserConfirmResultEvent:
    """Return the same answer to several calls."""
    changed = {} if arguments is None else {"input": arguments}
    results = [
        ConfirmResult(
            confirmed=confirmed,
            tool_call=calls_of(agent)[call_id].model_copy(update=changed),
            rules=rules,
            message=message,
        )
        for call_id in call_ids
    ]
    return UserConfirmResultEvent(reply_id=agent.state.reply_id, confirm_results=results)


def executed(agent: Agent, call_id: str, text: str = "done") -> ExternalExecutionResultEvent:
    """Return the result of an external call."""
    result = ToolResultBlock(
        id=call_id,
        name=calls_of(agent)[call_id].name,
        output=text,
        state=ToolResultState.SUCCESS,
    )
    return ExternalExecutionResultEvent(reply_id=agent.state.reply_id, execution_results=[result])
