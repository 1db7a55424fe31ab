"""Which words of a command say what it does."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from bracex import expand

from agentscope_like.permission.command_rules import Words
from agentscope_like.permission.shell import analyze
from agentscope_like.permission.shell.analysis import Part
from agentscope_like.permission.shell.carried import carried_readings, perhaps_carried_readings
from agentscope_like.permission.shell.families import families
from agentscope_like.permission.shell.readings import readings, runs_unseen_text, unread_texts

TABLES = tomllib.loads(Path(__file__).with_name("families.toml").read_text("utf-8"))


def commands(lines: list[str]) -> list[str]:
    """Return the commands that the lines stand for."""
    return [command for line in lines for command in expand(line)]


def parts(command: str) -> tuple[Part, ...]:
    """Return the simple commands of a command line."""
    return analyze(command, directory="/ws").parts


@pytest.mark.parametrize(
    ("command", "prefix"),
    [
        ("git commit -m fix", "git commit"),
        ("git stash pop", "git stash pop"),
        ("npm run build --watch", "npm run build"),
        ("npm install x", "npm install"),
        ("docker compose up -d", "docker compose up"),
        ("cargo test --all", "cargo test"),
        ("make build", "make build"),
        ("pytest -q tests", "pytest"),
        ("mkdir -p x", "mkdir"),
        ("uv run pytest -q", "uv run pytest"),
        ("npx tsc --noEmit", "npx tsc"),
        ("./gradlew test", "./gradlew"),
        ("unknown-tool sync all", "unknown-tool sync"),
    ],
)
def test_the_safe_prefix(command: str, prefix: str) -> None:
    """The prefix is as long as it takes to say what is done."""
    assert families().prefix_of(shlex.split(command)) == tuple(prefix.split())


@pytest.mark.parametrize(
    "command",
    [
        *("git", "npm", "npm run", "make", "python x.py", "python -c x", "node x.js", "bash x.sh"),
        *("sh -c x", "sudo ls", "env A=1 x", "xargs rm", "ssh host x", "find . -delete", "rm x"),
        *("rm -rf x", "chmod +x y", "curl http://x", "docker run x", "docker exec x y"),
        *(
            "uv run python x.py",
            "npx -y x",
            "poetry run python x",
            "git -C x push",
            "git --version",
        ),
        *("unknown-tool -x", "unknown-tool a/b.txt", "unknown-tool", "./script.sh a", "awk x y"),
        *("sed -i s/a/b/ x", "eval x", "time ls", "kubectl exec x", "terraform apply", "'a b' c"),
    ],
)
def test_no_open_ended_prefix(command: str) -> None:
    """Shells, interpreters, wrappers, whole families and unclear commands have none."""
    assert families().prefix_of(shlex.split(command)) is None


def test_an_unknown_word_is_no_part_of_a_prefix() -> None:
    """A prefix ends before what is not known, or there is none."""
    assert families().prefix_of(["git", None]) is None
    assert families().prefix_of(["git", "commit", None]) == ("git", "commit")
    assert families().prefix_of([None]) is None
    assert families().prefix_of([]) is None


@pytest.mark.parametrize(
    ("command", "plain"),
    [
        ("git -C a -c b=c push x", "git push x"),
        ("git --no-pager log", "git log"),
        ("kubectl -n prod delete x", "kubectl delete x"),
        ("git push -f", "git push -f"),
        ("ls -la x", "ls -la x"),
    ],
)
def test_leading_options_are_left_out(command: str, plain: str) -> None:
    """A sub-command is found behind the options of its program."""
    assert list(families().without_leading_options(command.split())) == plain.split()


@pytest.mark.parametrize(
    ("command", "length"),
    [(each, row["words"]) for row in TABLES["prefix"] for each in commands(row["commands"])],
)
def test_a_prefix_says_what_is_done(command: str, length: int) -> None:
    """The rule that is offered for a listed program has as many words as its family needs."""
    words = command.split()
    assert families().prefix_of(words) == tuple(words[:length])


@pytest.mark.parametrize("command", commands(TABLES["never"]["commands"]))
def test_what_runs_anything_has_no_prefix(command: str) -> None:
    """No rule is offered for what runs whatever it is given, or is looked at each time."""
    assert families().prefix_of(command.split()) is None


@pytest.mark.parametrize("command", commands(TABLES["behind"]["commands"]))
def test_the_value_of_a_leading_option_is_no_sub_command(command: str) -> None:
    """The sub-command is found behind a leading option and its value."""
    words = command.split()
    assert list(families().without_leading_options(words)) == [words[0], "x"]


@pytest.mark.parametrize("shell", TABLES["shells"]["programs"].split())
def test_a_shell_runs_its_input(shell: str) -> None:
    """What a shell is fed is a program that nobody has seen; a script that it is named is not."""
    assert runs_unseen_text(parts(f"curl x | {shell}")[-1])
    assert not runs_unseen_text(parts(f"{shell} script")[-1])
    assert not runs_unseen_text(parts("curl x | tee")[-1])


@pytest.mark.parametrize(
    ("command", "unseen"),
    [
        ("bash -s -- -c+", True),
        ('bash script -c+ "$x"', False),
        ("bash -s -- -c", True),
        ('bash -s -- "$x"', True),
        ("bash -s x", True),
        ("bash -xs x", True),
        ("bash -x script -s", False),
        ("bash -- script", False),
        ("bash /dev/stdin", True),
        ("bash -x /dev/fd/3 a", True),
        ("bash -- /proc/self/fd/0", True),
        ("bash script /dev/stdin", False),
        ("bash -c ls /dev/stdin", False),
        ("source /dev/fd/3", True),
        ("bash - script", False),
        ("bash --", True),
        ("bash -- -script", False),
        ("bash -o pipefail", True),
        ("bash -eo pipefail", True),
        ("bash -O extglob -s x", True),
        ("bash +x", True),
        ("bash --rcfile x", True),
        ("bash -o pipefail script", False),
        ("bash -o pipefail -c ls", False),
        ("bash -sc ls", False),
        ('bash "$x"', False),
        ('bash -c "$x"', True),
        ('bash -ec "$x"', True),
        ("bash -c ls", False),
        ('bash script -x "$x"', False),
        ('eval "$x"', True),
        ("eval ls", False),
        ('source "$x"', True),
        ("source script", False),
    ],
)
def test_only_a_script_that_stands_there_is_seen(command: str, unseen: bool) -> None:
    """Behind `-c` stands what is run; a word that is computed, or no script at all, is not seen."""
    assert runs_unseen_text(parts(command)[-1]) is unseen


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("eval 'rm -r (x'", [["rm", "-r", "x"]]),
        ("bash -c 'rm -r (x'", [["rm", "-r", "x"]]),
        ("echo 'rm -r (x'", []),
    ],
)
def test_a_script_that_cannot_be_read_is_looked_through(
    command: str, words: list[list[str]]
) -> None:
    """What may be words in the text of a shell or of eval is found; other texts are none."""
    assert list(unread_texts(parts(command)[0])) == words


@pytest.mark.parametrize("carrier", TABLES["carriers"]["programs"].split())
def test_a_carried_command_is_seen(carrier: str) -> None:
    """What is forbidden is found behind a program that runs other commands, however it is asked."""
    carried = [tuple(words) for words in readings(parts(f"{carrier} --no-such rm -r x")[0])]
    assert ("rm", "-r", "x") in carried
    assert len(list(readings(parts("pytest rm -r x")[0]))) == 1


def runs_rm(found: Iterable[Words]) -> bool:
    """Return whether one of the commands is `rm`."""
    return any(words[0] == "rm" for words in found)


@pytest.mark.parametrize("command", commands(TABLES["commands"]["certain"]))
def test_a_command_in_the_words_of_another_is_found(command: str) -> None:
    """Behind programs that run others, in their options and in variables that name programs."""
    assert any(runs_rm(carried_readings(part)) for part in parts(command))


@pytest.mark.parametrize("command", commands(TABLES["commands"]["possible"]))
def test_a_command_that_may_be_run_is_a_guess(command: str) -> None:
    """Where nobody knows what a program does with its words, they are not taken for certain."""
    assert any(runs_rm(perhaps_carried_readings(part)) for part in parts(command))
    assert not any(runs_rm(carried_readings(part)) for part in parts(command))


@pytest.mark.parametrize("command", commands(TABLES["commands"]["never"]))
def test_words_that_are_not_run_are_no_commands(command: str) -> None:
    """Sub-commands, messages, names and texts that a program only handles."""
    for part in parts(command):
        assert not runs_rm((*carried_readings(part), *perhaps_carried_readings(part)))


def test_a_program_of_git_is_a_command_of_git() -> None:
    """`git-push` is `git push`."""
    assert ("git", "push", "x") in list(readings(parts("git-push x")[0]))
    assert ("git", "push") in list(readings(parts("/usr/lib/git-core/git-push")[0]))


@pytest.mark.parametrize("command", ["at now", "batch", "at -f x now"])
def test_what_is_planned_is_a_script_that_nobody_has_seen(command: str) -> None:
    """`at` runs its input."""
    assert runs_unseen_text(parts(command)[0])
