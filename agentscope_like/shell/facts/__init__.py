"""Facts about one part of a command: what it may run, and which file content it shows."""

from __future__ import annotations

from agentscope_like.shell.facts.commands_in_arguments import (
    carried_readings,
    perhaps_carried_readings,
)
from agentscope_like.shell.facts.git_aliases import (
    alias_readings,
    may_be_alias,
    may_set_aliases,
    perhaps_aliased,
)
from agentscope_like.shell.facts.git_history import (
    all_words,
    leaves_out,
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
from agentscope_like.shell.facts.renamed_programs import led_to, renamed_in
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
from agentscope_like.shell.facts.spellings import (
    other_names,
    other_spellings,
    perhaps_spelled,
)

__all__ = [
    "INPUT",
    "Implied",
    "alias_readings",
    "all_words",
    "as_written",
    "bare_name",
    "carried_readings",
    "choosing_option",
    "counts",
    "follows",
    "implied",
    "is_redirect",
    "leaves_out",
    "led_to",
    "lists_only",
    "may_be_alias",
    "may_set_aliases",
    "other_names",
    "other_spellings",
    "perhaps_aliased",
    "perhaps_carried_readings",
    "perhaps_spelled",
    "raw_commands",
    "raw_readings",
    "raw_words",
    "readings",
    "reads_input",
    "reads_no_directory",
    "reads_unseen_files",
    "renamed_in",
    "runs_unseen_text",
    "searches_below",
    "shown_in_history",
    "shows_computed",
    "shows_content",
    "shows_unseen_files",
    "unread_texts",
]
