"""What is known of `$1` after `set` and `shift`."""

from __future__ import annotations

import pytest

from agentscope_like.shell import analyze
from agentscope_like.shell.state.positional import (
    known_parameters,
    parameters_after,
    parameters_of_calls,
    without_parameters,
)
from agentscope_like.shell.values import Argument, Unknown

UNKNOWN = None


@pytest.mark.parametrize(
    ("before", "first"),
    [
        ("set -- a b", "a"),
        ("set -- -a", "-a"),
        ("set -e -- a", "a"),
        ("set -eo pipefail -- a", "a"),
        ("set -- a; set --", ""),
        ("set -- a; set -e", "a"),
        ("set -- a; set +e", "a"),
        ("set -- a; set -o pipefail", "a"),
        ("set -- a; set -euo pipefail", "a"),
        ("set -- a; set", "a"),
        ("set -- a b; shift", "b"),
        ("set -- a b c; shift 2", "c"),
        ("set -- a b; shift 0", "a"),
        ("set -- a; shift 1", ""),
        ("set -- a; shift 2", "a"),
        ("set -- a; (shift)", "a"),
        ("set -- a b; ls && shift", UNKNOWN),
        ("shift", UNKNOWN),
        ("set a", UNKNOWN),
        ("set -- a; set ab", UNKNOWN),
        ("set -- a; set Xb", UNKNOWN),
        ("set -- a; set -", UNKNOWN),
        ("set -- a; set +", UNKNOWN),
        ('set -- a; set "$x"', UNKNOWN),
        ("set -- a; set -o pipefail -e", "a"),
        ("set -- a; set -o", "a"),
        ("set -- a; set +o", "a"),
        ("set -- a; set -eo b-c", UNKNOWN),
        ('set -- a; set -o "$x"', UNKNOWN),
        ('set -- a; set -o "$x" -- b', UNKNOWN),
        ("set - a", UNKNOWN),
        ("set -a", UNKNOWN),
        ("set -- a; set -x b", UNKNOWN),
        ("set -- a; set +x b", UNKNOWN),
        ("set -- a b; shift 1 2", UNKNOWN),
        ("set -- a b; shift 1²", UNKNOWN),
        ("set -- a; shift x", UNKNOWN),
        ("set -- a; shift -1", UNKNOWN),
        ("set -- a b; shift \u0661", UNKNOWN),
        ('set -- a b; shift "$x"', UNKNOWN),
        ("set -- $x", UNKNOWN),
        ('set -- "$x"', UNKNOWN),
        ("set -- *", UNKNOWN),
        ("ls", UNKNOWN),
    ],
)
def test_the_first_parameter_is_known_as_far_as_bash_says(before: str, first: str | None) -> None:
    """What `set` and `shift` leave there, unless a word of theirs is not known, or an error."""
    analysis = analyze(f'{before}; git show "$1"', directory="/ws", home="/home/u")
    (argv,) = (part.argv for part in analysis.parts if part.program == "git")
    assert argv[-1] == first


def test_an_argument_that_may_be_several_or_none_is_no_known_parameter() -> None:
    """Each word has to be one parameter, whatever its text is."""
    one = Unknown(prefix="a")
    assert known_parameters(["x", one]) == ("x", one)
    assert known_parameters([]) == ()
    assert known_parameters(["x", Unknown(single=False)]) is None
    assert known_parameters(["x", Unknown(optional=True)]) is None
    assert known_parameters([Unknown(single=False, optional=True), "x"]) is None


def test_another_command_leaves_nothing_known() -> None:
    """Only of `set` and `shift` it is known what they leave there."""
    assert parameters_after(["set"], ("a",)) == ("a",)
    assert parameters_after(["shift"], ("a", "b")) == ("b",)
    assert parameters_after(["getopts"], ("a",)) is None


@pytest.mark.parametrize(
    ("arguments", "judged"),
    [
        (["set", "-e", "--", "-a", "b"], ["set", "-e"]),
        (["set", "--"], ["set"]),
        (["set", "-e"], ["set", "-e"]),
        (["shift", "--", "2"], ["shift", "--", "2"]),
    ],
)
def test_only_the_parameters_of_set_may_be_anything(
    arguments: list[Argument], judged: list[Argument]
) -> None:
    """What `set` takes behind `--` is no option of its own; all else is looked at."""
    assert list(without_parameters(arguments)) == judged


@pytest.mark.parametrize(
    ("command", "name", "parameters"),
    [
        ("f a b", "f", ("a", "b")),
        ("f", "f", ()),
        ("f a; f a", "f", ("a",)),
        ("x=1; f a | g b", "g", ("b",)),
        ("f a; f", "f", UNKNOWN),
        ("f a b; f c", "f", UNKNOWN),
        ('f "$x"', "f", UNKNOWN),
        ("f $x a; f b", "f", UNKNOWN),
        ('f $x; g "a"', "g", ("a",)),
        ("f a; $x b", "f", UNKNOWN),
        ("f a; echo $(f b c)", "f", UNKNOWN),
        ("command_not_found_handle a", "command_not_found_handle", UNKNOWN),
    ],
)
def test_a_function_is_handed_what_all_calls_of_it_say(
    command: str, name: str, parameters: tuple[str, ...] | None
) -> None:
    """Calls with known words, as many in each, say what its parameters are; others do not."""
    script = analyze(command, directory="/ws").script
    assert script is not None
    assert parameters_of_calls(script).get(name) == parameters


def test_a_parameter_may_be_what_some_call_hands_over() -> None:
    """Where calls differ in a word, it is one of theirs, place by place."""
    script = analyze("f a -x; f b -x", directory="/ws").script
    assert script is not None
    first, second = parameters_of_calls(script)["f"]
    assert isinstance(first, Unknown)
    assert first.choices == ("a", "b")
    assert second == "-x"
