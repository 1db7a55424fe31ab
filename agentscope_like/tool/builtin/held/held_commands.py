"""Runs commands of Bash held, and keeps what they changed until it is applied or dropped."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from agentscope_like.checkpoint import CheckpointError
from agentscope_like.exception import IsolationError
from agentscope_like.finished import finished
from agentscope_like.message import ApplyQuestion
from agentscope_like.permission import PermissionContext
from agentscope_like.sandbox.held import HeldCredentials, held_objection
from agentscope_like.sandbox.layer import (
    ApplyError,
    Layer,
    Manifest,
    Sort,
    sort_changes,
)
from agentscope_like.state import AgentState
from agentscope_like.tool.builtin.command_checkpoint import private_places
from agentscope_like.tool.builtin.held.applying import (
    AppliedChanges,
    apply_changes,
    settle_layer,
    undo_budget,
)
from agentscope_like.tool.builtin.held.held_start import HeldStart
from agentscope_like.tool.builtin.held.locks import locked, store_locked
from agentscope_like.tool.builtin.held.outcome import (
    HeldChanges,
    Outcome,
    PathReason,
    Verdict,
    judge_under_all,
)
from agentscope_like.tool.builtin.held.question import HeldQuestion, held_question
from agentscope_like.tool.builtin.held.temporary_directory import (
    TEMPORARY,
    TemporaryDirectory,
)

if TYPE_CHECKING:
    from agentscope_like.checkpoint import CheckpointStore

__all__ = ["ChangesResult", "HeldCommand", "HeldCommands"]

_DAYS_KEPT = 30
"""How long changes wait for an answer: the session with the question may never have been saved."""

_GONE = (
    "the changes of the run are no longer there: they were dropped, or applied by an earlier answer"
)
_LAYER_NAME = re.compile(r"[0-9a-f]{16}")
_RUN = "run.json"


class _Run(Struct, frozen=True):
    """What is known of a run whose changes wait.

    Attributes:
        command: Its text.
        output: What it printed.
        exit_status: How it ended.
        directory: The directory that its shell ended in.
        manifests: What it changed.
    """

    command: str
    output: str
    exit_status: int | None
    directory: str | None
    manifests: tuple[Manifest, ...]

    @property
    def digest(self) -> str:
        """Return the digest of its changes, to which an answer is bound."""
        digests = "".join(each.digest for each in self.manifests)
        return hashlib.sha256(digests.encode()).hexdigest()


class ChangesResult(Struct, frozen=True):
    """What became of the changes of a held run.

    Attributes:
        text: What the model is told; empty if the run changed nothing.
        verdict: What was decided.
        changed: How many paths it changed, but for those in caches.
        is_applied: Whether the changes are applied now.
        question: What a person is asked; None unless that is the verdict.
        directory: The directory that its shell ended in, where that takes effect.
        checkpoint: The number of the checkpoint that undoes them; None where nothing is kept.
        undo: What that undoes: `all`, `some` or `nothing`.
    """

    text: str
    verdict: Verdict
    changed: int = 0
    is_applied: bool = False
    question: ApplyQuestion | None = None
    directory: str | None = None
    checkpoint: int | None = None
    undo: str = "nothing"


class HeldCommands:
    """Makes the layers of held commands, and finds them again.

    Args:
        store: The folder of all layers; made if there is none. Everything in it is private to the
            user and hidden from every held run.
        checkpoints: Keeps what changed files were before changes are applied, if anything does.

    Attributes:
        temporary: What the commands have as `/tmp` and `/var/tmp`.
    """

    def __init__(self, store: Path, checkpoints: CheckpointStore | None = None) -> None:
        self._store = store
        self._checkpoints = checkpoints
        self._objections: dict[tuple[str, ...], str | None] = {}
        self._credentials = HeldCredentials()
        self.temporary = TemporaryDirectory(store, private_places(store, checkpoints))
        self._is_tidy = False

    async def objection(
        self, directories: Sequence[str], start: str, home: str | None
    ) -> str | None:
        """Return why no command can run held here, or None; the first time it runs one.

        Args:
            directories: The working directories, resolved.
            start: Where the command starts, resolved.
            home: The home directory of the user.
        """
        if home is None:
            return "the home directory is not known"
        if not any(_is_within(start, each) for each in directories):
            return "it starts outside of the working directories"
        key = tuple(directories)
        if key not in self._objections:
            self._objections[key] = await asyncio.to_thread(self._look, key, home)
        return self._objections[key] or _repository_objection(directories)

    def _look(self, directories: Sequence[str], home: str) -> str | None:
        try:
            self._store.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._is_tidy:
                self._is_tidy = True
                self._tidy()
            return held_objection(self._store, directories, home=home)
        except (OSError, IsolationError) as error:
            return str(error)

    def begin(self, directories: Sequence[str], *, home: str, hide: Sequence[str]) -> HeldCommand:
        """Make the layer of one command; blocks.

        Args:
            directories: The working directories.
            home: The home directory of the user.
            hide: More that the command must not see.

        Raises:
            IsolationError: It cannot be made.
        """
        try:
            with store_locked(self._store, fcntl.LOCK_SH):
                hide = [*hide, *self.temporary.private]
                temporary = self.temporary.begin([*directories, home, *hide])
                layer = Layer.make(self._store, directories)
                lock = locked(layer.folder)
        except OSError as error:
            raise IsolationError(f"the command cannot be held: {error}") from error
        start = HeldStart(
            layer,
            home=home,
            temporary=temporary,
            hide=hide,
            credentials=self._credentials,
        )
        return HeldCommand(start, lock, checkpoints=self._checkpoints)

    def find(self, question: ApplyQuestion) -> HeldCommand:
        """Find the command again that a question is about.

        What a killed process had begun to apply is finished or taken back first.

        Raises:
            IsolationError: Its layer is no longer there, damaged, or another one.
        """
        folder = self._store / question.layer
        if not _LAYER_NAME.fullmatch(question.layer) or not Layer.is_in(folder):
            raise IsolationError(_GONE)
        try:
            with store_locked(self._store, fcntl.LOCK_SH):
                layer = Layer.open(folder)
                run = msgspec.json.decode((layer.folder / _RUN).read_bytes(), type=_Run)
                lock = locked(layer.folder)
        except (OSError, msgspec.DecodeError) as error:
            raise IsolationError(f"{_GONE}: {error}") from error
        found = HeldCommand(None, lock, layer, run, checkpoints=self._checkpoints)
        try:
            if run.digest != question.digest:
                raise IsolationError(f"{_GONE}: the layer has other changes")
            found.settle()
        except (IsolationError, CheckpointError) as error:
            found.close()
            raise IsolationError(error.message) from error
        return found

    def _tidy(self) -> None:
        """Remove what runs left behind that ended with their process."""
        with store_locked(self._store, fcntl.LOCK_EX):
            for folder in self._store.iterdir():
                is_layer = _LAYER_NAME.fullmatch(folder.name) is not None
                if not is_layer and not folder.name.startswith(TEMPORARY):
                    continue
                try:
                    lock = locked(folder)
                except OSError:
                    continue  # it is in use
                try:
                    if is_layer and Layer.is_in(folder):
                        self._tidy_layer(Layer.open(folder))
                    else:
                        shutil.rmtree(folder, ignore_errors=True)
                except (IsolationError, CheckpointError):
                    continue  # what a person has to look at stays
                finally:
                    os.close(lock)

    def _tidy_layer(self, layer: Layer) -> None:
        """Finish what was being applied; drop the layer unless its question may yet be answered.

        Raises:
            CheckpointError: The checkpoint cannot be settled.
            IsolationError: The changes can be neither finished nor taken back.
        """
        settle_layer(layer, self._checkpoints, drops=False)
        try:
            asked = (layer.folder / _RUN).stat().st_mtime
        except FileNotFoundError:
            asked = 0
        if time.time() - asked > _DAYS_KEPT * 24 * 3600:
            _drop(layer)


class HeldCommand:
    """One command that runs, or ran, held."""

    def __init__(
        self,
        start: HeldStart | None,
        lock: int,
        layer: Layer | None = None,
        run: _Run | None = None,
        *,
        checkpoints: CheckpointStore | None = None,
    ) -> None:
        found = layer if start is None else start.layer
        if found is None:
            raise IsolationError(_GONE)
        self.start = start
        self.layer = found
        self._lock = lock
        self._run = run
        self._is_kept = run is not None
        self._checkpoints = checkpoints
        self._settled: AppliedChanges | None = None

    @property
    def output(self) -> str:
        """Return what the command printed."""
        return "" if self._run is None else self._run.output

    async def end(
        self,
        contexts: Sequence[PermissionContext],
        session: AgentState | None,
        *,
        command: str,
        output: str,
        exit_status: int | None,
        directory: str | None,
    ) -> ChangesResult:
        """Decide what becomes of the changes, and apply them if nobody has to be asked.

        Args:
            contexts: The policies; the strictest counts.
            session: The state of the agent, if any.
            command: Its text.
            output: What the command printed.
            exit_status: How it ended; None if it was ended, so that nothing is applied.
            directory: The directory that its shell ended in.

        Raises:
            IsolationError: The changes cannot be listed.
        """
        if exit_status is None:
            return ChangesResult("It ran held: nothing of it was kept.", Verdict.DROP)
        manifests = tuple(await asyncio.to_thread(self.layer.manifests))
        self._run = _Run(command, output, exit_status, directory, manifests)
        held = await asyncio.to_thread(self._sorted)
        outcome = await judge_under_all(held, contexts, session)
        changed = _count(held)
        if outcome.verdict is Verdict.DROP:
            return ChangesResult(_dropped(outcome.reasons), Verdict.DROP, changed)
        if outcome.verdict is Verdict.APPLY:
            return await self.apply(held, session)
        asking = asyncio.to_thread(self._ask, held, outcome, self._run)
        question = await finished(asking)
        self._is_kept = True  # not before: what is cancelled meanwhile is dropped
        return ChangesResult("", Verdict.ASK, changed, question=question)

    def settle(self) -> None:
        """Finish or take back what a killed process had begun to apply; blocks.

        Raises:
            CheckpointError: The checkpoint cannot be settled.
            IsolationError: The changes can be neither finished nor taken back.
        """
        self._settled = settle_layer(self.layer, self._checkpoints, drops=False)

    @property
    def applied(self) -> ChangesResult | None:
        """Return what came of the changes if they had been applied when this was found."""
        return None if self._settled is None else self._result(self._settled, self._settled.count)

    async def judged(
        self, contexts: Sequence[PermissionContext], session: object
    ) -> tuple[Outcome, list[HeldChanges]]:
        """Return what becomes of the changes under these policies, and the changes.

        Raises:
            IsolationError: They are no longer there.
        """
        held = await asyncio.to_thread(self._sorted)
        return await judge_under_all(held, contexts, session), held

    def question(self, held: Sequence[HeldChanges], outcome: Outcome) -> HeldQuestion:
        """Return what a person is shown, with the difference; blocks while files are read."""
        run = self._run
        output, status = ("", None) if run is None else (run.output, run.exit_status)
        return held_question(self.layer, held, outcome, output=output, exit_status=status or 0)

    async def apply(self, held: Sequence[HeldChanges], session: AgentState | None) -> ChangesResult:
        """Apply the changes, all or none; the layer is dropped when this is closed.

        Args:
            held: The changes, as listed.
            session: The state of the agent, if any.
        """
        changed = _count(held)
        self._is_kept = False
        try:
            applied = await finished(asyncio.to_thread(self._apply, held, session))
        except (ApplyError, CheckpointError) as error:
            text = f"Not applied: {error.message}. The files are as before."
            return ChangesResult(text, Verdict.DROP)
        return self._result(applied, changed)

    def _result(self, applied: AppliedChanges, changed: int) -> ChangesResult:
        run = self._run
        return ChangesResult(
            "" if not changed else f"It ran held. {applied.text}",
            Verdict.APPLY,
            changed,
            is_applied=True,
            directory=None if run is None else run.directory,
            checkpoint=applied.checkpoint,
            undo=applied.undo,
        )

    def _apply(self, held: Sequence[HeldChanges], session: AgentState | None) -> AppliedChanges:
        return apply_changes(
            self.layer,
            held,
            checkpoints=self._checkpoints,
            session_id="" if session is None else session.session_id,
            summary="" if self._run is None else f"Ran held: {self._run.command}",
        )

    @property
    def _manifests(self) -> tuple[Manifest, ...]:
        return () if self._run is None else self._run.manifests

    def _sorted(self) -> list[HeldChanges]:
        budget = undo_budget(self._checkpoints)
        with self.layer.descriptors() as opened:
            return [
                HeldChanges(manifest.directory, sort_changes(manifest, descriptors, budget))
                for manifest, descriptors in zip(self._manifests, opened, strict=True)
            ]

    def _ask(self, held: Sequence[HeldChanges], outcome: Outcome, run: _Run) -> ApplyQuestion:
        """Note what a question needs when it is answered, and return what a person is asked."""
        shown = self.question(held, outcome)
        path = self.layer.folder / _RUN
        new = path.with_suffix(".new")
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(msgspec.json.encode(run))
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
        return ApplyQuestion(
            layer=self.layer.folder.name,
            digest=run.digest,
            title=shown.title,
            lines=shown.lines,
            output=shown.output,
            exit_status=run.exit_status,
        )

    def drop(self) -> None:
        """Let `close` drop the layer with its changes."""
        self._is_kept = False

    def close(self) -> None:
        """Free what the run needed, and drop the layer unless its changes wait; blocks."""
        if self.start is not None:
            self.start.close()
        if not self._is_kept:
            _drop(self.layer)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _count(held: Sequence[HeldChanges]) -> int:
    """Return how many paths changed, but for those in caches."""
    return sum(each.sort is not Sort.CACHE for one in held for each in one.changes)


def _dropped(reasons: Sequence[PathReason]) -> str:
    if not reasons:
        return "It ran held: nothing of it was kept."
    first = reasons[0]
    more = f" (and {len(reasons) - 1:,} more)" if len(reasons) > 1 else ""
    named = f"{first.path}: " if first.path else ""
    return f"It ran held, and its changes were not applied: {named}{first.because}{more}"


def _drop(layer: Layer) -> None:
    """Drop a layer, first of all its question: what a kill leaves of it is removed then."""
    (layer.folder / _RUN).unlink(missing_ok=True)
    layer.drop()


def _is_within(path: str, directory: str) -> bool:
    return path == directory or path.startswith(f"{directory.rstrip('/')}/")


def _repository_objection(directories: Sequence[str]) -> str | None:
    """Return why git would write past the layers, or None: its directory lies outside of them."""
    for directory in directories:
        place = directory
        while not os.path.lexists(os.path.join(place, ".git")) and place != "/":
            place = os.path.dirname(place)
        if place == "/":
            continue
        git = os.path.realpath(os.path.join(place, _git_directory(place)))
        if not any(_is_within(git, each) for each in directories):
            return f"its git directory {git} lies outside of the working directories"
    return None


def _git_directory(place: str) -> str:
    """Return where the git directory of a work tree is: a file may name it."""
    path = os.path.join(place, ".git")
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(4096).removeprefix("gitdir:").strip()
    except IsADirectoryError:
        return path
    except OSError:
        return path
