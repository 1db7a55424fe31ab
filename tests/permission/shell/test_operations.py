"""What is known of `${name OPERATOR argument}` is what bash makes of it."""

from __future__ import annotations

import subprocess
from itertools import product
from pathlib import Path

import pytest

from tests.permission.kit import EffectKind, analysis_of, argv_of, doubts_of, paths_of, reads

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
        ("cat ${x:+.env}", ["/ws/.env"]),
        ("cat ${x+.env}", ["/ws/.env"]),
        ('x=; cat "${x:-.env}"', [None, "/ws/.env"]),
        ('x=; cat "${x-.env}"', [None, "/ws/.env"]),
        ('x=a; cat "${x:-.env}"', ["/ws/a"]),
        ('a=(x y); cat "${a[0]}"', ["/ws/x", "/ws/y", None]),
        ('a=(x y); cat "${a[@]}"', ["/ws/x", "/ws/y"]),
        ('a=(x y); cat "${a[*]}"', [None]),
        ("a=('x y'); cat ${a[0]}", [None]),
        ('a=(x); a=.env; cat "${a[0]}"', ["/ws/.env", "/ws/x", None]),
        ('a=(*.py); cat "${a[@]}"', ["/ws/*.py"]),
        ('a=(*.py); cat "${a[0]}"', [None]),
        ('set -- a b; cat "$@"', ["/ws/a", "/ws/b"]),
        ('set -- a b; cat "$*"', [None]),
        ("set -- a b; cat $*", [None]),
        ('set --; cat "$@"', [None]),
        ('for x in abc axd; do cat "${x#a}"; done', ["/ws/bc", "/ws/xd"]),
        ('for x in abc aé; do cat "${x#a}"; done', [None]),
        ('for x in é aé; do cat "${x#a}"; done', [None]),
        ("ls > >(rg x)", ["/ws", "/ws"]),
        ("ls | diff <(rg x) f", ["/ws", None, "/ws/f"]),
        ("diff <(rg x) f", [None, "/ws/f", "/ws"]),
        ("rg x > >(cat)", ["/ws"]),
        ("ls | rg x > >(cat)", ["/ws"]),
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


@pytest.mark.parametrize("quote", ["", '"'], ids=["bare", "quoted"])
@pytest.mark.parametrize(
    ("operation", "is_word"),
    [
        *((each, True) for each in ("", "%b", "%%b", ":-x", "-x", ":=x", "=x", ":+x", "+x", ":?x")),
        ("?x", True),
        *((each, False) for each in ("#b", "##b", ":1", ":0:1", "^", "^^", ",", ",,", "/a/b")),
        *((each, False) for each in ("//a/b", ":--x", "--x", ":=-x", "=-x", ":+-x", "+-x")),
    ],
)
def test_a_word_of_unknown_text_stays_one_where_only_its_end_changes(
    operation: str, is_word: bool, quote: str
) -> None:
    """Without its beginning it may be an option, and so it may where it is one of two texts."""
    command = f"n=$(git rev-parse HEAD); git show {quote}${{n{operation}}}{quote}"
    assert reads(command) is is_word
    assert reads(command.replace("rev-parse", "log")) is operation.endswith("+x")


@pytest.mark.parametrize(
    ("command", "last"),
    [
        ('x=a; : ${x:-b}; echo "$x"', "a"),
        ('x=a; : ${x:=b}; echo "$x"', None),
        ('x=a; : ${x=b}; echo "$x"', None),
        ('x=a; echo "${x:=b}"', "a"),
        ('x=a; echo "${x:+b}"', None),
        ('x=a; echo "${x:?b}"', "a"),
        ("x=y; y=3; echo ${!x}", "3"),
        ("x=y; y=3; echo ${x}", "y"),
        ("x=3; echo ${#x}", None),
        ("set -- a b; echo $#", "2"),
        ("set -- a b; echo $1", "a"),
        ("set -- a b; echo ${2}", "b"),
        ('set -- a b; echo "$3"', ""),
        ('set -- a b; echo "${10}"', ""),
        ('set -- a b; echo "$0"', None),
        ('set -- a a; echo "$@"', None),
        ('set -- a; echo "$*"', None),
        ("echo $#", None),
        ("a=(x x); echo ${a[0]}", None),
        ('a=(x); echo "${a[*]}"', None),
        ('a=x; b=$a; echo "$b"', "x"),
        ('set -- a; b="$@"; echo "$b"', None),
        ('set -- a; b="$1"; echo "$b"', "a"),
        ('a=(x); b="${a[@]}"; echo "$b"', None),
        ('echo "$_"', None),
        ('_=a; echo "$_"', None),
        ('x=a; echo "$x"', "a"),
    ],
)
def test_what_a_variable_holds_is_known_where_all_that_it_may_hold_is(
    command: str, last: str | None
) -> None:
    """Defaults, other names, parameters and elements: one known text, or none is known."""
    assert argv_of(command)[1:] == (last,)


