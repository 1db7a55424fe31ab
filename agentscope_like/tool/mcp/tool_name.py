"""Builds the name of an MCP tool for models and rules."""

from __future__ import annotations

import hashlib
import re

__all__ = ["mcp_tool_name"]

_PREFIX, _BETWEEN = "mcp__", "__"
_MAX_LENGTH = 64
_LEGAL = re.compile(r"[A-Za-z0-9_-]+")
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")
_HASH_DIGITS = 16
_HASHED = re.compile(r"_[0-9a-f]{16}")


def mcp_tool_name(server: str, tool: str) -> str:
    """Return `mcp__server__tool` (seed 002, "MCP"), a unique name for this pair.

    A name that is illegal, longer than 64 characters or ambiguous is mapped: `x` replaces each
    illegal character, and a hash of both names is added. No other name ends like that.

    Args:
        server: The name of the server in this program.
        tool: The tool's name, as the server gives it; any text.
    """
    plain = f"{_PREFIX}{server}{_BETWEEN}{tool}"
    looks_mapped = _HASHED.fullmatch(plain[-_HASH_DIGITS - 1 :])
    if len(plain) <= _MAX_LENGTH and _reads_back(server, tool) and not looks_mapped:
        return plain
    digest = hashlib.sha256(f"{len(server)}:{server}{tool}".encode("utf-8", "surrogatepass"))
    ending = f"_{digest.hexdigest()[:_HASH_DIGITS]}"
    return _ILLEGAL.sub("x", plain)[: _MAX_LENGTH - len(ending)] + ending


def _reads_back(server: str, tool: str) -> bool:
    """Return whether the first `__` after the prefix separates the two names."""
    return bool(
        _LEGAL.fullmatch(server) and _LEGAL.fullmatch(tool) and _BETWEEN not in f"{server}_"
    )
