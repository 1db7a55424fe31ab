"""What is known of `$1` after `set` and `shift`."""

from __future__ import annotations

import pytest

from tests.permission.kit import analysis_of, reads

UNKNOWN = None


def shown(command: str) -> list[str | None]:
    """Return the last word of each `git show` in a command, None where it is not known."""
    return [part.argv[-1] for part in analysis_of(command).parts if part.program == "git"]


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
    assert shown(f'{before}; git show "$1"') == [first]


@pytest.mark.parametrize(
    ("calls", "first"),
    [
        ("f a b", "a"),
        ("f a; f a", "a"),
        ("x=1; f a | f a", "a"),
        ("f a; f", UNKNOWN),
        ("f a b; f c", UNKNOWN),
        ('f "$x"', UNKNOWN),
        ("f $x a; f b", UNKNOWN),
        ("f a; $x b", UNKNOWN),
        ("f a; echo $(f b c)", UNKNOWN),
    ],
)
def test_a_function_is_handed_what_all_calls_of_it_say(calls: str, first: str | None) -> None:
    """Calls with known words, as many in each, say what its parameters are; others do not."""
    words = shown(f'f() {{ git show "$1"; }}; {calls}')
    assert words
    assert set(words) == {first}


def test_a_parameter_may_be_what_some_call_hands_over() -> None:
    """Where calls differ in a word, it is one of theirs, place by place."""
    function = 'f() { git show "$1"; }'
    assert reads(f"{function}; f a; f b")
    assert not reads(f"{function}; f a; f -x")


@pytest.mark.parametrize("arguments", ["-e -- -a b", "-- -a", "-- --output=x"])
def test_only_the_parameters_of_set_may_be_anything(arguments: str) -> None:
    """What `set` takes behind `--` is no option of its own; all else is looked at."""
    assert reads(f"set {arguments}")
    assert not reads("set --no-such-option")