@pytest.mark.parametrize(
    ("command", "is_number"),
    [
        ("x=3; echo $((x))", True),
        ("x=; echo $((x))", False),
        ("x=a; echo $((x))", False),
        ("x=²; echo $((x))", False),
        ("echo $((x))", False),
        ("echo $((_))", False),
        ("x=$(wc -l < f); echo $((x))", True),
        ("x=$(cat f); echo $((x))", False),
        ("echo $(($(nproc)))", True),
        ("echo $(($(cat f)))", False),
        ("echo $(($#+$?))", True),
        ("echo $(($1))", False),
        ("set -- 3; echo $(($1))", True),
        ("set -- a; echo $(($1))", False),
        ("y=${#x}; echo $((y))", True),
        ("y=${x}; echo $((y))", False),
        ("a=(x); y=${#a[@]}; echo $((y))", True),
        ("((x = 2)); echo $((x))", True),
        ("n=$(grep -n x f | cut -d: -f1); echo $((n))", True),
        *(
            (f"{said}=1; n=$(grep -n x f | cut -d: -f1); echo $((n))", False)
            for said in ("grep", "file")
        ),
        ("x=1; n=$(grep -n x f | cut -d: -f1); echo $((n))", True),
        ("f() { ls; }; n=$(grep -n x f | cut -d: -f1); echo $((n))", False),
        ("for x in 1 2; do echo $((x)); done", True),
        ("for x in 1 a; do echo $((x)); done", False),
        ("echo $((08))", False),
        ("x=08; echo $((x + 1))", False),
        ("x=07; echo $((x + 1))", True),
        ("((PATH = 1))", False),
        ("((y = 1))", True),
    ],
)
def test_arithmetic_evaluates_only_numbers(command: str, is_number: bool) -> None:
    """Of any other text bash evaluates what it holds, which may run a command."""
    assert reads(command) is is_number


@pytest.mark.parametrize(
    ("command", "is_proven"),
    [
        ("x=y; echo ${!x}", True),
        ("x=y1_; echo ${!x}", True),
        ("for x in y z; do echo ${!x}; done", True),
        ("for x in y z-; do echo ${!x}; done", False),
        ("x='y[0]'; echo ${!x}", False),
        ("x=1; echo ${!x}", False),
        ("echo ${!x}", False),
        ("x=$(cat f); echo ${!x}", False),
        (": ${x:=y} ${x=y}", True),
        (": ${PATH:=y}", False),
        (": ${PATH=y}", False),
        (": ${PATH:-y} ${PATH-y} ${PATH:+y} ${PATH+y} ${PATH:?y} ${PATH%y}", True),
    ],
)
def test_an_expansion_that_looks_up_or_sets_another_variable(command: str, is_proven: bool) -> None:
    """A name that is computed has to be a plain one, and a default must steer no program."""
    assert reads(command) is is_proven


@pytest.mark.parametrize(
    ("command", "message"),
    [
        *((each, "") for each in ("cat $(ls)", "cat $(git ls-files)", "x=a; cat ${x:-b}")),
        ("echo ${!x}", "which variable `${!x}` means is computed"),
        ("cat $(ls > >(cat f))", "the files listed in `f`"),
        ("cat $(git ls-files > >(head -1))", "the files that its input names"),
        (': ${x:=.env}; cat "$x"', "`$x` is only known at run time"),
        ('cat "${x-.env}"', "`$x` is only known at run time"),
        ('cat "${a[@]}"', "`$a` is only known at run time"),
        ('a=($y); cat "${a[0]}"', "`$y` is only known at run time"),
        ('a=(x y); cat "${a[0]}"', ""),
        ('a=(*.py); cat "${a[*]}"', ""),
        ('set -- a b; cat "$@"', ""),
        ("set --; cat $* f", ""),
        ('cat "$@"', "`$@` is only known at run time"),
    ],
)
def test_a_doubt_says_which_text_is_not_known(command: str, message: str) -> None:
    """It names the variable, or what prints the names; where all are known there is none."""
    doubts = doubts_of(command)
    assert message in doubts[0] if message else doubts == []


