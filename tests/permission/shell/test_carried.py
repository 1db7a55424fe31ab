"""Commands in the words of a program that is not opened: for certain, perhaps, or not at all."""

from __future__ import annotations

import pytest

from agentscope_like.shell import analyze
from agentscope_like.shell.facts.commands_in_arguments import (
    carried_readings,
    perhaps_carried_readings,
)
from agentscope_like.shell.values import Words


def certain(command: str) -> list[Words]:
    """Return what the first part of a command is known to run."""
    return list(dict.fromkeys(carried_readings(analyze(command, directory="/ws").parts[0])))


def perhaps(command: str) -> list[Words]:
    """Return what it may run besides."""
    return list(dict.fromkeys(perhaps_carried_readings(analyze(command, directory="/ws").parts[0])))


RM_X: list[Words] = [("rm", "x"), ("x",)]
"""What may be commands in the text `rm x`."""


@pytest.mark.parametrize(
    ("command", "run"),
    [
        ("npx rm -r x", [("rm", "-r", "x")]),
        ("npx /bin/RM -r x", [("rm", "-r", "x")]),
        ("npx -y a -b c", [("a", "-b", "c"), ("c",)]),
        ("npx A=1 rm x", [("rm", "x")]),
        ("npx A+=1 rm x", [("rm", "x")]),
        ("npx 1A=1 rm x", [("1a=1", "rm", "x")]),
        ('npx "$x" rm', [("", "rm")]),
        ("npx git -C d push", [("git", "-C", "d", "push"), ("git", "push")]),
        ("docker exec c rm x", [("c", "rm", "x"), ("rm", "x")]),
        ("docker exec -it c rm x", [("c", "rm", "x"), ("rm", "x"), ("x",)]),
        ('docker exec "$c" rm x', [("", "rm", "x"), ("rm", "x")]),
        ('docker exec "$o" "$c" rm', [("", None, "rm"), ("", "rm")]),
        ("docker -H h exec c rm x", [("c", "rm", "x"), ("rm", "x")]),
        ("git -C d bisect run rm x", [("rm", "x")]),
        ("docker exec", []),
        ("docker exec c", [("c",)]),
        ("docker ps c rm x", []),
        ("svn up rm x", []),
        ('"$x" rm', []),
    ],
)
def test_what_stands_behind_a_program_that_runs_it(command: str, run: list[Words]) -> None:
    """Behind options, whose values it may be, settings, and what else has to stand before it."""
    assert certain(command) == run


@pytest.mark.parametrize(
    ("command", "run"),
    [
        ("npx sudo -u a rm", [("sudo", "-u", "a", "rm"), ("a", "rm"), ("rm",)]),
        ("npx -y /bin/SUDO rm", [("sudo", "rm"), ("rm",)]),
        ("npx sudo 'rm x'", [("sudo", "rm x"), ("rm x",), *RM_X]),
        ("npx bash -c 'rm x'", [("bash", "-c", "rm x"), ("rm x",), *RM_X]),
        ("npx bash5 -c 'rm x'", [("bash5", "-c", "rm x"), ("rm x",), *RM_X]),
        ("npx a 'rm x'", [("a", "rm x")]),
        ("npx rm 'sudo x'", [("rm", "sudo x")]),
        ("hyperfine a 'rm x'", [("a", "rm x"), *RM_X]),
        ("hyperfine -w 'rm x'", [("rm x",), *RM_X]),
        ("hyperfine --a='rm x'", [("--a", "rm", "x"), *RM_X]),
        ("hyperfine", []),
    ],
)
def test_what_is_run_may_run_others(command: str, run: list[Words]) -> None:
    """What carries commands is looked through word by word, and texts are taken apart."""
    assert certain(command) == run


def test_only_so_many_words_are_arguments() -> None:
    """What stands far behind a command is no argument of it."""
    many = " ".join(f"a{number}" for number in range(80))
    assert [len(words) for words in certain(f"npx rm {many}")] == [64]
    assert len(perhaps(f"no-such-tool rm {many}")[0]) == 64


