"""What is known of computed words: whether they are an option, one argument, a number, a place."""

from __future__ import annotations

import pytest

from agentscope_like.shell import EffectKind, analyze
from agentscope_like.shell.values import (
    MAX_CHOICES,
    Argument,
    Output,
    Shape,
    Unknown,
    element,
    elements_of,
    is_filled,
    join,
    may_be_option,
    piece_of,
    plain,
    several,
    shape_of,
    split,
    unquoted,
)

KNOWN = r"""
x="v$(nproc)"; git show $x
x="$(nproc)v"; git show $x
x="$(nproc)$(nproc)"; git show $x
git show "v$x"
git show "v$1"
git show v*
git show "v"*
git show ./*
git show ~
git show ~bob
for f in a b; do git show "$f"; done
for f in a b.c; do git show $f; done
for f in "a$x" b; do git show "$f"; done
for f in $(git log --format=%H); do git show "$f"; done
a=(x y); git show "${a[0]}"
a=(x y); git show "${a[@]}"
set -- a b; git show "$@"
for i in 1 2; do head -n "$i" f; done
for i in 1 "$(nproc)"; do head -n "$i" f; done
for i in $(seq 3); do head -n "$i" f; done
cat < ./"$x"
cat < "/etc/$x"
cat < ~bob/x
for f in "src/$x"; do cat < "$f"; done
for f in a "b/$x"; do cat < "$f"; done
for f in etc/hosts "src/$x"; do cat < "$f"; done
for f in /etc/hosts /etc/group; do cat < "$f"; done
for f in a b/*; do cat < "$f"; done
for f in */; do cat < "$f"; done
a=(-v); a=(w); git show "${a[0]}"
a=v; a+=-x; git show "$a"
seq 3 | xargs git show
seq 3 | xargs git show 2>/dev/null
seq 3 | { xargs git show; }
seq 3 | while read x; do git show "$x"; done
seq 3 | while read x; do read y; git show "$y"; done
""".strip().splitlines()

IN_DOUBT = r"""
x="a b$(nproc)"; git show $x
x="v$(nproc) b"; git show $x
x="-$(nproc)"; git show $x
x="v$(cat f)"; git show $x
git show "$x"
git show "$1"
git show "$@"
git show v$x
git show *
git show "-"*
for f in a -b; do git show "$f"; done
for f in a 'b c'; do git show $f; done
for f in "a$x" b; do git show $f; done
for f in $(cat f); do git show "$f"; done
a=(x -y); git show "${a[0]}"
a=(x -y); git show "${a[@]}"
x="$(nproc)$(nproc)"; head -n $x f
x="1$(nproc)"; head -n $x f
for i in 1 b; do head -n "$i" f; done
for i in 1 "$(git describe)"; do head -n "$i" f; done
cat < "$x"
cat < "/$x"
cat < "/de$x"
for f in "$x"; do cat < "$f"; done
for f in a "/$x"; do cat < "$f"; done
for f in /etc/hosts "src/$x"; do cat < "$f"; done
for f in a /dev/*; do cat < "$f"; done
a=(v); a+=(-x); git show "${a[0]}"
a=v; a+="$y"; git show "$a"
a=-; a+=v; git show "$a"
cat f | xargs git show
seq 3 | xargs git show < f
seq 3 | xargs git show 0< f
seq 3 | xargs git show <<< -x
seq 3 | xargs git show 0<&3
seq 3 | xargs git show 0>&3
seq 3 | { xargs git show; } < f
cat f | while read x; do git show "$x"; done
seq 3 | while read x; do git show "$x"; done < f
seq 3 | while read x; do read y < f; git show "$y"; done
cat <> /dev/null
""".strip().splitlines()


@pytest.mark.parametrize("command", KNOWN)
def test_a_computed_word_is_known_as_far_as_its_parts_are(command: str) -> None:
    """Literal beginnings, loops over literals, numbers and globs with a beginning are harmless."""
    assert analyze(command, directory="/ws", home="/home/u").all_doubts == ()


