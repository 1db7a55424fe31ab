"""Constructs of the shell, and small languages in words: what is proven, beside what is not."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.permission.kit import doubts_of, reads

PROMISES = tomllib.loads(Path(__file__).with_name("constructs.toml").read_text("utf-8"))["promise"]


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise["says"])
def test_a_promise_about_a_construct_is_kept(promise: dict[str, list[str]]) -> None:
    """What the promise allows is proven to read only; its neighbours are doubted, for a reason."""
    assert [command for command in promise["reads"] if not reads(command)] == []
    assert [command for command in promise["other"] if reads(command)] == []
    told = [message for command in promise["other"] for message in doubts_of(command)]
    assert [message for message in told if not message or "failed" in message] == []
