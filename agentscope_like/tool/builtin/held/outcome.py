"""Decides what becomes of the changes of a held run."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from agentscope_like.permission import (
    DecisionRow,
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
)
from agentscope_like.sandbox.layer import Sort, SortedChange
from agentscope_like.tool.builtin.files import Write

__all__ = ["HeldChanges", "Outcome", "PathReason", "Verdict", "judge_outcome", "judge_under_all"]

_ASKING_SORTS = frozenset({Sort.SETTING, Sort.LOST})
_ASKING_ROWS = frozenset({DecisionRow.SAFETY_CHECK, DecisionRow.ASK_RULE})
_PATHS_AT_A_TIME = 200


class Verdict(StrEnum):
    """What becomes of the changes of a held run.

    Attributes:
        APPLY: They are applied unasked.
        ASK: A person is asked, with the list of what is asked about.
        DROP: They are not applied.
    """

    APPLY = "apply"
    ASK = "ask"
    DROP = "drop"


_STRICTNESS = (Verdict.APPLY, Verdict.ASK, Verdict.DROP)


class PathReason(Struct, frozen=True):
    """A path that is asked about, or that is denied, and why.

    Attributes:
        path: The absolute path.
        because: Why, in words.
    """

    path: str
    because: str


class Outcome(Struct, frozen=True):
    """What becomes of the changes of a held run, and why.

    Attributes:
        verdict: What becomes of them.
        reasons: The paths that are denied if the changes are dropped, else those that a person has
            to look at first; none where only the mode asks.
    """

    verdict: Verdict
    reasons: tuple[PathReason, ...] = ()


class HeldChanges(Struct, frozen=True):
    """The sorted changes below one working directory.

    Attributes:
        directory: The working directory.
        changes: What changed, sorted.
    """

    directory: str
    changes: tuple[SortedChange, ...]


async def judge_outcome(
    held: Sequence[HeldChanges], context: PermissionContext, session: object = None
) -> Outcome:
    """Decide what becomes of the changes of a held run, by the table of outcomes.

    Every changed path, and the old name of a renamed file, is judged as a Write of it: a deny rule
    drops all changes; a safety check, an ask rule, a setting or something that is recorded nowhere
    else asks. Then the mode decides; nothing but caches, or new times of files, is applied in any
    mode that runs commands.

    Args:
        held: The changes of all working directories; they are applied together or not at all.
        context: The policy of the moment.
        session: The state of the agent, if any.
    """
    properties = PermissionMode(context.mode).properties
    if properties.only_reads and any(one.changes for one in held):
        return Outcome(Verdict.DROP, (PathReason("", "explore mode changes nothing"),))
    denied, asked = await _Judge(context, session).judged(held)
    if denied:
        return Outcome(Verdict.DROP, tuple(denied))
    if asked:
        verdict = Verdict.DROP if properties.otherwise == "deny" else Verdict.ASK
        return Outcome(verdict, tuple(asked))
    changes = [each for one in held for each in one.changes]
    sorts = {each.sort for each in changes if not each.change.only_times}
    is_free = properties.edits_run or properties.otherwise == "allow" or sorts <= {Sort.CACHE}
    return Outcome(Verdict.APPLY if is_free else Verdict.ASK)


async def judge_under_all(
    held: Sequence[HeldChanges], contexts: Sequence[PermissionContext], session: object = None
) -> Outcome:
    """Decide what becomes of the changes of a held run under several policies: the strictest.

    Args:
        held: As for `judge_outcome`.
        contexts: The policies, at least one.
        session: The state of the agent, if any.
    """
    outcomes = [await judge_outcome(held, each, session) for each in contexts]
    return max(outcomes, key=lambda each: _STRICTNESS.index(each.verdict))


class _Judge:
    """Judges each changed path as a Write of it."""

    def __init__(self, context: PermissionContext, session: object) -> None:
        self._safety_asks = PermissionMode(context.mode).properties.safety_asks
        self._engine = PermissionEngine(context, session)
        # what git notes in its own directory is no setting; the rules of the person still count
        ruled = context.model_copy(update={"mode": PermissionMode.BYPASS})
        self._rules = PermissionEngine(ruled, session)
        self._denied: list[PathReason] = []
        self._asked: list[PathReason] = []

    async def judged(
        self, held: Sequence[HeldChanges]
    ) -> tuple[list[PathReason], list[PathReason]]:
        """Return the paths that are denied, and those that are asked about."""
        for one in held:
            tool = Write(cwd=one.directory)
            for number, each in enumerate(one.changes):
                await self._judge(tool, posixpath.join(one.directory, each.change.path), each)
                if number % _PATHS_AT_A_TIME == 0:
                    await asyncio.sleep(0)
        return self._denied, self._asked

    async def _judge(self, tool: Write, path: str, each: SortedChange) -> None:
        is_gits_own = each.sort is Sort.GIT or (each.sort is Sort.CACHE and each.is_in_git)
        engine = self._rules if is_gits_own else self._engine
        decision = await engine.check_permission(tool, {"file_path": path, "content": ""})
        if decision.behavior is PermissionBehavior.DENY and not _only_mode(decision):
            self._denied.append(PathReason(path, decision.message))
        elif each.sort in _ASKING_SORTS and self._safety_asks:
            self._asked.append(PathReason(path, each.because))
        elif decision.row in _ASKING_ROWS:
            self._asked.append(PathReason(path, decision.message))


def _only_mode(decision: PermissionDecision) -> bool:
    """Return whether a denial is that of a mode in which nobody can be asked."""
    return decision.row not in {DecisionRow.DENY_RULE, DecisionRow.TOOL_DENIES}
