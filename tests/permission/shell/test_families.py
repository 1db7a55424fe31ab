"""Which words of a command say what it does."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from bracex import expand

from agentscope_like.shell import analyze
from agentscope_like.shell.analysis import Part
from agentscope_like.shell.catalog.command_families import families
from agentscope_like.shell.facts.commands_in_arguments import (
    carried_readings,
    perhaps_carried_readings,
)
from agentscope_like.shell.facts.possible_commands import readings, runs_unseen_text, unread_texts
from agentscope_like.shell.values import Words

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


def runs_rm_perhaps(command: str) -> bool:
    """Return whether a command may run `rm`."""
    return any(runs_rm(perhaps_carried_readings(part)) for part in parts(command))


INTERPRETERS = """
python pypy ipython node nodejs deno bun ts-node tsx ruby irb perl raku php lua luajit tclsh wish
expect pwsh osascript rscript julia groovy guile racket
"""


@pytest.mark.parametrize("program", INTERPRETERS.split())
def test_an_interpreter_is_known_in_each_version(program: str) -> None:
    """Whatever number stands behind its name; a shell is another thing."""
    for version in ("", "3", "3.11", "-3", "-3.0.1"):
        assert families().interpreter(program + version) == program
        assert families().runs_code(program + version)
        assert not families().is_shell(program + version)
    assert families().interpreter(f"{program}x") is None
    assert not families().runs_code(f"3{program}")


@pytest.mark.parametrize("program", TABLES["shells"]["programs"].split())
def test_a_shell_is_known_in_each_version(program: str) -> None:
    """Whatever number stands behind its name; an interpreter is another thing."""
    for version in ("", "5", "-5.2"):
        assert families().is_shell(program + version)
        assert families().runs_code(program + version)
        assert families().interpreter(program + version) is None
    assert not families().runs_code(f"{program}x")


def test_what_is_not_known_runs_no_code() -> None:
    """Nobody can say of a computed name that it is a shell's or an interpreter's."""
    assert not families().is_shell(None)
    assert not families().runs_code(None)
    assert not families().runs_code("")


@pytest.mark.parametrize("program", TABLES["input"]["programs"].split())
def test_the_input_of_what_runs_commands_of_it_is_a_guess(program: str) -> None:
    """A text that it is given as its input may say that it runs a command."""
    assert runs_rm_perhaps(f"{program} a <<< '!rm x'")
    assert not runs_rm_perhaps(f"{program}x a <<< '!rm x'")


@pytest.mark.parametrize("program", TABLES["own"]["programs"].split())
def test_a_sub_command_is_no_program(program: str) -> None:
    """What follows a program that has words of its own is one of these, not a command."""
    assert not runs_rm_perhaps(f"{program} rm x")
    assert not runs_rm_perhaps(f"{program} --no-such run rm x")
    assert runs_rm_perhaps(f"no-{program} rm x")


@pytest.mark.parametrize(
    "command",
    [
        *("nix-shell --run=rm", "nix-shell --command=rm", "nix build -c 'rm x'"),
        *("nix build --command='rm x'", "docker create --entrypoint=rm image"),
        "git rebase --exec=rm",
    ],
)
def test_one_word_behind_an_option_is_a_command(command: str) -> None:
    """The value of an option that is a command may be a program's name alone."""
    assert any(runs_rm(carried_readings(part)) for part in parts(command))


@pytest.mark.parametrize(
    ("words", "plain"),
    [
        (["git", "-C", "d", "log"], ["git", "log"]),
        (["git", "--no-pager"], ["git"]),
        (["git", "-C"], ["git"]),
        (["git", "-c", None, "log"], ["git", "log"]),
        (["git", "--no-pager", None, "log"], ["git", None, "log"]),
        (["brew", "-v", "x"], ["brew", "x"]),
    ],
)
def test_leading_options_end_at_what_is_no_option(
    words: list[str | None], plain: list[str | None]
) -> None:
    """A word that is not known may be the sub-command, unless an option takes it."""
    assert list(families().without_leading_options(words)) == plain


@pytest.mark.parametrize(
    "words",
    [[], ["git"], [None, "-C", "x"], ["git", None], ["git", "log", "-C"], ["ls", "-C", "x"]],
)
def test_words_without_leading_options_are_left_alone(words: list[str | None]) -> None:
    """Where there are none, the very same words are given back."""
    assert families().without_leading_options(words) is words


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["npx", "a"], (1, 0)),
        (["npm", "exec", "a"], (2, 0)),
        (["git", "bisect", "run", "a"], (3, 0)),
        (["docker", "run", "a"], (2, 1)),
        (["docker", "compose", "run", "a"], (3, 1)),
        (["docker", "compose", "up", "a"], None),
        (["docker"], None),
        (["npx"], (1, 0)),
        ([None, "npx"], None),
        ([], None),
    ],
)
def test_where_the_command_of_a_program_stands(
    words: list[str | None], found: tuple[int, int] | None
) -> None:
    """Behind the longest start that is known, and so many words more."""
    assert families().before_command(words) == found


@pytest.mark.parametrize(
    "command",
    [
        *("make a/b", "make a+b", "make ...", "make -n", "git -C", "git stash -u", "./tool sync"),
        *("/bin/make build", "npm run a/b", "npm run -s", "uv run", "uv run -q", "uv run a/b"),
        *("uv run sed x", "uv run env x", "npx sudo", "bunx bash5"),
        *("python3.11 x", "raku x", "guile-3.0 x", "'a\tb' c", "'' x", "docker compose"),
    ],
)
def test_no_prefix_of_what_does_not_say_what_is_done(command: str) -> None:
    """Paths, texts, options and what runs others are no part of a prefix."""
    assert families().prefix_of(shlex.split(command)) is None


@pytest.mark.parametrize(
    "command", ["make a-b", "make a_b", "make a:b", "make a.b", "make é", "deno fmt", "bun install"]
)
def test_a_name_may_have_marks_in_it(command: str) -> None:
    """The names of targets and sub-commands are words with dashes, dots and colons."""
    assert families().prefix_of([*command.split(), "x"]) == tuple(command.split())


def test_a_path_is_a_prefix_of_its_own_where_it_is_known() -> None:
    """A project's own wrapper is known by its path; other scripts are looked at each time."""
    assert families().prefix_of(["./gradlew"]) == ("./gradlew",)
    assert families().prefix_of(["./gradlews"]) is None
    assert families().prefix_of(["pytest"]) == ("pytest",)
    assert families().prefix_of(["make"]) is None
