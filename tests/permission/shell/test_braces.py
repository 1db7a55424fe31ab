"""Braces: the words that bash makes of them, or a refusal."""

from __future__ import annotations

import subprocess

import pytest

from tests.permission.shell.syntax import ReadError, SimpleCommand, read

SPELLED_OUT = (
    *("{a,b}", "{a,b}c", "x{a,b}", "x{a,b}y", "{a,b}{c,d}", "{a,}", "x{,y}", "{a,b,}z"),
    *("{a,b{c,d}}", "{{a,b},c}", "{a,{b,{c,d}e}f}g", "{a,b}{c,{d,e}}", "{{a,b},{c,d}}"),
    *("{a,'b'}", '{a,"b c"}', "{a,'b,c'}", "{a,b\\,c}", "{'{',a}", "{a,\\}}", "'x'{a,b}\"y\""),
    *("{1..3}", "{3..1}", "{1..1}", "{0..9..5}", "{1..10..3}", "{10..1..3}", "{1..3..-1}"),
    *("{3..1..-2}", "{1..3..0}", "{-2..2}", "{2..-2..2}", "{98..101}", "{-5..-3}"),
    *(
        "{01..3}",
        "{1..03}",
        "{01..10..4}",
        "{-01..1}",
        "{-1..01}",
        "{-3..-001}",
        "{8..10}",
        "{00..2}",
    ),
    *("{a..c}", "{c..a}", "{A..C}", "{C..A}", "{a..a}", "{a..e..2}", "{e..a..2}", "{A..E..3}"),
    *("{a..e..-2}", "x{1..2}y", "{1..2}{3..4}", "{a..b}{1..2}", "{a,{1..3}}", "{1..2},{3..4}"),
    *("{1..2}.txt", "a=b{c,d}", "--x={a,b}", "/{usr,bin}/", "{a,-b}"),
)
LEFT_AS_THEY_ARE = (
    *("{}", "{a}", "x{a}y", "{ab,", "{a,b", "{a.b}", "'{a,b}'", '"{a,b}"', "\\{a,b\\}"),
    *("{'a,b'}", "{a\\,b}", "{a' 'b}", "{1.2}", "a,b", ",", "a..b", "1..2"),
    *("{a}{b}", "x{}", "@{u}", "HEAD@{1}", "{{a}}", "{a{b}c}", "{1..{a}}"),
)
REFUSED = (
    *("a{b,c}}", "{a,{b,c}", "{a}{b,c}", "{a,{b}}", "{1..2}{a}", "{a}{1..2}", "{}{a,b}"),
    *(
        "{1..a}",
        "{a..1}",
        "{a..Z}",
        "{aa..c}",
        "{a..cc}",
        "{1..2x}",
        "{x1..2}",
        "{1..2..}",
        "{1..}",
    ),
    *("{..1}", "{1..2..3..4}", "{1..2..a}", "{a..c..b}", "{+1..3}", "{1.5..2}", "{1..2.5}"),
    *("{'a'..c}", "{a..'c'}", '{1.."3"}', "{{1..2}..3}", "{`a`,b}", "{$((1)),b}..", "{$x..3}{a,b}"),
    *(
        "{${x}..3}{a,b}",
        "{$x,b}",
        "$x{a,b}",
        "{${x:-a},b}",
        "{a,$}",
        "{a,$x}y",
        "{a,$x..b}",
        "{1..101}",
        "{1..9999999}",
    ),
    *("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "{1..11}{1..10}"),
)
COMPUTED = (
    *(("{${x},b}", 2), ('{"$x",b}', 2), ("{$(a),b}", 2), ("{${x}..3}", 1), ("{a,b}$x", 2)),
    *(
        ("{a,b}${x}", 2),
        ("${x}{a,b}", 2),
        ("{a,b}*", 2),
        ("~x{a,b}", 2),
        ("{,}", 0),
        ("{a,b}$x.c", 2),
    ),
)
"""Words with something that bash computes, and how many words it makes of them by braces."""


def words(text: str) -> list[str | None]:
    """Return the literal words that the reader finds behind `echo`."""
    command = read(f"echo {text}").statements[0].command
    assert isinstance(command, SimpleCommand)
    return [word.literal for word in command.words[1:]]


def of_bash(texts: tuple[str, ...]) -> list[list[str]]:
    """Return the words that bash makes of each text."""
    script = "".join(f"printf '%s\\0' {text}; printf '\\1\\0'; " for text in texts)
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    lines = done.stdout.decode().split("\1\0")[:-1]
    return [line.split("\0")[:-1] for line in lines]


@pytest.mark.parametrize("texts", [SPELLED_OUT, LEFT_AS_THEY_ARE])
def test_braces_are_read_as_bash_reads_them(texts: tuple[str, ...]) -> None:
    """Lists and ranges, with steps and zeros, nested and side by side; others are plain text."""
    assert {text: words(text) for text in texts} == dict(zip(texts, of_bash(texts), strict=True))
    assert all((len(words(text)) == 1) is (texts is LEFT_AS_THEY_ARE) for text in texts[:5])


@pytest.mark.parametrize(("text", "count"), COMPUTED)
def test_what_is_computed_in_braces_stays_so(text: str, count: int) -> None:
    """Each word that is made of it is known as far as it is literal."""
    assert len(words(text)) == count


@pytest.mark.parametrize("text", REFUSED)
def test_braces_that_shells_read_differently_are_refused(text: str) -> None:
    """Braces that do not match, odd ranges, too many words, and what would be joined anew."""
    with pytest.raises(ReadError, match="not understood"):
        read(f"echo {text}")
