"""Tells which paths are sensitive to read, write or remove, and why."""

from __future__ import annotations

from agentscope_like.paths.sensitive.critical_removal import history_directories, removal_objection
from agentscope_like.paths.sensitive.private_files import private_objection
from agentscope_like.paths.sensitive.sensitive_names import SensitiveNames
from agentscope_like.paths.sensitive.sensitive_paths import (
    read_objection,
    write_objection,
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
    "SensitiveNames",
    "SensitivePaths",
    "credential_names",
    "history_directories",
    "paths_asked_to_read",
    "paths_asked_to_write",
    "private_objection",
    "read_objection",
    "removal_objection",
    "standard_devices",
    "write_objection",
    "xdg_places",
]
