"""Which secrets a command would show, by whichever way it comes to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.permission.command.safety_checks import find_danger
from agentscope_like.shell import analyze
from agentscope_like.shell.analysis import Part
from agentscope_like.shell.secrets.reads import named_files
from agentscope_like.shell.surroundings import Surroundings


def why(command: str, base: Path) -> str | None:
    """Return why a person has to look at a command that runs in `project`, beside a `home`.

    The home has a key, a start file and some code; the project a folder, and no symlink.
    """
    home, project = base / "home", base / "project"
    for name in (".ssh/id_rsa", ".bashrc", "src/a.py"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).touch()
    (project / "d").mkdir(parents=True, exist_ok=True)
    (project / "d" / "a.py").touch()
    analysis = analyze(command, directory=str(project), home=str(home))
    assert analysis.script is not None
    around = Surroundings(
        directory=str(project), working=(str(project),), root=str(project), home=str(home)
    )
    found = find_danger(analysis, around)
    return None if found is None else found.reason


READ, NAMED = "would read what is to be kept secret: ", "names a sensitive path: "
SEARCHED, SHOWN = (f"would {verb} what is to be kept secret: " for verb in ("search", "show"))
COMPUTED = "would show what is computed here of: "
PLACE = "would read all that is in a directory which is not known before it runs"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        # What is read by name
        ("cat ~/.ssh/id_rsa", READ),
        ("cat a ~/.ssh/id_rsa", READ),
        ("cat ~/.ss*/id*", READ),
        ("cat ~/src/a.py", None),
        ("ls ~/.ssh/id_rsa", None),
        ("ls ~/.ssh/id_rsa | xargs cat", READ),
        ("ls ~/src/a.py | xargs cat", None),
        ("ls < ~/.ssh/id_rsa", READ),
        ("cat ~", None),
        ("cat ~/.ssh", READ),
        # What is searched
        ("grep -r x ~", READ),
        ("grep -r x ~/src", None),
        ("grep -r x .", None),
        ("find ~ | xargs cat", READ),
        ("find ~ -name '*.py' | xargs cat", None),
        ("find ~ | xargs wc", None),
        ("find ~", None),
        ("cd ~ && rg x", READ),
        ("cd ~/src && rg x", None),
        ("cd ~ && ls -R | xargs cat", READ),
        ("cd ~ && ls -R", None),
        ("cd ~ && ls -R; cd ~/src && ls | xargs cat", None),
        ("rg x | head", None),
        ('cd "$x" && rg x', PLACE),
        ('cd "$x" && ls | xargs cat', PLACE),
        ('cd "$x" && ls', None),
        ('cd "$x" && cat a.py', None),
        ("locate x | xargs cat", READ),
        ("lsof x | xargs cat", READ),
        ("locate x", None),
        ("locate x | xargs wc", READ),
        ("locate x | xargs ls", None),
        # What a search is told
        ("grep -r x --include=.env .", SEARCHED),
        ("grep -r x --include .env .", SEARCHED),
        ("grep -r x --inc=.env .", SEARCHED),
        ("egrep -r x --include='.e*' .", SEARCHED),
        ("fgrep -r x --include=.env .", SEARCHED),
        ("grep -r x --exclude=.env .", None),
        ("grep -r x --include='*.py' .", None),
        ("rg x -g .env", SEARCHED),
        ("rg x -g.env", SEARCHED),
        ("rg x -lg .env", SEARCHED),
        ("rg x -.g .env", SEARCHED),
        ("rg x --glob .env", SEARCHED),
        ("rg x --glob=.env", SEARCHED),
        ("rg x --iglob=.ENV", SEARCHED),
        ("rg x --iglob .env", SEARCHED),
        ("rg x -g '!.env'", None),
        ("rg x -g '!.env' -g .env", SEARCHED),
        ("rg x '--glob=!.env'", None),
        ("rg x -g '*.py'", None),
        ("rg .env", None),
        # What git shows
        ("git show HEAD:.env", SHOWN),
        ("git show 'HEAD:.e*'", SHOWN),
        ("git show HEAD:a.py", None),
        ("git log --oneline -- .env", None),
        ("git show $(git rev-parse HEAD:.env)", COMPUTED),
        ("git show $(git rev-parse HEAD:a.py)", None),
        ("echo .env; git show $(git rev-parse HEAD)", COMPUTED),
        ("echo .env; git show HEAD", None),
        # What is named to a program that may do anything, or reads what it is told
        ("no-such-tool .env", NAMED),
        ("no-such-tool .bashrc", NAMED),
        ("no-such-tool --in=.env", NAMED),
        ("no-such-tool a.py", None),
        ("echo .env", None),
        ("echo .env | xargs cat", NAMED),
        ("echo .bashrc | xargs cat", None),
        ("echo .env | xargs ls", None),
        ("echo a/.npmrc:b | xargs cat", NAMED),
        ("echo 'a .env' | xargs cat", NAMED),
        ("echo 'a b.py' | xargs cat", None),
        ("echo 'a .env' | xargs ls", None),
        ("echo 'a .env'", None),
        ("echo $'a\\n.env' | xargs cat", NAMED),
        ("echo -e 'a\\n.env\\tb' | xargs cat", NAMED),
        ("echo -e 'a\\000.env' | xargs -0 cat", NAMED),
        ("echo -e 'a\\y.env' | xargs cat", None),
        ("echo 'a .env' | while read x y; do cat \"$y\"; done", NAMED),
        ("printf -- 'a .env' | xargs cat", NAMED),
        ("yes 'a .env' | head -1 | xargs cat", NAMED),
        ("basename 'a .env' | xargs cat", NAMED),
        ("dirname 'a .env/b' | xargs cat", NAMED),
        ("find . | xargs grep 'a .env'", None),
        ("cat ${x#.e*}", None),
        ("cat ${x:-}", None),
        ("printf '%s%s' .e nv | xargs cat", NAMED),
        ("printf '%s%s' .e nw | xargs cat", None),
        ("printf '%s%s' .e nv | xargs ls", None),
        ("no-such-tool a.py .env; cat a.py", NAMED),
        ("echo ~/.ssh/id_rsa | xargs cat", NAMED),
        ('echo "$HOME/.ssh/id_rsa" | xargs cat', NAMED),
        ("echo ~/.ss*/id* | xargs cat", READ),
        ('echo "$HOME"/.ss*/id* | xargs cat', READ),
        ("echo ~/.ss*/id*", None),
        ("echo ~/sr*/* | xargs cat", None),
        ('echo "$y/.ssh/id_rsa" | xargs cat', READ),
        ('echo "$y"/a.py | xargs cat', None),
        ('echo "$y"id_rsa | xargs cat', None),
        ('echo "$y/.ssh/id_rsa"', None),
        # What is given as input
        ("xargs cat <<< .env", NAMED),
        ("xargs cat <<< a.py", None),
        ('xargs cat <<< "a .env b"', NAMED),
        ("xargs cat <<< ~/.ssh/id_rsa", NAMED),
        ('xargs cat <<< "$HOME/.ssh/id_rsa"', NAMED),
        ("xargs cat <<< '\".env\"'", NAMED),
        ("xargs cat <<END\na\n.env\nEND", NAMED),
        ("xargs cat <<END\na\nEND", None),
        ("xargs ls <<< .env", None),
        # What variables may hold
        ('f() { x=.env; }; f; cat "$x"', NAMED),
        ('f() { x=a.py; }; f; cat "$x"', None),
        ('f() { x=.env; }; f; ls "$x"', None),
        ('cat "${x:-.env}"', NAMED),
        ('cat "${x-.env}"', NAMED),
        ('cat "${x:=.env}"', NAMED),
        ('cat "${x=.env}"', NAMED),
        ('cat "${x:-~/.ssh/id_rsa}"', NAMED),
        ('cat "${x:-$HOME/.ssh/id_rsa}"', NAMED),
        ('cat "${x:-a.py}"', None),
        ("bash -c 'f() { x=.env; }; f; cat \"$x\"'", NAMED),
        ("bash -c 'cat $0' .env", NAMED),
        ("bash -c 'cat $0' a.py", None),
        ("cat ${x:-.e*}", READ),
        ("cat ${x-.e*}", READ),
        ("cat ${x:=.e*}", READ),
        ("cat ${x=.e*}", READ),
        ("cat ${x:+.e*}", READ),
        ("cat ${x+.e*}", READ),
        ("cat ${x:-a*.py}", None),
        ("cat ${x:-$y.e*}", None),
        # What is known of the end or the start of a path
        ('cat "$x"', None),
        ('cat "$x/.env"', READ),
        ('cat "$x.env"', READ),
        ('cat "$x/a.py"', None),
        ('cat "$x.py"', None),
        ('ls "$x/.env"', None),
        ('ls "$x/.env" | xargs cat', READ),
        ("cat ~/.ssh/$x", READ),
        ("cat ~/src/$x", None),
        ("cat ~/.s$x", READ),
        ("cat ~/.ssh/$x/a", READ),
        ("cat ~/.ss${x}h/id_rsa", READ),
        ("cat ~/src/$x/a", None),
        ("cat ~/.azure/$x/t*", READ),
        ("cat ~/src/$x/q*", None),
        ("cat ~/.ssh/$x/*.pub", None),
        ("cat ~/src/${x}a", None),
        ("cat /$x", READ),
        ("wc ~/.ssh/$x", None),
        ("ls ~/.ssh/$x", None),
        # Directories that are not known
        ('cat "$x"/*', PLACE),
        ('cat "$x"/*.py', None),
        ('wc "$x"/*', None),
        ('grep -r y "$x"', PLACE),
        ('grep -r y "$x/.aws"', PLACE),
        ('grep -r y "$x.aws"', PLACE),
        ('grep -r y "$x/lib64"', None),
        ('grep y "$x"', None),
        ('rg y "$x"', PLACE),
        ('ls -R "$x"', None),
        ('find "$x" | xargs cat', PLACE),
        ('find "$x" | xargs wc', None),
        ('find "$x/src" | xargs cat', None),
        ("grep -r y ~/src/$x", None),
        ("grep -r y ~/$x", PLACE),
        ("find d -name x | xargs grep -r y", None),
        ("find ~ -name x | xargs grep -r y", READ),
        ("cat <(ls)", None),
        ("grep -r x <(ls)", None),
    ],
)
def test_a_secret_asks_and_its_neighbour_does_not(
    command: str, reason: str | None, tmp_path: Path
) -> None:
    """What may be shown is told with how it is come to; what is only listed or counted is not."""
    told = why(command, tmp_path)
    assert (told or "").startswith(reason or "")
    assert (told is None) is (reason is None)


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """Return a place where the project has symlinks: to the key, to a folder, within, to nothing.

    What they lead to decides, and how far down they are does not.
    """
    assert why("ls", tmp_path) is None
    (tmp_path / "project" / "d" / "key").symlink_to(tmp_path / "home" / ".ssh" / "id_rsa")
    for name in ("plain", "homely", "inner", "round"):
        (tmp_path / "project" / name).mkdir()
    (tmp_path / "project" / "plain" / "a").symlink_to(tmp_path / "home" / "src")
    (tmp_path / "project" / "homely" / "b").symlink_to(tmp_path / "home")
    (tmp_path / "project" / "inner" / ".env").touch()
    (tmp_path / "project" / "inner" / "c").symlink_to(tmp_path / "project" / "inner" / ".env")
    (tmp_path / "project" / "round" / "e").symlink_to(tmp_path / "project" / "round" / "e")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "asks"),
    [
        ("grep -R x d", True),
        ("grep -r x d", False),
        ("grep -R x plain", False),
        ("grep -R x homely", True),
        ("grep -R x inner", False),
        ("grep -R x round", False),
        ("tokei d", False),
        ("cloc d", False),
        ("rg -L x d", True),
        ("rg x d", False),
        ("cd d && rg -L x", True),
        ("diff -r d plain", True),
        ("diff -r plain d", True),
        ("diff -r plain inner", False),
        ("diff -r --no-dereference d plain", False),
        ("find d | xargs cat", True),
        ("find d -type f | xargs cat", False),
        ("find -L d -type f | xargs cat", True),
        ("find d", False),
        ("find d | xargs wc", False),
        ("find plain | xargs cat", False),
        ("find d -name '*.py' | xargs cat", True),
        ("fd . d | xargs cat", True),
        ("cd d && ls | xargs cat", True),
        ("cat d/key", True),
        ("cat d/a.py", False),
    ],
)
def test_a_symlink_that_is_followed_leads_to_a_secret(
    command: str, asks: bool, linked: Path
) -> None:
    """Where the symlinks below a directory are opened, what they lead to counts."""
    assert (why(command, linked) is not None) is asks


def test_too_many_symlinks_are_not_looked_at(tmp_path: Path) -> None:
    """A program that is told to follow them asks; one that opens what is listed does not."""
    assert why("ls", tmp_path) is None
    folder = tmp_path / "project" / "many"
    folder.mkdir()
    for number in range(5_100):
        (folder / str(number)).touch()
    assert (why("grep -R x many", tmp_path) or "").endswith("too many symlinks to look at each")
    assert why("grep -r x many", tmp_path) is None
    assert why("find many | xargs cat", tmp_path) is None


def last(command: str) -> Part:
    """Return the last part of a command."""
    return analyze(command, directory="/ws", home="/home/u").parts[-1]


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("git show HEAD:a", [("a", "show")]),
        ("git log a", []),
        ("rg x -g a --glob b", [("a", "search"), ("b", "search")]),
        ("rg x -g '!a'", []),
        ("rg x -ga", [("a", "search")]),
        ("rg x -g=a", [("a", "search")]),
        ("rg x -g '.boto*'", [(".boto", "search")]),
        ("grep -r x --include a", [("a", "search")]),
        ("grep -r x --include=a --include=b", [("a", "search"), ("b", "search")]),
        ("grep -r x --include= d", []),
        ("ag x -g a", []),
        ("cat a", []),
    ],
)
def test_the_files_that_a_part_is_told_to_show(command: str, names: list[tuple[str, str]]) -> None:
    """Each is told with what is done; what is left out, and what others are told, is not."""
    assert [each for each in named_files(last(command)) if each[0]] == names


def test_many_or_long_patterns_stand_for_any_secret() -> None:
    """Only so many are looked at one by one, and only up to a length; then any secret is meant."""
    many = " ".join(f"-g 'z{number}*'" for number in range(32))
    any_name = (".env", "search")
    assert any_name not in named_files(last(f"rg x {many}"))
    assert any_name in named_files(last(f"rg x {many} -g 'z*'"))
    assert any_name not in named_files(last(f"rg x {many} -g z"))
    assert any_name not in named_files(last(f"rg x -g '{'z' * 199}*'"))
    assert any_name in named_files(last(f"rg x -g '{'z' * 200}*'"))
    assert any_name not in named_files(last(f"rg x -g {'z' * 300}"))
