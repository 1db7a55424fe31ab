"""Which parts tell another one what to act on, and where nobody can say."""

from __future__ import annotations

import pytest

from agentscope_like.shell import EffectKind, analyze
from agentscope_like.shell.names.feeding import Feeders, cuts_oddly, prints_names


def feeders(command: str) -> list[str] | None:
    """Return what feeds the last effect of a command of which no path is known."""
    analysis = analyze(command, directory="/ws", home="/home/u")
    find = Feeders(analysis)
    found: list[list[str] | None] = []
    for part in analysis.parts:
        for effect in part.effects:
            if effect.path is None and effect.kind is EffectKind.READ:
                fed = find.of(effect, part)
                assert find.of(effect, part) == fed
                found.append(None if fed is None else [str(each.program) for each in fed])
    return found[-1]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat $(git ls-files)", ["git"]),
        ('cat "$(git ls-files src)"', ["git"]),
        ("cat $(find . | head)", ["find"]),
        ("cat $(find . | head; find src)", ["find", "find"]),
        ("cat a$(git ls-files)", None),
        ("cat $(git ls-files; date)", None),
        ("cat $(head)", None),
        ("cat $x", None),
        ("cat <(git ls-files)", []),
        ("cat <(date)", []),
        ("cat /dev/fd/3 <(date)", []),
    ],
)
def test_a_substitution_stands_for_what_it_lists(command: str, expected: list[str] | None) -> None:
    """Where it is all of a word and does nothing but list; a pipe that has a name is no file."""
    assert feeders(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("find . -exec cat {} +", ["find"]),
        ("find . -exec cat {} ';'", ["find"]),
        ("fd x . -x cat {}", ["fd"]),
        ("fd x . -x cat", ["fd"]),
        ("fdfind x . -x cat {}", ["fdfind"]),
        ("fd x . -x cat {.}", None),
        ("find . -exec cat a{} ';'", None),
        ("find . -exec cat {}/a ';'", None),
        ("find . -execdir cat {} ';'", None),
        ("find . -printf x -exec cat {} ';'", None),
        ('find "$x" -exec cat {} +', None),
        ('find . -name "$x" -exec cat {} +', None),
        ("fd x . --format a -x cat {}", None),
        ("fd -I {.} . -x cat {.}", None),
    ],
)
def test_what_finds_files_feeds_what_it_runs(command: str, expected: list[str] | None) -> None:
    """As it found them, and where it looks at places that are known."""
    assert feeders(command) == expected


@pytest.mark.parametrize(
    ("options", "is_fed"),
    [
        *(("", True), ("-0", True), ("-r", True), ("-n 1", True), ("-P 2", True), ("-t", True)),
        *(("-E x", False), ("-Ex", False), ("-e", False), ("-ex", False), ("--eof=x", False)),
        *(("--eof", False), ("-a f", False), ("--arg-file=f", False)),
        *(("-d x", False), ("-dx", False), ("--delimiter x", False), ("--delimiter=x", False)),
        *((r"-d '\n'", True), (r"-d'\n'", True), (r"--delimiter '\n'", True)),
        *((r"--delimiter='\n'", True), ("-d '\n'", True), ("-d'\n'", True)),
        *((r"-d '\t'", False), (r"-d '\n' -d x", False), (r"-d x -n '\n'", False)),
        *((r"-d '\nx'", False), ("--delimiter='\n'", True)),
    ],
)
def test_xargs_hands_on_what_it_is_fed(options: str, is_fed: bool) -> None:
    """All of its input, cut at blanks or at line ends, is the names; cut elsewhere, it is not."""
    assert feeders(f"git ls-files | xargs {options} cat") == (["git"] if is_fed else None)


ODD = r"""
-d x
-dx
-0dx
-rd x
-rtxdx
--delimiter=x
--delimiter x
--delim=x
-d ''
-dx '\n'
-d '\n' -dx
"$o" -d x
-n 1 -d x
-0n 1 -d x
-P 2 -L 3 -s 4 -E 5 -I 6 -a 7 -d x
--max-args 1 -d x
--no-such 1 -d x
-i -l -e -d x
-iR -l2 -ex -n1 -d x
-t --null --no-run-if-empty --verbose --exit --replace --max-lines --eof -d x
--null -dx
--no-run-if-empty -dx
--verbose -dx
--exit -dx
--replace -dx
--max-lines -dx
--eof -dx
--max-args=1 -dx
"""

