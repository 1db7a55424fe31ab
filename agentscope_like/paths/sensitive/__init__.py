"""Which paths are sensitive to read, to write or to remove, and why."""

from __future__ import annotations

from agentscope_like.paths.sensitive.critical_removal import HISTORY, critical_to_remove
from agentscope_like.paths.sensitive.sensitive_paths import (
    DANGEROUS_DIRECTORIES,
    DANGEROUS_FILES,
    sensitive_to_read,
    sensitive_to_write,
)
from agentscope_like.paths.sensitive.sensitive_table import (
    READS,
    STANDARD_DEVICES,
    WRITES,
    SensitivePaths,
)

__all__ = [
    "DANGEROUS_DIRECTORIES",
    "DANGEROUS_FILES",
    "HISTORY",
    "READS",
    "STANDARD_DEVICES",
    "WRITES",
    "SensitivePaths",
    "critical_to_remove",
    "sensitive_to_read",
    "sensitive_to_write",
]
