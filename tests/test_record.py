"""What is decided about many commands stays as on record, and changes are told in words."""

from __future__ import annotations

import pytest

from tests.effects_record import facts_of, read_effects
from tests.record import RECORDED, Situation, changes, read_record, world
from tests.told_record import SHARES, digests, read_digests, told_of_share

RECORD = read_record()
QUICK = 3
"""How many of the shares are checked each time the tests run."""


@pytest.mark.parametrize(
    "share",
    [*range(QUICK), *(pytest.param(each, marks=pytest.mark.slow) for each in range(QUICK, SHARES))],
)
def test_what_is_decided_and_told_stays_so(share: int) -> None:
    """In each situation, each command is decided as on record, and the same is told of it."""
    told = told_of_share(share)
    before = {command: RECORD[command] for command in told if command in RECORD}
    after = {command: told[command].letters for command in before}
    found = changes(before, after, RECORDED)
    assert not found, "\n".join(["`python -m tests.record`", *(each.told() for each in found)])
    record = read_digests()
    other = [group for group, digest in digests(told).items() if record.get(group) != digest]
    assert not other, (
        f"Something else is told of commands in the groups {' '.join(other)}: "
        "see `python -m tests.told_record --since HEAD`."
    )


def test_what_commands_are_read_as_stays_so() -> None:
    """What each command runs, what it touches and what is in doubt are as on record."""
    changed = []
    with world() as work:
        for command, before in read_effects().items():
            after = facts_of(command, work)
            lost = [f"- {fact}" for fact in before if fact not in after]
            gained = [f"+ {fact}" for fact in after if fact not in before]
            if before != after:
                changed.append("\n    ".join([command, *lost, *gained]))
    assert not changed, "\n".join(["`python -m tests.effects_record` writes:", *changed])


def test_changes_are_told_in_words() -> None:
    """Commands that change alike are one change; new permissions come first."""
    situations = (Situation("default", "default"), Situation("explore", "explore"))
    before = {"a": "aD", "b": "aD", "c": "AA", "d": "AA"}
    after = {"a": "AA", "b": "AD", "c": "!D", "d": "AA"}
    told = [each.told() for each in changes(before, after, situations)]
    assert told == [
        "2 commands ask -> allow in default:\n    a\n    b",
        "1 command deny -> allow in explore:\n    a",
        "1 command allow -> safety ask in default:\n    c",
        "1 command allow -> deny in explore:\n    c",
    ]


def test_many_commands_are_cut_short() -> None:
    """Of many commands that change alike the first ones are shown, or all where all are wanted."""
    situations = (Situation("default", "default"),)
    commands = [f"ls {number}" for number in range(12)]
    change = changes(dict.fromkeys(commands, "A"), dict.fromkeys(commands, "a"), situations)[0]
    assert change.told().splitlines()[0] == "12 commands allow -> ask in default:"
    assert change.told().splitlines()[-2:] == ["    ls 9", "    and 2 more"]
    assert change.told(None).splitlines()[-1] == "    ls 11"
