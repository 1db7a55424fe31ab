"""Redirections and heredocs: their operators, descriptors, targets and bodies."""

from __future__ import annotations

import pytest

from tests.permission.shell.syntax import Heredoc, Pipeline, ReadError, SimpleCommand, read
from tests.permission.shell.tree_text import script_text


def redirects(command: str) -> list[tuple[int | None, str, str | None]]:
    """Return descriptor, operator and target of each redirection of the first command.

    The target of a heredoc is its body; a computed one is None.
    """
    simple = read(command).statements[0].command
    if isinstance(simple, Pipeline):
        simple = simple.commands[0]
    assert isinstance(simple, SimpleCommand)
    found: list[tuple[int | None, str, str | None]] = []
    for redirect in simple.redirects:
        target = redirect.target
        word = target.body if isinstance(target, Heredoc) else target
        found.append((redirect.fd, redirect.operator, word.literal))
    return found


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("a <f", [(None, "<", "f")]),
        ("a >f", [(None, ">", "f")]),
        ("a >>f", [(None, ">>", "f")]),
        ("a >|f", [(None, ">|", "f")]),
        ("a <>f", [(None, "<>", "f")]),
        ("a &>f", [(None, "&>", "f")]),
        ("a &>>f", [(None, "&>>", "f")]),
        ("a >&f", [(None, "&>", "f")]),
        ("a >& f", [(None, "&>", "f")]),
        ("a >&2x", [(None, "&>", "2x")]),
        ("a >&2", [(None, ">&", "2")]),
        ("a >& 2", [(None, ">&", "2")]),
        ("a >&-", [(None, ">&", "-")]),
        ("a <&3", [(None, "<&", "3")]),
        ("a <& 3", [(None, "<&", "3")]),
        ("a 2>&1", [(2, ">&", "1")]),
        ("a 3<&-", [(3, "<&", "-")]),
        ("a 0<f", [(0, "<", "f")]),
        ("a 2> f", [(2, ">", "f")]),
        ("a 999>f", [(999, ">", "f")]),
        ("a 3<>f", [(3, "<>", "f")]),
        ("a 3<<<f", [(3, "<<<", "f")]),
        ("a <<<f", [(None, "<<<", "f")]),
        ("a <<< {x,y}", [(None, "<<<", "{x,y}")]),
        ("a <<< ~", [(None, "<<<", None)]),
        ("a >{x}", [(None, ">", "{x}")]),
        ("a x2>f", [(None, ">", "f")]),
        ("a 2 >f", [(None, ">", "f")]),
        ("a $x>f", [(None, ">", "f")]),
        ("a '2'>f", [(None, ">", "f")]),
        ("a {x>f", [(None, ">", "f")]),
        ("a x}>f", [(None, ">", "f")]),
        ("a '{x}'<f", [(None, "<", "f")]),
        ("a >f <g 2>&1", [(None, ">", "f"), (None, "<", "g"), (2, ">&", "1")]),
        ("a >f<g", [(None, ">", "f"), (None, "<", "g")]),
        ("a >&2<f", [(None, ">&", "2"), (None, "<", "f")]),
        ("a >&2;b", [(None, ">&", "2")]),
        ("a >&2|b", [(None, ">&", "2")]),
        (">f a", [(None, ">", "f")]),
        (">f", [(None, ">", "f")]),
        ("a >(b)", []),
        ("a <(b)", []),
        ("a > >(b)", [(None, ">", None)]),
    ],
)
def test_each_redirection_is_taken_for_what_it_is(
    command: str, found: list[tuple[int | None, str, str | None]]
) -> None:
    """A descriptor stands right before its operator, and is at most three digits long."""
    assert redirects(command) == found