@pytest.mark.parametrize("command", IN_DOUBT)
def test_what_may_be_an_option_or_a_connection_is_in_doubt(command: str) -> None:
    """One part of which too little is known is enough."""
    analysis = analyze(command, directory="/ws", home="/home/u")
    assert not analysis.read_only
    assert analysis.all_doubts


@pytest.mark.parametrize(
    ("texts", "connects"),
    [
        ("a /dev/tcp/h/1", True),
        ("/dev/tcp/h/1 a", True),
        ('"/$x"', True),
        ('"/dev$x"', True),
        ("a /etc/x", False),
        ("a/dev/tcp/h/1 b", False),
        ('"a/dev/$x"', False),
        ('"/dew/$x"', False),
    ],
)
def test_bash_connects_where_a_path_may_begin_with_dev(texts: str, connects: bool) -> None:
    """One of the texts that a variable may hold is enough."""
    analysis = analyze(f'for f in {texts}; do cat < "$f"; done', directory="/ws", home="/home/u")
    assert any("connection" in doubt.message for doubt in analysis.all_doubts) is connects


@pytest.mark.parametrize(("names", "known"), [(2, True), (64, True), (65, False)])
def test_a_variable_may_hold_64_texts(names: int, known: bool) -> None:
    """Each of so many texts is a path of its own; of more of them, none is told."""
    texts = " ".join(f"f{number}" for number in range(names))
    analysis = analyze(f'for f in {texts}; do rm "$f"; done', directory="/ws")
    removed = {each.path for each in analysis.effects if each.kind is EffectKind.DELETE}
    assert removed == ({f"/ws/f{number}" for number in range(names)} if known else {None})


@pytest.mark.parametrize(("names", "endings", "known"), [(8, 8, True), (5, 13, False)])
def test_a_word_of_two_variables_may_be_64_texts(names: int, endings: int, known: bool) -> None:
    """Each text of one is joined to each of the other, as long as there are not more than that."""
    first, second = ([str(number) for number in range(count)] for count in (names, endings))
    loops = f"for f in {' '.join(first)}; do for g in {' '.join(second)}; do"
    analysis = analyze(f'{loops} rm "a$f.$g"; done; done', directory="/ws")
    removed = {each.path for each in analysis.effects if each.kind is EffectKind.DELETE}
    joined = {f"/ws/a{one}.{other}" for one in first for other in second}
    assert removed == (joined if known else {None})


def test_a_higher_shape_tells_more() -> None:
    """Nothing is known of the first shape, and each one tells more than those before it."""
    assert [*map(int, Shape)] == [0, 1, 2, 3]
    assert [*Shape] == [Shape.ANY, Shape.WORD, Shape.ALPHANUMERIC, Shape.INTEGER]
    assert not Unknown().tells
    assert Unknown(shape=Shape.WORD).tells
    assert Unknown(choices=("a",)).tells


def test_nothing_is_known_unless_it_is_said() -> None:
    """What a computed word or an output may be is anything, as far as nobody tells more."""
    assert Unknown() == Unknown(
        prefix="",
        option=True,
        single=True,
        shape=Shape.ANY,
        choices=(),
        pattern=None,
        numbered="",
        rooted=True,
        suffix="",
        tail="",
        filled=False,
        optional=False,
    )
    assert Output() == Output(Shape.ANY, single=True, numbered="", choices=(), places=False)


def test_the_ending_is_what_tells_most() -> None:
    """A glob that it ends with counts before literal text, which stands for itself alone."""
    assert Unknown(suffix="[a]*").ending == "[[]a][*]"
    assert Unknown(suffix="b", tail="*a").ending == "*a"
    assert not Unknown().ending


@pytest.mark.parametrize("text", ["a", "-v", "a.b/c", "ü", "~", "{a,b}"])
def test_a_plain_text_stays_one_argument(text: str) -> None:
    """Where nothing is in it that bash splits or expands, a text is one argument."""
    assert plain(text)


