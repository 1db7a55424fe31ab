"""Operands and sub-commands: what each means, and what is said of one that is not known."""

from __future__ import annotations

import pytest

from tests.permission.kit import analysis_of, doubts_of, paths_of


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("uniq a", "a"),
        ("uniq", ""),
        ("diff a b", "a b"),
        ("cmp a ${x:+b}", "a b"),
        ("cmp ${x:+a} b", "a a b"),
        ("grep x", ""),
        ("grep x a b", "a b"),
        ("grep -r x", "."),
        ("grep -r x a", "a"),
        ("grep -r x ${y:+a}", "a ."),
        ("grep -e x -f p", "p"),
        ("grep -f p a -r", "p a"),
        ("rg x", "."),
        ("rg x a", "a"),
        ("rg x ${y:+a}", "a ."),
        ("rg --files", "."),
        ("ls | rg x", ""),
        ("ls | grep -r x", "."),
        ("gzip a -l", "a"),
        ("gzip -l a b", "a b"),
        ("tree ./*", "*"),
        ("rg --files a", "a"),
        ("ls", "."),
        ("ls -I a", "."),
        ("ls a ~", "a ~"),
        ("ls ./*", "*"),
        ("ls b*-", "b*-"),
        ("ls -- -*", "-* ."),
        ("ls -- -a", "-a ."),
        ("ls ${x:+a}", "a ."),
        ("find -name x", "."),
        ("find a -name x", "a"),
        ("find ./* -name x", "*"),
        ("find .*/", ".*"),
        ("fd", "."),
        ("fd x a", "a"),
        ("unzip -l a b", "a"),
        ("unzip -l ./*.zip", "*.zip"),
        ("unzip -v ./*.zip", "*.zip"),
        ("sed p a", "a"),
        ("sed -e p a", "a"),
        ("sed p a -e p", "p a"),
        ("sed -n -- p a", "a"),
        ("dd if=a", "a"),
        ("dd if=a=b", "a=b"),
        ("find a '(' -name x ')'", "a"),
        ("dos2unix -i", ""),
        ("dd if=a bs=1 count=if", "a"),
        ("jq --arg a b . c", "c"),
        ("jq . c d", "c d"),
        ("ar t a b", "a"),
        ("strings -n 5 a b", "a b"),
        ('for f in a b; do strings "$f"; done', "a b"),
        ("7z l ./*", "*"),
        ("git grep x", "."),
        ("git grep x a", "."),
        ("git grep x -- a", "a"),
        ("git grep x b -- a 'c*'", "a ."),
        ("git grep x -- ../a", "."),
        ('git grep x -- "$y"', "."),
        ("git grep -e x -- -a", "."),
        ("git ls-files", "."),
        ("git ls-files a", "a"),
        ("git ls-files -- a", "a"),
        ("git ls-files ../a", "."),
        ("git ls-files a/../b", "."),
        ("git ls-files :/", "."),
        ("git ls-files ''", "."),
        ("git -C a log", "a"),
        ("echo -- -n", ""),
        ("vmstat", ""),
        ("yq . f", "f"),
        ("git config user.name", ""),
        ("cmake . -N", "."),
        ("vmstat 1 2", ""),
        ("tar tf a", "a"),
        ("tar '' -tf a", "a"),
        ("git log a --", ""),
        ("env timeout 5 nice cat a", "a"),
        ("bash -n a b", "a"),
        ("python3 -m pip list", ""),
        ("/usr/bin/python3 -m pip show x -f", ""),
        ("chmod --reference=a", "a"),
        ("xmllint --noout a", "a"),
    ],
)
def test_an_operand_is_what_its_place_makes_it(command: str, paths: str) -> None:
    """Of commands that read: fixed ones stand first, the repeated one takes what is left."""
    analysis = analysis_of(command)
    assert analysis.all_doubts == ()
    found = [each.path for each in analysis.parts[-1].effects]
    assert found == [_place(path) for path in paths.split()]


