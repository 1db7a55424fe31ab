"""Conformance with the document "Tool" of AgentScope 2 (seed 002), block by block, row by row."""
