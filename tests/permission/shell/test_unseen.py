"""Where names come from that a part is told of while it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.permission.command.safety_checks import find_danger
from agentscope_like.shell import analyze
from agentscope_like.shell.analysis import Part
from agentscope_like.shell.names.unseen import (
    doubted_names,
    finds_files_alone,
    finds_source_code,
    sources,
)
from agentscope_like.shell.surroundings import Surroundings

ANOTHER, CUT, MADE = "stand in another one", "are cut out of a text", "for a connection"


def doubts(command: str) -> list[str]:
    """Return what is not known of the names that a command reads."""
    analysis = analyze(command, directory="/ws", home="/home/u")
    assert analysis.script is not None
    found = [doubt.message for _, doubt in doubted_names(analysis)]
    kinds = [kind for kind in (ANOTHER, CUT, MADE) for each in found if each.endswith(kind)]
    assert len(kinds) == len(found)
    return kinds


def listing(command: str) -> list[str]:
    """Return the programs that list what others read."""
    analysis = analyze(command, directory="/ws", home="/home/u")
    return [part.program or "" for part in sources(analysis)]


def find(tests: str) -> Part:
    """Return the part that is `find` with some tests."""
    return analyze(f"find ~ {tests}", directory="/ws", home="/home/u").parts[0]


@pytest.mark.parametrize(
    "program", ["base64", "base32", "basenc", "xxd", "rev", "iconv", "openssl", "zcat"]
)
def test_a_decoder_makes_another_text(program: str) -> None:
    """What it prints is as good as what stands in a file, whatever it is given."""
    assert doubts(f"echo a | {program} | xargs cat") == [ANOTHER]
    assert doubts(f"{program} f; echo a | xargs cat") == []
    assert doubts("echo a | tac | xargs cat") == []


@pytest.mark.parametrize(
    "program",
    ["echo", "printf", "sed", "gsed", "awk", "gawk", "mawk", "tr", "jq", "yq", "paste", "yes"],
)
@pytest.mark.parametrize("reader", ["awk", "gawk", "mawk"])
def test_a_text_of_its_own_making_may_be_a_connection(program: str, reader: str) -> None:
    """Awk connects to where a name says; names of files that are listed say nothing of that."""
    assert MADE in doubts(f"ls | {program} / | xargs {reader} 1")
    assert MADE not in doubts(f"ls | {program} / | xargs cat")
    assert MADE not in doubts(f"{program} /; ls | xargs {reader} 1")
    assert doubts(f"ls | xargs {reader} 1") == []


TOLD = """
log show cat-file whatchanged reflog stash notes config remote for-each-ref branch tag shortlog
"""


@pytest.mark.parametrize("command", TOLD.split())
def test_git_tells_what_is_no_name(command: str) -> None:
    """What these print comes from the repository; others print names of files."""
    assert doubts(f"git {command} | xargs cat") == [ANOTHER]
    assert doubts(f"git -C d {command} a | xargs cat") == [ANOTHER]
    assert doubts(f"git {command} --name-only | xargs cat") == []
    assert listing(f"git {command} a | xargs cat") == []


@pytest.mark.parametrize("command", ["ls-files", "status -s", "diff --name-only", "grep -l x"])
def test_git_lists_names(command: str) -> None:
    """What lists files of the work tree is a source of names."""
    assert doubts(f"git {command} | xargs cat") == []
    assert "git" in listing(f"git {command} | xargs cat")


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        # A text that takes names from a file
        ("cat names | xargs cat", [ANOTHER]),
        ("xargs cat < names", [ANOTHER]),
        ("xargs -a names cat", [ANOTHER]),
        ("xargs cat <<< a", []),
        ("xargs cat <<E\na\nE", []),
        ("xargs cat < <(ls)", []),
        ("xargs cat < <(sort names)", [ANOTHER]),
        ("xargs cat", []),
        ("ls > names | xargs cat", []),
        ('read x < names; cat "$x"', [ANOTHER]),
        ('read x <<< a; cat "$x"', []),
        ('read x < <(ls); cat "$x"', []),
        ('mapfile x < names; cat "$x"', [ANOTHER]),
        ('readarray x < names; cat "$x"', [ANOTHER]),
        ('sort x < names; cat "$x"', []),
        ('while read f; do cat "$f"; done < names', [ANOTHER]),
        ('ls | while read f; do cat "$f"; done', []),
        ('cat names | while read f; do cat "$f"; done', [ANOTHER]),
        ('cat names | while read f; do wc "$f"; done', []),
        ("cat $(cat names)", [ANOTHER]),
        ("cat `cat names`", [ANOTHER]),
        ("cat $(ls)", []),
        ("cat $(cat $(ls))", [ANOTHER]),
        ("cat <(cat names)", []),
        ('< "$(cat names)" cat', [ANOTHER]),
        ('read x < "$y"; cat "$x"', [ANOTHER]),
        ('{ ls; read x; } < names; cat "$x"', [ANOTHER]),
        ('{ ls; read x; } < $(echo names); cat "$x"', [ANOTHER]),
        ('{ ls; read x; } <<< a; cat "$x"', []),
        ('{ ls; read x; } > out; cat "$x"', []),
        ("grep -l x names | nl | xargs cat", []),
        ("echo a > out | xargs cat", []),
        # What may be handed on, and to whom
        ("ls | nl | xargs awk 1", []),
        ('cat names | head; cat "$x"', []),
        ('cat names | read x; cat "$x"', [ANOTHER]),
        ("cat names; ls | xargs cat", []),
        ("ls | xargs cat; cat names", []),
        ("ls | xargs cat | cat - names", []),
        ("cat names | sort | xargs cat", [ANOTHER]),
        ("cat names | xargs ls", []),
        ("cat names | xargs wc", []),
        ("cat names | xargs rm", []),
        ("cat names | xargs ls; cat a", []),
        ('cat names | xargs ls; cd "$x"; cat a', []),
        ('cat names | xargs ls; cd "$x"; cat a b', []),
        ("cat /dev/null | xargs cat", []),
        ("cat /dev/stdin | xargs cat", []),
        ("wc -l names | xargs cat", []),
        ("find names | xargs cat", []),
        ("find names -type f | xargs ls | xargs cat", []),
        ("stat names | xargs cat", []),
        ("file -f names | xargs cat", [ANOTHER]),
        ("grep -l x names | xargs cat", []),
        ("grep x names | xargs cat", [ANOTHER]),
        ('bash -c \'cat names; cat "$0"\' "$x"', [ANOTHER]),
        ("timeout 1 cat names; ls | xargs cat", []),
        ("find . -exec cat {} +", []),
        # What is cut to the names that it begins with
        ("grep -r x d | cut -d: -f1 | xargs cat", []),
        ("grep -nH x names | cut -d: -f1 | xargs cat", []),
        ("grep -nR x names | cut -d: -f1 | xargs cat", []),
        ("grep --recursive x d | cut -d: -f1 | xargs cat", []),
        ("grep --with-filename x d | cut -d: -f1 | xargs cat", []),
        ("egrep -r x d | cut -d: -f1 | xargs cat", []),
        ("rg x d | cut -d: -f1 | xargs cat", []),
        ("rg x d | awk -F: '{print $1}' | xargs cat", []),
        ("grep x names | cut -d: -f1 | xargs cat", [ANOTHER]),
        ("grep -e -rx names | cut -d: -f2 | xargs cat", [ANOTHER]),
        ("grep -r x d | cut -d: -f2 | xargs cat", [ANOTHER]),
        ("grep -r x d | cut -d: -f12 | xargs cat", [ANOTHER]),
        ("grep -r x d | sort | cut -d: -f1 | xargs cat", [ANOTHER]),
        ("cat -r names | cut -d: -f1 | xargs cat", [ANOTHER]),
        ("ag x d | cut -d: -f1 | xargs cat", [ANOTHER]),
        ("cat $(grep -r x d)", [ANOTHER]),
        ("cat $(grep -r x d | cut -d: -f1)", []),
        # What prints other letters than its words have
        ("ls | tr a b | xargs cat", [ANOTHER]),
        ("ls | tr -d 1 | xargs cat", [ANOTHER]),
        (r"ls | tr '\n' ' ' | xargs cat", []),
        (r"ls | tr -s '\t' '\000' | xargs cat", []),
        (r"ls | tr -cd '\a\b\f\r\v' | xargs cat", []),
        (r"ls | tr -C '\n' , | xargs cat", []),
        (r"ls | tr -t '\n' , | xargs cat", []),
        (r"ls | tr '\141' , | xargs cat", [ANOTHER]),
        ("ls | tr , -dx | xargs cat", [ANOTHER]),
        ("ls | tr , x-d | xargs cat", [ANOTHER]),
        ("printf '%s\\n' a | xargs cat", []),
        ("printf '%%s' | xargs cat", []),
        ("printf '%d' 3 | xargs cat", [ANOTHER]),
        ("printf '%s%c' a b | xargs cat", [ANOTHER]),
        ("printf '%s' %d | xargs cat", []),
        ("printf '%s' \"$x\" | xargs cat", []),
        ("printf '\\141' | xargs cat", [ANOTHER]),
        ("printf '%s' '\\x41' | xargs cat", [ANOTHER]),
        ("printf '\\u0041' | xargs cat", [ANOTHER]),
        ("printf '\\U00000041' | xargs cat", [ANOTHER]),
        ("printf 'a\\c' | xargs cat", [ANOTHER]),
        ("printf 'a\\nb\\0' | xargs -0 cat", []),
        ("echo -e '\\0101' | xargs cat", [ANOTHER]),
        ("echo -e 'a\\08' | xargs cat", []),
        ("echo -e 'a\\8' | xargs cat", []),
        ("echo '%d' | xargs cat", []),
        ("cat '\\141' | xargs cat", [ANOTHER]),
        ("basename '\\141' | xargs cat", []),
        # What is cut elsewhere than at its blanks
        ('read -d X f < g; cat "$f"', [CUT]),
        ('read -dX f < g; cat "$f"', [CUT]),
        ('read -rd X f < g; cat "$f"', [CUT]),
        ('read -dd < g; cat "$REPLY"', [CUT]),
        ('mapfile -d X f < g; cat "$f"', [CUT]),
        ('readarray -td X f < g; cat "$f"', [CUT]),
        ('read -n 3 f < g; cat "$f"', [CUT]),
        ('read -N 3 f < g; cat "$f"', [CUT]),
        ('read -i a f < g; cat "$f"', [CUT]),
        ("ls | xargs -d X cat", [CUT]),
        ("ls | xargs -d '\\n' cat", []),
        ("ls | xargs -n 3 cat", []),
        ("ls | xargs --delimiter=X cat", [CUT]),
        ('read -p a-dX f; cat "$f"', []),
        ("read -r -d '' f; cat \"$f\"", []),
        ("read -d $'\\n' f; cat \"$f\"", []),
        ('read -r f; cat "$f"', []),
        ('mapfile -n 3 f; cat "$f"', []),
        ('cut -d X f; read x; cat "$x"', []),
    ],
)
def test_names_that_stand_in_a_file_are_not_known(command: str, kinds: list[str]) -> None:
    """Nothing is proven of what reads the files that a text names; listed names will do."""
    assert doubts(command) == kinds


def test_the_doubt_tells_who_reads() -> None:
    """The program is named, or the redirection where no program stands."""
    analysis = analyze('f=$(cat names); < "$f"; cat "$f"', directory="/ws")
    found = [doubt.message.partition(" shows ")[0] for _, doubt in doubted_names(analysis)]
    assert found == ["`<`", "`cat`"]


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("find . | xargs cat", ["find"]),
        ("find . -exec cat {} +", ["find"]),
        ("find d -exec cat x{} \\;", ["find"]),
        ("find d -exec wc x{} \\;", []),
        ("fd x | xargs cat", ["fd"]),
        ("find . | sort | xargs cat", ["find"]),
        ("cat $(find .)", ["find"]),
        ("find . | xargs cat; wc $(ls d)", ["find"]),
        ('ls d | while read f; do cat "$f"; done', ["ls"]),
        ("ls | sort | uniq -c | xargs cat", ["ls"]),
        ("ls d; cat a", []),
        ("ls d | xargs wc", []),
        ("ls d | xargs ls", []),
        ("find . -exec wc {} +", []),
        ("cat d | xargs cat", []),
        ("realpath d | awk 1 | xargs cat", ["realpath"]),
        ("wc d | awk 1 | xargs cat", []),
    ],
)
def test_what_lists_names_that_are_read_is_a_source(command: str, programs: list[str]) -> None:
    """Where what is listed is shown by another part, the places that are listed count."""
    assert listing(command) == programs


@pytest.mark.parametrize(
    ("tests", "code"),
    [
        ("-name '*.py'", True),
        ("-name x.PY", True),
        ("-iname '*.Py'", True),
        ("-type f -name '*.py'", True),
        ("-name '*.py' -size +1k", True),
        ("-name a.py -o -name b.js", True),
        ("-name a.py -or -name b.js", True),
        ("-name d -prune -o -name '*.js' -print", True),
        ("-name d -prune -o -name '*.js' -print0", True),
        ("-name d -prune -o -name '*.js' -exec cat {} +", True),
        ("-name d -prune -o -name '*.js' -execdir cat {} +", True),
        ("-name d -prune -o -name '*.js' -ok cat {} \\;", True),
        ("-name d -prune -o -name '*.js' -okdir cat {} \\;", True),
        ("-name d -prune -o -name '*.js' -ls", True),
        ("-name d -prune -o -name '*.js' -fprint f", True),
        ("-name d -prune -o -name '*.js' -fls f", True),
        ("-name d -prune -o -name '*.js' -delete", True),
        ("-name a.py -exec echo -o \\;", True),
        ("-name a.py -exec echo , {} + -print", True),
        ("\\( -name a.py -o -name b.py \\) -print", True),
        ("-name a.py -exec echo {} x -o \\; -print", True),
        ("-name a.py -exec echo + -o \\; -print", True),
        ("-name a.py -exec echo {} + -o -print", False),
        ("-name a.py -exec echo \\; -o -print", False),
        ("", False),
        ("-name x", False),
        ('-name "$x"', False),
        ("-name '*'", False),
        ("-path '*.py'", False),
        ("-name py", True),
        ("! -name b.c -name a.py", True),
        ("! -name '*.py'", False),
        ("-not -name '*.py'", False),
        ("! \\( -name '*.py' \\)", False),
        ("-not \\( -type f -name '*.py' \\)", False),
        ("-name '*.py' , -name x", False),
        ("-name '*.py' -o -name x", False),
        ("-name x -or -name '*.py'", False),
        ("-name d -prune -o -name '*.js'", False),
        ("-name d -prune -print -o -name '*.js' -print", False),
        ("-name d -print -prune -o -name '*.js' -print", False),
        ("\\( -name d -prune \\) -o -name '*.js' -print", False),
        ("\\( -name d -prune -o -name '*.js' \\) -print", False),
        ("-name '*.js' -print -o -name d -prune", False),
        ("-print -name '*.py'", False),
        ("-ls -name '*.py'", False),
        ("-exec cat {} + -name '*.py'", False),
        ("-exec cat {} \\; -name '*.py'", False),
        ("-name d -prune -o -print -name '*.py'", False),
        ("-exec echo -name x.py \\;", False),
        ("-exec echo + -name x.py \\;", False),
        ("-exec echo {} x + -name x.py \\;", False),
    ],
)
def test_find_lists_source_code_where_each_way_says_so(tests: str, code: bool) -> None:
    """Each alternative has to ask for such a name before it acts, and none may be turned around."""
    assert finds_source_code(find(tests)) is code
    assert not finds_source_code(analyze(f"fd {tests}", directory="/ws").parts[0])


@pytest.mark.parametrize(
    ("tests", "files"),
    [
        ("-type f", True),
        ("-name x -type f -print", True),
        ("-type f -o -name x -type f", True),
        ("-name d -prune -o -type f -print", True),
        ("", False),
        ("-type l", False),
        ("-type fl", False),
        ("-xtype f", False),
        ("! -type f", False),
        ("-not -type f", False),
        ("! \\( -type f \\)", False),
        ("-type f -o -name x", False),
        ("-type f , -name x", False),
        ("-print -type f", False),
        ("-exec cat {} + -type f", False),
        ("-name -type", False),
    ],
)
def test_find_lists_files_alone_where_each_way_says_so(tests: str, files: bool) -> None:
    """Where each alternative asks for regular files before it acts, no symlink is listed."""
    assert finds_files_alone(find(tests)) is files
    assert not finds_files_alone(analyze(f"fd {tests}", directory="/ws").parts[0])


@pytest.mark.parametrize(
    ("command", "asks"),
    [
        ("find ~ | xargs cat", True),
        ("find ~ -name '*.py' | xargs cat", False),
        ("find ~ -print -name '*.py' | xargs cat", True),
        ("find ~ -exec cat {} + -name '*.py'", True),
        ("find ~ -name '*.py' -exec cat {} +", False),
        ("find ~ -exec wc {} + -name '*.py'", False),
    ],
)
def test_a_test_behind_an_action_comes_too_late(command: str, asks: bool, tmp_path: Path) -> None:
    """What `find` shows before it looks at the name may be a key."""
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id_rsa").touch()
    analysis = analyze(command, directory="/usr", home=str(tmp_path))
    around = Surroundings(directory="/usr", working=(), root="/usr", home=str(tmp_path))
    assert (find_danger(analysis, around) is not None) is asks
