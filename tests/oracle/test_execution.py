"""Whatever the engine calls a read is run, and has changed nothing.

FUZZ_JUDGED is the number of generated commands that are judged, FUZZ_EXAMPLES the number of those
called reads that are run, besides the corpus; the normal run leaves out programs that take long to
start.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from random import Random

import pytest

from tests.oracle.corpus import everyday, harmful
from tests.oracle.generator import Generator
from tests.oracle.jail import Jail, Outcome, is_proven
from tests.oracle.minimal import minimise

pytestmark = pytest.mark.slow

JUDGED = int(os.environ.get("FUZZ_JUDGED", "4000"))
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "400"))
SEED = int(os.environ.get("FUZZ_SEED", "20240601"))
CORPUS_EXAMPLES = 300
_IS_LONG = EXAMPLES > 2_000
_SLOW = (
    *("npm", "npx", "pnpm", "yarn", "corepack", "gcloud", "gsutil", "bq", "terraform", "mvn", "az"),
    *("java", "jar", "javac", "javadoc", "javap", "gradle", "kotlinc", "scala", "aws", "sleep"),
    *(
        "pip",
        "pip3",
        "apt-cache",
        "ack",
        "strace",
        "top",
        "watch",
        "vmstat",
        "iostat",
        "sar",
        "cargo",
    ),
)
_MAX_FINDINGS = 10


def is_quick(command: str) -> bool:
    return _IS_LONG or not any(name in command for name in _SLOW)


def _report(jail: Jail, outcomes: Iterable[Outcome]) -> str:
    """Return a line for each finding, made small; empty where there is none."""
    found = islice((outcome for outcome in outcomes if outcome.changes), _MAX_FINDINGS)
    smallest = {outcome.command: outcome for outcome in (minimise(jail, each) for each in found)}
    return "\n".join(
        f"{command!r}: {'; '.join(outcome.changes[:4])}" for command, outcome in smallest.items()
    )


def _proven(commands: Iterable[str]) -> Iterator[str]:
    return (command for command in commands if is_quick(command) and is_proven(command))


def _generated(hostility: float, number: int) -> Iterator[str]:
    generator = Generator(Random(SEED), hostility=hostility)
    for _ in range(number):
        yield generator.command()


@pytest.mark.timeout(300)
def test_proven_commands_of_the_corpus_change_nothing(jail: Jail) -> None:
    """A command of the project's corpus that is called a read is one; a long run takes them all."""
    commands = [sample.command for sample in (*everyday(), *harmful())]
    proven = list(_proven(commands))
    if not _IS_LONG:
        proven = Random(SEED).sample(proven, min(CORPUS_EXAMPLES, len(proven)))
    outcomes = list(jail.run(proven))
    assert not (report := _report(jail, outcomes)), report
    assert sum(outcome.ran for outcome in outcomes) > 100


@pytest.mark.timeout(86_400 if _IS_LONG else 300)
@pytest.mark.parametrize("hostility", [0.1, 0.6])
def test_proven_commands_of_the_generator_change_nothing(
    jail: Jail, hostility: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the catalog's own grammars call a read is one, however it is written and spoilt."""
    proven = list(_proven(_generated(hostility, JUDGED // 2)))
    commands = Random(SEED).sample(proven, min(EXAMPLES // 2, len(proven)))
    outcomes = list(jail.run(commands))
    if _IS_LONG:
        ran = sum(outcome.ran for outcome in outcomes)
        with capsys.disabled():
            sys.stderr.write(
                f"\n{JUDGED // 2:,} judged, {len(proven):,} proven, {ran:,} executed\n"
            )
    assert len(commands) > EXAMPLES // 4
    assert not (report := _report(jail, outcomes)), report
    assert sum(outcome.ran for outcome in outcomes) > len(outcomes) // 2


@pytest.mark.skipif(not _IS_LONG, reason="takes minutes: set FUZZ_EXAMPLES to more than 2000")
@pytest.mark.timeout(86_400)
def test_every_option_of_the_catalog_changes_nothing(jail: Jail) -> None:
    """Each option that a grammar allows is given at least once, alone and with operands."""
    commands = dict.fromkeys(Generator(Random(SEED)).every_option())
    outcomes = jail.run(list(_proven(commands)))
    assert not (report := _report(jail, outcomes)), report
