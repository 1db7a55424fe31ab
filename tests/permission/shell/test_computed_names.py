"""Names of which only a part is known before the command runs: which are shown, which ask."""

from __future__ import annotations

import pytest

from tests.permission.kit import Place, decide, make_place, reads, suggested_for


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a project with files to read, and a secret."""
    return make_place(tmp_path_factory.mktemp("place"), "a.py .env src/b.py keys/pair")


@pytest.mark.parametrize(
    "command",
    [
        "cat ${#x}",
        "grep x ${#x}",
        "cat $x/a",
        "cat ~root/x",
        "cat $(ls)/a",
        "cat $(git rev-parse --show-toplevel)/a",
        "git show keys/*",
        "for f in src/*; do cat $f; done",
        "xargs cat <<E\na.py\nE",
        "xargs cat <<E\n${#x}\nE",
        "xargs cat <<E\n$(git ls-files)\nE",
        "cat <<E | xargs cat\n$(git ls-files)\nE",
        "xargs cat <<< $(git ls-files)",
        "xargs cat <<< a.py",
        "xargs cat <<< <(ls)",
        "xargs cat <<< <(cat a.py)",
        "git ls-files | xargs cat > >(head)",
        "xargs cat < <(git ls-files)",
        "head $x/a <<E\n$x\nE",
    ],
)
def test_a_name_that_can_be_no_secret_is_shown(command: str, project: Place) -> None:
    """A number, and a known last name that is no credential's, need no question."""
    assert decide(command, project).behavior.value == "allow"


@pytest.mark.parametrize(
    "command",
    [
        *(
            "cat $x",
            "cat -$x",
            "cat --$x",
            "grep x -$x",
            "cat $x/.env",
            "cat $(ls)/.env",
            "cat $x/*",
        ),
        "xargs cat <<E\n$x\nE",
        "cat <<E | xargs cat\n$x\nE",
        "xargs cat <<E\n$y/$x\nE",
        "xargs cat <<E\n${#x} .env\nE",
        "xargs cat <<E\n${#x}\n.env\nE",
        "xargs cat <<E\na.py\n$x\nE",
        "xargs cat <<E\n$(git ls-files).env\nE",
        "xargs cat <<E\n$(cat a.py)\nE",
        "xargs cat <<< $x",
        "xargs cat <<< $(git ls-files).env",
        "xargs cat < <(cat a.py)",
        "xargs cat < a.py",
        "xargs cat > >(git ls-files)",
        "while read -r f; do cat $f; done <<E\n$x\nE",
    ],
)
def test_a_name_that_may_be_a_secret_asks(command: str, project: Place) -> None:
    """An unknown name asks, also behind a dash, and so does a last name that is a credential's."""
    assert decide(command, project).behavior.value == "ask"


SHOWN = r"""
x='a b'; cat $x
x=' a'; cat $x
x='*.py'; cat $x
for f in *.py; do cat $f; done
for f in src/*; do cat $f; done
for f in *.py; do cat $f/a; done
for f in "$x/a.py"; do cat $f; done
y=$x/a.py; cat $y
for f in "$y"/*.py; do cat $f; done
""".strip().splitlines()

ASKED = r"""
x='a .env'; cat $x
x='.env a'; cat $x
x='src/.env a'; cat $x
x=' .env'; cat $x
x='a/ .env'; cat $x
x='a /.env'; cat $x
x='/etc/shadow a'; cat $x
x='*.pem'; cat $x
x='.e*'; cat $x
for f in .e*; do cat $f; done
for f in *.py; do cat $f/.env; done
for f in src/*; do cat $f/.env; done
for f in "$x/.env"; do cat $f; done
for f in "$x/.env" a; do cat $f; done
y=$x/.env; cat $y
for f in /etc/.e*; do cat $f; done
for f in "$y"/.e*; do cat $f; done
""".strip().splitlines()


@pytest.mark.parametrize(
    ("command", "behavior"),
    [*((each, "allow") for each in SHOWN), *((each, "ask") for each in ASKED)],
)
def test_each_piece_of_a_word_that_is_split_counts(
    command: str, behavior: str, project: Place
) -> None:
    """What one word becomes may be several names, of each of which the known end is looked at."""
    assert decide(command, project).behavior.value == behavior


@pytest.mark.parametrize(
    ("command", "suggested"),
    [
        ("rm a.py <<< x", "= rm a.py <<< x"),
        ("tee out < a.py", "= tee out < a.py"),
        ("rm a.py", "rm a.py"),
    ],
)
def test_a_command_that_is_given_input_is_only_allowed_with_it(
    command: str, suggested: str, project: Place
) -> None:
    """A redirected input is part of the rule that is offered; a command without has none."""
    assert suggested in suggested_for(command, project)


@pytest.mark.parametrize(
    ("program", "harmless"),
    [
        ("{ print (1 > 2) }", True),
        ("{ print (1 > 2), 3 > 4 }", False),
        ("{ print (1), (2 > 1) }", True),
        ("{ print f(1), 2 > 1 }", False),
    ],
)
def test_only_brackets_make_a_comparison_of_what_awk_prints(program: str, harmless: bool) -> None:
    """`>` inside brackets compares; behind them it writes a file."""
    assert reads(f"awk '{program}' a.py") is harmless
