"""What a part shows of the files that it reads: all, how much, or their names."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agentscope_like.shell import analyze
from agentscope_like.shell.analysis import Effect, EffectKind, Part
from agentscope_like.shell.facts.shown_content import (
    counts,
    follows,
    is_redirect,
    lists_only,
    reads_no_directory,
    reads_unseen_files,
    shows_unseen_files,
)
from agentscope_like.shell.syntax.tree import Span

NAMED = Effect(EffectKind.READ, "f", "/ws/f", Span(0, 0))


def last(command: str) -> Part:
    """Return the last part of a command."""
    return analyze(command, directory="/ws", home="/home/u").parts[-1]


def called(program: str) -> Part:
    """Return a part that runs a program without options."""
    return replace(last("ls f"), program=program)


LISTING = """
ls dir vdir stat du find tree realpath readlink basename dirname test [ [[ cd pushd namei lsattr
getfacl file fd fdfind eza exa lsd df findmnt mountpoint lsof fuser getcap getfattr getconf gls
gstat gdu gfind grealpath greadlink chmod chown ln
"""

OTHERS = "cat grep rg sed awk git-x python3 wc cp mv rm diff tar no-such-tool"


@pytest.mark.parametrize("program", LISTING.split())
def test_what_lists_shows_no_content(program: str) -> None:
    """It looks at names alone; where its input comes from a file, it may show that."""
    assert lists_only(NAMED, called(program))
    assert not counts(called(program))


@pytest.mark.parametrize("program", OTHERS.split())
def test_any_other_program_may_show_content(program: str) -> None:
    """What is not known to list only is taken to show what it reads."""
    assert not lists_only(NAMED, called(program))


def test_a_redirection_is_no_listing() -> None:
    """What a program is given as its input it may print, whatever it does with names."""
    part = last("ls d < f")
    given, listed = sorted(part.effects, key=lambda effect: effect.target == "d")
    assert (given.target, listed.target) == ("f", "d")
    assert is_redirect(given, part)
    assert not lists_only(given, part)
    assert not is_redirect(listed, part)
    assert lists_only(listed, part)
    assert not is_redirect(NAMED, last("ls f"))


@pytest.mark.parametrize("command", ["diff", "blame", "annotate", "grep k", "config -l -f"])
def test_git_shows_the_files_that_some_of_its_commands_read(command: str) -> None:
    """These show what is in a file; others look at its name, and so does `-C`."""
    assert not lists_only(NAMED, last(f"git {command} f"))
    assert not lists_only(NAMED, last(f"git -C d {command} f"))
    assert lists_only(NAMED, last("git log f"))
    assert lists_only(NAMED, last("git status f"))


def test_the_directory_that_git_runs_in_is_not_shown() -> None:
    """`-C` of git itself moves it; that of its search is a number of lines."""
    assert lists_only(NAMED, last("git -C f diff"))
    assert lists_only(NAMED, last("git -C f blame a"))
    assert not lists_only(NAMED, last("git -C d blame f"))
    assert not lists_only(NAMED, last("git grep -C f k"))


READERS = """
cat tac head tail less more nl wc sort uniq cut paste od xxd hexdump strings base64 md5sum sha1sum
sha256sum cksum sha512sum b2sum sum sed gsed awk gawk mawk jq yq bat batcat ln gln
"""


@pytest.mark.parametrize("program", READERS.split())
def test_what_reads_files_reads_nothing_of_a_directory(program: str) -> None:
    """Given a directory it fails; a program of which that is not known may read all below."""
    assert reads_no_directory(called(program))
    assert not reads_no_directory(called("grep"))
    assert not reads_no_directory(called("no-such-tool"))


COUNTING = """
wc md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum md5 cloc tokei scc
"""


@pytest.mark.parametrize("program", COUNTING.split())
def test_what_counts_tells_how_much_there_is(program: str) -> None:
    """A number made of a file shows nothing of it, whichever files they are."""
    assert counts(called(program))
    assert not counts(called("cat"))
    assert not counts(called("no-such-tool"))


@pytest.mark.parametrize(
    ("command", "shows"),
    [
        ("file -f f", True),
        ("file -0f f", True),
        ("file -bf f", True),
        ("file -ff", True),
        ("file --files-from f", True),
        ("file --files-from=f", True),
        ("file --f=f\\\ng", True),
        ("file -b f", False),
        ("file --brief f", False),
        ("file -- -f", True),
        ("du --files0-from=f", True),
        ("gdu --files0-from=f", True),
        ("wc --files0-from=f", True),
        ("wc --files0-from='f\n'", True),
        ("file -f'f\n'", True),
        ("file --f='f\n'", True),
        ("fd --ignore-file='f\n'", True),
        ("du -sh f", False),
        ("wc -l f", False),
        ("fd --ignore-file f", True),
        ("fdfind --ignore-file=f", True),
        ("fd --ignore-case f", False),
        ("ls --files0-from=f", False),
    ],
)
def test_what_is_told_of_names_by_a_file_quotes_it(command: str, shows: bool) -> None:
    """A list of names, or of patterns, is shown where a name of it is not there."""
    part = last(command)
    assert (lists_only(NAMED, part) or counts(part)) is not shows


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
cp -L
gcp -rL
cp --dereference
du -L
rg -L
rg --follow
ls -L
ls --dereference
chown -RL
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
cp -r
gcp -r
du -s
rg -l
ls -l
chown -R
ag -l
ack -l
ack-grep -l
tree -L
mv -L
gmv -L
git -L
chmod -L
"""


@pytest.mark.parametrize("command", FOLLOWING.strip().splitlines())
def test_an_option_has_a_program_follow_symlinks(command: str) -> None:
    """Each program has its own, whatever stands beside it."""
    assert follows(last(f"{command} a"), otherwise=False)


@pytest.mark.parametrize("command", STAYING.strip().splitlines())
def test_without_its_option_a_program_follows_none(command: str) -> None:
    """What another program calls so means something else here."""
    assert not follows(last(f"{command} a"), otherwise=True)
    assert not follows(last(f"{command.partition(' ')[0]} a"), otherwise=True)


def test_of_another_program_nobody_knows_what_it_follows() -> None:
    """The answer is what whoever asks takes for the worst."""
    assert follows(last("no-such-tool a"), otherwise=True)
    assert not follows(last("no-such-tool -R a"), otherwise=False)


@pytest.mark.parametrize(
    ("command", "reads", "shows"),
    [
        ("find . | xargs cat", True, True),
        ('cat "$x"', True, True),
        ('cat a "$x"', True, True),
        ("find . | xargs wc", True, False),
        ("find . | xargs wc --files0-from=a", True, True),
        ('wc < "$x"', True, False),
        ("find . | xargs ls", False, False),
        ('ls < "$x"', True, True),
        ("find . | xargs rm", False, False),
        ('echo > "$x"', False, False),
        ("cat a b", False, False),
        ("cat *", False, False),
    ],
)
def test_unseen_files_are_those_that_nobody_names(command: str, reads: bool, shows: bool) -> None:
    """What is read by a name that is computed may be any file; to count it shows nothing."""
    part = last(command)
    assert reads_unseen_files(part) is reads
    assert shows_unseen_files(part) is shows
