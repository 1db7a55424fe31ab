"""Where a command runs: what its patterns and links reach there, and what is sensitive."""

from __future__ import annotations

import pytest

from agentscope_like.permission import PermissionBehavior
from agentscope_like.tool import Bash
from tests.permission.kit import Place, danger_of, decide, make_place, place

_ALLOW, _ASK, _DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY
_FILES = """
a.py b.py .hidden .git/x d1/x/y d1/f d2/f .env .gnupg/private/k .vscode/s plain/f src/deep/er/g
"""


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a project with files and links."""
    base = tmp_path_factory.mktemp("surroundings")
    made = make_place(base, _FILES)
    (made.work.parent / "elsewhere" / "there").mkdir(parents=True)
    (made.work / "out").symlink_to("../elsewhere")
    (made.work / "in").symlink_to("d1")
    (made.work / "plain" / "link").symlink_to("f")
    return made


def reached(command: str, tool: str, paths: str, where: Place) -> list[str]:
    """Return those of some paths that a command reaches: where a rule denies them, it is denied."""
    return [
        path
        for path in paths.split()
        if decide(command, where, rules=["allow Bash", f"deny {tool}(./{path})"]).behavior is _DENY
    ]


@pytest.mark.parametrize("name", ["a.pem", "a.key", "a.p12", "a.pfx", "credentials.json", "a.kdbx"])
def test_a_credential_is_known_by_its_name(name: str) -> None:
    """Whatever names are chosen, those of credentials occur, in each case; neighbours do not."""
    tool = Bash(cwd=place().work, dangerous_files=(), dangerous_directories=(), confine="off")
    for path in (name, f"/x/{name}", f"{name}/", name.upper()):
        assert danger_of(f"no-such-tool {path}", tool=tool), path
    for path in (f"x{name}x", f"{name}/x", f"x/{name}/y", f"x.{name}.x"):
        assert not danger_of(f"no-such-tool {path}", tool=tool), path


def test_names_that_are_chosen_occur() -> None:
    """A file is the last name of a path, a directory any; patterns count, and of paths the end."""
    tool = Bash(
        ("One", "*.tok", "conf/two.json"),
        ("Dir", "conf/sub"),
        place().work,
        additional_dangerous_files=("three",),
        additional_dangerous_directories=(".extra",),
        confine="off",
    )
    words = "one a/ONE a.tok conf/two.json x/conf/two.json three dir dir/x x/DIR/y"
    for path in (*words.split(), "conf/sub/x", ".extra/x", "one/"):
        assert danger_of(f"no-such-tool {path}", tool=tool), path
    others = "ones one/x a.tok/x a.tokx conf x.extra dirx/y threes"
    for path in others.split():
        assert not danger_of(f"no-such-tool {path}", tool=tool), path


def test_where_no_name_is_chosen_none_occurs() -> None:
    """Without names, only credentials are sensitive; the usual ones are those of settings, too."""
    tool = Bash(cwd=place().work, dangerous_files=(), dangerous_directories=(), confine="off")
    for path in ("''", "/", "/x", "//x", "a//b", ".git/x", ".envrc"):
        assert not danger_of(f"no-such-tool {path}", tool=tool), path
    assert danger_of("no-such-tool .git/x")
    assert danger_of("no-such-tool x/.envrc")
    assert not danger_of("no-such-tool .envrc/x")


@pytest.mark.parametrize(
    ("command", "deep"),
    [
        ("shopt -s globstar; cat **/g", True),
        ("cat **/g; shopt -s globstar", True),
        ("shopt -s extglob; cat **/g", False),
        ("echo globstar; cat **/g", False),
    ],
)
def test_patterns_go_deep_where_bash_is_told_so(where: Place, command: str, deep: bool) -> None:
    """`**` is as any `*` unless `shopt` says otherwise, anywhere in the command."""
    deeper = ["src/deep/er/g"] if deep else []
    assert reached(command, "Read", "src/deep/er/g a.py", where) == deeper
    shallow = reached(command.replace("/g", "/f"), "Read", "d1/f d2/f plain/f b.py", where)
    assert shallow == ["d1/f", "d2/f", "plain/f"]


@pytest.mark.parametrize(
    ("command", "tool", "paths", "others"),
    [
        ("cat a.py", "Read", "a.py", "b.py"),
        ("cat *.py", "Read", "a.py b.py", ".hidden .env"),
        ("cat *.js", "Read", "", "a.py b.py"),
        ("cat d*/x/y", "Read", "d1/x/y", "d1/f d2/x/y"),
        ("touch d*/x/y", "Write", "d1/x/y d2/x/y", "d1/f src/x/y"),
        ("rm d*/new", "Write", "d1/new d2/new", "d1/f new"),
        ("rm n*/new", "Write", "", "d1/new a.py"),
        ("rm -r d*", "Write", "d1 d2 d1/f", "src a.py"),
        ("rm -r d*/", "Write", "d1 d2 d1/f", "src a.py"),
        ("touch d*/'[x]'", "Write", "d1/[[]x[]] d2/[[]x[]]", "d1/x src/[[]x[]]"),
        ("cp *.py d1", "Write", "d1/a.py d1/b.py", "d1/f a.py"),
        ("touch .h*", "Write", ".hidden", ".env a.py"),
        ("touch d1/*", "Write", "d1/f", "d2/f a.py"),
        ("sed -i.bak s/a/b/ a.py", "Write", "a.py a.py.bak", "b.py b.py.bak"),
        ("sed -i.bak s/a/b/ [ab].py", "Write", "a.py b.py a.py.bak b.py.bak", ".hidden"),
        ("cat in/f", "Read", "d1/f", "d2/f"),
        ("cat in/../b.py", "Read", "b.py", "a.py"),
        ("cat out/../b.py", "Read", "", "a.py"),
        ("rm in", "Write", "in", "d2"),
        ("touch in/f", "Write", "d1/f", "d2/f"),
    ],
)
def test_a_pattern_is_what_matches_it(
    where: Place, command: str, tool: str, paths: str, others: str
) -> None:
    """What is behind its last pattern need not be there to be changed; none may match.

    What removes acts on a link itself, all else on what it leads to; backups count as well.
    """
    assert reached(command, tool, f"{paths} {others}", where) == paths.split()


def test_what_a_path_that_is_not_known_reaches_is_not_known(where: Place) -> None:
    """It may be what a rule denies, which is to be asked about."""
    rules = ["allow Bash", "deny Read(d1/f)"]
    assert decide('cat "$x"', where, rules=rules).behavior is _ASK
    assert decide("cat d2/f", where, rules=rules).behavior is _ALLOW


@pytest.mark.parametrize(
    ("command", "behavior"),
    [
        ("touch in/f", _ALLOW),
        ("touch plain/link", _ALLOW),
        ("touch out/f", _ASK),
        ("touch .env", _ASK),
        ("touch ../f", _ASK),
    ],
)
def test_an_edit_is_inside_and_nothing_sensitive(
    where: Place, command: str, behavior: PermissionBehavior
) -> None:
    """What a path leads to counts."""
    assert decide(command, where, mode="accept_edits").behavior is behavior


def test_names_that_are_chosen_are_sensitive_to_write() -> None:
    """Each of the four lists counts, and what is below only where it is reached."""
    tool = Bash(
        ("one",),
        ("two",),
        place().work,
        additional_dangerous_files=("three",),
        additional_dangerous_directories=("four",),
        confine="off",
    )
    for path in ("one", "x/two/y", "three", "four/x"):
        assert danger_of(f"touch {path}", tool=tool)
        assert not danger_of(f"touch {path}")
    assert not danger_of("touch .envrc", tool=tool)
    assert danger_of("touch .envrc")


def test_a_directory_of_secrets_is_as_secret_as_they_are(where: Place) -> None:
    """What is read of a directory within is secret; one that only holds a place of secrets is."""
    assert danger_of("cat .gnupg/private/k", where)
    assert danger_of("grep -r x .gnupg/private", where)
    assert not danger_of("grep -r x d1", where)
    assert not danger_of("cat d1/f", where)


@pytest.mark.parametrize(
    ("word", "is_sensitive"),
    [
        (".envrc", True),
        (".env", True),
        ("key.pem", True),
        ("--file=.env", True),
        ("-f.env", True),
        ("x@.env", True),
        ("a,.env", True),
        ("x:.env", True),
        ("==.env", True),
        ("'*.env*'", True),
        ("a/.git/config", True),
        ("/etc/shadow", True),
        ("-x", False),
        ("--a", False),
        ("/etc/passwd", False),
        ("notes", False),
        ("''", False),
        ("'a .env'", False),
        ("'a\t.env'", False),
        (f"{'a/' * 510}.env", True),
        (f"{'a/' * 511}.env", False),
    ],
)
def test_a_word_may_name_what_is_sensitive(word: str, is_sensitive: bool) -> None:
    """What is told to a program that may do anything counts by names sensitive anywhere.

    A path is the word, what stands between certain marks, or behind the letter of an option.
    """
    assert bool(danger_of(f"no-such-tool {word}")) is is_sensitive


@pytest.mark.parametrize("word", [".env", "key.pem", "/etc/shadow", "a/.env"])
def test_settings_may_be_read_and_secrets_may_not(word: str) -> None:
    """A program that only reads may read what is only sensitive to write."""
    assert danger_of(f"cat {word}")
    for settings in (".bashrc", "a/.git/config", "/etc/passwd", "notes"):
        assert not danger_of(f"cat {settings}")


@pytest.mark.parametrize(
    ("command", "elsewhere"),
    [
        ("cd d1", False),
        ("cd d1/..", False),
        ("cd in/..", False),
        ("cd in/../d1", False),
        ("cd out/..", False),
        ("cd out/../d1", False),
        ("cd out/../no", True),
        ("cd out/../a.py", True),
        ('cd "$x"/..', False),
    ],
)
def test_a_symlink_may_make_a_path_lead_elsewhere(
    where: Place, command: str, elsewhere: bool
) -> None:
    """Where the kernel takes `..` otherwise than the text reads; a directory by the text wins."""
    assert ("because of a symlink" in danger_of(f"{command}; ls", where)) is elsewhere
