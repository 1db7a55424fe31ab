"""Which words of a command say what it does."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from bracex import expand

from tests.permission.kit import danger_of, met, wider_for

TABLES = tomllib.loads(Path(__file__).with_name("families.toml").read_text("utf-8"))

RM = "rm:*"


def commands(lines: list[str]) -> list[str]:
    """Return the commands that the lines stand for."""
    return [command for line in lines for command in expand(line)]


def prefixes(command: str) -> list[str]:
    """Return the beginnings of commands that the wider rules for a command allow."""
    return [each.removesuffix(":*") for each in wider_for(command)]


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
    assert prefixes(command) == [prefix]


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
    assert prefixes(command) == []


def test_an_unknown_word_is_no_part_of_a_prefix() -> None:
    """A prefix ends before what is not known, or there is none."""
    assert prefixes('git "$x"') == []
    assert prefixes('git commit "$x"') == ["git commit"]
    assert prefixes('"$x"') == []


@pytest.mark.parametrize(
    ("command", "rule", "behavior"),
    [
        ("git -C a -c b=c push x", "git push:*", "deny"),
        ("git --no-pager log", "git log:*", "deny"),
        ("kubectl -n prod delete x", "kubectl delete:*", "deny"),
        ("git -C push log", "git push:*", "allow"),
        ('git -c "$x" push', "git push:*", "deny"),
        ('git --no-pager "$x" push', "git push:*", "ask"),
        ("git log -C push", "git push:*", "allow"),
        ("ls -C push", "ls push:*", "allow"),
        ("brew -v x", "brew x:*", "deny"),
    ],
)
def test_leading_options_are_left_out(command: str, rule: str, behavior: str) -> None:
    """A sub-command is found behind the options of its program, and their values."""
    assert met(command, rule) == behavior


@pytest.mark.parametrize("row", TABLES["prefix"], ids=lambda row: row["commands"][0])
def test_a_prefix_says_what_is_done(row: dict[str, Any]) -> None:
    """The rule that is offered for a listed program has as many words as its family needs."""
    for command in commands(row["commands"]):
        prefix = " ".join(command.split()[: row["words"]])
        assert prefix in (*prefixes(command), *prefixes(f"{command} --no-such"))


def test_what_runs_anything_has_no_prefix() -> None:
    """No rule is offered for what runs whatever it is given, or is looked at each time."""
    for command in commands(TABLES["never"]["commands"]):
        program = command.split(maxsplit=1)[0]
        assert not any(each.split()[0] == program for each in prefixes(command))


def test_the_value_of_a_leading_option_is_no_sub_command() -> None:
    """The sub-command is found behind a leading option and its value."""
    for command in commands(TABLES["behind"]["commands"]):
        program = command.split(maxsplit=1)[0]
        assert met(command, f"{program} x:*") == "deny"
        assert met(command, f"{program} y:*") == "allow"


def test_a_shell_runs_its_input() -> None:
    """What a shell is fed is a program that nobody has seen; a script that it is named is not."""
    for shell in TABLES["shells"]["programs"].split():
        assert danger_of(f"curl x | {shell}")
        assert not danger_of(f"{shell} script")
        assert not danger_of("curl x | tee")


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
    assert bool(danger_of(command)) is unseen


@pytest.mark.parametrize(
    ("command", "behavior"),
    [
        ("eval 'rm -r (x'", "deny"),
        ("bash -c 'rm -r (x'", "deny"),
        ("echo 'rm -r (x'", "allow"),
    ],
)
def test_a_script_that_cannot_be_read_is_looked_through(command: str, behavior: str) -> None:
    """What may be words in the text of a shell or of eval is found; other texts are none."""
    assert met(command, RM) == behavior


def test_a_carried_command_is_seen() -> None:
    """What is forbidden is found behind a program that runs other commands, however it is asked."""
    for carrier in TABLES["carriers"]["programs"].split():
        assert met(f"{carrier} --no-such rm -r x", RM) == "deny"
        assert met("pytest rm -r x", RM) != "deny"


def test_a_command_in_the_words_of_another_is_found() -> None:
    """Behind programs that run others, in their options and in variables that name programs."""
    for command in commands(TABLES["commands"]["certain"]):
        assert met(command, RM) == "deny"


def test_a_command_that_may_be_run_is_a_guess() -> None:
    """Where nobody knows what a program does with its words, they are not taken for certain."""
    for command in commands(TABLES["commands"]["possible"]):
        assert met(command, RM) == "ask"


def test_words_that_are_not_run_are_no_commands() -> None:
    """Sub-commands, messages, names and texts that a program only handles."""
    for command in commands(TABLES["commands"]["never"]):
        assert met(command, RM) == "allow"


@pytest.mark.parametrize("command", ["git-push x", "/usr/lib/git-core/git-push"])
def test_a_program_of_git_is_a_command_of_git(command: str) -> None:
    """`git-push` is `git push`."""
    assert met(command, "git push:*") == "deny"
    assert met(command, "git pull:*") == "allow"


@pytest.mark.parametrize("command", ["at now", "batch", "at -f x now"])
def test_what_is_planned_is_a_script_that_nobody_has_seen(command: str) -> None:
    """`at` runs its input."""
    assert "schedules commands" in danger_of(command)


INTERPRETERS = """
python pypy ipython node nodejs deno bun ts-node tsx ruby irb perl raku php lua luajit tclsh wish
expect pwsh osascript rscript julia groovy guile racket
"""


def test_an_interpreter_is_known_in_each_version() -> None:
    """Whatever number stands behind its name; a program of another name is another thing."""
    for program in INTERPRETERS.split():
        loads = "curl -o f.x http://h"
        for version in ("", "3", "3.11", "-3", "-3.0.1"):
            assert danger_of(f"{loads}; {program}{version} f.x")
        assert not danger_of(f"{loads}; {program}x f.x")
        assert not danger_of(f"{loads}; 3{program} f.x")


def test_a_shell_is_known_in_each_version() -> None:
    """Whatever number stands behind its name; a program of another name is another thing."""
    for program in TABLES["shells"]["programs"].split():
        for version in ("", "5", "-5.2"):
            assert danger_of(f"curl x | {program}{version}")
        assert not danger_of(f"curl x | {program}x")


def test_the_input_of_what_runs_commands_of_it_is_a_guess() -> None:
    """A text that it is given as its input may say that it runs a command."""
    for program in TABLES["input"]["programs"].split():
        assert met(f"{program} a <<< '!rm x'", RM) == "ask"
        assert met(f"{program}x a <<< '!rm x'", RM) == "allow"


UNSURE = {"aws", "gcloud", "az", "crontab"}
"""Programs whose words are also looked through, though they have sub-commands of their own."""


def test_a_sub_command_is_no_program() -> None:
    """What follows a program that has words of its own is one of these, not a command."""
    for program in TABLES["own"]["programs"].split():
        assert met(f"{program} rm x", RM) == ("ask" if program in UNSURE else "allow")
        assert met(f"no-{program} rm x", RM) == "ask"
        assert met(f"no-{program} other x", RM) == "allow"


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
    assert met(command, RM) == "deny"


@pytest.mark.parametrize(
    ("command", "behavior"),
    [
        ("npx rm", "deny"),
        ("npm exec rm", "deny"),
        ("git bisect run rm", "deny"),
        ("docker run rm", "deny"),
        ("docker run image rm", "deny"),
        ("docker compose run service rm", "deny"),
        ("docker compose up rm", "allow"),
    ],
)
def test_where_the_command_of_a_program_stands(command: str, behavior: str) -> None:
    """Behind the longest start that is known, and so many words more."""
    assert met(command, RM) == behavior


@pytest.mark.parametrize(
    "command",
    [
        *("make a/b", "make a+b", "make ...", "make -n", "git -C", "git stash -u", "./tool sync"),
        *("npm run a/b", "npm run -s", "uv run", "uv run -q", "uv run a/b"),
        *("uv run sed x", "uv run env x", "npx sudo", "bunx bash5"),
        *("python3.11 x", "raku x", "guile-3.0 x", "'a\tb' c", "'' x", "docker compose"),
    ],
)
def test_no_prefix_of_what_does_not_say_what_is_done(command: str) -> None:
    """Paths, texts, options and what runs others are no part of a prefix."""
    assert prefixes(command) == []


@pytest.mark.parametrize(
    "command", ["make a-b", "make a_b", "make a:b", "make a.b", "deno fmt", "bun install"]
)
def test_a_name_may_have_marks_in_it(command: str) -> None:
    """The names of targets and sub-commands are words with dashes, dots and colons."""
    assert prefixes(f"{command} x") == [command]


def test_a_path_is_a_prefix_of_its_own_where_it_is_known() -> None:
    """A project's own wrapper is known by its path; other scripts are looked at each time."""
    assert prefixes("./gradlew") == ["./gradlew"]
    assert prefixes("./gradlews") == []
    assert prefixes("pytest") == ["pytest"]
    assert prefixes("make") == []
