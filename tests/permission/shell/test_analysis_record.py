"""The whole analyses of many commands stay as they are on record."""

from __future__ import annotations

import pytest

from tests.permission.shell.analysis_record import AnalysisRecord, analysis_records, told

RECORDS = analysis_records()
SHARES = 8


@pytest.mark.parametrize("records", [RECORDS[share::SHARES] for share in range(SHARES)])
def test_what_an_analysis_says_stays_so(records: list[AnalysisRecord]) -> None:
    """The parts, effects, doubts and suggestions of each command are those on record."""
    for record in records:
        assert told(record["command"]) == record["told"], record["command"]
