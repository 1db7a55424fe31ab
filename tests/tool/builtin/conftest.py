"""Fixtures of the built-in tools' tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tool.builtin.file_kit import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return an empty workspace."""
    root = tmp_path / "project"
    root.mkdir()
    return Workspace(root)
