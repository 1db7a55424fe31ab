"""What is known of `${name OPERATOR argument}` is what bash makes of it."""

from __future__ import annotations

import subprocess
from itertools import product
from pathlib import Path

import pytest

from tests.permission.kit import EffectKind, analysis_of, argv_of, paths_of

TEXTS = ["", "a", "aXb", "a.b.c", ".envX", "x/y/z", "aab", "A b", "XaXA", "a*b", "&", "a\\b", "[a]"]
OPERATIONS = [
    *("^", "^^", ",", ",,", ":0", ":1", ":0:1", ":1:9", ":2:0", ": 1", ":9", "#", "%", "#a", "##a"),
    *("%b", "%%b", "#*.", "##*.", "%.*", "%%.*", "#*/", "##*/", "%/*", "%%/*", "%?", "#?", "%X"),
    *("#x?", "%%*", "##*", "#\\*", "%'*'", "%[a]", "%\\[a]", "/a/b", "//a/b", "/X", "//X", "/X/"),
    *("/a/&", "//x/Y", "/#a/b", "/%b/a", "/*/x", "//./-", "/'a/b'", "/a\\/b", "/ /_", "//a/aa"),
    *("/a/b/c", "//[ab]/x", "%a|b", "#!a", "/ab/", "//\\./", "%%+(a)"),
]


@pytest.mark.parametrize("quote", ["", '"'], ids=["bare", "quoted"])
@pytest.mark.parametrize("options", ["", "shopt -s nocasematch; "], ids=["plain", "nocasematch"])
def test_bash_makes_the_same_of_it(quote: str, options: str, tmp_path: Path) -> None:
    """Of each text and operation, what is known is what bash prints."""
    commands = [
        f"x='{text}'; printf '%s\\n' {quote}${{x{operation}}}{quote}"
        for text, operation in product(TEXTS, OPERATIONS)
    ]
    argvs = [
        argv_of(command) if analysis_of(command).script else (None,) * 3 for command in commands
    ]
    known = {
        command: argv[2:]
        for command, argv in zip(commands, argvs, strict=True)
        if None not in argv[2:]
    }
    lines = [f"{command}; printf '\\0'" for command in known]
    script = f"{options}LC_ALL=C.UTF-8\n" + "\n".join(lines)
    run = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, check=True, text=True
    )
    printed = run.stdout.split("\0")[:-1]
    assert len(printed) == len(known)
    wrong = [
        (command, words, said)
        for (command, words), said in zip(known.items(), printed, strict=True)
        if "".join(f"{word}\n" for word in words or ("",)) != said
    ]
    assert wrong == []
    assert len(known) > len(commands) // 4


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ('x=.envX; cat "${x%X}"', ["/ws/.env"]),
        ("x=/etc/shadowX; cat ${x%X}", ["/etc/shadow"]),
        ('x=.ENV; cat "${x,,}"', ["/ws/.env"]),
        ('x=.envX; cat "${x:0:4}"', ["/ws/.env"]),
        ('x=.eXnv; cat "${x/X/}"', ["/ws/.env"]),
        ('for f in a.py b.py; do cat "${f%.py}.txt"; done', ["/ws/a.txt", "/ws/b.txt"]),
        ("cat $(echo .e)nv", ["/ws/.env"]),
        ('cat "$(echo a b)"', ["/ws/a b"]),
        ('cat "$(test -f a && echo .e)nv"', ["/ws/.env", "/ws/nv"]),
        ('cat "$([ -f a ] && echo .e)nv"', ["/ws/.env", "/ws/nv"]),
        ('cat "$(: && echo .e)nv"', ["/ws/.env", "/ws/nv"]),
        ('cat "$(true && echo .e)nv"', ["/ws/.env", "/ws/nv"]),
        ('cat "$(false || echo .e)nv"', ["/ws/.env", "/ws/nv"]),
        ('cat "$(exit 1 || echo .e)nv"', ["/ws/.env", "/ws/nv"]),
        ('cat "$(pwd && echo .e)nv"', [None]),
        ('cat "$(echo a | tail -n +2)b"', [None]),
        ("cat $(printf %s%s .e nv)", ["/ws/.env"]),
        ("cat $(printf 'a-%s\\n' b)", ["/ws/a-b"]),
        ("cat $(printf %s a b)", ["/ws/ab"]),
        ("cat $(printf '%s/' .aws)c", ["/ws/.aws/c"]),
        ("cat $(printf '%s\\n' a b)", [None]),
        ("cat $(dirname src/a/b)/c", ["/ws/src/a/c"]),
        ("cat $(dirname a)/c", ["/ws/c"]),
        ("cat $(printf '\\x2eenv')", [None]),
        ("cat $(echo -e a)", [None]),
        ("cat $(echo 'a\\tb')", [None]),
        ('x=a; cat "${x%$y}"', [None]),
    ],
)
def test_a_path_that_is_put_together_is_known(command: str, paths: list[str | None]) -> None:
    """What is made of texts in the command is as well known as they are."""
    assert paths_of(command, EffectKind.READ) == paths


