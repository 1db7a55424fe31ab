"""Chooses the workflow that the agent follows in a reply."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from msgspec import Struct
from typing_extensions import override

from agentscope_like.agent.replying_agent import ReplyingAgent
from agentscope_like.exception import ConfigurationError
from agentscope_like.message import Msg
from agentscope_like.middleware import MiddlewareBase
from agentscope_like.nearest import nearest

__all__ = ["Workflow", "WorkflowChoice", "WorkflowSelector"]

_log = logging.getLogger(__name__)


class Workflow(Struct, frozen=True):
    """A way to do one kind of work.

    Attributes:
        name: Its name.
        description: When it is the right one, for whoever selects.
        instructions: Its steps, for the model.
    """

    name: str
    description: str
    instructions: str


WorkflowSelector: TypeAlias = Callable[[list[Msg], Sequence[Workflow]], Awaitable[str | None]]
"""`async (messages, workflows) -> name`: the workflow for these messages; None for none."""


class WorkflowChoice(MiddlewareBase):
    """Adds the steps of the workflow that a function selects to the system prompt (seed 000, 3).

    The function is called once in each reply, before the model; it may ask a model of its own. The
    choice is part of the state, so that a reply that waits for a person keeps its workflow. A
    workflow neither allows nor denies anything.

    Args:
        workflows: The workflows.
        select: Selects one; if it raises a `ModelError`, the reply ends as if the model had failed.
            An unknown name is logged and ignored.

    Raises:
        ConfigurationError: Two workflows have one name.
    """

    def __init__(self, workflows: Sequence[Workflow], select: WorkflowSelector) -> None:
        self._workflows = {one.name: one for one in workflows}
        self._select = select
        if len(self._workflows) != len(workflows):
            names = [one.name for one in workflows]
            raise ConfigurationError(
                f"two of the workflows {names!r} have one name: give each a name of its own"
            )

    @override
    async def on_system_prompt(self, agent: ReplyingAgent, current_prompt: str) -> str:
        """Return the prompt with the steps of the reply's workflow, which is selected first."""
        workflow = self._workflows.get(await self._chosen(agent))
        if workflow is None:
            return current_prompt
        return f"{current_prompt}\n\n# Workflow: {workflow.name}\n\n{workflow.instructions}"

    async def _chosen(self, agent: ReplyingAgent) -> str:
        """Return the name of the reply's workflow; empty for none."""
        state, key = agent.state, await self.get_middleware_key()
        kept = state.middle_context.get(key)
        if isinstance(kept, dict) and kept.get("reply_id") == state.reply_id:
            return str(kept.get("workflow", ""))
        messages = [message for message in state.context if message.content]
        name = await self._select(messages, tuple(self._workflows.values())) or ""
        if name and name not in self._workflows:
            hint = nearest(name, self._workflows)
            _log.warning("the selected workflow %r does not exist%s", name, hint)
        state.middle_context[key] = {"reply_id": state.reply_id, "workflow": name}
        return name