@pytest.mark.parametrize("text", ["", "a b", "a\tb", "a\nb", "*", "a?", "[a", "a\\b", " "])
def test_another_text_may_be_none_or_several(text: str) -> None:
    """A blank, a pattern or a backslash, or nothing at all: not one argument."""
    assert not plain(text)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("12", Shape.INTEGER),
        ("-12", Shape.INTEGER),
        ("+12", Shape.WORD),
        ("12a", Shape.ALPHANUMERIC),
        ("a1", Shape.ALPHANUMERIC),
        ("é", Shape.WORD),
        ("²", Shape.WORD),
        ("a-1", Shape.WORD),
        ("a b", Shape.ANY),
        ("-a", Shape.ANY),
        ("12 ", Shape.ANY),
        ("", Shape.ANY),
    ],
)
def test_the_shape_of_a_text(text: str, shape: Shape) -> None:
    """A number, letters and digits, a word, or anything; a dash is only harmless in a number."""
    assert shape_of(text) is shape
    assert shape_of(Unknown(shape=shape)) is shape


def test_a_value_may_be_an_option_or_empty() -> None:
    """Of a text that is seen; of a computed one that is told."""
    assert may_be_option("-v")
    assert not may_be_option("v-")
    assert may_be_option(Unknown())
    assert not may_be_option(Unknown(option=False))
    assert is_filled("v")
    assert not is_filled("")
    assert not is_filled(Unknown())
    assert is_filled(Unknown(filled=True))


NUMBER_VALUE = Unknown(option=False, shape=Shape.INTEGER, rooted=False, filled=True)
ONE_OF_TWO = Unknown(option=False, shape=Shape.WORD, choices=("a", "b"), rooted=False, filled=True)


@pytest.mark.parametrize(
    ("values", "joined"),
    [
        (["a"], "a"),
        (["a", "a"], "a"),
        ([Unknown(prefix="x"), Unknown(prefix="x")], Unknown(prefix="x")),
        (
            ["a", "b"],
            Unknown(
                option=False,
                shape=Shape.ALPHANUMERIC,
                choices=("a", "b"),
                rooted=False,
                filled=True,
            ),
        ),
        (
            ["-a", "/b", "-a"],
            Unknown(option=True, shape=Shape.ANY, choices=("-a", "/b"), rooted=True, filled=True),
        ),
        (
            ["", "1"],
            Unknown(option=False, shape=Shape.ANY, choices=("", "1"), rooted=False, filled=False),
        ),
        (
            ["1", ONE_OF_TWO],
            Unknown(
                option=False, shape=Shape.WORD, choices=("1", "a", "b"), rooted=False, filled=True
            ),
        ),
        (["1", NUMBER_VALUE], NUMBER_VALUE),
        (["a", Unknown(filled=True)], Unknown(filled=True)),
        (["a", Unknown(option=False, shape=Shape.WORD)], Unknown(option=False, shape=Shape.WORD)),
        (["a", Unknown(option=False, rooted=False)], Unknown(option=False, rooted=False)),
        (["a", Unknown(option=False, single=False)], Unknown(single=False)),
        ([ONE_OF_TWO, Unknown(single=False, choices=("c",))], Unknown(single=False)),
    ],
)
def test_one_of_several_values(values: list[Argument], joined: Argument) -> None:
    """What holds of each is known of one of them, and all texts where there are not too many."""
    assert join(values) == joined


def test_too_many_texts_are_not_told_apart() -> None:
    """Of more texts than that, only what holds of each is kept."""
    texts: list[Argument] = [f"f{number}" for number in range(MAX_CHOICES + 1)]
    known = Unknown(option=False, shape=Shape.ALPHANUMERIC, rooted=False, filled=True)
    assert join(texts) == known
    assert join(texts[1:]) == Unknown(
        option=False,
        shape=Shape.ALPHANUMERIC,
        rooted=False,
        filled=True,
        choices=tuple(f"f{number}" for number in range(1, MAX_CHOICES + 1)),
    )


