"""What is known of the positional parameters: what a shell is started with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.permission.kit import Place, analysis_of, danger_of, reads

UNKNOWN = None


def shown(command: str) -> list[str | None]:
    """Return the last word of each `git show` in a command, None where it is not known."""
    return [part.argv[-1] for part in analysis_of(command).parts if part.program == "git"]


@pytest.mark.parametrize(
    ("command", "first"),
    [
        ("""sh -c 'git show "$1"' _ a""", "a"),
        ("""sh -c 'git show "$2"' _ a b""", "b"),
        ("""sh -c 'git show "$1"' _""", ""),
        ("""sh -c 'git show "$1"' _ "$x" b""", UNKNOWN),
        ("""sh -c 'git show "$2"' _ $x b""", UNKNOWN),
        ("""sh -c 'set -e; git show "$1"' _ a""", UNKNOWN),
        ("""sh -c 'shift; git show "$1"' _ a b""", UNKNOWN),
        ("""sh -c 'while ls; do git show "$1"; shift; done' _ a b""", UNKNOWN),
        ("""set -- a; git show "$1\"""", UNKNOWN),
        ("""f() { git show "$1"; }; f a""", UNKNOWN),
        ("""git show "$1\"""", UNKNOWN),
    ],
)
def test_a_parameter_is_known_where_a_shell_starts_with_it(command: str, first: str | None) -> None:
    """What `set`, `shift` or the call of a function make of it is not followed."""
    assert shown(command) == [first]


@pytest.mark.parametrize(
    "command",
    [
        """sh -c 'cat "$1"' _ a""",
        """find . -exec sh -c 'cat "$1"' _ {} \\;""",
        """find . -exec sh -c 'for f; do cat "$f"; done' _ {} +""",
        """find . | xargs sh -c 'cat "$@"' _""",
    ],
)
def test_names_may_be_handed_to_a_shell(command: str) -> None:
    """They are what is listed; `$2` of them may be any of these."""
    assert reads(command)
    assert not reads(command.replace("find .", "date").replace("_ a", "_ $x"))


@pytest.mark.parametrize("command", ['set -- {}; cat "$1"', 'f() {{ cat "$1"; }}; f {}'])
def test_a_word_that_a_parameter_may_be_is_looked_at(command: str, tmp_path: Path) -> None:
    """A credential that is named anywhere asks where a parameter of unknown value is read."""
    where = Place(tmp_path, tmp_path / "home")
    assert danger_of(command.format(".env"), where)
    assert not danger_of(command.format("a"), where)
    assert not reads(command.format("a"))


@pytest.mark.parametrize(
    "command",
    ['f() { rm "$1"; }; f a', 'set -- a; echo x > "$1"', 'f() { local x=$1; rm "$x"; }; f a'],
)
def test_what_a_parameter_names_is_not_changed_unasked(command: str, tmp_path: Path) -> None:
    """It may be any word of the command; what a shell is started with is known."""
    where = Place(tmp_path, tmp_path / "home")
    assert danger_of(command, where)
    assert not danger_of("""sh -c 'rm "$1"' _ a""", where)
