"""Where a command runs: what its patterns reach there, what is sensitive, and what it is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from agentscope_like.paths.errors import PathError
from agentscope_like.paths.look_budget import CHARACTER, MAX_EFFORT, PART, TooManyFilesError
from agentscope_like.shell import analyze
from agentscope_like.shell.analysis import Effect, EffectKind
from agentscope_like.shell.surroundings import (
    SensitiveNames,
    Surroundings,
    leads_elsewhere,
    paths_in,
)
from agentscope_like.shell.syntax.tree import Span
from tests.permission.shell.workspace import in_workspace

_HOME = "/home/u"
_AROUND = Surroundings(directory="/ws", working=(), root="/ws", home=_HOME)
_FILES = """
a.py b.py .hidden .git/x d1/x/y d1/f d2/f .env .gnupg/private/k .vscode/s plain/f src/deep/er/g
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with files and links."""
    base = tmp_path_factory.mktemp("surroundings").resolve()
    work = base / "work"
    for name in _FILES.split():
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (base / "elsewhere" / "there").mkdir(parents=True)
    (work / "out").symlink_to("../elsewhere")
    (work / "in").symlink_to("d1")
    (work / "plain" / "link").symlink_to("f")
    return work


def around(work: Path) -> Surroundings:
    """Return what surrounds a command of the workspace."""
    return in_workspace(work, _HOME)


def effects(command: str, work: Path, kind: EffectKind) -> list[Effect]:
    """Return what the last part of a command does to files in one way."""
    analysis = analyze(command, directory=str(work), home=_HOME)
    return [effect for effect in analysis.parts[-1].effects if effect.kind is kind]


_READ, _WRITE, _DELETE = EffectKind.READ, EffectKind.WRITE, EffectKind.DELETE
_SECRETS = "id_x a.pem a.key a.p12 a.pfx credentials credentials.json shadow a.kdbx"


@pytest.mark.parametrize("name", _SECRETS.split())
def test_a_credential_is_known_by_its_name(name: str) -> None:
    """Whatever names are chosen, those of credentials occur, in each case; neighbours do not."""
    names = SensitiveNames(files=(), directories=())
    for path in (name, f"/x/{name}", f"{name}/", name.upper()):
        assert names.occur_in(path)
    for path in (f"x{name}x", f"{name}/x", f"x/{name}/y", f"x.{name}.x"):
        assert not names.occur_in(path)


def test_names_that_are_chosen_occur() -> None:
    """A file is the last name of a path, a directory any; patterns count, and of paths the end."""
    names = SensitiveNames(
        files=("One", "*.tok", "conf/two.json"),
        directories=("Dir", "conf/sub", "d?r2"),
        extra_files=("three", "fo[ou]r"),
        extra_directories=(".extra",),
    )
    words = "one a/ONE a.tok two.json x/two.json three four foor dir dir/x x/DIR/y sub/x .extra/x"
    for path in (*words.split(), "a/d-r2/b", "one/"):
        assert names.occur_in(path), path
    others = "ones one/x a.tok/x a.tokx conf x.extra dirx/y threes fo-r d--r2/x"
    for path in others.split():
        assert not names.occur_in(path), path


def test_where_no_name_is_chosen_none_occurs() -> None:
    """Without names, a path of no name or of any holds none of them."""
    names = SensitiveNames(files=(), directories=())
    for path in ("", "/", "/x", "//x", "a//b", ".git/x", ".envrc"):
        assert not names.occur_in(path)
    assert SensitiveNames().occur_in(".git/x")
    assert SensitiveNames().occur_in("x/.envrc")
    assert not SensitiveNames().occur_in(".envrc/x")


@pytest.mark.parametrize(
    ("command", "deep"),
    [
        ("shopt -s globstar; cat **/f", True),
        ("cat **/f; shopt -s globstar", True),
        ("shopt -s extglob; cat **/f", False),
        ("echo globstar; cat **/f", False),
    ],
)
def test_patterns_go_deep_where_bash_is_told_so(work: Path, command: str, deep: bool) -> None:
    """`**` is as any `*` unless `shopt` says otherwise, anywhere in the command."""
    analysis = analyze(command, directory=str(work), home=_HOME)
    here = around(work)
    of = here.of(analysis)
    assert of.has_deep_globs is deep
    assert of.of(analysis) is of
    assert here.of(analysis) is of
    (cat,) = [part for part in analysis.parts if part.program == "cat"]
    found = {path.removeprefix(str(work)) for path in of.paths(cat.effects[0])}
    through_links = set() if deep else {"/in/f"}
    assert found == {"/d1/f", "/d2/f", "/plain/f"} | through_links


def test_patterns_reach_as_deep_as_they_say(work: Path) -> None:
    """`**` matches at any depth only where it is told to."""
    analysis = analyze("shopt -s globstar; cat src/**/g", directory=str(work), home=_HOME)
    effect = analysis.parts[-1].effects[0]
    assert around(work).of(analysis).paths(effect) == [f"{work}/src/deep/er/g"]
    assert around(work).paths(effect) == [f"{work}/src/**/g"]


def test_reading_a_command_is_paid_for_once() -> None:
    """A long command of many parts leaves less to look at its files."""
    here = Surroundings(directory="/ws", working=(), root="/ws", home=_HOME)
    analysis = analyze("ls; ls -l", directory="/ws", home=_HOME)
    here.of(analysis)
    here.of(analysis)
    assert here.effort.left == MAX_EFFORT - CHARACTER * 9 - PART * 2


@pytest.mark.parametrize(
    ("command", "kind", "paths"),
    [
        ("cat a.py", _READ, ["a.py"]),
        ("cat *.py", _READ, ["a.py", "b.py"]),
        ("cat *.js", _READ, ["*.js"]),
        ("cat d*/x/y", _READ, ["d1/x/y"]),
        ("touch d*/x/y", _WRITE, ["d1/x/y", "d2/x/y"]),
        ("rm d*/new", _DELETE, ["d1/new", "d2/new"]),
        ("rm n*/new", _DELETE, ["n*/new"]),
        ("ls d*/", _READ, ["d1/", "d2/"]),
        ("rm -r d*/", _DELETE, ["d1/", "d2/"]),
        ("rm -r d*", _DELETE, ["d1", "d2"]),
        ("touch d*/'*'", _WRITE, ["d1/*", "d2/*"]),
        ("touch d*/'[x]'", _WRITE, ["d1/[x]", "d2/[x]"]),
        ("cp *.py d1", _WRITE, ["d1", "d1/a.py", "d1/b.py"]),
        ("cp *.js d1", _WRITE, ["d1", "d1/*.js"]),
        ("touch .h*", _WRITE, [".hidden"]),
        ("touch .*n", _WRITE, [".hidden"]),
        ("touch d1/.*", _WRITE, ["d1/.*", "d1/.."]),
        ("mkdir d1/.*/", _WRITE, ["d1/.*/", "d1/.."]),
        ("touch .v*", _WRITE, [".vscode"]),
        ("rm d1/.*", _DELETE, ["d1/.*"]),
        ("touch d1/.[!.]*", _WRITE, ["d1/.[!.]*"]),
        ("touch d1/*", _WRITE, ["d1/f", "d1/x"]),
        ("touch d1/?.", _WRITE, ["d1/?."]),
        ('cat "$x"', _READ, []),
    ],
)
def test_a_pattern_is_what_matches_it(
    work: Path, command: str, kind: EffectKind, paths: list[str]
) -> None:
    """What is behind its last pattern need not be there to be changed; none may match."""
    found: list[str] = []
    for effect in effects(command, work, kind):
        found += [path.removeprefix(f"{work}/") for path in around(work).paths(effect)]
    assert sorted(found) == paths


@pytest.mark.parametrize(
    ("command", "kind", "reached"),
    [
        ("cat in", _READ, ["d1"]),
        ("rm in", _DELETE, ["in"]),
        ("touch in", _WRITE, ["d1"]),
        ("cat i?", _READ, ["d1"]),
        ("rm i?", _DELETE, ["in"]),
        ("rm in/", _DELETE, ["d1"]),
        ("sed -i.bak s/a/b/ a.py", _WRITE, ["a.py", "a.py.bak"]),
        ("sed -i.bak s/a/b/ [ab].py", _WRITE, ["a.py", "b.py", "a.py.bak", "b.py.bak"]),
        ("cat in/../b.py", _READ, ["b.py"]),
        ("cat out/../b.py", _READ, ["../b.py"]),
    ],
)
def test_an_effect_reaches_what_it_leads_to(
    work: Path, command: str, kind: EffectKind, reached: list[str]
) -> None:
    """What removes acts on a link itself, all else on what it leads to; backups count as well."""
    for effect in effects(command, work, kind):
        found = around(work).locations(effect)
        assert found is not None
        assert [each.resolved for each in found] == [
            str((work / name).resolve()) if name != "in" else f"{work}/in" for name in reached
        ]


def test_what_a_path_that_is_not_known_reaches_is_not_known(work: Path) -> None:
    """There are no places then, which is more than none."""
    (effect,) = effects('cat "$x"', work, _READ)
    assert around(work).locations(effect) is None


def test_patterns_are_not_expanded_where_nothing_is_left(work: Path) -> None:
    """A path that is known is one path; what has to be looked for takes effort."""
    spent = around(work)
    for effect in effects("cat *.py", work, _READ):
        assert len(spent.paths(effect)) == 2
    spent.effort.left = 0
    (known,) = effects("cat a.py", work, _READ)
    assert spent.paths(known) == [f"{work}/a.py"]
    for command, kind in (("cat *.py", _READ), ("cp *.py d1", _WRITE)):
        pattern = effects(command, work, kind)[-1]
        with pytest.raises(TooManyFilesError):
            spent.paths(pattern)


def test_what_is_below_a_directory_is_seen(work: Path) -> None:
    """Links are what they are, and are not followed."""
    here = around(work)
    plain = here.locate("plain")
    assert sorted(entry.name for entry in here.entries_below(plain)) == ["f", "link"]
    assert list(here.links_below(plain)) == [f"{work}/plain/link"]
    assert list(here.links_below(here.locate("d1"))) == []
    assert list(here.links_below(here.locate("in"))) == []


def test_an_edit_is_inside_and_nothing_sensitive(work: Path) -> None:
    """What a path leads to counts."""
    here = around(work)
    assert here.why_not_edit(f"{work}/in/f") is None
    assert here.why_not_edit(f"{work}/out/f") == (
        f"`{work}/out/f` leads outside the working directories"
    )
    assert "holds secrets" in (here.why_not_edit(f"{work}/.env") or "")


def test_other_homes_hold_a_persons_things_too() -> None:
    """What is sensitive by its place in a home is so in each of them."""
    other = replace(_AROUND, other_homes=("/root", "/home/v"))
    for home, counts in (("/root", True), ("/home/v", True), ("/home/w", False)):
        for here, known in ((_AROUND, False), (other, counts)):
            written = here.why_not_write(here.locate(f"{home}/bin/x"))
            read = here.why_not_read(here.locate(f"{home}/.azure/x"))
            removed = here.why_not_remove(here.locate(f"{home}/Documents"))
            assert [bool(written), bool(read), bool(removed)] == [known] * 3
    assert other.why_not_write(other.locate("/home/u/bin/x"))
    assert other.why_not_read(other.locate("/home/u/.azure/x"))
    assert other.why_not_remove(other.locate("/home/u/Documents"))


def test_names_that_are_chosen_are_sensitive_to_write() -> None:
    """Each of the four lists counts, and what is below only where it is reached."""
    names = SensitiveNames(("one",), ("two",), ("three",), ("four",))
    here = replace(_AROUND, sensitive=names)
    for path in ("one", "x/two/y", "three", "four/x"):
        assert here.why_not_write(here.locate(path))
        assert not _AROUND.why_not_write(_AROUND.locate(path))
    assert not here.why_not_write(here.locate(".envrc"))
    assert not here.why_not_write(here.locate(".docker"))
    assert here.why_not_write(here.locate(".docker"), recursive=True)
    assert here.why_not_remove(here.locate("/ws")) == "`/ws` is the directory that is worked in"
    assert not here.why_not_remove(here.locate("/ws/x"))


def test_a_directory_of_secrets_is_as_secret_as_they_are(work: Path) -> None:
    """What is read of a directory within is secret; one that only holds a place of secrets is."""
    here = around(work)
    assert here.why_not_read(here.locate(".gnupg/private"))
    assert here.why_not_read(here.locate(".gnupg/private/k"))
    assert not here.why_not_read(here.locate("d1"))
    assert not here.why_not_read(here.locate("d1/.docker"))
    assert here.why_not_read(here.locate("d1/.docker"), recursive=True)


@pytest.mark.parametrize(
    ("word", "changing", "reading"),
    [
        (".envrc", True, False),
        (".env", True, True),
        ("key.pem", True, True),
        ("--file=.env", True, True),
        ("-f.env", True, True),
        ("x@.env", True, True),
        ("a,.env", True, True),
        ("x:.env", True, True),
        ("a/.git/config", True, False),
        ("/etc/passwd", False, False),
        ("/etc/shadow", True, True),
        ("notes", False, False),
        ("", False, False),
        ("a .env", False, False),
        ("\x01/.env=b", False, False),
        ("\x01/.env=.env", True, True),
    ],
)
def test_a_word_may_name_what_is_sensitive(word: str, changing: bool, reading: bool) -> None:
    """What is told to a program that may do anything counts by names sensitive anywhere."""
    assert bool(_AROUND.why_not_touch(word)) is changing
    assert bool(_AROUND.why_not_touch(word, only_reads=True)) is reading


@pytest.mark.parametrize(
    ("word", "paths"),
    [
        ("", []),
        ("a", ["a"]),
        ("a b", []),
        ("a\tb", []),
        ("a=b@c:d,e", ["a", "b", "c", "d", "e"]),
        ("==a", ["a"]),
        ("*a*", ["*a*", "a"]),
        ("a*b", ["a*b", "a*b"]),
        ("**", ["**"]),
        ("-xa", ["-xa", "a"]),
        ("-x", ["-x"]),
        ("--a", ["--a"]),
        ("-x=a", ["-x", "a", "=a"]),
        ("xya", ["xya"]),
        ("a" * 1024, ["a" * 1024]),
        ("a" * 1025, []),
    ],
)
def test_a_word_holds_paths(word: str, paths: list[str]) -> None:
    """A path is the word, what stands between certain marks, or behind the letter of an option."""
    assert list(paths_in(word)) == paths


@pytest.mark.parametrize(
    ("command", "elsewhere", "unless_there"),
    [
        ("cd d1", False, False),
        ("cd d1/..", False, False),
        ("cd in/..", False, False),
        ("cd in/../d1", False, False),
        ("cd out/..", True, False),
        ("cd out/../d1", True, False),
        ("cd out/../no", True, True),
        ("cd out/../a.py", True, True),
        ("ls out/../d*", False, False),
        ('cd "$x"/..', False, False),
    ],
)
def test_a_symlink_may_make_a_path_lead_elsewhere(
    work: Path, command: str, elsewhere: bool, unless_there: bool
) -> None:
    """Where the kernel takes `..` otherwise than the text reads; a directory by the text wins."""
    effect = effects(command, work, _READ)[0]
    assert leads_elsewhere(effect, around(work)) is elsewhere
    assert leads_elsewhere(effect, around(work), unless_there=True) is unless_there


def test_a_path_that_cannot_be_judged_leads_nowhere(work: Path) -> None:
    """That is an error, not an answer."""
    effect = Effect(_READ, "x", "/\x01", Span(0, 1), walked="/x/../\x01")
    with pytest.raises(PathError):
        leads_elsewhere(effect, around(work))
    assert not leads_elsewhere(replace(effect, walked=""), around(work))
    assert not leads_elsewhere(replace(effect, path=None), around(work))
    assert not leads_elsewhere(replace(effect, glob=True), around(work))
