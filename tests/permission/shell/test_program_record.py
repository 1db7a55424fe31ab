"""Each program's options, values and operands: what is read in them, on record."""

from __future__ import annotations

from itertools import groupby

import pytest

from agentscope_like.permission.shell import catalog
from tests.permission.shell.program_record import ProgramRecord, outcome, program_records

RECORDS = {
    letter: list(records)
    for letter, records in groupby(program_records(), lambda record: record["program"][0])
}


@pytest.mark.parametrize("records", RECORDS.values(), ids=list(RECORDS))
def test_what_is_known_of_a_program_stays_so(records: list[ProgramRecord]) -> None:
    """Whether a command reads, how many doubts there are, and what it touches is as on record."""
    for record in records:
        for expected, commands in record["outcomes"].items():
            for command in commands:
                assert outcome(command) == expected, command


def test_each_program_is_on_record() -> None:
    """No program of the catalog is without a record, and none is on record that is not in it."""
    recorded = {
        record["program"].partition(" ")[0] for records in RECORDS.values() for record in records
    }
    assert recorded == catalog.names()
