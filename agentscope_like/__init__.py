"""A permission-first toolkit for coding agents: every tool call decided, explained and guarded."""

__all__ = ["__version__"]

__version__ = "0.1.0"