@pytest.mark.parametrize(
    ("command", "run"),
    [
        ("npx rm -r x", [("x",)]),
        ("docker exec c timeout 5 rm", [("5", "rm"), ("rm",)]),
        ("docker exec -it c sh rm", []),
        ("docker exec -it c sh rm x", [("x",)]),
        ("npx git rm x", []),
        ("npx GIT 'rm x'", []),
        ("npx a 'rm x'", [("rm x",), *RM_X]),
        ("no-such-tool rm -r x", [("rm", "-r", "x"), ("x",)]),
        ("no-such-tool 'rm x' -y", [("rm x", "-y"), *RM_X]),
        ("no-such-tool -y 'rm x'", [("rm x",), *RM_X]),
        ("'no such' rm", [("rm",)]),
        ("./no-such-tool rm", [("rm",)]),
        ("no-such-tool rm > f", [("rm",)]),
        ('no-such-tool "$x" rm', [("rm",)]),
        ("svn rm x", []),
        ("hg 'rm x'", []),
        ("ls rm", []),
        ("touch -- rm x", []),
        ("rm -- rm x", []),
        ('sh -c "$x" rm y', []),
        ("/bin/ls --bad -- rm", [("rm",)]),
        ('"$x" rm', []),
    ],
)
def test_what_may_stand_in_the_words_of_any_program(command: str, run: list[Words]) -> None:
    """Of a program that nobody knows, any word may begin a command; of others, few may."""
    assert perhaps(command) == run


@pytest.mark.parametrize("word", ["exec", "run", "dlx", "shell", "ssh", "rsh", "foreach", "--"])
def test_a_word_that_runs_what_follows(word: str) -> None:
    """Behind it a command may stand, unless it is too far or the program has its own words."""
    assert perhaps(f"ls --bad {word} rm x") == [("rm", "x"), ("x",)]
    assert perhaps(f"ls --bad a b c d e {word} rm x") == [("rm", "x"), ("x",)]
    far = perhaps(f"ls --bad a b c d e f {word} rm x")
    assert far == ([("rm", "x"), ("x",)] if word == "--" else [])
    own = perhaps(f"cargo --bad {word} rm x")
    assert own == ([("rm", "x"), ("x",)] if word == "--" else [])
    assert perhaps(f"ls --bad {word}s rm x") == []
    assert perhaps(f"ls {word} rm x") == []


COMMAND_FLAGS = """
-c -C -e -E -p -r -x -X -ac -Zx --exec --command --run --eval --call --cmd --execute --exec-batch
--commands --run-it --eval-file
"""

OTHER_FLAGS = """
-d -cd -abc -1c --ex --executeX --no-exec --evaluate1 c
"""


@pytest.mark.parametrize("flag", COMMAND_FLAGS.split())
def test_the_value_of_an_option_for_a_command_may_be_one(flag: str) -> None:
    """The next word, or what is joined to it, where there are several words in it."""
    assert perhaps(f"ls --bad {flag} 'rm x'") == RM_X
    assert perhaps(f"ls --bad {flag}='rm x' y") == RM_X
    assert perhaps(f"ls --bad {flag} '' 'rm x'") == []
    assert perhaps(f"ls --bad {flag} rm x") == []
    assert perhaps(f"ls --bad {flag}") == []
    assert perhaps(f"ls --bad {flag} 'a(rm)'") == []
    assert perhaps(f"ls --bad {flag} 'a( rm)'") == [("a", "rm"), ("rm",)]


@pytest.mark.parametrize("flag", OTHER_FLAGS.split())
def test_the_value_of_another_option_is_none(flag: str) -> None:
    """What is no option for a command has a text for its value."""
    assert perhaps(f"ls --bad {flag} 'rm x'") == []
    assert perhaps(f"ls --bad {flag}='rm x'") == []


