"""Facts about one part of a command: what it may run, and which file content it shows."""

from __future__ import annotations

from agentscope_like.shell.facts.commands_in_arguments import (
    carried_readings,
    perhaps_carried_readings,
)
from agentscope_like.shell.facts.git_history import (
    all_words,
    shown_in_history,
    shows_computed,
    shows_content,
)
from agentscope_like.shell.facts.implied_directory import Implied, implied, searches_below
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
from agentscope_like.shell.facts.shown_content import (
    choosing_option,
    counts,
    follows,
    is_redirect,
    lists_only,
    reads_no_directory,
    reads_unseen_files,
    shows_unseen_files,
)

__all__ = [
    "INPUT",
    "Implied",
    "all_words",
    "as_written",
    "bare_name",
    "carried_readings",
    "choosing_option",
    "counts",
    "follows",
    "implied",
    "is_redirect",
    "lists_only",
    "perhaps_carried_readings",
    "raw_commands",
    "raw_readings",
    "raw_words",
    "readings",
    "reads_input",
    "reads_no_directory",
    "reads_unseen_files",
    "runs_unseen_text",
    "searches_below",
    "shown_in_history",
    "shows_computed",
    "shows_content",
    "shows_unseen_files",
    "unread_texts",
]
