"""The definition of an MCP tool as a fact that can be compared."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_types import Tool

__all__ = ["definition_of", "digest_of"]


def definition_of(tool: Tool) -> dict[str, Any]:
    """Return what the server says of its tool, as JSON gives it.

    That is all of it but icons and `_meta`, which tell neither the model nor a decision anything.
    """
    return tool.model_dump(by_alias=True, mode="json", exclude_none=True, exclude={"meta", "icons"})


def digest_of(definition: dict[str, Any]) -> str:
    """Return `sha256:` and the digest of the definition as canonical JSON.

    Canonical are keys in order, no blanks, and ASCII only.
    """
    canonical = json.dumps(definition, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"
