"""Builds the parts that the rounds of one reply share."""

from __future__ import annotations

from msgspec import Struct

from agentscope_like.agent.calls import Acting, CallRunner, decision_layers
from agentscope_like.agent.context import Compression, CompressionWish, ResultLimit
from agentscope_like.agent.model_calls import ModelCalls
from agentscope_like.agent.reply.ending import ReplyEnding
from agentscope_like.agent.reply_recorder import ReplyRecorder
from agentscope_like.agent.replying_agent import ReplyingAgent
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit

__all__ = ["ReplyParts"]


class ReplyParts(Struct, frozen=True):
    """The parts of one reply, built when its stream begins.

    Attributes:
        agent: The agent; its settings are read when they are needed.
        toolkit: The agent's toolkit, with the tools of its middlewares and of structured output.
        recorder: The reply.
        calls: Calls the models.
        acting: Decides and runs calls.
        ending: Ends the reply.
        compression: Compresses the context.
        limit: Keeps results within a number of tokens.
        wishes: Compressions that `Agent.compress_context` was asked for during the reply.
    """

    agent: ReplyingAgent
    toolkit: Toolkit
    recorder: ReplyRecorder
    calls: ModelCalls
    acting: Acting
    ending: ReplyEnding
    compression: Compression
    limit: ResultLimit
    wishes: list[CompressionWish]

    @property
    def state(self) -> AgentState:
        """Return the agent's state."""
        return self.recorder.state

    @classmethod
    def of(
        cls,
        agent: ReplyingAgent,
        toolkit: Toolkit,
        recorder: ReplyRecorder,
        wishes: list[CompressionWish],
    ) -> ReplyParts:
        """Return the parts of a reply of the agent."""
        middlewares = agent.middlewares
        layers = decision_layers(middlewares, agent)
        limit = _result_limit(agent, recorder.state)
        calls = ModelCalls(agent.model, agent.model_config, agent=agent, middlewares=middlewares)
        runner = CallRunner(
            toolkit,
            recorder.state,
            agent=agent,
            middlewares=middlewares,
            layers=layers,
            limit=limit,
        )
        return cls(
            agent,
            toolkit,
            recorder,
            calls,
            Acting(toolkit, recorder, runner, layers),
            ReplyEnding(recorder),
            Compression(recorder.state, agent.model, calls, agent.offloader),
            limit,
            wishes,
        )


def _result_limit(agent: ReplyingAgent, state: AgentState) -> ResultLimit:
    limit = agent.context_config.tool_result_limit
    if agent.offloader is None:
        return ResultLimit(limit, agent.output_store)
    own = agent.toolkit.result_limit  # which the reply's toolkit does without
    limit = limit if own is None else min(limit, own)
    return ResultLimit(limit, agent.output_store, agent.offloader, state.session_id)
