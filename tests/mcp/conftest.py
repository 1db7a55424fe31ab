"""Fixtures: a rogue server and one at a loopback address."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.kit import Rogue, Web, running


@pytest.fixture
def rogue(tmp_path: Path) -> Callable[..., Rogue]:
    """Make a rogue server that offers these tools."""

    def make(*tools: dict[str, Any], **settings: Any) -> Rogue:
        return Rogue(tmp_path, *tools, **settings)

    return make


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    """Serve the notes over HTTP."""
    with running(tmp_path / "web.log") as server:
        yield server
