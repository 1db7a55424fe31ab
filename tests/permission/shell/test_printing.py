"""What is known of what a command prints: it decides where `$(...)` may stand as an argument."""

from __future__ import annotations

import pytest

from tests.permission.kit import EffectKind, analyze

WORD = 'git show "$({})"'
"""Takes a text that is no option."""

NUMBER = 'head -n "$({})" f'
"""Takes a number."""

SCRIPT = 'sed -n "$({})p" f'
"""Takes what is a number, or else no script."""

SINGLE = "sed $({})q f"
"""Takes what is just one argument."""


def rows(table: str) -> list[str]:
    """Return the lines of a table, each of which begins with the form that takes its output."""
    forms = {"word": WORD, "number": NUMBER, "script": SCRIPT, "single": SINGLE}
    lines = (line.split(maxsplit=1) for line in table.strip().splitlines())
    return [forms[form].replace("{}", command) for form, command in lines]


KNOWN = rows(r"""
word echo a.b
word git describe
word git describe HEAD
word git describe --tags --abbrev=0 HEAD~2^
word git describe || true
word git describe || false
word git describe || :
word git describe || exit 1
word git describe || test -e a
word git describe || [ -e a ]
word git describe 2>/dev/null
word git rev-parse --short HEAD
word git tag
word git tag -l 'v*'
word git tag --list 'v*' --sort=-v:refname
word git branch --list 'f*' --format='%(refname:short)'
word git for-each-ref --format='%(refname:short)' 'refs/tags/v*'
word git branch | cut -c3-
word git branch --merged main | cut -c 3- | head -1
word git branch | grep '\*' | cut -c3-
word git branch | grep '\*' | sed 's/^\* //'
word git branch | sed 's/^..//'
word git branch | sed -e 's/^[ *]*//' | sort
word git branch --no-merged | tr -d '* '
word git branch | awk '{print $NF}'
word git branch | grep -v '\*'
word git rev-parse HEAD || git describe
word git hash-object f
number echo 5
number wc -l < f
number wc -l < f | tr -d ' '
number wc -l < f | tr -d '[:space:]'
number wc -l < f | tr -d '[:blank:]'
number wc -l < f | xargs
number wc -l < f | awk '{print $1}'
number wc -l < f | awk '{ print $1 }' | tr -d ' ' | head -1
number seq 3 | tail -n 1
number seq 3 | tail -n +2 | head -n1
number seq 3 | sort -rn | uniq | head
number grep -c x f
number grep -c -i x f 2>/dev/null
number grep -c x "$(git rev-parse HEAD)"
number grep -c x $(git rev-parse HEAD)
number grep -c x $(git merge-base a b)
number date +%s
number date -d x +%s
number date +%Y%m%d
number stat -c %s f
number git log -1 --format=%ct
number git rev-list --count HEAD
number awk 'END {print NR}' f
number awk 'END{print FNR}' f
number awk '/a/{print NR; exit}' f
number awk '/a\/b/ { print NR ; exit }' f
number seq 1 $((1 + 2))
number nproc
number id -u
number pgrep node | head -1
word id -un
script grep -n x f | cut -d: -f1
script grep -n x f | cut -d: -f1 | head -1
script grep -n x f | head -1 | cut -f1 -d:
script grep -n x f | awk -F: '{print $1}'
script grep -n x ./a-b.c | sort -n | cut -d: -f1 | tail -n 1
script wc -l < f
single awk '/a/{print NR; exit}' f
single wc -l < f
single date +%s
word git branch --contains HEAD | cut -c3-
word git branch --no-contains x | cut -c3-
word git branch --merged=main | cut -c3-
word git branch --no-merged=a/b | cut -c3-
word git branch -l | cut -c3-
word git branch --list | cut -c3-
word git branch --sort=-v:refname | cut -c3-
word git branch --sort x | cut -c3-
word git branch | grep -v '^*'
word git branch | grep -v '^\*'
word git branch | grep -v '* '
word git branch | sed 's|^..||'
word git branch | sed 's,^[* ]*,,'
word git branch | sed 's#^[ *]##'
word git branch | sed 's/\* //'
word git branch | sed 's/[*] //'
word git branch | sed -E 's/^..//'
word git branch | tr -d ' *'
word git branch | awk '{ print $NF }'
word git branch | cut -c 3-
script grep --line-number x f | cut -d: -f1
script grep -na x f | cut -d: -f1
script grep -n --text x f | cut -d: -f1
script grep -n -e x f | cut -d: -f1
script grep -n --regexp=x f | cut -d: -f1
script grep -nE x f | cut -d: -f1
script grep -n --extended-regexp x f | cut -d: -f1
script grep -nF x f | cut -d: -f1
script grep -n --fixed-strings x f | cut -d: -f1
script grep -nG x f | cut -d: -f1
script grep -n --basic-regexp x f | cut -d: -f1
script grep -nh x f | cut -d: -f1
script grep -n --no-filename x f | cut -d: -f1
script grep -ni x f | cut -d: -f1
script grep -n --ignore-case x f | cut -d: -f1
script grep -n -m 1 x f | cut -d: -f1
script grep -nm1 x f | cut -d: -f1
script grep -n --max-count=1 x f | cut -d: -f1
script grep -no x f | cut -d: -f1
script grep -n --only-matching x f | cut -d: -f1
script grep -nP x f | cut -d: -f1
script grep -n --perl-regexp x f | cut -d: -f1
script grep -ns x f | cut -d: -f1
script grep -n --no-messages x f | cut -d: -f1
script grep -nv x f | cut -d: -f1
script grep -n --invert-match x f | cut -d: -f1
script grep -nw x f | cut -d: -f1
script grep -n --word-regexp x f | cut -d: -f1
script grep -nx x f | cut -d: -f1
script grep -n --line-regexp x f | cut -d: -f1
script grep -n x f | cut -d : -f 1
script grep -n x f | cut -f 1 -d :
script grep -n x f | awk -F : '{ print $1 }'
number wc -l < f | head
number wc -l < f | head -n 1
number wc -l < f | tail
number wc -l < f | tail -1
number wc -l < f | tail -n +2
number wc -l < f | sort -n
number wc -l < f | sort -r
number wc -l < f | sort -uV
number wc -l < f | uniq
number wc -l < f | grep x
number wc -l < f | grep -v x
number wc -l < f | grep -Ei 5
number wc -l < f | tr -d '\n'
number wc -l < f | cut -d' ' -f1
number awk '/a/ {print NR}' f
number awk 'END { print NR; }' f
number awk 'END { print NR; exit }' f
number awk '/a/{print FNR;exit;}' f
number seq 3 | tail -n 1 | grep 3
number echo 5 || echo 6
number echo 5 && echo 6
number [ -e a ] && echo 5 || echo 6
number awk 'END {print NR}' ./a-b.c /d/e
number seq 3 | xargs | tail -1
single wc -l < f | tail -1
single wc -l < f | tr -d ' ' | head -1
word git rev-parse HEAD | head -1 | sort
word git branch | cut -c3- 2>/dev/null
word git branch | head -3 | cut -c3- | tail -1
word git branch --list 'f*' --format '%(refname:short)'
word git describe HEAD~2
script grep -n x /d/f | cut -d: -f1
script grep -e x -n f | cut -d: -f1
script grep -n x f 2>/dev/null | cut -d: -f1
script grep -n x | cut -d: -f1
""")

