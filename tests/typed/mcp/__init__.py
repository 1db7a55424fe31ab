"""Tests of MCP tools as typed tools."""
