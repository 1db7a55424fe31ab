"""Paths: what they lead to, which are sensitive, and the patterns that speak of them.

Everything that forbids looks at each reading of a path, ignoring case; everything that allows needs
all readings, compared exactly.
"""

from __future__ import annotations

from agentscope_like.paths.case_folding import compose, fold, without_invisible
from agentscope_like.paths.directory_entries import Entries
from agentscope_like.paths.errors import PathError, PatternError, PermissionConfigError
from agentscope_like.paths.file_system import NameEntry, Names
from agentscope_like.paths.glob_expansion import Expansion, matches, matching
from agentscope_like.paths.location import (
    MAX_SYMLINKS,
    FileKind,
    Location,
    contains,
    inside,
    inside_any,
    is_below,
    lineage,
    locate,
    locate_directories,
    names_of,
)
from agentscope_like.paths.location_cache import Folders
from agentscope_like.paths.look_budget import (
    ENDING,
    ENTRY,
    FOLDER,
    KEPT_FOR_PATHS,
    RULE,
    TOO_MANY,
    Effort,
    TooManyFilesError,
)
from agentscope_like.paths.patterns import (
    Component,
    NameMatcher,
    PatternCompiler,
    PatternTable,
    bases_of,
    compile_pattern,
    escape,
    fits,
    fixed_ends,
    may_hold,
    suggest_pattern,
)
from agentscope_like.paths.sensitive import (
    DANGEROUS_DIRECTORIES,
    DANGEROUS_FILES,
    HISTORY,
    READS,
    STANDARD_DEVICES,
    WRITES,
    SensitivePaths,
    critical_to_remove,
    sensitive_to_read,
    sensitive_to_write,
)

__all__ = [
    "DANGEROUS_DIRECTORIES",
    "DANGEROUS_FILES",
    "ENDING",
    "ENTRY",
    "FOLDER",
    "HISTORY",
    "KEPT_FOR_PATHS",
    "MAX_SYMLINKS",
    "READS",
    "RULE",
    "STANDARD_DEVICES",
    "TOO_MANY",
    "WRITES",
    "Component",
    "Effort",
    "Entries",
    "Expansion",
    "FileKind",
    "Folders",
    "Location",
    "NameEntry",
    "NameMatcher",
    "Names",
    "PathError",
    "PatternCompiler",
    "PatternError",
    "PatternTable",
    "PermissionConfigError",
    "SensitivePaths",
    "TooManyFilesError",
    "bases_of",
    "compile_pattern",
    "compose",
    "contains",
    "critical_to_remove",
    "escape",
    "fits",
    "fixed_ends",
    "fold",
    "inside",
    "inside_any",
    "is_below",
    "lineage",
    "locate",
    "locate_directories",
    "matches",
    "matching",
    "may_hold",
    "names_of",
    "sensitive_to_read",
    "sensitive_to_write",
    "suggest_pattern",
    "without_invisible",
]
