"""Second opinions on a command line: two other parsers, and a veto on the raw text.

Only the strict reader's tree is ever proven. Where more than one command could stand in the text,
the proof holds only if others find the same commands in it.
"""

from __future__ import annotations

from agentscope_like.shell.voters.flat import is_flat
from agentscope_like.shell.voters.panel import Panel, default_panel, is_plain

__all__ = ["Panel", "default_panel", "is_flat", "is_plain"]
