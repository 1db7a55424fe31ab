"""Reduces the definition of an MCP tool to comparable data, and computes its digest."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_types import Tool

__all__ = ["definition_of", "digest_of"]


def definition_of(tool: Tool) -> dict[str, Any]:
    """Return the server's definition of its tool as JSON data.

    Icons and `_meta` are left out, since neither the model nor a decision uses them.
    """
    return tool.model_dump(by_alias=True, mode="json", exclude_none=True, exclude={"meta", "icons"})


def digest_of(definition: dict[str, Any]) -> str:
    """Return `sha256:` and the digest of the definition as canonical JSON.

    Canonical JSON has sorted keys, no whitespace, and only ASCII.
    """
    canonical = json.dumps(definition, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"
