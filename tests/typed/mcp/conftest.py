"""Fixtures: the servers of the tests of MCP."""

from __future__ import annotations

from tests.mcp.conftest import rogue, web

__all__ = ["rogue", "web"]
