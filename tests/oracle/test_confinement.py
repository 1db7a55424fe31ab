"""Whatever is confined leaves no trace outside of what was decided, and answers as ever.

CONFINED_EXAMPLES is the number of commands of each kind that are run, as far as there are so many;
the normal run takes a few of each, and leaves out programs that take long to start.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from agentscope_like.permission.command import edit_objection
from tests.oracle.confined import DIFFERENT
from tests.oracle.corpus import everyday, harmful
from tests.oracle.generator import Generator
from tests.oracle.jail import Jail, Outcome, is_proven, jail_objection
from tests.oracle.test_execution import is_quick
from tests.oracle.world import HOME, PROJECT
from tests.permission.kit import Surroundings, analyze
from tests.sandbox.kit import require_bubblewrap

EXAMPLES = int(os.environ.get("CONFINED_EXAMPLES", "40"))
SEED = int(os.environ.get("FUZZ_SEED", "20240601"))
_IS_LONG = EXAMPLES > 1_000
_MOST_TOLD = 10
SHOWING = (
    "grep -r . .",
    "find . -type f | xargs cat",
    "grep -rn TODO . | head; grep -rn token .",
    "find . -name '*' -type f -exec cat {} +",
)
"""What nobody is asked about although it shows whatever is there."""
_SEARCHES = re.compile(r"\b(grep|rg|ag|find|fd|cat|head|tail|xargs|diff|wc|sort|git)\b")
_BEFORE = r"^|[|;&(`]|\b(?:then|do|env|command|xargs|nice|timeout [0-9]+)\b"
_QUOTED = re.compile(r"[^'\"]*['\"]", re.DOTALL)
# the objects are those of bare.git, too: the same files
_GUARDED = re.compile(
    rf"{PROJECT}/(\.git(?!/objects/)|\.env|\.envrc|\.vscode|\.idea|\.ssh|\.github)(/|$)"
)

pytestmark = [pytest.mark.timeout(86_400 if _IS_LONG else 120), pytest.mark.slow]


@pytest.fixture(autouse=True, scope="module")
def _jail() -> None:
    require_bubblewrap()
    if reason := jail_objection():
        pytest.skip(reason)


@pytest.fixture(scope="module")
def compared() -> list[Outcome]:
    """Return what reads did that the tool ran as ever, and confined."""
    commands = _sample(_proven(), EXAMPLES)
    with Jail("tests.oracle.confined", "compare", may_confine=True) as jail:
        return list(jail.run(commands))


def _sample(commands: Iterable[str], number: int) -> list[str]:
    known = list(dict.fromkeys(commands))
    return Random(SEED).sample(known, min(number, len(known)))


def _proven() -> Iterator[str]:
    corpus = (sample.command for sample in (*everyday(), *harmful()))
    return (command for command in corpus if is_quick(command) and is_proven(command))


def _edits() -> Iterator[str]:
    """Yield what is allowed unasked where edits are accepted, but for what only reads."""
    for sample in (*everyday(), *harmful()):
        place = Surroundings(PROJECT, (PROJECT,), PROJECT, HOME)
        analysis = analyze(sample.command, directory=PROJECT, home=HOME)
        if not analysis.read_only and edit_objection(analysis, place) is None:
            yield sample.command


def _hostile() -> list[str]:
    """Return commands that no engine may allow: the corpus, and as many that are generated."""
    generator = Generator(Random(SEED), hostility=0.5)
    generated = islice(iter(generator.command, None), EXAMPLES * 3)
    commands = [sample.command for sample in harmful()]
    return [
        *_sample((c for c in commands if is_quick(c)), EXAMPLES // 2),
        *_sample((c for c in generated if is_quick(c) and not is_proven(c)), EXAMPLES // 2),
    ]


def _told(outcomes: Iterable[Outcome]) -> str:
    found = (f"{each.command!r}: {'; '.join(each.changes[:4])}" for each in outcomes)
    return "\n".join(islice(found, _MOST_TOLD))


def test_allowed_commands_leave_no_trace(compared: list[Outcome]) -> None:
    """What the engine calls a read changes nothing when the tool runs it."""
    assert not (report := _told(each for each in compared if each.changes)), report


def test_reads_answer_as_they_do_unconfined(compared: list[Outcome]) -> None:
    """Status and output are the same, but for the kinds of differences that are explained."""
    differ = (each for each in compared if each.status == DIFFERENT)
    unexplained = [each for each in differ if not _is_explained(each.command)]
    report = "\n\n".join(f"{each.command!r}: {each.output}" for each in unexplained[:_MOST_TOLD])
    assert not report, report
    assert len(compared) > EXAMPLES // 2


def test_what_nobody_is_asked_about_shows_no_secret() -> None:
    """Of credentials that git does not track, nothing is in what an allowed command says."""
    searches = _sample((c for c in _proven() if _SEARCHES.search(c)), EXAMPLES // 2)
    commands = list(dict.fromkeys((*SHOWING, *searches, *_sample(_proven(), EXAMPLES // 4))))
    with Jail("tests.oracle.confined", "secrets", may_confine=True) as jail:
        outcomes = list(jail.run(commands))
    shown = [each for each in outcomes if each.status == DIFFERENT]
    assert not shown, "\n".join(f"{each.command!r}: {each.output}" for each in shown[:_MOST_TOLD])
    assert sum(each.status == 0 for each in outcomes) > len(outcomes) // 3
    kept = {each.command for each in outcomes if "/" in each.output and each.status == 0}
    assert kept >= set(SHOWING)  # they would have shown some


def test_accepted_edits_stay_in_the_project_and_are_not_kept_from_it() -> None:
    """What accept_edits allows is confined as an edit, and its profile has room for it."""
    commands = _sample(_edits(), EXAMPLES // 10)  # each of them changes something, which takes long
    with Jail("tests.oracle.confined", "accept", may_confine=True) as jail:
        outcomes = list(jail.run(commands))
    assert not (report := _told(filter(_leaves_the_project, outcomes))), report
    refused = [f"{each.command!r}: {each.output}" for each in outcomes if each.status == DIFFERENT]
    assert not refused, "\n".join(refused[:_MOST_TOLD])
    assert sum(bool(outcome.changes) for outcome in outcomes) > len(outcomes) // 3


def test_hostile_commands_that_are_taken_for_reads_leave_no_trace() -> None:
    """Were the proof wrong, the kernel would still see to it that nothing is changed."""
    commands = _hostile()
    with Jail("tests.oracle.confined", "read", may_confine=True) as jail:
        outcomes = list(jail.run(commands))
    assert not (report := _told(each for each in outcomes if each.changes)), report
    assert sum(outcome.ran for outcome in outcomes) > len(outcomes) // 3


def test_hostile_commands_that_are_taken_for_edits_stay_in_the_project() -> None:
    """Were an edit more than that, it would reach nothing outside, nor what is sensitive inside."""
    commands = _hostile()[::5]  # a jail in which something changed is made anew, which takes long
    with Jail("tests.oracle.confined", "edit", may_confine=True) as jail:
        outcomes = list(jail.run(commands))
    assert not (report := _told(filter(_leaves_the_project, outcomes))), report
    assert any(outcome.changes for outcome in outcomes)


def _leaves_the_project(outcome: Outcome) -> bool:
    paths = [_QUOTED.sub("", change, count=1)[:-1] for change in outcome.changes]
    return any(not _is_below(path, PROJECT) or _GUARDED.match(path) for path in paths)


def _is_below(path: str, directory: str) -> bool:
    return path == directory or path.startswith(f"{directory}/")


def _is_explained(command: str) -> bool:
    return any(kind.search(command) for kind in _kinds())


@cache
def _kinds() -> tuple[re.Pattern[str], ...]:
    text = Path(__file__).with_name("differences.toml").read_text("utf-8")
    kinds = tomllib.loads(text)["kind"]
    return tuple(re.compile(rf"(?:{_BEFORE})\s*(?:{kind['commands']})\b") for kind in kinds)
