"""Paths: what they lead to, which are sensitive, and the patterns that speak of them.

Everything that forbids looks at each reading of a path, ignoring case; everything that allows needs
all readings, compared exactly.
"""

from agentscope_like.permission.paths.folding import fold
from agentscope_like.permission.paths.location import (
    FileKind,
    Location,
    contains,
    inside_any,
    locate,
    locate_directories,
)
from agentscope_like.permission.paths.patterns import PathPattern, compile_pattern, escape
from agentscope_like.permission.paths.removal import critical_to_remove
from agentscope_like.permission.paths.sensitive import (
    DANGEROUS_DIRECTORIES,
    DANGEROUS_FILES,
    sensitive_to_read,
    sensitive_to_write,
)
from agentscope_like.permission.paths.sensitive_table import (
    READS,
    STANDARD_DEVICES,
    WRITES,
    SensitivePaths,
)
from agentscope_like.permission.paths.suggestion import suggest_pattern

__all__ = [
    "DANGEROUS_DIRECTORIES",
    "DANGEROUS_FILES",
    "READS",
    "STANDARD_DEVICES",
    "WRITES",
    "FileKind",
    "Location",
    "PathPattern",
    "SensitivePaths",
    "compile_pattern",
    "contains",
    "critical_to_remove",
    "escape",
    "fold",
    "inside_any",
    "locate",
    "locate_directories",
    "sensitive_to_read",
    "sensitive_to_write",
    "suggest_pattern",
]
