"""Tells which paths are sensitive to read, write or remove, and why."""

from __future__ import annotations

from agentscope_like.paths.sensitive.sensitive_names import SensitiveNames, history_directories
from agentscope_like.paths.sensitive.sensitive_paths import (
    private_objection,
    read_objection,
    removal_objection,
    write_objection,
    xdg_places,
)
from agentscope_like.paths.sensitive.sensitive_table import (
    SensitivePaths,
    paths_asked_to,
    standard_devices,
)

__all__ = [
    "SensitiveNames",
    "SensitivePaths",
    "history_directories",
    "paths_asked_to",
    "private_objection",
    "read_objection",
    "removal_objection",
    "standard_devices",
    "write_objection",
    "xdg_places",
]
