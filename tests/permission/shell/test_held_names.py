"""Secrets whose names a command holds in a variable, or of whose paths it knows only the end."""

from __future__ import annotations

import pytest

from agentscope_like.permission.command.safety_checks import find_danger
from agentscope_like.shell import analyze
from agentscope_like.shell.surroundings import Surroundings

_PROJECT, _HOME = "/work/project", "/home/u"

SHOWN = r"""
cat "${x:-$HOME/.ssh/id_rsa}"
cat ${x:-~/.ssh/id_rsa}
cat "${1:-.env}"
: "${x:=.env}"; cat "$x"
[[ ${x:=.env} ]]; cat "$x"
if true; then x=.env; fi; cat "$x"
if false; then x=f; else x=~/.netrc; fi; cat "$x"
while true; do x=.env; break; done; cat "$x"
while read -r l; do cat "$x"; x=.env; done < f
case x in x) x=.env;; esac; cat "$x"
for x in f .env; do :; done; cat "$x"
f() { x=~/.ssh/id_rsa; }; f; cat "$x"
x=f; f() { x=.env; }; f; cat "$x"
f() { for x in .env; do :; done; }; f; cat "$x"
x=(f .env); while true; do cat "${x[1]}"; done
x=.ENV; cat "${x@L}"
bash -c 'for x in .env; do :; done; cat "$x"'
bash -c 'f() { x=.env; }; f; cat "$x"'
bash -c 'cat "$0/.netrc"' ~
cat "$x/.env"
cat $x/.ssh/id_rsa
cat "$x"/.netrc
cat "$x/server.pem"
head -1 < "$x/.aws/credentials"
cd ~/.ssh; cd -; cat ~-/id_rsa
cat ${FOO:-.e*}
x='.en?'; cat $x
x='a .en?'; cat $x
for p in '.e*'; do cat $p; done
cat "$(dirname ~/.netrc/x)"
dirname ~/.netrc/x | xargs cat
cat $(printf '%s/' ~ .aws)credentials
printf '%s%s' ~/.net rc | xargs cat
printf "$HOME/.%s" netrc | xargs cat
printf '%src\n' ~/.net | xargs cat
printf '%.6s' ~/.netrc | xargs cat
xargs cat <<< '/home/u/.net\rc'
echo "/home/u/.aws/'credentials'" | xargs cat
read f <<< '/home/u/.net\rc'; cat "$f"
xargs -dX cat <<< '/home/u/.netrcX'
read -d X f <<< '/home/u/.netrcX'; cat "$f"
read -n 14 f <<< /home/u/.netrcX; cat "$f"
mapfile -t -d X a <<< '/home/u/.netrcX'; cat "${a[@]}"
grep $(echo . ~/.aws/credentials)
echo . ~/.aws/credentials | xargs grep
xargs grep <<< "S $HOME/.aws/credentials"
grep $(cat names)
cat names | xargs grep
jq $(cat names)
x=$(cat f); grep $x
mapfile -t a < f; grep "${a[@]}"
""".strip().splitlines()

QUIET = r"""
cat "${x:-README.md}"
cat "${1:-$HOME/notes.txt}"
: "${x:=.env}"; ls -l "$x"
if true; then x=a; fi; cat "$x"
for x in f .env; do :; done; ls "$x"
f() { x=~/notes; }; f; cat "$x"
bash -c 'for x in a; do :; done; cat "$x"'
cat "$x/README.md"
cat $x/src/app.py
cat ~-/README.md
cat src/"$x"
cat ${FOO:-src*}
x='*.md'; cat $x
cat "$(dirname src/a.py)/b.py"
printf '%s\n' a.py b.py | xargs cat
printf 'src/%s.py\n' a b | xargs cat
git ls-files | xargs -d '\n' cat
git ls-files -z | while IFS= read -r -d '' f; do head -3 "$f"; done
git ls-files | while read -r f; do head -3 "$f"; done
mapfile -t a < <(git ls-files); cat "${a[@]}"
grep -n $x src/main.py
grep -n "$(cat pattern)" src/main.py
""".strip().splitlines()


def _finds_danger(command: str) -> bool:
    analysis = analyze(command, directory=_PROJECT, home=_HOME)
    around = Surroundings(directory=_PROJECT, working=(), root=_PROJECT, home=_HOME)
    return find_danger(analysis, around) is not None or not analysis.read_only


@pytest.mark.parametrize("command", SHOWN)
def test_a_secret_is_found_wherever_its_name_is_held(command: str) -> None:
    """A person is asked before a file is shown whose name may be a secret's that stands there."""
    assert _finds_danger(command)


@pytest.mark.parametrize("command", QUIET)
def test_what_holds_no_secret_name_or_shows_none_is_quiet(command: str) -> None:
    """Nobody is asked where the names are harmless, or where what they name is not shown."""
    assert not _finds_danger(command)
