"""Expands words as bash does, and predicts what commands print."""

from __future__ import annotations

from agentscope_like.shell.expand.argument_expander import Expander
from agentscope_like.shell.expand.printed_output import (
    asks_for_root,
    heeds_input,
    keeps_input,
    may_ask_for_root,
    printed,
    printed_by_any,
    takes_all,
)
from agentscope_like.shell.expand.word_names import names_in_text, shown_text

__all__ = [
    "Expander",
    "asks_for_root",
    "heeds_input",
    "keeps_input",
    "may_ask_for_root",
    "names_in_text",
    "printed",
    "printed_by_any",
    "shown_text",
    "takes_all",
]
