"""Both kinds of chats."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.conversation import (
    InMemoryActivations,
    InMemoryChat,
    SQLiteActivations,
    SQLiteChat,
)
from tests.conversation.kit import Chat


@pytest.fixture(params=["memory", "sqlite"])
def chat(request: pytest.FixtureRequest, tmp_path: Path) -> Chat:
    """Return an empty chat, once of each kind."""
    return InMemoryChat() if request.param == "memory" else SQLiteChat("c1", tmp_path / "c.db")


@pytest.fixture(params=["memory", "sqlite"])
def activations(
    request: pytest.FixtureRequest, tmp_path: Path
) -> InMemoryActivations | SQLiteActivations:
    """Return a store of activations, once of each kind."""
    return InMemoryActivations() if request.param == "memory" else SQLiteActivations(tmp_path / "c")
