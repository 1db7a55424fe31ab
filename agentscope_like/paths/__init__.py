"""Resolves paths, matches them against patterns and tells which ones are sensitive.

A rule that forbids applies if any reading of a path matches, ignoring case; a rule that allows
applies only if all readings match exactly.
"""

from __future__ import annotations

from agentscope_like.paths.case_folding import fold
from agentscope_like.paths.errors import PathError, PatternError, PermissionConfigError
from agentscope_like.paths.file_lookups import FileLookups, matches
from agentscope_like.paths.file_system import (
    ENDING,
    ENTRY,
    FOLDER,
    KEPT_FOR_PATHS,
    MAX_BELOW,
    MAX_EFFORT,
    RULE,
    TOO_MANY,
    FileSystemNames,
    LookBudget,
    NameEntry,
    TooManyFilesError,
)
from agentscope_like.paths.git_config import (
    MOST_CONFIG_BYTES,
    GitConfigError,
    GitSetting,
    git_settings,
)
from agentscope_like.paths.location import (
    MAX_SYMLINKS,
    FileKind,
    Location,
    inside,
    is_below,
    lineage,
    locate,
)
from agentscope_like.paths.path_pattern import PatternCompiler, escape
from agentscope_like.paths.path_rule_index import PathRuleIndex
from agentscope_like.paths.pattern_suggestion import suggest_pattern
from agentscope_like.paths.pattern_table import PatternTable, fixed_ends
from agentscope_like.paths.sensitive import (
    SensitiveNames,
    SensitivePaths,
    paths_asked_to,
    private_objection,
    read_objection,
    removal_objection,
    standard_devices,
    write_objection,
    xdg_places,
)
from agentscope_like.paths.working_directories import (
    around_by_text,
    inside_any,
    locate_directories,
)

__all__ = [
    "ENDING",
    "ENTRY",
    "FOLDER",
    "KEPT_FOR_PATHS",
    "MAX_BELOW",
    "MAX_EFFORT",
    "MAX_SYMLINKS",
    "MOST_CONFIG_BYTES",
    "RULE",
    "TOO_MANY",
    "FileKind",
    "FileLookups",
    "FileSystemNames",
    "GitConfigError",
    "GitSetting",
    "Location",
    "LookBudget",
    "NameEntry",
    "PathError",
    "PathRuleIndex",
    "PatternCompiler",
    "PatternError",
    "PatternTable",
    "PermissionConfigError",
    "SensitiveNames",
    "SensitivePaths",
    "TooManyFilesError",
    "around_by_text",
    "escape",
    "fixed_ends",
    "fold",
    "git_settings",
    "inside",
    "inside_any",
    "is_below",
    "lineage",
    "locate",
    "locate_directories",
    "matches",
    "paths_asked_to",
    "private_objection",
    "read_objection",
    "removal_objection",
    "standard_devices",
    "suggest_pattern",
    "write_objection",
    "xdg_places",
]