@pytest.mark.parametrize(
    ("words", "is_proven"),
    [
        *(("git show ~x", True), ("git show $((1))-x", True), ("git show a$((1))-x", True)),
        *(('git show "$x"-y', False), ('git show "a$x"', True), ("git show a$x", False)),
        *(('git show "$(nproc)$x"', False), ('git show "$(nproc)a$x"', True)),
        *(("git show *.py", False), ("git show a*.py", True), ("cat *.py", True)),
        *(
            ("git show $x/a.py", False),
            ('git show "/$x/a.py"', True),
            ('git show "$x/a.py"', False),
        ),
        *(("x=a; git show $x-y", True), ("x=-a; git show $x-y", False)),
        *(("x=; git show $x-y", False), ("x='a b'; git show $x", False)),
        *(("x='a b'; git show \"$x\"", True), ("x='a*'; git show $x", False)),
        *(("x=a; git show $x$x$x", True), ("git show ''", True), ("git show -''", True)),
        *(('n=$(nproc); x="${n}q"; sed "${x}" f', True), ("n=$(nproc); sed ${n}q f", True)),
        *(('n=$(nproc); x="${n}w out"; sed -n "${x}" f', False),),
        *(('n=$(nproc); x="${n},${n}"; sed -n "${x}p" f', True),),
        *(('n=$(nproc); x="${n}w out;"; sed -n "${x}p" f', False),),
        *(('n=$(nproc); x="${y},${n}"; sed -n "${x}p" f', False),),
        *(("for x in 1 2; do sed -n ${x}p f; done", True),),
        *(("for x in 1 1w; do sed -n ${x}p f; done", False),),
        *(
            ("head -n $(nproc) f", True),
            ("head -n $(nproc)0 f", False),
            ("head -n $(nproc)a f", False),
        ),
        *(('x="a-$q"; git show "${x}b"', True), ('x="-$q"; git show "${x}b"', False)),
        *(
            ('n=$(nproc); x="$n -a"; git show $x', False),
            ('n=$(nproc); x="a$n"; git show $x', True),
        ),
        *(('n=$(nproc); x="$n*"; git show $x', False), ('n=$(nproc); git show "$n -a"', True)),
        *(('n=$(nproc); x="a$n b"; git show $x', False), ("git show $(nproc)", True)),
    ],
)
def test_a_word_of_several_parts_is_known_as_far_as_they_are(words: str, is_proven: bool) -> None:
    """It may be an option where its first part may be one, or may be empty, or is split."""
    assert reads(words) is is_proven


@pytest.mark.parametrize(
    ("word", "paths"),
    [
        *(("~", ["/home/u"]), ("~/a", ["/home/u/a"]), ("~root/x", [None]), ("~+/x", [None])),
        *(("$HOME/a", ["/home/u/a"]), ("${HOME}x", ["/home/ux"]), ("$PWD/a", ["/ws/a"])),
        *(("[$x].py", [None]), ("a[$y].py", ["/ws/a*"]), ('["$y"]b*', ["/ws/*"])),
        *(("[$z].py", [None]), ('["$z"].py', ["/ws/*"]), ("[$g].py", [None])),
        *(("[$d].py", [None]), ('["$d"].py', [None]), ("a.[p]y", ["/ws/a.[p]y"])),
        *(
            ("$y*", ["/ws/ab*"]),
            ("*$y", ["/ws/*ab"]),
            ('"$g"*', ["/ws/a[*]*"]),
            ("$y?'*'", ["/ws/ab?[*]"]),
        ),
        *(("$y$y", ["/ws/abab"]), ("$y/$y", ["/ws/ab/ab"]), ("'$y'", ["/ws/$y"])),
    ],
)
def test_a_path_of_several_parts(word: str, paths: list[str | None]) -> None:
    """Texts are joined, and what is quoted is no pattern; brackets with a text match anything."""
    before = "y=ab; z='a b'; g='a*'; d=a/b"
    assert paths_of(f"{before}; cat {word}", EffectKind.READ) == paths


def test_only_so_many_texts_are_put_together() -> None:
    """A word that may be up to 64 texts is known; one that may be more is not."""
    known = paths_of('for x in a b; do cat "$x$x$x$x$x$x"; done', EffectKind.READ)
    assert len(known) == 64
    assert paths_of('for x in a b; do cat "$x$x$x$x$x$x$x"; done', EffectKind.READ) == [None]
