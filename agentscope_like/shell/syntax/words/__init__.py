"""Reads words: quotes, escapes and expansions."""

from __future__ import annotations

from agentscope_like.shell.syntax.words.arithmetic import (
    Expression,
    fails,
    may_fail,
    read_assignments,
    read_expression,
    read_let,
)
from agentscope_like.shell.syntax.words.globs_and_tildes import covered, opens
from agentscope_like.shell.syntax.words.word_reader import RESERVED, WordReader, bare_text

__all__ = [
    "RESERVED",
    "Expression",
    "WordReader",
    "bare_text",
    "covered",
    "fails",
    "may_fail",
    "opens",
    "read_assignments",
    "read_expression",
    "read_let",
]
