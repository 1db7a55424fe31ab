"""Sums up a session: calls, decisions, questions, time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from rich.table import Table
from rich.text import Text

from agentscope_like.agent.context import COMPRESSED
from agentscope_like.cli.show.theme import one_line
from agentscope_like.event import (
    AgentEvent,
    CustomEvent,
    ExternalExecutionResultEvent,
    ModelCallEndEvent,
    RequireUserConfirmEvent,
    ToolResultEndEvent,
    ToolResultStartEvent,
    UserConfirmResultEvent,
)
from agentscope_like.message import ToolResultState
from agentscope_like.permission import PermissionBehavior

__all__ = ["Tally"]

COLUMNS = ("calls", "allowed", "asked", "denied", "ok", "failed", "not run")

_ENDINGS = {
    ToolResultState.SUCCESS: "ok",
    ToolResultState.ERROR: "failed",
    ToolResultState.INTERRUPTED: "failed",
    ToolResultState.DENIED: "not run",
}


@dataclass(slots=True)
class Tally:
    """Counts the events of a session.

    Attributes:
        clock: Returns monotonic seconds.
        tools: Counts by column, for each tool.
        prompts: Counts of answers by kind.
        tokens: Tokens read and written.
    """

    clock: Callable[[], float] = time.monotonic
    tools: dict[str, Counter[str]] = field(default_factory=dict)
    prompts: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    _started: float = 0.0
    _names: dict[str, str] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Begin to count time."""
        self._started = self.clock()

    def take(self, event: AgentEvent) -> None:
        """Count one event."""
        match event:
            case RequireUserConfirmEvent():
                for call in event.tool_calls:
                    if call.id not in self._asked:
                        self._count(call.name, "asked")
                        self._asked.add(call.id)
            case ExternalExecutionResultEvent():
                self.prompts["done by hand"] += len(event.execution_results)
            case UserConfirmResultEvent():
                for result in event.confirm_results:
                    self.prompts["yes" if result.confirmed else "no"] += 1
            case ToolResultStartEvent():
                self._begun(event)
            case ToolResultEndEvent():
                name = self._names.pop(event.tool_call_id, None)
                if name is not None and event.state in _ENDINGS:
                    self._count(name, _ENDINGS[event.state])
            case ModelCallEndEvent():
                self.tokens.update(read=event.input_tokens, written=event.output_tokens)
            case CustomEvent(name=name, value=cost) if name == COMPRESSED:
                self.tokens.update(read=cost["input_tokens"], written=cost["output_tokens"])

    def table(self) -> Table:
        """Return the counts as a table with one row per tool."""
        table = Table(title="Summary", title_justify="left", title_style="bold")
        table.add_column("tool")
        for column in COLUMNS:
            table.add_column(column, justify="right")
        total: Counter[str] = Counter()
        for name in sorted(self.tools):
            counts = self.tools[name]
            total.update(counts)
            table.add_row(one_line(name), *(str(counts[column] or "") for column in COLUMNS))
        table.add_section()
        table.add_row("all", *(str(total[column]) for column in COLUMNS), style="bold")
        return table

    def closing_line(self) -> Text:
        """Return questions, tokens and time in one line."""
        seconds = self.clock() - self._started
        answers = ", ".join(f"{count} {answer}" for answer, count in self.prompts.items())
        return Text(
            f"{self.prompts.total()} prompts ({answers or 'none'}); "
            f"{self.tokens['read']:,} tokens read, {self.tokens['written']:,} written; "
            f"{seconds:.1f} s"
        )

    def _begun(self, event: ToolResultStartEvent) -> None:
        name, decision = event.tool_call_name, event.decision
        self._names[event.tool_call_id] = name
        self._count(name, "calls")
        if event.tool_call_id in self._asked or decision is None:
            return
        if decision.behavior is PermissionBehavior.ALLOW or decision.can_be_held:
            self._count(name, "allowed")
        elif decision.behavior is PermissionBehavior.DENY:
            self._count(name, "denied")

    def _count(self, name: str, column: str) -> None:
        self.tools.setdefault(name, Counter())[column] += 1
