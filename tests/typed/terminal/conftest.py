"""Sessions that are closed when their test has ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.typed.terminal.kit import Session


@pytest.fixture
def make_session(tmp_path: Path) -> Iterator[Callable[..., Session]]:
    """Return what makes sessions in the test's directory."""
    made: list[Session] = []

    def make(*rules: str, **params: Any) -> Session:
        made.append(Session(tmp_path, *rules, **params))
        return made[-1]

    yield make
    for session in made:
        session.tool.close()


@pytest.fixture
def session(make_session: Callable[..., Session]) -> Session:
    """Return a session in which everything runs that no rule forbids."""
    return make_session()