@pytest.mark.parametrize(
    ("text", "operation", "made"),
    [
        *(("ab", "^", "Ab"), ("ab", "^^", "AB"), ("AB", ",", "aB"), ("AB", ",,", "ab")),
        *(("", "^", ""), ("", ",,", ""), ("é", "^", None), ("aé", "#a", None)),
        *(("abc", ":1", "bc"), ("abc", ":1:1", "b"), ("abc", ":0", "abc"), ("abc", ": 1", "bc")),
        *(("abc", ":1: 1", "b"), ("abc", ":9", ""), ("abc", ": -1", None), ("abc", ":1:-1", None)),
        *(("a.b.c", "#*.", "b.c"), ("a.b.c", "##*.", "c"), ("a.b.c", "%.*", "a.b")),
        *(("a.b.c", "%%.*", "a"), ("aab", "#a", "ab"), ("aab", "##a", "ab"), ("aab", "%b", "aa")),
        *(("aab", "%%b", "aa"), ("aab", "%x", "aab"), ("aab", "#x", "aab"), ("aab", "#", "aab")),
        *(("ab", "#*", "ab"), ("ab", "##*", ""), ("ab", "%*", "ab"), ("ab", "%%*", "")),
        *(("ab", "%?", "a"), ("ab", "#?", "b"), ("ab", "#ab", ""), ("ab", "%%ab", "")),
        *((f"a{sign}b", f"%{sign}b", None) for sign in "[!@+|&~"),
        *(("ab", "#\\a", None), ("ab", "#$y", None), ("ab", "#é", None), ("ab", "%$(c)", None)),
        *(("aXb", "/X/y", "ayb"), ("aXbX", "/X/y", "aybX"), ("aXbX", "//X/y", "ayby")),
        *(("aXb", "/X", "ab"), ("aXb", "/X/", "ab"), ("aXbX", "//X", "ab"), ("ab", "/X/y", "ab")),
        *(("aXb", "/x/y", None), ("aXbx", "/X/y", None), ("aXb", "/", None), ("aXb", "//", None)),
        *(("aXb", "/#a/y", None), ("aXb", "/%b/y", None), ("a#b", "/a#/y", "yb")),
        *(("a%b", "/a%/y", "yb"), ("aXb", "/*/y", None), ("aXb", "/?/y", None)),
        *(("aXb", f"/X/{sign}", None) for sign in "&~[!@+|"),
        *(("aXb", "/X/*", None), ("aXb", "/X/a\\b", None), ("aXb", "/X/y/z", None)),
        *(("aXb", "/X/$y", None), ("aXb", ":-z", "aXb"), ("aXb", ":+z", None)),
    ],
)
def test_what_is_plain_is_known(text: str, operation: str, made: str | None) -> None:
    """Plain texts and patterns are computed; what may mean something else is not."""
    parts = analysis_of(f"x='{text}'; echo \"${{x{operation}}}\"").parts
    assert [part.argv for part in parts if part.program == "echo"] == [("echo", made)]


@pytest.mark.parametrize("operation", ["#'a'", "%.*", "/X/'y'", "#$y", "/X/$y"])
def test_what_is_quoted_or_computed_is_not_known(operation: str) -> None:
    """Outside of quotes, only letters that stand for themselves are read."""
    assert argv_of(f"x=aXb.c; echo ${{x{operation}}}") == ("echo", None)
    assert argv_of("x=aXb.c; echo ${x#a}") == ("echo", "Xb.c")