NOT_KNOWN = rows(r"""
word echo -a.b
word echo "$x"
word cat f
word git describe "v$x"
word git describe v1
word git describe --all
word git describe HEAD:f
word git describe HEAD^{blob}
word git tag -n -l 'v*'
word git tag -l "$x"
word git tag -l 'v*' | cut -c2-
word git branch
word git branch --list 'f*'
word git branch --list 'f*' --format='%(authorname)'
word git branch -r | cut -c3-
word git branch -v | cut -c3-
word git branch | cut -c4-
word git branch | cut -c2-
word git branch | cut -c3- f
word git branch | cut -c3- | cut -c3-
word git branch | sed 's/^..//p;s/a/ -/'
word git branch | sed 's/a//'
word git branch | awk '{print $1}'
word git branch | tr -d 'a '
word git branch | grep '\*'
word git tag -n | cut -c3-
word git log | cut -c3-
word GIT_DIR=x git branch | cut -c3-
word git describe 2>&1
word git describe 2>f
word git describe || cat f
word git describe; cat f
word git describe & git describe
word git describe | cat
word git describe | tr a -
word git rev-parse --git-dir
word time git describe
word ! cat f
number echo x5
number echo a
number wc -l f
number wc -l f | cut -d ' ' -f 1
number wc -c < f g
number wc -l < f | tr 0 a
number wc -l < f | head "./$x"
number wc -l < f | head -1 g
number wc -l < f | sort -o
number wc -l < f | head -1 < g
number wc -l < f 2>&1
number wc -l < f | xargs echo
number wc -l < f | cat
number seq 3 | tail -f
number seq 1 $x
number seq 1 "$(echo a)"
number grep -c x f g h
number grep -c x $(git rev-list HEAD)
number grep -c x "-$(git rev-parse HEAD)"
number grep x f
number grep -c -r x f
number date
number date +%F
number date -d x +%F
number date -f x +%s
number stat -c %n f
number stat -c %s%n f
number git log -1 --format=%s
number awk 'END {print $1}' f
number awk 'END {print NR, $1}' f
number awk 'END {print NR}' "$x"
number awk "END {print $x}" f
number awk -f g f
number awk 'END {print NR}' a=b
script grep x f | cut -d: -f1
script grep -n x f
script grep -n x f | cut -d: -f2
script grep -n x f | cut -d: -f1 | cut -d: -f1
script grep -n x f | cut -d: -f1 | rev
script grep -n x f g | cut -d: -f1
script grep -n x "$y" | cut -d: -f1
script grep -n x 'a b' | cut -d: -f1
script grep -n x a:b | cut -d: -f1
script grep -n x f | head -1 g | cut -d: -f1
script grep -n x f | cut -d: -f1 < g
script grep -n x f 2>&1 | cut -d: -f1
script grep -n -c x f | cut -d: -f1
script grep -n -1 x f | cut -d: -f1
script GREP_COLOR=1 grep -n x f | cut -d: -f1
script rg -n x f | cut -d: -f1
script cat f
single awk '/a/{print NR}' f
single seq 3
single git log --format=%ct
word git branch -a | cut -c3-
word git branch --merged -v | cut -c3-
word git branch --merged=-x | cut -c3-
word git branch | grep -v '*x'
word git branch | grep -v x
word git branch | sed -n 's/^..//'
word git branch | sed 's/^.//'
word git branch | sed 's/^..//g'
word git branch | sed 's/^..|//'
word git branch | tr -d '*'
word git branch | tr -d ' '
word git branch | awk '{print $NF,1}'
word git branch | cut -c3
script grep -nH x f | cut -d: -f1
script grep -nb x f | cut -d: -f1
script grep -nl x f | cut -d: -f1
script grep -nc x f | cut -d: -f1
script grep -nr x f | cut -d: -f1
script grep -nA1 x f | cut -d: -f1
script grep -n --color=always x f | cut -d: -f1
script grep -nT x f | cut -d: -f1
script grep -nZ x f | cut -d: -f1
script grep -n x f | cut -f1,2 -d:
script grep -n x f | awk -F: '{print $2}'
number wc -l < f | head -c 1
number wc -l < f | tail -f
number wc -l < f | sort -k2
number wc -l < f | uniq -c
number wc -l < f | grep -n x
number wc -l < f | grep -o x
number wc -l < f | tr -d '[:digit:]'
number wc -l < f | tr -d 1
number wc -l < f | tr -d '[:alpha:]'
number wc -l < f | cut -d ' ' -f 1
number wc -l < f | cut -d' ' -f2
number awk '{print NR}' f
number awk 'BEGIN {print NR}' f
number awk '/a/{print NF}' f
number wc -c < f
number wc -m < f
number nproc --help
number nproc --version
script wc --help
word git describe --help
word git rev-parse --help
number seq --help
number date --version
number true
number nproc <&0
number git -C a rev-list --count HEAD
number seq 3 > f
number seq 3 2>> /dev/null
number seq 3 >/dev/null
number seq 3 3>/dev/null
number seq 3 | tail -1 2>f
number nproc 2>"$x"
number seq 3 | grep
number seq 3 | head -1 <<< a
number echo 5 && cat f
number echo a || echo 6
number awk
number awk 'END {print NR}' -f
number awk 'END {print NR}' a "b c"
number git rev-list HEAD
number git log -1 --format
number git log -1 --format=%ct --format=%s
word git describe a/-b
word git branch | head -3
word git branch | grep -v '\*' | sed 's/a//'
single seq 3 | head -2
word git branch | cut -c3- 2>f
word git branch | cut -c3- < f
word git branch x | cut -c3-
word git branch --list 'f*' --format
script grep -n x -f "$y" | cut -d: -f1
script egrep -n x f | cut -d: -f1
script grep -n x f <g | cut -d: -f1
script grep -n x f | cut -d: -f1 | A=1 head -1
script grep -n x ./-a.c -r | cut -d: -f1
script grep -n "$y" f | cut -d: -f1
""")


