"""Each program's options, values and operands, and the scripts in them: what is on record."""

from __future__ import annotations

from itertools import groupby

import pytest

from tests.permission.shell.program_record import (
    ProgramRecord,
    outcome,
    program_records,
    script_records,
)

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


@pytest.mark.parametrize("record", script_records(), ids=lambda record: record["program"])
def test_what_is_known_of_scripts_stays_so(record: ProgramRecord) -> None:
    """Whether a script only reads, how many doubts it has, and what it touches is as on record."""
    for expected, commands in record["outcomes"].items():
        for command in commands:
            assert outcome(command) == expected, command
