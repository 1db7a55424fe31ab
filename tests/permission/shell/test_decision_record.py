"""What is decided about many commands, where files and rules are in play, stays as on record."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.permission.shell.decision_record import Decider, DecisionRecord, decision_records, world

RECORDS = decision_records()
SHARES = 8


@pytest.mark.parametrize("records", [RECORDS[share::SHARES] for share in range(SHARES)])
async def test_what_is_decided_stays_so(
    records: list[DecisionRecord], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In each situation, the decision, its words and its suggestions are those on record."""
    work, home = world(tmp_path)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(work)
    decider = Decider(work)
    for record in records:
        assert await decider.decide(record["command"]) == record["decided"], record["command"]
