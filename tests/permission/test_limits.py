"""Every limit of what is looked at, held at the limit and one step beyond it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentscope_like.exception import ConfigurationError
from agentscope_like.paths import PathError, PatternCompiler, locate
from agentscope_like.permission import PatternError, PermissionBehavior
from agentscope_like.tool import Bash
from tests.permission.kit import danger_of, decide, make_place


def path_of(length: int) -> str:
    """Return an absolute path of so many characters, none of whose names is too long."""
    return ("/" + "n" * 99) * (length // 100) + "/" + "n" * (length % 100 - 1)


def test_a_path_may_have_4096_characters() -> None:
    """The kernel's limit is the limit; a longer path is refused."""
    assert locate(path_of(4096), directory="/").absolute == path_of(4096)
    with pytest.raises(PathError):
        locate(path_of(4097), directory="/")


def test_a_pattern_may_have_4096_characters() -> None:
    """A longer pattern of paths or of commands is refused."""
    assert PatternCompiler().compile(path_of(4096))
    with pytest.raises(PatternError):
        PatternCompiler().compile(path_of(4097))
    Bash(confine="off").validate_rule("a" * 4096)
    with pytest.raises(ConfigurationError):
        Bash(confine="off").validate_rule("a" * 4097)


def test_a_pattern_may_spell_out_256_paths() -> None:
    """Braces that spell out more are refused."""
    PatternCompiler().compile(f"/{{{','.join(map(str, range(256)))}}}")
    with pytest.raises(PatternError):
        PatternCompiler().compile(f"/{{{','.join(map(str, range(257)))}}}")


def test_a_pattern_reaches_only_so_many_files(tmp_path: Path) -> None:
    """One that may match more, or has to look at more, is asked about, even if it matches none."""
    where = make_place(tmp_path)

    for number in range(2_200):
        (where.work / f"f{number}").touch()
    assert not danger_of("cat f*", where)
    for number in range(2_200, 2_400):
        (where.work / f"f{number}").touch()
    assert danger_of("cat f*", where)
    for number in range(17_500):
        os.symlink("f0", where.work / f"g{number}")
    assert not danger_of("cat x*", where)
    for number in range(200):
        os.symlink("f0", where.work / f"h{number}")
    assert danger_of("cat x*", where)
    assert not danger_of("cat f1", where)


@pytest.mark.parametrize("rules", [1, 300])
def test_a_path_is_compared_with_all_rules_at_once(rules: int) -> None:
    """What rules cost does not grow with them: many paths can be looked at under many rules."""
    command = "cat " + " ".join(f"f{number}" for number in range(900))
    denied = [f"deny Read(secret{number})" for number in range(rules)]
    assert decide(command, rules=denied).behavior is PermissionBehavior.ALLOW
    assert decide(command, rules=[*denied, "deny Read(f899)"]).behavior is PermissionBehavior.DENY


def test_a_finding_shows_80_characters() -> None:
    """A command of eighty characters is shown whole; of a longer one, the beginning is."""
    for length, shown in ((80, "x" * 19 + "`"), (81, "x" * 19 + "…`")):
        assert shown in danger_of("rm -r ~" + " " + "x" * (length - 8))


@pytest.mark.parametrize(("before", "found"), [(31, True), (32, False)])
def test_a_fork_bomb_is_looked_for_in_32_functions(before: int, found: bool) -> None:
    """What cannot be read is searched for a function that breeds, up to a number of functions."""
    command = "f ( ; " + "".join(f"f{number}(){{ x; }};" for number in range(before))
    assert bool(danger_of(command + "z(){ z|z; };")) is found


@pytest.mark.parametrize(("paths", "found"), [(255, False), (256, True)])
def test_removals_are_looked_at_up_to_256_words(paths: int, found: bool) -> None:
    """In a text that cannot be read, all that follows a removal may be removed, so `rm` as well."""
    command = "foo ( ; " + "; ".join(f"rm p{number}" for number in range(paths))
    assert ("too many paths" in danger_of(command)) is found