def _place(name: str) -> str:
    """Return the path of a name in the directory of the command."""
    return "/home/u" if name == "~" else "/ws" if name == "." else f"/ws/{name}"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("vmstat 1", "vmstat: `vmstat` lacks an operand"),
        ("vmstat 1 2 3", "3: `vmstat` with `3` is not known to be harmless"),
        ("vmstat 1 2 3 4", "3: `vmstat` with `3` is not known to be harmless"),
        ("vmstat x 2", "x: `x` is not an operand of `vmstat` known to be harmless"),
        ("awk", "awk: `awk` lacks an operand"),
        ("ln", "ln: `ln` lacks an operand"),
        ("rg", "rg: `rg` lacks an operand"),
        ("bash", "bash: `bash` runs whatever it is given as input"),
        ("bash -c", "bash: `bash` lacks an operand"),
        ("chmod 1", "chmod: `chmod` names nothing here that it would change"),
        ("dd if", "if: `if` is not an operand of `dd` known to be harmless"),
        ("dd bs=1 x", "x: `x` is not an operand of `dd` known to be harmless"),
        ("dd x=1", "x=1: `x=1` is not an operand of `dd` known to be harmless"),
        ('dd "if=$x"', '"if=$x": a computed operand of `dd` is not known to be harmless'),
        ("sed w f -e p", "w: `w` in the sed script is not known to be harmless"),
        ("sed -e w", "w: `w` in the sed script is not known to be harmless"),
        ("uniq ${x:+a}", "${x:+a}: this may become several operands"),
        ("uniq ${x:+a} ${x:+b}", "${x:+a}: this may become several operands"),
        ("rg ${x:+a}", "${x:+a}: this may become several operands"),
        ("timeout ${x:+5} ls", "${x:+5}: this may become several operands"),
        ("unzip -l ./*.zip x", "./*.zip: this may become several operands"),
        ("unzip -l *.zip", "*.zip: this computed argument may be an option, or several"),
        ('rg x "${y:+-a}"', '"${y:+-a}": this computed argument may be an option, or several'),
        ("7z l @a", "@a: `7z l` may take this for more than a file's name"),
        ("7z l a @b", "@b: `7z l` may take this for more than a file's name"),
        ('strings "@$x"', '"@$x": `strings` may take this for more than a file\'s name'),
        ('strings "$x"', '"$x": `strings` may take this for more than a file\'s name'),
        ("strings *", "*: `strings` may take this for more than a file's name"),
        ("strings ?", "?: `strings` may take this for more than a file's name"),
        ("strings [ab]", "[ab]: `strings` may take this for more than a file's name"),
        (
            'for f in a @b; do strings "$f"; done',
            '"$f": `strings` may take this for more than a file\'s name',
        ),
        ("head -n @ f", "@: `@` is not a value of `head -n` known to be harmless"),
        ("docker", "docker: `docker` alone is not known to be harmless"),
        ("docker foo", "foo: `docker foo` is not a sub-command known to be harmless"),
        ("git 'a b' c", "'a b': `git a b` is not a sub-command known to be harmless"),
        ('docker "a$x"', '"a$x": `docker <computed>` is not a sub-command known to be harmless'),
        ("git -- log", "--: a `--` before a sub-command is not understood"),
        ("git --version --help", "--version: `git --version` is not a flag known to be harmless"),
        ("npm run version", "version: `npm run` runs a script of the project"),
        ("find -- .", "--: `find --` is not a flag known to be harmless"),
        ("find a --", "--: `find --` is not a flag known to be harmless"),
        ("go list x -m", "go: `go list` without `-m` may do more than read"),
        ("watch", "watch: `watch` lacks an operand"),
        ("env A=1", "A=1: `A=` may change what the program does"),
        ("env A=1 B=2 ls", "A=1: `A=` may change what the program does"),
        ('env "$x" ls', '"$x": this computed argument may be an option, or several'),
        ("eval", "eval: `eval` lacks an operand"),
        ("eval ls", "eval: `eval` runs a text that was put together"),
        ("sudo ls", "sudo: `sudo` runs a command as another user"),
        ("tar", "tar: `tar` packs or unpacks an archive"),
        ("nproc x", "x: `nproc` with `x` is not known to be harmless"),
        ("timeout $(nproc) ls", "$(nproc): this argument may be none at all"),
        ("ps -e -x", "ps: `ps -e` beside `-x` may mean more"),
        ("ps -e -x -T -H", "ps: `ps -e` beside `-x` may mean more"),
        ("git config", "git: `git config` may change git's settings"),
        ("node a -c", "a: `a` is not an operand of `node` known to be harmless"),
        ("jq -f a b", "jq: `jq -f` runs a program from a file"),
        ("chmod 1 b --reference=c", "1: `chmod` writes `1`"),
        ("gzip -dl a", "gzip: `gzip -d` needs `--stdout` or `--to-stdout` or `-c` beside it"),
        ("clang-format --x f", "--x: `clang-format --x` is not a flag known to be harmless"),
        ("sort -xr f", "-xr: `sort -x` is not a flag known to be harmless"),
        ("sort -rxr f", "-rxr: `sort -x` in `-rxr` is not a flag known to be harmless"),
        ("find . -exec", "-exec: `-exec` has no end"),
        ("python3 -m", "-m: `python3` runs code, which may do anything"),
        ("python3 -m pip", "-m: `python3` runs code, which may do anything"),
        ("python3 -m pytest", "-m: `python3` runs code, which may do anything"),
        ("python3 pip list", "pip: `python3` runs code, which may do anything"),
        ("python3 -m pip install x", "-m: `python3` runs code, which may do anything"),
        ('python3 -m pip show "a$x"', "-m: `python3` runs code, which may do anything"),
        ('python3 -m pip show "$x"', "-m: `python3` runs code, which may do anything"),
        ('python3 -m "$x" pip list', "-m: `python3` runs code, which may do anything"),
        ("python3 -m pip list -o", "-m: `python3` runs code, which may do anything"),
    ],
)
def test_what_is_not_known_is_said_where_it_stands(command: str, said: str) -> None:
    """The first doubt names the program with its sub-command, and what of it is meant."""
    doubt = analysis_of(command).all_doubts[0]
    assert f"{command[slice(*doubt.span)]}: {doubt.message}" == said


