"""Analyzes what a command line does; it knows facts, not permissions."""

from __future__ import annotations

from agentscope_like.shell.analysis import (
    CHANGES,
    CommandAnalysis,
    Dissent,
    Doubt,
    Effect,
    EffectKind,
    Part,
    answered_once,
)
from agentscope_like.shell.draft import shortened
from agentscope_like.shell.plain_reads import PlainRead, plain_read
from agentscope_like.shell.program_search import (
    KnownPrograms,
    SearchPath,
    search_path,
)
from agentscope_like.shell.read_command import analyze
from agentscope_like.shell.steering import steered
from agentscope_like.shell.surroundings import Surroundings, leads_elsewhere
from agentscope_like.shell.values import Shape, Unknown, Words

__all__ = [
    "CHANGES",
    "CommandAnalysis",
    "Dissent",
    "Doubt",
    "Effect",
    "EffectKind",
    "KnownPrograms",
    "Part",
    "PlainRead",
    "SearchPath",
    "Shape",
    "Surroundings",
    "Unknown",
    "Words",
    "analyze",
    "answered_once",
    "leads_elsewhere",
    "plain_read",
    "search_path",
    "shortened",
    "steered",
]
