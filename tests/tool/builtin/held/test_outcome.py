"""The table of what becomes of the changes of a held run."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.permission import PermissionContext, PermissionMode
from agentscope_like.sandbox.layer import Change, FileKind, FileState, Sort, SortedChange
from agentscope_like.tool.builtin.held import HeldChanges, Verdict, judge_outcome

DEFAULT, EDITS, NOBODY = (
    PermissionMode.DEFAULT,
    PermissionMode.ACCEPT_EDITS,
    PermissionMode.DONT_ASK,
)
APPLY, ASK, DROP = Verdict.APPLY, Verdict.ASK, Verdict.DROP


def changes(project: Path, *paths: str, sort: Sort = Sort.CHANGE) -> list[HeldChanges]:
    """Return changes of one sort, each a new file."""
    state = FileState(FileKind.FILE, 0o644, 1, 1, "0" * 64)
    found = tuple(SortedChange(Change(path, None, state), sort, "told") for path in paths)
    return [HeldChanges(str(project), found)]


def policy(project: Path, mode: PermissionMode, **rules: list[str]) -> PermissionContext:
    """Return a policy with the project as its working directory."""
    return PermissionContext.from_rules(mode=mode, working_directories=[project], **rules)


@pytest.mark.parametrize(
    ("path", "sort", "default", "edits", "nobody"),
    [
        ("src/a.py", Sort.CHANGE, ASK, APPLY, APPLY),
        ("node_modules/x/i.js", Sort.CACHE, APPLY, APPLY, APPLY),
        (".git/index", Sort.GIT, ASK, APPLY, APPLY),
        ("notes.txt", Sort.LOST, ASK, ASK, DROP),
        (".git/config", Sort.SETTING, ASK, ASK, DROP),
        (".env", Sort.CHANGE, ASK, ASK, DROP),
        (".vscode/settings.json", Sort.CHANGE, ASK, ASK, DROP),
        ("node_modules/x/.git/config", Sort.CACHE, ASK, ASK, DROP),
    ],
)
async def test_each_row_in_each_mode(
    tmp_path: Path, path: str, sort: Sort, default: Verdict, edits: Verdict, nobody: Verdict
) -> None:
    """Settings, credentials and losses ask; edits follow the mode; caches are applied."""
    for mode, expected in ((DEFAULT, default), (EDITS, edits), (NOBODY, nobody)):
        outcome = await judge_outcome(changes(tmp_path, path, sort=sort), policy(tmp_path, mode))
        assert outcome.verdict is expected, mode
        if expected is not APPLY and not (mode is DEFAULT and sort in {Sort.CHANGE, Sort.GIT}):
            assert [each.path for each in outcome.reasons] == [str(tmp_path / path)]


@pytest.mark.parametrize("mode", [DEFAULT, EDITS, NOBODY])
async def test_no_change_is_no_question(tmp_path: Path, mode: PermissionMode) -> None:
    """A run that changed nothing is over."""
    outcome = await judge_outcome(changes(tmp_path), policy(tmp_path, mode))
    assert outcome.verdict is APPLY


@pytest.mark.parametrize("mode", [*PermissionMode])
@pytest.mark.parametrize(
    ("path", "sort"), [("gen/a.py", Sort.CHANGE), ("gen/c", Sort.CACHE), (".git/gen", Sort.GIT)]
)
async def test_a_deny_rule_drops_all(
    tmp_path: Path, mode: PermissionMode, path: str, sort: Sort
) -> None:
    """Also of caches and of what git notes, and beside changes that nothing forbids."""
    held = [*changes(tmp_path, "src/a.py"), *changes(tmp_path, path, sort=sort)]
    denying = policy(tmp_path, mode, deny=["Write(**/gen/**)", "Write(**/gen)"])
    outcome = await judge_outcome(held, denying)
    assert outcome.verdict is DROP
    other = policy(tmp_path, mode, deny=["Write(**/other/**)"])
    if mode is not PermissionMode.EXPLORE:
        assert (await judge_outcome(held, other)).verdict is not DROP


@pytest.mark.parametrize("sort", [Sort.CHANGE, Sort.GIT, Sort.CACHE])
async def test_an_ask_rule_asks(tmp_path: Path, sort: Sort) -> None:
    """Where nobody can be asked, the changes are dropped."""
    held = changes(tmp_path, "docs/a.md", sort=sort)
    for mode, expected in ((EDITS, ASK), (NOBODY, DROP)):
        asking = policy(tmp_path, mode, ask=["Write(docs/**)"])
        assert (await judge_outcome(held, asking)).verdict is expected
        other = policy(tmp_path, mode, ask=["Write(src/**)"])
        assert (await judge_outcome(held, other)).verdict is APPLY


async def test_a_mode_that_changed_meanwhile_counts(tmp_path: Path) -> None:
    """Explore mode applies nothing; bypass mode asks about nothing but what a rule asks about."""
    held = changes(tmp_path, "notes.txt", sort=Sort.LOST)
    explore = policy(tmp_path, PermissionMode.EXPLORE)
    assert (await judge_outcome(held, explore)).verdict is DROP
    bypass = policy(tmp_path, PermissionMode.BYPASS)
    assert (await judge_outcome(held, bypass)).verdict is APPLY
    asking = policy(tmp_path, PermissionMode.BYPASS, ask=["Write(notes.txt)"])
    assert (await judge_outcome(held, asking)).verdict is ASK