@pytest.mark.parametrize(
    ("command", "is_about"),
    [
        ("git --version", True),
        ("git commit --help", True),
        ("git commit -h", True),
        ("npm run -h", True),
        ("java -XshowSettings -version", True),
        ("java -XshowSettings --help", True),
        ("docker --help", True),
        ("git commit --version", False),
        ("git commit --help x", False),
        ("git commit -help", False),
        ("git foo --help", False),
        ("git --help --help", False),
        ('git "$x" --help', False),
        ("java -XshowSettings x", False),
        ("java -XshowSettings -version x", False),
        ("docker ps run --help", False),
    ],
)
def test_only_help_is_asked_for(command: str, is_about: bool) -> None:
    """What prints help or a version stands alone, or help behind a sub-command known to give it."""
    assert analysis_of(command).read_only is is_about


@pytest.mark.parametrize(
    ("command", "is_doubted"),
    [
        ('ls "--sort=$x"', False),
        ('ls "--blo=$x"', False),
        ('ls "-$x"', False),
        ('date "$x"', True),
        ('date "a$x"', True),
        ('date -d "$x"', False),
        ('factor "$x"', False),
        ('strings "${y:+-a}"', False),
        ('strings "${y:+@a}"', True),
        ("strings ./*", False),
        ("grep -c $x f", False),
        ('git log "a$x"', False),
        ('head "--lines=$x" f', True),
        ('head "--line=$x" f', True),
        ('head "--quiet=$x" f', False),
        ('head "-$x" f', False),
        ('sort "--k=$x" f', True),
        ('sort "--key=$x" f', False),
        ('find . "a$x"', False),
        ('find "$x"', True),
        ('find "$x/"', False),
        ("find $x/", True),
        ('rg x "$y/"', True),
    ],
)
def test_a_computed_argument_may_be_an_option(command: str, is_doubted: bool) -> None:
    """Unless no option of the program could harm, or none could look like it."""
    doubts = [doubt for doubt in doubts_of(command) if "for secrets" not in doubt]
    assert bool(doubts) is is_doubted


@pytest.mark.parametrize(
    "operand", ["${y:+a}", "$y", "$(true)", '"$@"', '"-l$y"', "$(git branch --format='%(refname)')"]
)
def test_where_an_operand_may_be_none_the_program_takes_its_own(operand: str) -> None:
    """A search is one of the whole directory as well; a text in quotes and a pattern are there."""
    for program in ("grep -r x", "rg x", "ls", "find"):
        assert "/ws" in paths_of(f"{program} {operand}")
    for there in ('"$y"', '"${y:+a}"', "./*", '"$(nproc)"', "a$y", '"a-$y"'):
        assert "/ws" not in paths_of(f"ls {there}")
