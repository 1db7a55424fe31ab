"""Which files git is told to show, of those of the past too."""

from __future__ import annotations

import pytest

from agentscope_like.shell import analyze
from agentscope_like.shell.analysis import CommandAnalysis, Part
from agentscope_like.shell.facts.git_history import all_words, shown_in_history, shows_computed


def read(command: str) -> CommandAnalysis:
    """Return the analysis of a command."""
    return analyze(command, directory="/ws", home="/home/u")


def last_git(command: str) -> Part:
    """Return the last part of a command that is git."""
    return [part for part in read(command).parts if part.program == "git"][-1]


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


@pytest.mark.parametrize("command", [*SHOWING.strip().splitlines(), *ASKED.strip().splitlines()])
def test_what_shows_content_shows_that_of_a_named_file(command: str) -> None:
    """The file behind `--` is shown by each sub-command that prints what is in files."""
    assert "f.txt" in shown_in_history(last_git(f"git {command} -- f.txt"))
    assert "f.txt" not in shown_in_history(last_git(f"cat {command}; git log -- f.txt"))


@pytest.mark.parametrize("command", NOT_ASKED.strip().splitlines())
def test_what_lists_commits_and_names_shows_no_file(command: str) -> None:
    """Without the option that asks for it, nothing of a file is shown."""
    assert list(shown_in_history(last_git(f"git {command} -- f.txt"))) == []
    assert not shows_computed(last_git(f'git {command} -- "$x"'))


@pytest.mark.parametrize("options", SUMMED_UP.strip().splitlines())
def test_a_summary_of_a_commit_shows_only_what_is_named_in_it(options: str) -> None:
    """It tells which files were changed; a file of the commit, and a patch beside it, are shown."""
    assert list(shown_in_history(last_git(f"git show {options} HEAD -- f.txt"))) == []
    assert list(shown_in_history(last_git(f"git show {options} HEAD:f.txt"))) == ["f.txt"]
    assert "f.txt" in shown_in_history(last_git(f"git show {options} -p HEAD -- f.txt"))
    assert "f.txt" in shown_in_history(last_git(f"git diff {options} HEAD -- f.txt"))


def test_another_option_is_no_summary() -> None:
    """An option that only begins like one leaves it open what is shown."""
    assert "f.txt" in shown_in_history(last_git("git show --stat-width=80 HEAD -- f.txt"))
    assert "f.txt" in shown_in_history(last_git("git show --pretty=raw HEAD -- f.txt"))


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("show f", ["f"]),
        ("show HEAD:", []),
        ("show HEAD:d/f", ["d/f"]),
        ("show 'HEAD:my f'", ["my_f"]),
        ("show HEAD:a HEAD:b", ["a", "b"]),
        ("show :0:f", ["f"]),
        ("show -- -f", ["-f"]),
        ("show -- --", ["--"]),
        ("show --stat -- a:f", ["f"]),
        ("cat-file -p HEAD:f", ["f"]),
        ("cat-file blob HEAD:f", ["blob", "f"]),
        ("cat-file -t HEAD:f", []),
        ("cat-file -s HEAD:f", []),
        ("cat-file -e HEAD:f", []),
        ("config --blob=HEAD:f -l", ["f"]),
        ("config -l --file=f", []),
        ("log -L1,2:f", ["f"]),
        ("log -L :main:f", ["-L", "f"]),
        ("log --pretty=f:f -p", []),
        ("grep f", []),
        ("grep k f", ["f"]),
        ("grep k v:f", ["f"]),
        ("grep -e k f", ["f"]),
        ("grep -e k -e l f", ["f"]),
        ("grep -C 3 k f", ["f"]),
        ("grep -C 3 k", []),
        ("grep k 3", []),
        ("grep -- k f", ["k", "f"]),
        ("diff 3", ["3"]),
        ("diff -- -e f", ["-e", "f"]),
        ("diff ':(top)f'", ["f"]),
        ("diff ':(top)a:f'", ["a:f"]),
        ("diff ':(exclude)f' g", ["g"]),
        ("diff ':(top,exclude)f' g", ["g"]),
        ("diff ':(top,exclude,icase)f' g", ["g"]),
        ("diff ':!f' g", ["g"]),
        ("diff ':^f' g", ["g"]),
        ("diff ':/!f' g", ["g"]),
        ("diff ':/f'", ["f"]),
        ("diff ':/:f'", ["f"]),
        ("diff ':f'", ["f"]),
        ("diff 'a:(f'", ["(f"]),
        ("diff 'a:(top)f'", ["(top)f"]),
        ("show 'HEAD:!f'", ["!f"]),
        ("diff ':(top)f\n'", ["f_"]),
        ("push f", []),
        ("commit -m x f", []),
    ],
)
def test_the_names_that_are_shown_are_found(command: str, names: list[str]) -> None:
    """Commits, options, what is searched for and what is left out are told from the files."""
    assert list(shown_in_history(last_git(f"git {command}"))) == names