@pytest.mark.parametrize(
    ("command", "body"),
    [
        ("a <<E\nx\nE", "x\n"),
        ("a <<E\nE", ""),
        ("a << E\nx\nE\n", "x\n"),
        ("a 3<<E\nx\nE", "x\n"),
        ("a <<'E'\n$x\nE", "$x\n"),
        ('a <<"E"\n$x\nE', "$x\n"),
        ("a <<\\E\n$x\nE", "$x\n"),
        ("a <<'E x'\n$x\nE x", "$x\n"),
        ('a <<"E x"\n$x\nE x', "$x\n"),
        ("a <<E\n$x\nE", None),
        ("a <<E\n\\$x\nE", "$x\n"),
        ("a <<'E'\n\\$x\nE", "\\$x\n"),
        ("a <<E\nEx\nE", "Ex\n"),
        ("a <<E\nxE\nE", "xE\n"),
        ("a <<E\n\tE\nE", "\tE\n"),
        ("a <<E\n E\nE", " E\n"),
        ("a <<-E\n\tx\n\tE", "x\n"),
        ("a <<-E\n\t\tx\n \ty\n\t\tE", "x\n \ty\n"),
        ("a <<-'E'\n\tx\n\tE", "x\n"),
        ("a <<E\nx\\\\\nE", "x\\\n"),
        ("a <<E\nx\\\ny\nE", "xy\n"),
        ("a <<'E'\nx\\\nE", "x\\\n"),
        ("a <<E;b\nx\nE", "x\n"),
        ("a <<E|b\nx\nE", "x\n"),
        ("a <<E&b\nx\nE", "x\n"),
        ("a <<E>f\nx\nE", "x\n"),
        ("a <<E b\nx\nE", "x\n"),
    ],
)
def test_the_body_of_a_heredoc_is_what_bash_takes_for_it(command: str, body: str | None) -> None:
    """It ends at a line that is the delimiter, and is expanded unless that is quoted."""
    assert redirects(command)[0][2] == body


def test_what_follows_a_heredoc_is_read_on_its_line_and_behind_it() -> None:
    """The rest of the line first, then what stands behind the delimiter."""
    assert script_text(read("a <<E | b; c\nx\nE\nd")).startswith("a <<'x\\n' | b ; c")
    assert script_text(read("a <<E\nx\nE\nd")).endswith("d")
    assert script_text(read("{ a; } >f <g")) != script_text(read("{ a; } >f"))


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("a 1000>f", "so many digits"),
        ("a >", "without a target"),
        ("a <<<", "without a target"),
        ("a <<< ;", "without a target"),
        ("a > 2>f", "in the place of a target"),
        ("a > 2<f", "in the place of a target"),
        ("a <<< 2<f", "in the place of a target"),
        ("a {x}>f", "in braces"),
        ("a {x}<f", "in braces"),
        ("a >{x,y}", "several files"),
        ("a 2>&f", "This target of `>&`"),
        ("a <&f", "This target of `<&`"),
        ("a >&22-", "This target of `>&`"),
        ("a >&-f", "This target of `>&`"),
        ("a >&1234", "This target of `>&`"),
        ("a >&$x", "This target of `>&`"),
        ("a >&''", "This target of `>&`"),
        ("a <<E'x'\nEx", "delimiter"),
        ("a <<$E\nE", "delimiter"),
        ("a <<''\n\n", "delimiter"),
        ("a <<'E\\'\nE\\", "delimiter"),
        ("a <<'E\nF'\nE\nF", "delimiter"),
        ("a <<E", "without a body"),
        ("a <<E\nx", "never closed"),
        ("a <<E\nEx", "never closed"),
        ("a <<abc\nab\\\nc\nabc", "A line like"),
        ("$(a <<E\nEx\nE\n)", "A line like"),
        ("a <<-E\nx\\\n\ty\nE", "A continued line"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(command: str, says: str) -> None:
    """Descriptors, targets and delimiters that are not plain are nobody's guess."""
    with pytest.raises(ReadError) as caught:
        read(command)
    assert says in caught.value.message
