"""Defines `ToolProxy`, a view of toolkits that shows only allowed tool names."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from math import inf

from agentscope_like.exception import ConfigurationError
from agentscope_like.message import ToolChunk, ToolResponse
from agentscope_like.nearest import nearest
from agentscope_like.permission import PermissionDecision
from agentscope_like.state import AgentState
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.call import CallRequest, DecisionLayer, Grant, RunLayer
from agentscope_like.tool.group import BASIC
from agentscope_like.tool.kit import ToolView
from agentscope_like.tool.managed_toolkit import ManagedToolkit
from agentscope_like.tool.tool_names import ToolNames
from agentscope_like.tool.toolkit import Toolkit

__all__ = ["ToolProxy"]

_log = logging.getLogger(__name__)


class ToolProxy(ManagedToolkit):
    """A view of toolkits that shows some of their tools only (seed 000, 1.4).

    An agent uses it like any toolkit. Tools outside the view do not exist for its calls, even if
    they are added to the managers later. The managers' restrictions apply here as well: each one's
    decision layers surround all calls except those of other managers' tools, and the lowest of
    their limits truncates every result.

    It is cheap to create, such as one for each session or request.

    Args:
        tool_managers: One or more toolkits; if several tools have the same name, the first is used.
        available_tools: The names of the tools to show; None for all. Unknown names are logged as a
            warning.

    Raises:
        ConfigurationError: There is no toolkit, an argument is not one, names are not a list, or a
            model would call two tools by one name.
    """

    def __init__(
        self,
        tool_managers: Toolkit | Sequence[Toolkit],
        available_tools: Iterable[str] | None = None,
    ) -> None:
        managers = _checked(tool_managers)
        if isinstance(available_tools, str):
            raise ConfigurationError(f"`available_tools` is a list: give [{available_tools!r}]")
        names = None if available_tools is None else tuple(available_tools)
        layers = [
            _but_for_others(layer, manager, managers)
            for manager in managers
            for layer in manager._layers  # noqa: SLF001 - of its own class
        ]
        super().__init__(decision_layers=layers)
        self._run_layers = tuple(
            _run_but_for_others(layer, manager, managers)
            for manager in managers
            for layer in manager._run_layers  # noqa: SLF001 - of its own class
        )
        strictest = min(managers, key=lambda m: inf if m.result_limit is None else m.result_limit)
        self.result_limit = strictest.result_limit
        self._truncate = strictest._truncate  # noqa: SLF001 - of its own class
        inventories = [manager._inventory for manager in managers]  # noqa: SLF001
        self._begin(ToolView(inventories, names))
        self._inventory.look()
        ToolNames(self._inventory.tools)
        self._unknown = set(names or ())
        self._warn_of(name for name in self._unknown if not self._inventory.may_list(name))

    async def refresh(self) -> None:
        """Look for new tools and skills of all sources; an agent does so once in each reply."""
        await super().refresh()
        self._warn_of(self._unknown)

    def _warn_of(self, names: Iterable[str]) -> None:
        """Log each unknown name once."""
        known = self._inventory.ruled()
        for name in sorted(names):
            self._unknown.discard(name)
            if name not in known:
                _log.warning("available_tools: no tool is named %r%s", name, nearest(name, known))

    # What a view does not do

    async def close(self) -> None:
        """Do nothing: the tools belong to the managers, which close them."""

    async def add_tool(self, tool: ToolBase | list[ToolBase], group_name: str = BASIC) -> None:
        """Refuse: nothing may widen a view.

        Raises:
            ConfigurationError: Always.
        """
        del tool, group_name
        raise _refusal("add_tool")

    async def remove_tool(self, tool_name: str | list[str]) -> None:
        """Refuse it: the tools are the managers'.

        Raises:
            ConfigurationError: Always.
        """
        del tool_name
        raise _refusal("remove_tool")

    def clear(self) -> None:
        """Refuse it: the tools are the managers'.

        Raises:
            ConfigurationError: Always.
        """
        raise _refusal("clear")


def _checked(managers: Toolkit | Sequence[Toolkit]) -> list[Toolkit]:
    """Return the toolkits.

    Raises:
        ConfigurationError: There is none, or an argument is not a toolkit.
    """
    given: list[object] = list(managers) if isinstance(managers, Sequence) else [managers]
    checked = [one for one in given if isinstance(one, Toolkit)]
    if not checked or len(checked) < len(given):
        strange = [repr(one) for one in given if not isinstance(one, Toolkit)]
        what = ", ".join(strange) or "nothing"
        raise ConfigurationError(
            f"`tool_managers` holds {what}: give ToolManager, ToolProxy or Toolkit objects"
        )
    return checked


def _but_for_others(
    layer: DecisionLayer, manager: Toolkit, managers: Sequence[Toolkit]
) -> DecisionLayer:
    """Wrap the manager's layer so that it skips the tools that only other managers have."""
    if len(managers) == 1:
        return layer

    async def passed_by(
        request: CallRequest, go_on: Callable[[CallRequest], Awaitable[PermissionDecision]]
    ) -> PermissionDecision:
        if _is_of_others(request.tool, manager, managers):
            return await go_on(request)
        return await layer(request, go_on)

    return passed_by


def _run_but_for_others(layer: RunLayer, manager: Toolkit, managers: Sequence[Toolkit]) -> RunLayer:
    """Wrap the manager's layer so that it skips the tools that only other managers have."""

    def passed_by(
        grant: Grant, state: AgentState, run: AsyncGenerator[ToolChunk | ToolResponse, None]
    ) -> AsyncGenerator[ToolChunk | ToolResponse, None]:
        return run if _is_of_others(grant.tool, manager, managers) else layer(grant, state, run)

    return layer if len(managers) == 1 else passed_by


def _is_of_others(tool: ToolBase, manager: Toolkit, managers: Sequence[Toolkit]) -> bool:
    having = [one for one in managers if one._inventory.tools.get(tool.name) is tool]  # noqa: SLF001
    return bool(having) and not any(one is manager for one in having)


def _refusal(method: str) -> ConfigurationError:
    return ConfigurationError(
        f"a ToolProxy has no `{method}`: it shows what its managers have. Change these, and name "
        "what is to be seen in `available_tools` of a new ToolProxy"
    )
