"""Leaves out of a server's list the tools that the protocol does not allow.

The library refuses a whole list for one broken tool, and the server with it.
"""

from __future__ import annotations

import logging
from typing import Any

from mcp_types import JSONRPCResponse, Tool
from mcp_types.methods import validate_server_result
from mcp_types.version import LATEST_MODERN_VERSION
from pydantic import ValidationError

from agentscope_like.permission.explain import visible
from agentscope_like.tool.arguments import shortened

__all__ = ["SoundTools"]

_log = logging.getLogger(__name__)


class SoundTools:
    """Looks at what a server says, and takes broken tools out of it."""

    def __init__(self) -> None:
        self._version = LATEST_MODERN_VERSION

    def keep(self, message: object) -> None:
        """Leave only sound tools in a message that lists tools; note the version of another."""
        if not isinstance(message, JSONRPCResponse):
            return
        result: dict[str, Any] = message.result
        version, tools = result.get("protocolVersion"), result.get("tools")
        if isinstance(version, str):
            self._version = version
        elif isinstance(tools, list):
            result["tools"] = [tool for tool in tools if self._is_sound(result, tool)]

    def _is_sound(self, result: dict[str, Any], tool: object) -> bool:
        problem = self._problem({**result, "tools": [tool]})
        if problem is None:
            return True
        named = tool.get("name") if isinstance(tool, dict) else tool
        told = [visible(shortened(text), layout="") for text in (repr(named), problem)]
        _log.warning("the tool %s of an MCP server is left out: %s", *told)
        return False

    def _problem(self, listed: dict[str, Any]) -> str | None:
        """Return what is wrong with the only tool of a list; None where it is the list itself."""
        try:
            Tool.model_validate(listed["tools"][0], by_name=False)
            validate_server_result("tools/list", self._version, listed)
        except ValidationError as error:
            found = error.errors(include_url=False, include_input=False, include_context=False)
            places = [".".join(map(str, one["loc"])) for one in found]
            is_list = error.title != Tool.__name__ and not any("tools" in p for p in places)
            return None if is_list else f"{places[0]}: {found[0]['msg']}"
        except RecursionError:
            return "it is nested too deeply"
        except (KeyError, ValueError):
            return None  # of another version; the library says so
        return None