EVEN = r"""
-0
-n 1
-E x
-d '\n'
-d'\n'
-rd '\n'
--delimiter='\n'
--delimiter '\n'
--max-args=1
-n1 -I{}
-I-d
"""

OWN = r"""
-0
-n1
-rP2
-t -n 1 -L 1
-i
-iR
-l
-l1
-e
-ex
-L1
-s9
-Ex
-IR
-af
-d'\n'
--null
--no-run-if-empty
--verbose
--exit
--replace
--max-lines
--eof
--max-args=1
"""


@pytest.mark.parametrize("options", ODD.strip().splitlines())
def test_xargs_may_cut_oddly(options: str) -> None:
    """Cutting its input at a letter is odd, wherever among its own options that is said."""
    assert cuts_oddly(analyze(f"xargs {options} cat", directory="/ws").parts[0])


@pytest.mark.parametrize("options", ["", *EVEN.strip().splitlines()])
def test_xargs_cuts_at_blanks_and_line_ends(options: str) -> None:
    """Cutting at blanks, line ends or NUL is not odd, and neither is ending early."""
    assert not cuts_oddly(analyze(f"xargs {options} cat", directory="/ws").parts[0])


@pytest.mark.parametrize("options", ["", *OWN.strip().splitlines()])
def test_the_options_of_what_xargs_runs_are_not_its_own(options: str) -> None:
    """A delimiter of `cut`, or an expression of `grep`, does not say how names are cut."""
    for command in ("cut -d, -f1", "cut -d , -f1", "sh -d x", "cut --delimiter=x"):
        part = analyze(f"xargs {options} {command}", directory="/ws").parts[0]
        assert not cuts_oddly(part)


def test_what_xargs_runs_may_be_told_where_its_fields_end() -> None:
    """It is fed the names all the same."""
    assert feeders("git ls-files | xargs cut -d, -f1") == ["git"]
    assert feeders("git ls-files | xargs grep -e x") == ["git"]
    assert feeders("git ls-files | xargs -ex grep x") is None
    assert feeders("git ls-files | xargs -re grep x") is None
    assert feeders("git ls-files | xargs -rEx grep x") is None
    analysis = analyze("xargs -rdX cat <<< '/home/u/.netrcX'", directory="/ws", home="/home/u")
    assert not analysis.read_only
    assert analyze("git ls-files | xargs cut -d, -f1", directory="/ws").read_only


@pytest.mark.parametrize(
    ("command", "is_fed"),
    [
        ("xargs cat", True),
        ("xargs cat a", True),
        ("xargs -I{} cat {}", True),
        ("xargs -i cat {}", True),
        ("xargs -I F cat F", True),
        ("xargs -IF cat F", True),
        ("xargs -n 1 -I F cat F", True),
        ('xargs -I F cat "$x" F', True),
        ("xargs -I F cat F/a", False),
        ("xargs -I F cat aF", False),
        ("xargs -I {} cat {}{}", False),
        ("xargs xargs cat", True),
        ("nice xargs cat", True),
        ("xargs nice cat", False),
        ("xargs sh -c 'cat \"$1\"'", False),
    ],
)
def test_a_name_is_known_as_it_was_handed_on(command: str, is_fed: bool) -> None:
    """Added at the end, or in the place of what is replaced, and with nothing added to it."""
    assert feeders(f"git ls-files | {command}") == (["git"] if is_fed else None)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("xargs cat < f", None),
        ("git ls-files; xargs cat < f", None),
        ("git ls-files; xargs cat < f | sort", None),
        ("w; xargs cat < f | sort", None),
        ("git ls-files; head | xargs cat", None),
        ("git ls-files && find . | xargs cat", ["find"]),
        ("find . | sort; git ls-files | xargs cat", ["git"]),
        ("find . | find src | xargs cat", ["find", "find"]),
        ("git ls-files | xargs cat | sort", ["git"]),
        ("git ls-files | xargs cat | xargs cat", None),
        ("{ git ls-files; } | xargs cat", None),
        ("git ls-files | { xargs cat; }", None),
        ("if true; then git ls-files | xargs cat; fi", None),
        ("date; git ls-files | xargs cat", ["git"]),
        ("git ls-files $(date) | xargs cat", None),
        ("cd src; find . | xargs cat", ["find"]),
        ('cd "$x"; find . | xargs cat', None),
        ("cd src; cat $(cd ../lib; find .)", None),
    ],
)
def test_only_what_stands_before_it_in_its_pipe_counts(
    command: str, expected: list[str] | None
) -> None:
    """What stands elsewhere, or in another directory, does not say what is handed on."""
    assert feeders(command) == expected


