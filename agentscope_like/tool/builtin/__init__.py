"""Provides the built-in tools."""

__all__: list[str] = []
