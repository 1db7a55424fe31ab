"""Facts about one part of a command: what it may run, and which file content it shows."""

from __future__ import annotations

from agentscope_like.shell.facts.git_history import (
    all_words,
    leaves_out,
    may_show_content,
    showing_options,
    shown_in_history,
    shows_computed,
    shows_content,
)
from agentscope_like.shell.facts.possible_commands import (
    INPUT,
    as_written,
    raw_commands,
    raw_words,
    readings,
    reads_input,
    runs_unseen_text,
    unread_commands,
)
from agentscope_like.shell.facts.shown_content import (
    choosing_option,
    counts,
    follows,
    is_redirect,
    lists_only,
    reads_unseen_files,
    shows_unseen_files,
)
from agentscope_like.shell.facts.spellings import spelled_as
from agentscope_like.shell.facts.started_commands import (
    GitAliases,
    lines_started_by,
    names_in_words,
    started_by,
    started_in,
)

__all__ = [
    "INPUT",
    "GitAliases",
    "all_words",
    "as_written",
    "choosing_option",
    "counts",
    "follows",
    "is_redirect",
    "leaves_out",
    "lines_started_by",
    "lists_only",
    "may_show_content",
    "names_in_words",
    "raw_commands",
    "raw_words",
    "readings",
    "reads_input",
    "reads_unseen_files",
    "runs_unseen_text",
    "showing_options",
    "shown_in_history",
    "shows_computed",
    "shows_content",
    "shows_unseen_files",
    "spelled_as",
    "started_by",
    "started_in",
    "unread_commands",
]
