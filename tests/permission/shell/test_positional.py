"""What is known of `$1` after `set` and `shift`."""

from __future__ import annotations

import pytest

from agentscope_like.permission.shell import analyze

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
        ("set a", UNKNOWN),
        ("set - a", UNKNOWN),
        ("set -a", UNKNOWN),
        ("set -- a; set -x b", UNKNOWN),
        ("set -- a; set +x b", UNKNOWN),
        ("set -- a b; shift 1 2", UNKNOWN),
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
