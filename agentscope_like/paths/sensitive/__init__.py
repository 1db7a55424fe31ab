"""Tells which paths are sensitive to read, write or remove, and why."""

from __future__ import annotations

from agentscope_like.paths.sensitive.critical_removal import critical_to_remove, history_directories
from agentscope_like.paths.sensitive.sensitive_paths import (
    dangerous_directories,
    dangerous_files,
    sensitive_to_read,
    sensitive_to_write,
    xdg_places,
)
from agentscope_like.paths.sensitive.sensitive_table import (
    SensitivePaths,
    credential_names,
    paths_asked_to_read,
    paths_asked_to_write,
    standard_devices,
)

__all__ = [
    "SensitivePaths",
    "credential_names",
    "critical_to_remove",
    "dangerous_directories",
    "dangerous_files",
    "history_directories",
    "paths_asked_to_read",
    "paths_asked_to_write",
    "sensitive_to_read",
    "sensitive_to_write",
    "standard_devices",
    "xdg_places",
]
