"""What a program shows of the files that it reads, and whether it follows symlinks below them."""

from __future__ import annotations

import pytest

from tests.permission.kit import Place, analysis_of, danger_of, make_place, met

LISTING = """
ls dir vdir stat du find tree realpath readlink basename dirname test cd pushd namei lsattr getfacl
file fd fdfind eza exa lsd df findmnt lsof fuser getcap getfattr getconf grealpath
"""

SHOWING = """
cat
grep x
rg x
sed p
awk 1
git-x
python3
wc
cp -t /tmp
diff a
tar cf a
no-such-tool
"""


@pytest.mark.parametrize("program", LISTING.split())
def test_what_lists_shows_no_content(program: str) -> None:
    """It looks at names alone; where its input comes from a file, it may show that."""
    assert not danger_of(f"{program} .env")
    assert danger_of(f"{program} a < .env")


@pytest.mark.parametrize("command", SHOWING.strip().splitlines())
def test_any_other_program_may_show_content(command: str) -> None:
    """What is not known to list only is taken to show what it reads."""
    assert danger_of(f"{command} .env")
    assert not danger_of(f"{command} notes")


@pytest.mark.parametrize("command", ["diff", "blame", "annotate", "grep k", "config -l -f"])
def test_git_shows_the_files_that_some_of_its_commands_read(command: str) -> None:
    """These show what is in a file; others look at its name, and so does `-C`."""
    assert danger_of(f"git {command} .env")
    assert danger_of(f"git -C d {command} .env")
    assert not danger_of(f"git {command} notes")
    assert not danger_of("git log .env")
    assert not danger_of("git status .env")


@pytest.mark.parametrize(
    ("command", "shows"),
    [
        ("file -f .env", True),
        ("file -0f .env", True),
        ("file -bf .env", True),
        ("file -f.env", True),
        ("file --files-from .env", True),
        ("file --files-from=.env", True),
        ("file -b .env", False),
        ("file --brief .env", False),
        ("du --files0-from=.env", True),
        ("gdu --files0-from=.env", True),
        ("wc --files0-from=.env", True),
        ("wc --files0-from='.env\n'", True),
        ("file -f'.env\n'", True),
        ("fd --ignore-file='.env\n'", True),
        ("du -sh .env", False),
        ("fd --ignore-file .env", True),
        ("fdfind --ignore-file=.env", True),
        ("fd --ignore-case .env", False),
        ("ls d < .env", True),
        ("ls .env < f", False),
    ],
)
def test_what_is_told_of_names_by_a_file_quotes_it(command: str, shows: bool) -> None:
    """A list of names, or of patterns, is shown where a name of it is not there."""
    assert bool(danger_of(command)) is shows


FOLLOWING = """
grep -R
egrep -R
fgrep -Rn
grep --dereference-recursive
find -L
fd -L
fdfind -HL
fd --follow
find -follow
cp -rL
gcp -rL
cp -r --dereference
du -L
rg -L
rg --follow
ls -RL
ls -R --dereference
ag -f
ack -f
ack-grep -f
tree -l
"""

STAYING = """
grep -r
egrep -rn
fgrep -r
find -P
fd -H
fdfind -H
du -s
rg -l
ls -Rl
chown -R
ag -l
ack -l
ack-grep -l
tree -L
mv -L
gmv -L
git -L
chmod -R
"""


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a project with a directory that has a link to a directory elsewhere in it."""
    made = make_place(tmp_path_factory.mktemp("showing"), "a/x")
    (made.work.parent / "other").mkdir()
    (made.work.parent / "other" / "s").touch()
    (made.work / "a" / "link").symlink_to("../../other")
    return made


@pytest.mark.parametrize("command", FOLLOWING.strip().splitlines())
def test_an_option_has_a_program_follow_symlinks(where: Place, command: str) -> None:
    """Each program has its own, whatever stands beside it."""
    target = " n" if "cp" in command else ""
    assert met(f"{command} a{target}", f"Glob({where.work.parent}/other/s)", where) == "ask"


@pytest.mark.parametrize("command", STAYING.strip().splitlines())
def test_without_its_option_a_program_follows_none(where: Place, command: str) -> None:
    """What another program calls so means something else here."""
    for tool in ("Glob", "Write"):
        rule = f"{tool}({where.work.parent}/other/s)"
        assert met(f"{command} a", rule, where) == "allow"
        assert met(f"{command.partition(' ')[0]} a", rule, where) == "allow"


SHOWN = """
no | wc -l "$x/.env"
ask | cat "$x/.env"
no | wc -l "$x"/*
ask | cat "$x"/*
no | cat "src/$x"/*
no | ls | xargs grep -r x
ask | ls src | xargs grep -r x
no | grep -r x "$x/src"
no | grep -r x "src/$x"
ask | find ~/.ssh/"$x" | xargs cat
no | find src/"$x" | xargs cat
ask | cat ~/.ssh/"$x"/foo
no | cat ~/src/"$x"/foo
ask | locate x | xargs cat
no | echo src | xargs ls
ask | tar cf o.tar --exclude=.env src
no | touch --foo=.env out
no | cp --foo=.env src/a out
ask | grep -r x src/hard
ask | cat src/hard
no | grep -r x src/a
no | git stash -- ':!.env'
ask | cd "$x"; git stash -- ':!.env'
ask | cd sub; git stash -- ':!.env'
ask | cd "$x"; echo .env | xargs cat
no | cd "$x"; echo foo | xargs cat
ask | echo k/.en? | xargs cat
no | echo k/.en?/ | xargs cat
no | ls 'k/.en?' | xargs cat
ask | echo k/.ss?/ | xargs grep -r x
no | echo k/.ss?/ | xargs ls
no | cat "$x"*
ask | cat "$x".*
"""


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a project with another name of a key, and a directory with a name that git reads."""
    made = make_place(tmp_path_factory.mktemp("shown"), "src/a sub/:!.env/x k/.env k/.ssh/x")
    (made.home / ".ssh").mkdir()
    (made.home / ".ssh" / "id_rsa").write_text("k")
    (made.work / "src" / "hard").hardlink_to(made.home / ".ssh" / "id_rsa")
    return made


@pytest.mark.parametrize("row", SHOWN.strip().splitlines())
def test_a_person_is_asked_where_a_secret_may_be_shown(linked: Place, row: str) -> None:
    """What is counted or listed alone is not shown, and neither is what lies in a known place."""
    expected, _, command = row.partition(" | ")
    assert bool(danger_of(command, linked)) is (expected == "ask")


NAMELESS = r"""
git show
git log
git log a
git log -p
git log -- a
git diff
git log $(git describe)
git status
date
cat
echo a
""".strip().splitlines()

NAMING = r"""
git show a
git show HEAD:a
git log -p a
git diff a
git diff --stat a
git grep x
git blame a
git stash list
git cat-file -p HEAD:a
git branch a
git show $x
cat a
cat < a
ls
rg x
grep -r x
""".strip().splitlines()


def test_a_command_that_names_no_file_is_told_from_one_that_does() -> None:
    """What is shown counts as well as what is read; a word that may be a file is one."""
    assert [command for command in NAMELESS if not analysis_of(command).names_no_file] == []
    assert [command for command in NAMING if analysis_of(command).names_no_file] == []