CHOOSING = """
head
head -n 5
head -5
tail
tail -n +2
tac
sort
sort -u
shuf
uniq
sort 2>/dev/null
grep x
egrep x
fgrep x
grep -v x
grep -E -F -i -w -P -x -e x
grep -vE x
head | sort | uniq
"""

CHANGING = """
head f
head -c 5
head -qc5
head --bytes=5
tail -c 5
tail --bytes 5
sort > f
uniq -c
uniq - f
grep -o x
grep -n x
grep -ov x
grep --invert-match x
grep x f
grep -v -n x
sed s/a/b/
rg x
cat
cut -d/ -f1
head "$x"
head | sed s/a/b/
"""


@pytest.mark.parametrize("filters", CHOOSING.strip().splitlines())
def test_names_may_be_chosen(filters: str) -> None:
    """What only leaves out lines, or puts them in another order, leaves the names as they are."""
    assert feeders(f"git ls-files | {filters} | xargs cat") == ["git"]


@pytest.mark.parametrize("filters", CHANGING.strip().splitlines())
def test_names_may_be_changed(filters: str) -> None:
    """What may print anything else, or nobody knows what, makes other names of them."""
    assert feeders(f"git ls-files | {filters} | xargs cat") is None


LISTING = """
find .
find src lib -name x
fd x src
fdfind x src
ls
ls -a
grep -l x a
grep -rl x src
grep -L x a
grep -irL x src
grep --files-with-matches x a
grep --files-without-match x a
egrep -l x a
rg -l x src
rg --files src
rg --files-with-matches x src
ag -l x src
ack -l x src
git ls-files
git ls-files src
git diff --name-only
git diff HEAD --name-only
"""

NOT_LISTING = """
ls src
ls *.py
dir
tree
du
eza
find . -printf %p
find . -fprintf f %p
fd x src --format x
fd x src --path-separator /
fd x --base-directory src
grep --label=x -l x a
grep x a
grep -r x src
rg x src
rg --files-x src
git diff
git -C a ls-files
git log --name-only
git ls-files --format=x
git status
echo a
date
find "$x"
no-such-tool ls-files
"""


@pytest.mark.parametrize("lister", LISTING.strip().splitlines())
def test_what_lists_names_feeds(lister: str) -> None:
    """What prints nothing but names below the places that it looks in."""
    assert feeders(f"{lister} | xargs cat") == [lister.partition(" ")[0]]


@pytest.mark.parametrize("lister", NOT_LISTING.strip().splitlines())
def test_what_prints_anything_else_does_not(lister: str) -> None:
    """What prints other texts, or names that do not say where they are."""
    assert feeders(f"{lister} | xargs cat") is None


NAMES = """
find .
fd x
fdfind x
ls
ls src
dir
vdir
tree -fi
du -a
eza
exa
lsd
grep -l x a
rg --files
git ls-files
git diff --name-only
"""

OTHERS = """
dir src
tree -fi src
du -a src
grep x a
grep -r l a
rg x
git diff
git status --name-only
git log ls-files
echo ls-files
cat a
"""


@pytest.mark.parametrize("command", NAMES.strip().splitlines())
def test_what_prints_names(command: str) -> None:
    """With more beside them or not, names of files that are where it looks."""
    assert prints_names(analyze(command, directory="/ws").parts[0])


@pytest.mark.parametrize("command", OTHERS.strip().splitlines())
def test_what_prints_texts(command: str) -> None:
    """What is in files, or what is no name; a place that is given is an effect of its own."""
    assert not prints_names(analyze(command, directory="/ws").parts[0])
