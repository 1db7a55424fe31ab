"""The raw text of a command: an expansion that stands in it and was not read is a doubt."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.permission import PermissionBehavior
from agentscope_like.shell import Dissent, analyze
from agentscope_like.shell.syntax import read, unread_expansion
from tests.tool.builtin.bash_kit import decide

READ = [
    'echo $(ls `pwd`) "$(git log "$(cat x)")"',
    "diff <(sort a) <(sort b) | head",
    "ls # it's `x`\npwd $(id)",
    "x=$(ls &&\n  pwd # `y`\n)",
    "grep '$(x) `y` ${z} <(a)' f | cat",
    'grep "<(a) >(b)" f | cat',
    "ls $'$(a)' | cat",
    'echo $(( a + 1 )) $(( ${a} + ${#b} )) \\` "\\$(x)"',
    r"ls \\\`x \\\\\`",
    "(( $(ls | wc -l) > ${x} )) && pwd",
    "for ((i=0; i<${n}; i++)); do ls; done",
    'a=(x $(ls) "y z"); echo "${a[0]}" "${#a[@]}"',
    'ls "${x:-$(pwd)}" | cat; id ${x@Q}',
    "cat <<'E' | wc -l\n$(x) `y`\nE\nls",
    'cat <<E\n$(ls | wc) "it\'s" ${x}\nE',
    "case $x in `ls`) ls;; *) pwd;; esac",
    "[[ -n $(ls) && ${a} == b* ]] && pwd",
    "ls > $(pwd) <<< `id`",
]
"""Texts whose every expansion is read, or stands where none can begin."""


@pytest.mark.parametrize("text", READ)
def test_what_was_read_is_no_doubt(text: str) -> None:
    """Expansions that were read, and text in which none can begin, are no reason to ask."""
    assert unread_expansion(text, read(text)) is None


@pytest.mark.parametrize(
    ("text", "read_as", "opening"),
    [
        ("ls `a`", "ls", "`"),
        ("ls $(a)", "ls", "$("),
        ('ls "$(a)"', 'ls "xxxx"', "$("),
        ('ls "${a}"', 'ls "xxxx"', "${"),
        ("cat <(a)", "cat", "<("),
        ("tee >(a)", "tee", ">("),
        ("ls \\\\$(a)", "ls", "$("),
        ("ls \\\\\\\\$(a)", "ls", "$("),
        ("ls '$(a)'", "ls", "$("),
        ("ls $((1 + $(a)))", "ls $((1 + 2222))", "$("),
        ("(($(a)))", "((1111))", "$("),
        ("(( `a` ))", "(( 111 ))", "`"),
        ("ls `a` `b`", "ls `a` xxx", "`"),
        ("ls a # $(b)", "ls a", "$("),
        ("cat <<E\n$(a)\nE", "cat", "$("),
    ],
)
def test_what_was_not_read_is_found(text: str, read_as: str, opening: str) -> None:
    """Were the reader to take an expansion for plain text, its opening would be told of."""
    place = unread_expansion(text, read(read_as))
    assert place is not None
    assert text[slice(*place)] == opening


UNREAD = "cat <<-E\n\t$(ls)\n\tE"
"""The reader does not say where the expansion of an indented heredoc stands."""


async def test_an_unread_expansion_asks(tmp_path: Path) -> None:
    """Such a command is no proof, whatever else was read; where all is known, it is one."""
    decision = await decide(UNREAD, tmp_path)
    assert decision.behavior is PermissionBehavior.ASK
    assert "The expansion that begins with `$(` was not parsed" in decision.message
    assert (await decide("cat <<E\n$(ls)\nE", tmp_path)).behavior is PermissionBehavior.ALLOW


async def test_an_unread_expansion_in_a_script_of_a_word_asks(tmp_path: Path) -> None:
    """What a shell is given to run is looked at like the command line itself."""
    assert (await decide(f"bash -c '{UNREAD}'", tmp_path)).behavior is PermissionBehavior.ASK
    inner = "bash -c 'cat <<E\n$(ls)\nE'"
    assert (await decide(inner, tmp_path)).behavior is PermissionBehavior.ALLOW


async def test_an_edit_with_an_unread_expansion_asks(tmp_path: Path) -> None:
    """Nor is an edit accepted that has one."""
    edit = "{}\ntouch a"
    mode = "accept_edits"
    assert (await decide(edit.format(UNREAD), tmp_path, mode=mode)).behavior is (
        PermissionBehavior.ASK
    )
    assert (await decide(edit.format("ls"), tmp_path, mode=mode)).behavior is (
        PermissionBehavior.ALLOW
    )


async def test_rules_of_the_user_still_count(tmp_path: Path) -> None:
    """Deny rules match its parts as ever; allow rules where they speak of every part."""
    allow, ask, deny = (
        PermissionBehavior.ALLOW,
        PermissionBehavior.ASK,
        PermissionBehavior.DENY,
    )
    assert (await decide(UNREAD, tmp_path, ["deny ls:*"])).behavior is deny
    assert (await decide(UNREAD, tmp_path, ["allow ls:*", "allow cat"])).behavior is allow
    assert (await decide(UNREAD, tmp_path, ["allow ls:*"])).behavior is ask


def test_the_doubt_says_where() -> None:
    """Its place is the opening; for a script in a word it is the whole command."""
    (doubt,) = analyze(UNREAD, directory="/ws").doubts
    assert isinstance(doubt, Dissent)
    assert UNREAD[slice(*doubt.span)] == "$("
    command = f"bash -c '{UNREAD}'"
    (doubt,) = analyze(command, directory="/ws").doubts
    assert tuple(doubt.span) == (0, len(command))