@pytest.mark.parametrize(
    ("command", "run"),
    [
        ("tar --to-command='rm x' -xf a", RM_X),
        ("tar --to='rm x' -xf a", RM_X),
        ("tar --t 'rm x' -xf a", RM_X),
        ("tar --to-commands='rm x' -xf a", []),
        ("tar --='rm x' -xf a", []),
        ("tar -- 'rm x'", []),
        ("tar - 'rm x'", []),
        ("tar --to-command", []),
        ("tar -I 'rm x' -cf a", RM_X),
        ("tar -cI'rm Ix' a", [("rm", "Ix"), ("ix",)]),
        ("tar -c -I", []),
        ("tar I 'rm x'", []),
        ("tar --Ix='rm x' -cf a b", []),
        ('tar -I "$x" rm', []),
        ('tar "$x" -I rm', [("rm",)]),
        ("make SHELL='rm x' a", RM_X),
        ("make XSHELL='rm x' a", []),
        ("make SHELLX='rm x' a", []),
        ("vim +'!rm x' a", RM_X),
        ("vim '!rm x' a", []),
        ("git -c a.b='rm x=y' log", [("rm", "x", "y"), ("x", "y"), ("y",)]),
        ("git -c a='rm x=y' log", [("rm", "x", "y"), ("x", "y"), ("y",)]),
        ("git -c a log", []),
        ("git -C d rebase -x 'rm x'", RM_X),
        ("git -C d grep -O'rm x' a", RM_X),
        ("git log -x 'rm x'", []),
    ],
)
def test_the_value_of_an_option_that_is_a_command(command: str, run: list[Words]) -> None:
    """However the option is written; where it takes a setting, what stands behind its name."""
    assert certain(command) == run


VARIABLES = """
PAGER GIT_PAGER EDITOR VISUAL PROMPT_COMMAND SSH_ASKPASS GIT_SSH CVS_RSH GIT_EXTERNAL_DIFF BROWSER
SHELL LESSOPEN LESSCLOSE
"""


@pytest.mark.parametrize("name", VARIABLES.split())
def test_a_variable_that_names_a_program(name: str) -> None:
    """Set for a command, in the shell, or by what sets variables; of another name, it is a text."""
    for setter in ("", "export ", "declare -x ", "typeset ", "readonly ", "local ", "env "):
        assert certain(f"{setter}{name}='rm x'") == RM_X
        assert certain(f"{setter}{name}S='rm x'") == []
    assert certain(f"{name}='rm x' ls a") == RM_X
    assert certain(f"/bin/env {name}='rm x' ls a")[:2] == RM_X
    assert certain(f"export {name}+='rm\nx'") == RM_X
    assert certain(f"export A='{name}=rm x'") == []
    assert certain(f'{name}="$x" ls') == []
    assert certain(f"ls {name}='rm x'") == []
    assert certain(f"unset {name} 'rm x'") == []


def test_an_alias_is_a_command() -> None:
    """Whatever it is called; other names that are set are none."""
    assert certain("alias a='rm x'") == RM_X
    assert certain("export a='rm x'") == []
    assert certain("alias a") == []


@pytest.mark.parametrize("program", ["python3.11", "perl", "node", "ed", "ex", "psql", "sftp"])
def test_the_text_of_its_input_may_be_run(program: str) -> None:
    """By an interpreter and what runs commands of its input; the name of a file is no text."""
    for text in ("<<< 'rm x'", "<<E\nrm x\nE", "<<E\n$x rm x\nE"):
        assert ("rm", "x") in perhaps(f"{program} a {text}")
    assert ("rm", "x") not in perhaps(f"{program} a < 'rm x'")
    assert ("rm", "x") not in perhaps(f"{program} a > 'rm x'")
    assert perhaps("sort --bad <<< 'rm x'") == []


def test_what_a_language_runs() -> None:
    """A word of a program's own language counts where it can run commands, and no other word."""
    found = perhaps("awk '{system(\"rm x\")}' 'rm y'")
    assert ("rm", "x") in found
    assert ("rm", "y") not in found
    assert perhaps("sed 'rm x' -i a") == []
    assert perhaps("sed -i 's/a/rm x/e' a") != []
    assert perhaps("sed -i 's/a/rm x/eh' a") == []
    assert perhaps('make "$x"') == []
