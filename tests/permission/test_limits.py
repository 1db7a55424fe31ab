"""Every limit of what is looked at, held at the limit and one step beyond it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from agentscope_like.paths import compile_pattern, locate
from agentscope_like.paths.directory_entries import Entries
from agentscope_like.paths.errors import PathError, PatternError
from agentscope_like.paths.file_system import Names
from agentscope_like.paths.glob_expansion import Expansion
from agentscope_like.paths.location_cache import Folders
from agentscope_like.paths.look_budget import (
    KEPT_FOR_PATHS,
    MAX_EFFORT,
    Effort,
    TooManyFilesError,
)
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionRule
from agentscope_like.permission.command.command_patterns import compile_command
from agentscope_like.permission.command.file_rules import FileRules
from agentscope_like.permission.command.safety_checks import Finding, find_danger
from agentscope_like.shell import analyze
from agentscope_like.shell.surroundings import Surroundings
from tests.permission.shell.decision_record import Decider, world


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
    assert compile_pattern(path_of(4096)).text == path_of(4096)
    assert compile_command("a" * 4096).text == "a" * 4096
    with pytest.raises(PatternError):
        compile_pattern(path_of(4097))
    with pytest.raises(PatternError):
        compile_command("a" * 4097)


def test_a_pattern_may_spell_out_256_paths() -> None:
    """Braces that spell out more are refused."""
    compile_pattern(f"/{{{','.join(map(str, range(256)))}}}")
    with pytest.raises(PatternError):
        compile_pattern(f"/{{{','.join(map(str, range(257)))}}}")


def names_of(entries: int) -> Names:
    """Return a file system of one directory with so many files."""

    @contextmanager
    def scandir(_: str) -> Iterator[Iterator[SimpleNamespace]]:
        yield (
            SimpleNamespace(name=f"f{number}", is_dir=lambda follow_symlinks: follow_symlinks)
            for number in range(entries)
        )

    return cast("Names", SimpleNamespace(scandir=scandir, lstat=lambda _: None, readlink=None))


def test_a_pattern_may_match_3998_paths() -> None:
    """A pattern that matches more is not followed: to open, to compare and to judge has a price."""
    assert len(Expansion(names_of(3_998)).expand("/f*")) == 3_998
    with pytest.raises(TooManyFilesError):
        Expansion(names_of(3_999)).expand("/f*")


def test_a_pattern_may_look_at_19990_entries() -> None:
    """A pattern that would have to look at more is not followed, even if it matches none."""
    assert Expansion(names_of(19_990)).expand("/x*") == []
    with pytest.raises(TooManyFilesError):
        Expansion(names_of(19_991)).expand("/x*")


def test_a_directory_may_hold_4990_entries() -> None:
    """Of a directory that holds more, what is below it is not listed; each look has its price."""
    entries = Entries(names_of(4_990))
    assert len(list(entries.below("/d"))) == 4_990
    with pytest.raises(TooManyFilesError):
        list(entries.below("/d"))
    with pytest.raises(TooManyFilesError):
        list(Entries(names_of(4_991)).below("/d"))


def test_a_path_costs_more_where_it_is_followed(tmp_path: Path) -> None:
    """The first path of a folder is followed from the root, then the folder, and each symlink."""
    for name in ("a", "b", "c"):
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to("a")
    folders = Folders(directory=str(tmp_path), effort=(effort := Effort()))
    spent = []
    for name in ("a", "b", "c", "b", "link"):
        before = effort.left
        folders.locate(f"{tmp_path}/{name}")
        spent.append(before - effort.left)
    assert spent == [19, 19, 4, 4, 19]


@pytest.mark.parametrize(("rules", "spent"), [(1, 72), (2, 72), (0, 44)])
def test_a_path_is_compared_with_all_rules_at_once(tmp_path: Path, rules: int, spent: int) -> None:
    """What rules cost does not grow with them; a command that touches nothing is only read."""
    command = "cat a" if rules else "true"
    around = Surroundings(directory=str(tmp_path), working=(), root=str(tmp_path))
    deny = PermissionRule(tool_name="Read", rule_content="secret", behavior=PermissionBehavior.DENY)
    matcher = FileRules(
        [deny] * max(rules, 1),
        read=lambda _: analyze(command, directory=str(tmp_path)),
        surroundings=lambda _: around,
    )
    assert matcher.match({}, PermissionContext()) is None
    assert MAX_EFFORT - around.effort.left == spent


def test_a_search_leaves_5000_for_the_paths() -> None:
    """However much there is below a directory, the paths of the command are looked at still."""
    effort = Effort()
    with pytest.raises(TooManyFilesError):
        effort.entries("/d", names_of(14_991), keep=KEPT_FOR_PATHS)
    assert effort.left == 5_000
    assert len(Effort().entries("/d", names_of(14_990), keep=KEPT_FOR_PATHS)) == 14_990
    effort.spend(5_000)
    with pytest.raises(TooManyFilesError):
        effort.spend(1)


def danger(command: str, work: Path) -> Finding | None:
    """Return why a person has to look at a command."""
    analysis = analyze(command, directory=str(work), home="/home/u")
    around = Surroundings(directory=str(work), working=(), root=str(work), home="/home/u")
    return find_danger(analysis, around)


def test_a_finding_shows_80_characters(tmp_path: Path) -> None:
    """A command of eighty characters is shown whole; of a longer one, the beginning is."""
    for length, shown in ((80, "x" * 73 + "`"), (81, "x" * 72 + "…`")):
        found = danger("rm -r ~" + " " + "x" * (length - 8), tmp_path)
        assert found is not None
        assert shown[-20:] in found.message


@pytest.mark.parametrize(("before", "found"), [(31, True), (32, False)])
def test_a_fork_bomb_is_looked_for_in_32_functions(
    before: int, found: bool, tmp_path: Path
) -> None:
    """What cannot be read is searched for a function that breeds, up to a number of functions."""
    command = "f ( ; " + "".join(f"f{number}(){{ x; }};" for number in range(before))
    assert (danger(command + "z(){ z|z; };", tmp_path) is not None) is found


@pytest.mark.parametrize(("paths", "found"), [(255, False), (256, True)])
def test_removals_are_looked_at_up_to_256_words(paths: int, found: bool, tmp_path: Path) -> None:
    """In a text that cannot be read, all that follows a removal may be removed, so `rm` as well."""
    command = "foo ( ; " + "; ".join(f"rm p{number}" for number in range(paths))
    reason = danger(command, tmp_path)
    assert (reason is not None and "too many paths" in reason.reason) is found


async def test_a_question_offers_five_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many parts of a command are in doubt, so many rules are offered at most."""
    work, home = world(tmp_path)
    monkeypatch.setenv("HOME", str(home))
    decided = await Decider(work).decide("; ".join(f"foo{number} x" for number in range(9)))
    assert decided[0].count("[") <= 5
