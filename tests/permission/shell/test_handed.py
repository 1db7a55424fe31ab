"""Texts that a command hands to whoever takes them for names."""

from __future__ import annotations

import pytest

from agentscope_like.paths.look_budget import TooManyFilesError
from agentscope_like.permission.command.safety_checks import find_danger
from agentscope_like.shell import analyze
from agentscope_like.shell.names.handed import held_words, said, spelled
from agentscope_like.shell.surroundings import Surroundings


def words(command: str) -> list[str]:
    """Return what the first part of a command is given or prints."""
    return list(said(analyze(command, directory="/ws").parts[0]))


@pytest.mark.parametrize(
    ("command", "handed"),
    [
        ("echo a b", ["a", "b"]),
        ("echo", []),
        ("echo '' a", ["a"]),
        ('echo "$x" a', ["a"]),
        ("echo \"'a'\" b", ["'a'", "a", "b"]),
        ("echo 'a\"b'", ['a"b', "ab"]),
        (r"echo 'a\b'", [r"a\b", "ab"]),
        ("echo '%s' a", ["%s", "a"]),
        ("dirname a/b", ["a/b", "a"]),
        ("dirname a/b/", ["a/b/", "a"]),
        ("dirname a//", ["a//", ""]),
        ("basename a/b", ["a/b"]),
    ],
)
def test_the_words_of_a_part(command: str, handed: list[str]) -> None:
    """Each word that is known, without its quotes too, and the directory that `dirname` prints."""
    assert words(command) == handed


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        ("a", ["a"]),
        ("'a b'", ["a", "b"]),
        (r"'a\nb\0c\000d\te\af'", ["a", "b", "c", "d", "e", "f"]),
        (r"'a\b\f\r\vb'", ["a", "b"]),
        ("a%sb x", ["axb"]),
        (r"'%s\n' x y", ["x", "y"]),
        (r"'%s/%s\n' a b c d", ["a/b", "c/d"]),
        (r"'%s/%s\n' a b c", ["a/b", "c/"]),
        (r"'a%sb%sc ' x", ["axbc"]),
        ("a%sb", ["ab"]),
        ("%s", []),
    ],
)
def test_what_printf_prints(arguments: str, printed: list[str]) -> None:
    """Its pattern, once for as many words as it takes, with nothing where words are lacking."""
    given = words(f"echo {arguments}")
    assert words(f"printf {arguments}") == [*given, *printed]
    assert words("printf") == []


def test_what_is_unknown_is_no_pattern() -> None:
    """The words behind a computed pattern may all be names."""
    assert words('printf "$x" a') == ["a", "a"]


def test_too_much_is_not_looked_at() -> None:
    """What printf prints of a great many words is too much, and of fewer it is not."""
    for size, most in ((200, 51), (137, 73)):
        pattern = "a" * (size - 2) + "%s "
        assert len(words(f"printf '{pattern}' {'x ' * most}")) == 1 + most + most
        with pytest.raises(TooManyFilesError):
            words(f"printf '{pattern}' {'x ' * (most + 1)}")


def test_a_secret_that_is_printed_is_found() -> None:
    """A name that a pattern makes of nothing at all is shown by who takes it for one."""
    around = Surroundings(directory="/ws", working=(), root="/ws", home="/home/u")
    for command, asks in (("printf .e%snv | xargs cat", True), ("printf a%sb | xargs cat", False)):
        analysis = analyze(command, directory="/ws", home="/home/u")
        assert (find_danger(analysis, around) is not None) is asks


def test_a_text_is_read_with_its_quotes_and_without() -> None:
    """Where there are none, once."""
    assert list(spelled("a")) == ["a"]
    assert list(spelled("'a\\b\"")) == ["'a\\b\"", "ab"]


def held(command: str) -> list[str | None]:
    """Return the words that variables are given in a command."""
    return [word.literal for word in held_words(analyze(command, directory="/ws"))]


@pytest.mark.parametrize(
    ("command", "texts"),
    [
        ("x=a", ["a"]),
        ("x=a y=b ls", ["a", "b"]),
        ("x=(a b)", ["", "a", "b"]),
        ("for x in a b; do ls c; done", ["a", "b", "ls", "c"]),
        ('ls "${x:-a}"', ["a"]),
        ('ls "$x" a', []),
        ("ls a", []),
        ("f() { x=a; }", ["a"]),
        ('x="${y:-a}"', [None, "a"]),
        ("for x in a; do y=b; done", ["a", "b"]),
        ("for x in a; do for y in b; do :; done; done", ["a", "b", ":"]),
    ],
)
def test_the_words_that_variables_are_given(command: str, texts: list[str | None]) -> None:
    """In assignments, loops and expansions, each once."""
    assert held(command) == texts
