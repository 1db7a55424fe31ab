"""A store of checkpoints for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentscope_like.checkpoint import CheckpointStore
from tests.checkpoint.undo_kit import Undo


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CheckpointStore]:
    """Return an empty store."""
    store = CheckpointStore(tmp_path / "data" / "checkpoints.db")
    yield store
    store.close()


@pytest.fixture
def undo(tmp_path: Path, store: CheckpointStore) -> Undo:
    """Return an empty project whose changes are kept."""
    return Undo(tmp_path / "project", store)
