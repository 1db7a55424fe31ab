"""The other names and words of a command, and git's aliases: a rule denies them alike."""

from __future__ import annotations

import pytest

from tests.permission.kit import met

NAMES = r"""
deny | gls x | ls:*
deny | grm x | rm:*
allow | ggit x | git:*
allow | xrm x | rm:*
deny | rm9 x | rm:*
deny | rm-9.1 x | rm:*
deny | rm.exe x | rm:*
deny | rm-dbg x | rm:*
allow | rm.exes x | rm:*
deny | uu-rm x | rm:*
deny | uutils-rm.exe x | rm:*
allow | guu-rm x | rm:*
deny | x86_64-linux-gnu-gcc-12 a | gcc:*
deny | arm-none-elf-gcc a | gcc:*
deny | gx86_64-linux-gnu-rm9 x | rm:*
ask | python x | python3:*
deny | python3 x | python:*
"""

WORDS = r"""
deny | npm i x | npm install:*
deny | npm install x | npm i:*
deny | npm9 i x | npm install:*
deny | npm i x | npm install x
allow | npm i x | npm install y
allow | npm x i | npm install:*
deny | npm run test a | npm t a
deny | npx x | npm exec x
deny | npm exec x | npx x
deny | docker container exec c a | docker exec c a
deny | docker rm c | docker container remove c
allow | docker container exec | docker exec c:*
deny | reboot | systemctl reboot
deny | git -C d stage a | git add:*
deny | git-add a | git stage:*
ask | install /bin/rm x; ./x a | rm:*
ask | cp rm x; ./x a | rm:*
allow | cp rm y; ./x a | rm:*
allow | cp "$y" x; ./x a | rm:*
allow | touch rm x; ./x a | rm:*
"""

MODULES = r"""
deny | python -m pip install x | pip install x
deny | python -mpip install x | pip install x
deny | python3.11 -Im pip install x | pip install x
deny | python3 -W a -m pip install x | pip install x
deny | python3 -X a -u -m pip install x | pip install x
deny | pypy3 -m pip install x | pip install x
allow | python3 -u a -m pip install x | pip install:*
allow | python3 "$x" -m pip install x | pip install:*
allow | python3 -mx -m pip install x | pip install:*
allow | python3 -m | pip install:*
allow | python3 -m "$x" install | pip install:*
allow | python3 -m pip install x | pip install y
deny | python3 -m npm i x | npm install x
allow | ruby -m pip install x | pip install:*
"""

CHOSEN = r"""
deny | coreutils --coreutils-prog=rm x | rm x
deny | coreutils --coreutils-prog='rm -r' x | rm x
deny | coreutils --coreutils-prog rm x | rm x
deny | coreutils --coreutils-prog='rm -r x' y | rm y
allow | coreutils --coreutils-prog=ls x | rm:*
allow | coreutils --coreutils-prog | rm:*
allow | coreutils --coreutils-programs=ls x | ls x
"""

ALIASES = r"""
deny | git -c alias.p=push p a | git push a
deny | git -c alias.P=push p a | git push a
deny | git -c ALIAS.p=push P a | git push a
deny | git -c alias.p.command=push p a | git push a
deny | git -c alias.p='push a' p b | git push a b
deny | git -c alias.p='-C d push' p a | git push a
deny | git -c alias.p='!rm x' p a | rm x a
deny | git -c alias.p="push 'a" p b | push a
deny | git -c alias.p=q -c alias.q=push p a | git push a
ask | git -c alias.q=push p a | git push:*
ask | git -c alias.push=log pull a | git log:*
allow | git p a | git push:*
ask | git p a; git config alias.p push | git push a
ask | GIT_DIR=a git p x | git push x
ask | XDG_CONFIG_HOME=a git p x | git push x
ask | HOME=a git p x | git push x
ask | HOME=a git p x | git push f x
ask | git -c include.path=f p x | git push x
allow | git -c includes.path=f p x | git push x
allow | A=a git p x | git push x
allow | HOME=a 'foo' p x | git push x
ask | git -C alias.p=push p a | git push:*
ask | HOME=a git p x | git f g h i x
"""


def rows(*tables: str) -> list[tuple[str, ...]]:
    """Return the rows of some tables: what becomes of a command where a rule denies another."""
    return [tuple(row.split(" | ")) for table in tables for row in table.strip().splitlines()]


@pytest.mark.parametrize(("behavior", "command", "rule"), rows(NAMES, WORDS))
def test_a_command_has_other_names(behavior: str, command: str, rule: str) -> None:
    """With a version, a prefix, or other words for the same; what may be another program asks."""
    assert met(command, rule) == behavior


@pytest.mark.parametrize(("behavior", "command", "rule"), rows(MODULES, CHOSEN))
def test_a_program_runs_what_an_option_names(behavior: str, command: str, rule: str) -> None:
    """A module of Python, or one program of several; a script ends the options."""
    assert met(command, rule) == behavior


@pytest.mark.parametrize(("behavior", "command", "rule"), rows(ALIASES))
def test_git_runs_what_an_alias_stands_for(behavior: str, command: str, rule: str) -> None:
    """What options set is known; what else a command may change of the configuration asks."""
    assert met(command, rule) == behavior


@pytest.mark.parametrize(("count", "behavior"), [(1, "deny"), (6, "deny"), (7, "ask")])
def test_only_so_many_aliases_of_aliases_are_followed(count: int, behavior: str) -> None:
    """What stands behind more of them may be anything."""
    names = [*(f"a{number}" for number in range(count)), "push"]
    options = " ".join(f"-c alias.{names[at]}={names[at + 1]}" for at in range(count))
    assert met(f"git {options} a0 x", "git push x") == behavior