def test_another_directory_changes_nothing_of_it() -> None:
    """The sub-command is found behind the options of git, and so is what it searches for."""
    assert list(shown_in_history(last_git("git -C d grep k f"))) == ["d", "grep", "f"]
    assert "f" in shown_in_history(last_git("git -C d show f"))
    assert list(shown_in_history(last_git("git -C d log f"))) == []


def test_no_other_program_shows_the_past() -> None:
    """A word of another program is no sub-command of git."""
    (part,) = read("cat show f").parts
    assert list(shown_in_history(part)) == []
    assert not shows_computed(part)


@pytest.mark.parametrize(
    ("command", "names", "computed"),
    [
        ('git show "HEAD:$x"', [], True),
        ('git show "HEAD:$x.py"', [".py"], True),
        ('git show "HEAD$x:a.py"', ["a.py"], False),
        ('git show "HEAD:a${x}b"', ["b"], True),
        ('git show --stat "HEAD$x"', [], True),
        ('git show --stat "HEAD$x:b"', ["b"], False),
        ("git show HEAD:a", ["a"], False),
        ('git grep k "HEAD$x"', [], True),
        ("git show --stdin", [], True),
        ("git log -p --stdin", [], True),
        ("git log --stdin", [], False),
        ('git log "HEAD$x"', [], False),
        ("git cat-file --batch-check", [], False),
        ("git ls-files | xargs -I{} git show HEAD:{}", [], True),
    ],
)
def test_what_is_computed_may_be_any_file(command: str, names: list[str], computed: bool) -> None:
    """Of a computed word its end is known, and what follows a colon there is a file."""
    part = last_git(command)
    assert part.read_only
    assert list(shown_in_history(part)) == names
    assert shows_computed(part) is computed


def test_the_output_of_another_command_may_be_any_file() -> None:
    """What git is told by a substitution is computed; what is told to the inner git is not."""
    outer, inner = read("git show HEAD $(git rev-parse HEAD)").parts
    assert list(shown_in_history(outer)) == ["HEAD"]
    assert shows_computed(outer)
    assert not shows_computed(inner)


def test_what_is_not_proven_is_left_to_others() -> None:
    """A sub-command that may do more than to show is judged for what it does."""
    assert not shows_computed(last_git('git difftool "HEAD:$x"'))
    assert not shows_computed(last_git('git show "$x"'))
    assert list(shown_in_history(last_git("git show HEAD:a --output=b"))) == []


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("cat a.txt", {"a.txt", "cat"}),
        ("cat HEAD:a.txt", {"a.txt", "cat"}),
        ("echo ':(exclude)a' ':(top)b'", {"echo", "", "b"}),
        ("x=a$y.txt; ls", {"a", ".txt", "ls"}),
        ("cat <<< 'a b'", {"a", "b"}),
        ("ls *.t", {"*.t"}),
        ("ls ':!a'", {""}),
        ("bash -c 'cat d/e'", {"d/e"}),
    ],
)
def test_each_word_of_a_command_is_told(command: str, words: set[str]) -> None:
    """Whatever stands in it may be what is shown, behind the name of a commit too."""
    found = list(all_words(read(command)))
    assert words <= set(found)
    assert all(isinstance(word, str) for word in found)


def test_a_word_is_told_once() -> None:
    """The same word is not looked at again."""
    assert sorted(all_words(read("ls a a"))) == ["a", "ls"]
