"""The terminal program; `main` runs it."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.cli.program import main

__all__ = ["main"]

__getattr__ = on_first_use(__name__, {"main": "program"})
