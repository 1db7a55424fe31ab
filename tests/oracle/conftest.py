"""The jail that the tests of this directory share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.oracle.jail import Jail, jail_objection


@pytest.fixture(scope="module")
def jail() -> Iterator[Jail]:
    """Return a jail, or skip with the reason why there can be none here."""
    if reason := jail_objection():
        pytest.skip(reason)
    with Jail() as jail:
        yield jail