@pytest.mark.parametrize(
    ("value", "one"),
    [
        ("a b", "a b"),
        (Unknown(prefix="a"), Unknown(prefix="a")),
        (Unknown(prefix="a", optional=True), Unknown(prefix="a", filled=True)),
        (
            Unknown(prefix="a", single=False, option=False, shape=Shape.WORD, choices=("a", "b")),
            Unknown(option=False, shape=Shape.WORD, choices=("a", "b")),
        ),
        (
            Unknown(prefix="a", single=False, option=False, pattern="a*b", suffix="b", tail="*b"),
            Unknown(prefix="a", option=False, pattern="a*b", rooted=False, suffix="b"),
        ),
        (
            Unknown(single=False, pattern="/a*", rooted=False),
            Unknown(pattern="/a*", rooted=True),
        ),
        (
            Unknown(single=False, pattern="*", prefix="/"),
            Unknown(pattern="*", prefix="/", rooted=True),
        ),
        (Unknown(single=False, pattern="*/"), Unknown(pattern="*/", rooted=False)),
        (Unknown(single=False, pattern="", rooted=False), Unknown(pattern="", rooted=False)),
    ],
)
def test_one_of_the_arguments_that_a_word_becomes(value: Argument, one: Argument) -> None:
    """One argument is exactly that, and not empty where an empty one would be none."""
    assert element(value) == one


@pytest.mark.parametrize("value", ["a", "-a", "12", "", Unknown(prefix="a", option=False)])
def test_any_number_of_arguments(value: Argument) -> None:
    """Each of them is what one would be; whether there is one is not known."""
    any_number = several(value)
    assert not any_number.single
    assert any_number.option is may_be_option(value)
    assert any_number.shape is shape_of(value)
    assert any_number.choices == ((value,) if isinstance(value, str) else ())
    assert several(Unknown(numbered="12")) == Unknown(single=False)


def test_a_piece_of_an_output_is_known_by_its_letters() -> None:
    """Each piece of letters and digits is of these, too; a word may be cut to anything."""
    number = Unknown(option=False, shape=Shape.INTEGER)
    assert piece_of(Output(Shape.INTEGER)) == number
    letters = Unknown(option=False, shape=Shape.ALPHANUMERIC)
    assert piece_of(Output(Shape.ALPHANUMERIC)) == letters
    assert piece_of(Output(Shape.WORD)) == Unknown()
    assert piece_of(Output()) == Unknown()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Unknown(choices=("a", "a")), several("a")),
        (Unknown(choices=("a", "", "b")), several(join(["a", "b"]))),
        (Unknown(choices=("a", "b c"), prefix="p"), Unknown(prefix="p", single=False)),
        (Unknown(choices=("", ""), suffix="s"), Unknown(single=False, tail="s")),
        (Unknown(option=False, suffix="*"), Unknown(single=False, tail="[*]")),
        (Unknown(suffix="s", pattern="a/*s"), Unknown(single=False, tail="/a/*s")),
        (Unknown(suffix="s", pattern="/a/*s"), Unknown(single=False, tail="/a/*s")),
        (Unknown(tail="*s"), Unknown(single=False, tail="*s")),
    ],
)
def test_a_computed_text_that_is_split(value: Unknown, words: Unknown) -> None:
    """Texts that stay whole are known; of another one, the beginning and the end are."""
    assert split(value) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a b", Unknown(prefix="a", single=False, tail="/b")),
        ("a *.py", Unknown(prefix="a", single=False, tail="/*.py")),
        ("a?", Unknown(prefix="a", single=False, tail="/a?")),
        ("-x /etc/*", Unknown(prefix="-x", single=False, tail="/etc/*")),
        (" ", Unknown(single=False)),
        ("", Unknown(single=False)),
        ("ab", Unknown(single=False, tail="/ab")),
    ],
)
def test_a_text_that_is_split(text: str, words: Unknown) -> None:
    """What stands before its first blank or pattern begins it, and its last piece ends it."""
    assert unquoted(text) == words


def test_an_array_is_kept_beside_a_variable() -> None:
    """The name of what any of its elements holds is the name of no variable."""
    assert elements_of("a") == "a[]"
