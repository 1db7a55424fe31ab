"""What a person is told of a command that the catalog knows for little more than its help."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from agentscope_like.permission import PermissionContext
from agentscope_like.permission.explain import explain_call, lay_out
from agentscope_like.tool import Bash
from tests.permission.kit import PURPOSES, analysis_of, analyze, doubts_of

TABLES = tomllib.loads(PURPOSES.read_text("utf-8"))
ROWS = [
    (f"{program} {words}".strip(), does)
    for programs, table in TABLES.items()
    for program in programs.split()
    for alternatives, does in table.items()
    for words in alternatives.split("|")
]


TOLD = tomllib.loads(Path(__file__).with_name("purposes.toml").read_text("utf-8"))


def messages(command: str) -> list[str]:
    """Return what is in doubt, each sentence once."""
    return list(dict.fromkeys(doubts_of(command)))


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("git push origin main", "`git push` sends commits to another repository"),
        ("git -C x push --force-with-lease", "`git push` sends commits to another repository"),
        ("/usr/bin/git push", "`git push` sends commits to another repository"),
        ("git commit -m x", "`git commit` commits the staged changes"),
        ("git add -A", "`git add` stages changes for the next commit"),
        ("git stash", "`git stash` stashes changes"),
        ("git stash pop", "`git stash pop` applies stashed changes"),
        ("git clean -fd", "`git clean` deletes untracked files"),
        ("make test", "`make` runs the commands in a Makefile"),
        ("npm run build", "`npm run` runs a script of the project"),
        ("kubectl -n a apply -f x", "`kubectl apply` changes what is in the cluster"),
        ("python3 x.py", "`python3` runs code, which may do anything"),
        ("pytest -q tests", "`pytest` runs tests"),
        ("tar xf a.tar", "`tar` packs or unpacks an archive"),
        ("parallel -j 4 cat", "`parallel` may do more than read"),
        ("bash", "`bash` runs whatever it is given as input"),
        ("yarn list", "`yarn` runs the version of itself that the project configures"),
        ("frob x", "`frob` is an unknown program"),
        ("git frob x", "`git frob` is not a sub-command known to be harmless"),
    ],
)
def test_one_sentence_says_what_a_command_does(command: str, message: str) -> None:
    """However many of its words are not known, there is one plain sentence."""
    assert messages(command) == [message]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("git stash list --frob", "`git stash list --frob` is not a flag known to be harmless"),
        ("git clean -n --frob", "`git clean --frob` is not a flag known to be harmless"),
        ("npm ls --frob", "`npm ls --frob` is not a flag known to be harmless"),
        (
            "docker compose ps --frob",
            "`docker compose ps --frob` is not a flag known to be harmless",
        ),
        ("tar tf a --frob", "`tar --frob` is not a flag known to be harmless"),
        ("node -c x.js --frob", "`node --frob` is not a flag known to be harmless"),
        ("ls --frob", "`ls --frob` is not a flag known to be harmless"),
    ],
)
def test_a_read_with_an_unknown_word_is_told_by_the_word(command: str, message: str) -> None:
    """Of a command that would only read, the word is named that keeps it from being proven."""
    assert messages(command) == [message]


@pytest.mark.parametrize(("command", "does"), ROWS)
def test_each_row_is_told_of_some_command(command: str, does: str) -> None:
    """What the table says is the rest of a sentence, and is said of a command that asks."""
    assert does == does.strip(" .")
    told = [messages(f"{command}{rest}") for rest in ("", " zz", " --no-such", " -f x=y zz")]
    assert [f"`{command}` {does}"] in told


def test_what_is_told_of_each_program_stays_so() -> None:
    """Of each program and each kind of its sub-commands, a person reads this sentence."""
    assert {command: told for command, told in TOLD.items() if told not in messages(command)} == {}


def test_every_word_in_doubt_is_marked() -> None:
    """One sentence stands for several doubts, each at the word that it is about."""
    doubts = analysis_of("git push origin main").all_doubts
    assert [(each.span.start, each.span.end) for each in doubts] == [(9, 15), (16, 20)]


def test_computed_and_missing_words() -> None:
    """A word that is not known says nothing, and hides what stands behind it."""
    for command in ('git "$x" push', '"$x" push', "git"):
        assert not any("sends commits" in message for message in messages(command))
    assert messages('git push "$x"') == ["`git push` sends commits to another repository"]


async def test_what_another_command_prints_has_no_name_of_its_own() -> None:
    """The name of the program does not stand for the files that `xargs` gives to it."""
    command = "find . | xargs cat"
    told = await explain_call(
        Bash(),
        {"command": command},
        PermissionContext(),
        analysis=analyze(command, directory="/ws"),
    )
    assert "  3 cat: reads files" in [line.text for line in lay_out(told, 80)]