def test_what_is_known_of_an_output_lets_it_be_an_argument() -> None:
    """A word, a number, a line's number and a single line may stand where nothing else may."""
    for command in KNOWN:
        assert analyze(command, directory="/ws", home="/home/u").all_doubts == (), command


def test_any_other_output_is_in_doubt() -> None:
    """What may print anything else, several lines or an error is taken for no argument."""
    for command in NOT_KNOWN:
        analysis = analyze(command, directory="/ws", home="/home/u")
        assert not analysis.read_only, command
        assert analysis.all_doubts, command


@pytest.mark.parametrize("program", ["echo", "printf %s"])
def test_printed_texts_are_known_where_they_are_one_line(program: str) -> None:
    """Of several lines the last may be dropped, and the others be split."""

    def proven(text: str) -> bool:
        command = WORD.replace("{}", f"{program} '{text}'")
        return analyze(command, directory="/ws", home="/home/u").read_only

    assert [text for text in ("a", "a b", "a-b") if not proven(text)] == []
    assert [text for text in ("a\n", "a\nb", "\na", "-a.b") if proven(text)] == []


@pytest.mark.parametrize(
    ("command", "prints"),
    [
        ("echo a b", "a b"),
        ("echo -a", "-a"),
        ("echo a -n", "a -n"),
        ("echo", None),
        ("echo -n a", None),
        ("echo -ne a", None),
        (r"echo '\055a'", None),
        ("echo a | head -1", None),
        ("printf a", "a"),
        ("printf a b", None),
        ("printf %s a b", "ab"),
        ("printf %s.%s a b c d", "a.bc.d"),
        ("printf %s.%s a b c", None),
        ("printf '%s\\n' a", "a"),
        ("printf '%s\\n%s' a b", None),
        (f"printf %s{'a' * 2000} b c d", "b{0}c{0}d{0}".format("a" * 2000)),
        (f"printf %s{'a' * 2000} b c d e f g", None),
        ("dirname a/b", "a"),
        ("dirname a", "."),
        ("dirname /a/b", "/a"),
        ("dirname /a", ""),
        ("dirname a//b//", "a"),
        ("dirname -z a/b", None),
        ("dirname a/b c/d", None),
        ("dirname", None),
        ("dirname 'a\n/b'", None),
        ('dirname "$x"', None),
        ("pwd", "/ws"),
        ("pwd 2>/dev/null", "/ws"),
        ("pwd -P", None),
        ("pwd > x", None),
        ("true", None),
        ("true; echo a", None),
        ("echo a; echo b", None),
        ("gecho a", None),
        (r"printf 'a\n'", "a"),
        ("printf %s-%s a b", "a-b"),
        (r"printf '%s.c\n' '\055a'", r"\055a.c"),
        ("printf", None),
        ("printf %s", None),
        ("printf '%s\\n' a b", None),
        ("printf %s%s a", None),
        ("printf %d 5", None),
        ("printf %.1s ab", None),
        (r"printf '\055a'", None),
        (r"printf 'a\nb\n'", None),
        ("printf -- a", None),
        ("printf -a", None),
    ],
)
def test_what_is_printed_of_known_words_is_a_known_part_of_a_path(
    command: str, prints: str | None
) -> None:
    """Where all shells print the same text, the path is known that it is a part of."""
    analysis = analyze(f'rm "f$({command})"', directory="/ws", home="/home/u")
    removed = {each.path for each in analysis.effects if each.kind is EffectKind.DELETE}
    assert removed == {None if prints is None else f"/ws/f{prints}"}


