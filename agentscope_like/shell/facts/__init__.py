"""Questions about a command that was read: what it may run, which files it names and shows."""

from __future__ import annotations

from agentscope_like.shell.facts.commands_in_arguments import (
    carried_readings,
    perhaps_carried_readings,
)
from agentscope_like.shell.facts.copying import copy_objection, pattern_objection
from agentscope_like.shell.facts.endings import may_be_sensitive
from agentscope_like.shell.facts.file_touch import Below, Touch, TouchKind
from agentscope_like.shell.facts.git_history import shows_computed
from agentscope_like.shell.facts.implied_directory import Implied, implied
from agentscope_like.shell.facts.links import link_objection, makes_links
from agentscope_like.shell.facts.named_paths import named_by_command
from agentscope_like.shell.facts.possible_commands import (
    INPUT,
    as_written,
    bare_name,
    raw_commands,
    raw_readings,
    raw_words,
    readings,
    reads_input,
    runs_unseen_text,
    unread_texts,
)
from agentscope_like.shell.facts.reads import Secrets, named_files
from agentscope_like.shell.facts.shown_content import is_redirect, shows_unseen_files
from agentscope_like.shell.facts.touched_files import touches
from agentscope_like.shell.facts.unseen import doubted_names

__all__ = [
    "INPUT",
    "Below",
    "Implied",
    "Secrets",
    "Touch",
    "TouchKind",
    "as_written",
    "bare_name",
    "carried_readings",
    "copy_objection",
    "doubted_names",
    "implied",
    "is_redirect",
    "link_objection",
    "makes_links",
    "may_be_sensitive",
    "named_by_command",
    "named_files",
    "pattern_objection",
    "perhaps_carried_readings",
    "raw_commands",
    "raw_readings",
    "raw_words",
    "readings",
    "reads_input",
    "runs_unseen_text",
    "shows_computed",
    "shows_unseen_files",
    "touches",
    "unread_texts",
]
