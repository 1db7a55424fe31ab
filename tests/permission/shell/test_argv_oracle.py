"""What the reader says a command runs is what bash runs."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.permission.shell.argv_oracle import BASH, MARKER, BashOracle
from tests.permission.shell.command_grammar import Chooser, compose, jumble
from tests.permission.shell.prediction import UnpredictableError, names_marker, predict
from tests.permission.shell.syntax import ReadError, read

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(BASH is None, reason="needs bash")

EXAMPLES = int(os.environ.get("SHELL_ORACLE_EXAMPLES", "300"))
"""Commands for each property; set the variable for a long run."""

_SETTINGS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> BashOracle:
    return BashOracle(tmp_path_factory.mktemp("oracle"))


@st.composite
def _commands(draw: st.DrawFn, generate: Callable[[Chooser], str]) -> str:
    return generate(lambda options: draw(st.sampled_from(options)))


def check(oracle: BashOracle, command: str) -> None:
    """Compare the reader with bash on one command."""
    try:
        script = read(command)
    except ReadError:
        return
    ran = oracle.run(command)
    if ran is None:
        return
    assert names_marker(script) or not any(argv[0] == MARKER for argv in ran), command
    try:
        predicted = predict(script)
    except UnpredictableError:
        assert oracle.accepts(command), command
        return
    if predicted.ordered:
        assert predicted.argvs == ran, command
    else:
        assert sorted(predicted.argvs) == sorted(ran), command


@_SETTINGS
@given(command=_commands(compose))
def test_composed_commands_run_as_read(oracle: BashOracle, command: str) -> None:
    """Valid commands of all forms run the programs, with the arguments, that the tree says."""
    check(oracle, command)


@_SETTINGS
@given(command=_commands(jumble))
def test_jumbled_fragments_run_as_read(oracle: BashOracle, command: str) -> None:
    """Fragments joined without grammar are refused, or run as they were read."""
    check(oracle, command)


def test_many_random_commands_run_as_read(oracle: BashOracle) -> None:
    """The same holds for many commands from a plain random generator, with a fixed seed."""
    rng = random.Random(20_240_601)
    for number in range(EXAMPLES * 2):
        check(oracle, (compose, jumble)[number % 2](rng.choice))


_EXACT = {
    "long descriptor": ("12>/dev/null evil", [("evil",)]),
    "digits are a word": ("a 12 >/dev/null", [("a", "12")]),
    "word before a redirection": ("a x2>/dev/null", [("a", "x2")]),
    "closing is not a word": ("a 2>&-", [("a",)]),
    "continued name": ("ev\\\nil x", [("evil", "x")]),
    "brace command": ("{evil,x,y}", [("evil", "x", "y")]),
    "expansion default": ("${u:-evil} 1", None),
    "nested backticks": ("a `b \\`c\\``", [("c",), ("b",), ("a",)]),
    "comment ends at its line": ("a # \\\nb", [("a",), ("b",)]),
    "time": ("time evil", [("evil",)]),
    "two heredocs": ("a <<E <<'F'\n$(b)\nE\n$(c)\nF\n", [("b",), ("a",)]),
}


@pytest.mark.parametrize(("command", "argvs"), _EXACT.values(), ids=_EXACT)
def test_the_oracle_itself_tells_what_ran(
    oracle: BashOracle, command: str, argvs: list[tuple[str, ...]] | None
) -> None:
    """The oracle sees what bash runs, so that its silence means something."""
    ran = oracle.run(command)
    assert ran == (argvs if argvs is not None else [("evil", "1")])
    check(oracle, command)


@pytest.mark.parametrize("ending", ["", " &"])
def test_what_never_ends_is_ended(oracle: BashOracle, ending: str) -> None:
    """A command that goes on, in front or in the background, tells nothing and is killed."""
    assert oracle.run(f"for ((;;)); do a; done{ending}", timeout=0.3) is None
    assert oracle.run("a x", timeout=5) == [("a", "x")]
