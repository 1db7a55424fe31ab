"""Which files git is told to show, of those of the past too: a secret among them is asked about."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.permission.kit import danger_of, make_place, reads

SHOWING = """
show HEAD
whatchanged
grep k
diff
blame
annotate
range-diff a..b c..d
stash show -p
format-patch --stdout HEAD~1
"""

ASKED = """
log -p
log -u
log --patch
log --patch-with-stat
log -L1,2:f
log -L 1,2:f
log -W
log --function-context
log -U5
log -U 5
log --unified=5
log --cc
log -c
log --binary
log --check
log --diff-merges=on
diff-tree -p HEAD
diff-index -p HEAD
diff-files -p
reflog show -p
status -v
status -vv
status -sv
status --verbose
"""

NOT_ASKED = """
log
log --stat
log --oneline
log -S x
log --pretty=oneline
diff-tree HEAD
diff-index HEAD
diff-files
reflog show
status
status -s
status --short
ls-tree HEAD
ls-files
"""

SUMMED_UP = """
--name-only
--name-status
--stat
--stat=80
--shortstat
--numstat
--summary
--raw
-s
--no-patch
"""

SHOWN = """
show .env
show HEAD:d/.env
show :0:.env
show --stat -- a:.env
show -- .env
cat-file -p HEAD:.env
cat-file blob HEAD:.env
config --blob=HEAD:.env -l
config -l --file=.env
log -L1,2:.env
log -L :main:.env
grep k .env
grep k v:.env
grep -e k .env
grep -e k -e l .env
grep -C 3 k .env
grep -- k .env
diff -- -e .env
diff ':(top).env'
diff ':(top)a:.env'
diff ':/.env'
diff ':/:.env'
diff ':.env'
diff 'a:(.env'
diff 'a:(top).env'
show 'HEAD:!.env'
"""

NOT_SHOWN = """
show HEAD:
cat-file -t HEAD:.env
cat-file -s HEAD:.env
cat-file -e HEAD:.env
grep .env
grep -C 3 .env
diff ':(exclude).env' g
diff ':(top,exclude).env' g
diff ':(top,exclude,icase).env' g
diff ':!.env' g
diff ':^.env' g
diff ':/!.env' g
add . ':!.env'
commit -m x -- ':(exclude).env'
"""


@pytest.mark.parametrize("command", [*SHOWING.strip().splitlines(), *ASKED.strip().splitlines()])
def test_what_shows_content_shows_that_of_a_named_file(command: str) -> None:
    """The file behind `--` is shown by each sub-command that prints what is in files."""
    assert danger_of(f"git {command} -- .env")
    assert not danger_of(f"git {command} -- f.txt")


@pytest.mark.parametrize("command", NOT_ASKED.strip().splitlines())
def test_what_lists_commits_and_names_shows_no_file(command: str) -> None:
    """Without the option that asks for it, nothing of a file is shown."""
    assert not danger_of(f"git {command} -- .env")
    assert not danger_of(f'git {command} -- "$x"')


@pytest.mark.parametrize("options", SUMMED_UP.strip().splitlines())
def test_a_summary_of_a_commit_shows_only_what_is_named_in_it(options: str) -> None:
    """It tells which files were changed; a file of the commit, and a patch beside it, are shown."""
    assert not danger_of(f"git show {options} HEAD -- .env")
    assert danger_of(f"git show {options} HEAD:.env")
    assert danger_of(f"git show {options} -p HEAD -- .env")
    assert danger_of(f"git diff {options} HEAD -- .env")


def test_another_option_is_no_summary() -> None:
    """An option that only begins like one leaves it open what is shown."""
    assert danger_of("git show --stat-width=80 HEAD -- .env")
    assert danger_of("git show --pretty=raw HEAD -- .env")


@pytest.mark.parametrize("command", SHOWN.strip().splitlines())
def test_the_names_that_are_shown_are_found(command: str) -> None:
    """A file is told from commits and options, without what git makes of its beginning."""
    assert danger_of(f"git {command}")
    assert danger_of(f"git -C d {command}")
    assert not danger_of(f"git {command.replace('.env', 'f')}")


@pytest.mark.parametrize("command", NOT_SHOWN.strip().splitlines())
def test_what_is_searched_for_or_left_out_is_not_shown(command: str) -> None:
    """Commits, options, what is searched for and what is left out are no files."""
    assert not danger_of(f"git {command}")


@pytest.mark.parametrize(
    "command", ["git add . .env", "git add . ':(top).env'", "cat ':!.env'", "no-such-tool ':!.env'"]
)
def test_only_git_leaves_files_out_and_only_where_it_is_told_so(command: str) -> None:
    """What git takes in is named, and to another program the mark is part of a name."""
    assert danger_of(command)


def test_a_file_whose_name_looks_left_out_is_read(tmp_path: Path) -> None:
    """Outside of a repository, `git diff` compares the two files that it is told."""
    where = make_place(tmp_path, ":!.env")
    assert danger_of("git diff ':!.env' g", where)
    assert danger_of("git commit -F ':!.env'", where)
    assert not danger_of("git diff ':!b.env' g", where)
    assert not danger_of("git commit -F ':!b.env'", where)


@pytest.mark.parametrize(
    ("command", "computed"),
    [
        ('git show "HEAD:$x"', True),
        ('git show "HEAD:$x.py"', True),
        ('git show "HEAD$x:a.py"', False),
        ('git show "HEAD:a${x}b"', True),
        ('git show --stat "HEAD$x"', True),
        ('git show --stat "HEAD$x:b"', False),
        ("git show HEAD:a", False),
        ('git grep k "HEAD$x"', True),
        ("git show --stdin", True),
        ("git log -p --stdin", True),
        ("git log --stdin", False),
        ('git log "HEAD$x"', False),
        ("git cat-file --batch-check", False),
        ("git ls-files | xargs -I{} git show HEAD:{}", True),
        ("git show HEAD $(git rev-parse HEAD)", True),
    ],
)
def test_what_is_computed_may_be_any_file_that_is_named(command: str, computed: bool) -> None:
    """A computed word may be each word of the command; what is known behind a colon is a file."""
    assert reads(command)
    assert bool(danger_of(f"{command}; echo .env")) is computed
    assert not danger_of(f"{command}; echo f.txt")


def test_what_is_not_proven_is_left_to_others() -> None:
    """A sub-command that may do more than to show is judged for what it does."""
    assert not danger_of('git difftool "HEAD:$x"; echo .env')
    assert not reads("git show HEAD:a --output=b")


NAMED = r"""
ask | git grep x .env
no | git grep .env a
no | git -C src grep .env a
ask | git grep x -- .env
ask | git grep x -- -a/.env
no | git grep -e .env a
ask | git grep -e x .env
no | git grep -C 2 .env a
ask | git log -p -L1,2:.env
no | git log -p -L1,2:a
ask | git show .env
no | git show --stat .env
no | git show --stat --no-color .env
ask | git show --stat HEAD:.env
ask | git show --stat -p .env
ask | git show ':(top).env'
no | git show ':(exclude).env'
ask | git show 'HEAD:(exclude)/.env'
ask | git show ':/.env'
no | git show ':!.env'
no | git show ':^.env'
ask | git show 'HEAD:!x/.env'
ask | git cat-file -p x:.env
ask | git cat-file blob x:.env
no | git cat-file -s x:.env
no | git -C .env log
ask | git -C .env grep k x
ask | git -C d blame .env
ask | rg -g .env x
no | rg -g '!.env' x
ask | rg --glob=.env x
no | rg x a
no | rg x -g
"""


@pytest.mark.parametrize("row", NAMED.strip().splitlines())
def test_a_name_counts_where_it_says_what_is_shown(row: str) -> None:
    """What is searched for, left out, or only summed up is not shown."""
    expected, _, command = row.partition(" | ")
    assert bool(danger_of(command)) is (expected == "ask")
