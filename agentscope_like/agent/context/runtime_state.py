"""Tells the model the time, the directory, the state of git and the open tasks."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any

from agentscope_like.agent.config import InjectionConfig
from agentscope_like.agent.context.git_state import git_state
from agentscope_like.message import HintBlock, ToolCallBlock
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit, Workplace

__all__ = ["RuntimeState"]

_MOST_CHARACTERS = 500
_TASK_LIST = "TaskList"


class RuntimeState:
    """Composes the hints that tell the model what surrounds it.

    Args:
        config: What is told, and how often.
        state: The agent's state, whose context holds the hints that were given.
        toolkit: The tools, which know the directory that they work in.
    """

    def __init__(self, config: InjectionConfig, state: AgentState, toolkit: Toolkit) -> None:
        self._config = config
        self._state = state
        self._toolkit = toolkit

    async def hint(
        self,
        tools: Iterable[Mapping[str, Any]],
        *,
        tokens: int,
        context_size: int,
        trigger_ratio: float,
    ) -> HintBlock | None:
        """Return the hint that is due before the next call of the model, or None.

        One is due as a reply begins if what the last one said has changed, and in every round if
        the last one is old, was removed, or did not tell that the context is nearly full.

        Args:
            tools: Schemas of the tools that the model may call.
            tokens: Tokens of the next request.
            context_size: Tokens that the model can read.
            trigger_ratio: The share of them at which the context is compressed.
        """
        config = self._config
        if not config.inject_runtime_state:
            return None
        now = datetime.now(config.zone)
        last = self._last_hint()
        limit = trigger_ratio * context_size
        is_nearly_full = tokens > limit - config.context_buffer_ratio * context_size
        length = {"context-length": _length(tokens, int(limit))} if is_nearly_full else {}
        is_old = last is None or _age(last, now) >= timedelta(hours=config.time_interval)
        if not is_old and self._state.cur_iter > 1 and _tells(last, length, values=False):
            return None
        told = await self._surroundings(tools)
        if not is_old and _tells(last, told) and _tells(last, length, values=False):
            return None
        clock = {"current-time": now.strftime(config.time_format), "timezone": config.timezone}
        fields = {**clock, **told, **length}
        lines = "\n".join(f"<{name}>{value}</{name}>" for name, value in fields.items())
        text = config.template.replace("{runtime_state}", lines)
        return HintBlock(hint=text, source=config.injection_source)

    def _last_hint(self) -> HintBlock | None:
        for message in reversed(self._state.context):
            for block in reversed(message.content):
                if isinstance(block, HintBlock) and block.source == self._config.injection_source:
                    return block
        return None

    async def _surroundings(self, tools: Iterable[Mapping[str, Any]]) -> dict[str, str]:
        place = self._toolkit.workplace(self._state)
        if place is None:
            place = await asyncio.to_thread(self._default_place)
        git = await asyncio.to_thread(git_state, place.directory) if place.is_on_host else None
        names = {tool["function"]["name"] for tool in tools}
        fields = {
            "working-directory": _data(place.directory),
            "git": _data(git or ""),
            "tasks": self._tasks(names),
        }
        return {name: value for name, value in fields.items() if value} | self._config.extra_fields

    def _default_place(self) -> Workplace:
        """Return the first working directory, or the process's; none where that was removed."""
        working = self._state.permission_context.directories
        try:
            directory = os.path.abspath(os.path.expanduser(working[0] if working else os.curdir))
        except FileNotFoundError:
            return Workplace("", is_on_host=False)
        return Workplace(directory, is_on_host=True)

    def _tasks(self, tools: set[str]) -> str:
        """Return how many tasks are open; nothing where the context shows them already."""
        counted = [task.state for task in self._state.tasks_context.tasks]
        going, waiting = counted.count("in_progress"), counted.count("pending")
        if not going + waiting or self._shows_tasks():
            return ""
        text = f"{going} in progress, {waiting} pending"
        return f"{text}; `{_TASK_LIST}` shows them" if _TASK_LIST in tools else text

    def _shows_tasks(self) -> bool:
        names = set(self._config.task_tool_names)
        return any(
            isinstance(block, ToolCallBlock) and block.name in names
            for message in self._state.context
            for block in message.content
        )


def _age(hint: HintBlock, now: datetime) -> timedelta:
    try:
        given = datetime.fromisoformat(hint.created_at)
    except ValueError:
        return timedelta.max
    return now - (given if given.tzinfo else given.replace(tzinfo=UTC))


def _tells(hint: HintBlock | None, fields: Mapping[str, str], *, values: bool = True) -> bool:
    """Return whether the hint has these fields, with these values if they count."""
    text = hint.hint if hint is not None and isinstance(hint.hint, str) else ""
    return all(
        (f"<{name}>{value}</{name}>" if values else f"<{name}>") in text
        for name, value in fields.items()
    )


def _length(tokens: int, limit: int) -> str:
    return f"{tokens:,} tokens of the {limit:,} at which older history is summed up"


def _data(text: str) -> str:
    """Return a name that others chose as one line that cannot pass for a part of the hint."""
    line = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )
    return escape(line[:_MOST_CHARACTERS], quote=False)