KEEPING = (
    *("-a", "--text", "-e x", "--regexp=x", "-E", "--extended-regexp", "-F", "--fixed-strings"),
    *("-G", "--basic-regexp", "-h", "--no-filename", "-i", "--ignore-case", "-m 1"),
    *("--max-count=1", "-o", "--only-matching", "-P", "--perl-regexp", "-s", "--no-messages"),
    *("-v", "--invert-match", "-w", "--word-regexp", "-x", "--line-regexp"),
)
CHANGING = (
    *("-c", "-l", "-L", "-q", "-H", "-b", "-T", "-z", "-A 2", "-B 2", "-C 2", "-2", "-r"),
    *("--color=always", "--count", "--null", "--label=x", "--with-filename", "--byte-offset"),
)


@pytest.mark.parametrize("numbering", ["-n", "--line-number"])
def test_some_options_of_grep_leave_the_numbers_of_lines_where_they_are(numbering: str) -> None:
    """Beside those that choose lines, each line begins with its number; others change that."""

    def proven(option: str) -> bool:
        pattern = "" if option.startswith(("-e", "--regexp")) else "x"
        command = SCRIPT.replace("{}", f"grep {numbering} {option} {pattern} f | cut -d: -f1")
        return analyze(command, directory="/ws", home="/home/u").read_only

    assert [option for option in KEEPING if not proven(option)] == []
    assert [option for option in CHANGING if proven(option)] == []
