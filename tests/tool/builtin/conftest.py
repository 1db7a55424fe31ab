"""Fixtures of the built-in tools' tests."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tool.builtin.file_kit import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return an empty workspace."""
    root = tmp_path / "project"
    root.mkdir()
    return Workspace(root)


@pytest.fixture
def unprivileged() -> Iterator[Workspace]:
    """Return a workspace of a user who is not root, and be that user meanwhile."""
    nobody = 65534
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        was_root = os.geteuid() == 0
        if was_root:
            os.chown(root, nobody, nobody)
            os.seteuid(nobody)
        try:
            yield Workspace(root)
        finally:
            if was_root:
                os.seteuid(0)
