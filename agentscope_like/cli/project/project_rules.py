"""Stores the rules that a person wants remembered for a project.

They are kept in the person's own data directory, never in the project: a repository must not be
able to grant itself rights.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)

from agentscope_like.cli.errors import CliError, ExitCode
from agentscope_like.nearest import refuse_unknown_fields
from agentscope_like.permission import PermissionBehavior, PermissionRule

__all__ = [
    "PROJECT_SOURCE",
    "ProjectRules",
    "StoredRule",
    "data_directory",
    "is_out_of_reach",
]

PROJECT_SOURCE = "project"
"""The `source` of rules remembered for a project."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="wrap")
    @classmethod
    def _known_fields(cls, data: Any, build: ModelWrapValidatorHandler[Any]) -> Any:
        refuse_unknown_fields(data, cls.model_fields)
        return build(data)


class StoredRule(_Strict):
    """A rule as stored in the file."""

    behavior: Literal["allow", "deny", "ask"]
    tool_name: str
    rule_content: str | None = None
    added_at: str


class _Stored(_Strict):
    version: Literal[1] = 1
    directory: str
    rules: tuple[StoredRule, ...] = ()


def data_directory() -> Path:
    """Return the person's data directory for this program; it need not exist."""
    from platformdirs import user_data_path

    return user_data_path("agentscope-like", appauthor=False)


def is_out_of_reach(path: Path, directory: Path) -> bool:
    """Return whether the path lies outside of the project and of the repository that it is part of.

    Args:
        path: Where something is kept that decides what is permitted.
        directory: The project's directory.
    """
    project = directory.resolve()
    holding = (parent for parent in (project, *project.parents) if (parent / ".git").exists())
    return not path.resolve().is_relative_to(next(holding, project))


class ProjectRules:
    """The rules remembered for one directory.

    Args:
        directory: The project's directory, resolved.
        data: Where rules of all projects are kept; the person's data directory by default.

    Attributes:
        path: The file; it exists once a rule has been remembered.
    """

    def __init__(self, directory: Path, *, data: Path | None = None) -> None:
        self.directory = directory
        slug = re.sub(r"[^A-Za-z0-9_-]+", "-", directory.name).strip("-")[:40] or "root"
        digest = hashlib.sha256(os.fsencode(directory)).hexdigest()[:12]
        self.path = (data or data_directory()) / "projects" / f"{slug}-{digest}.json"

    @property
    def is_out_of_reach(self) -> bool:
        """Return whether the file lies outside of the project and its repository."""
        return is_out_of_reach(self.path, self.directory)

    def load(self) -> list[PermissionRule]:
        """Return the rules, the oldest first.

        Raises:
            CliError: The file cannot be trusted or understood, or lies inside of the project;
                nothing of it is used.
        """
        return [
            PermissionRule(
                tool_name=rule.tool_name,
                rule_content=rule.rule_content,
                behavior=PermissionBehavior(rule.behavior),
                source=PROJECT_SOURCE,
            )
            for rule in self.stored()
        ]

    def stored(self) -> tuple[StoredRule, ...]:
        """Return the stored rules, the oldest first.

        Raises:
            CliError: As for `load`.
        """
        try:
            with self.path.open("rb") as file:
                self._check_owner(os.fstat(file.fileno()))
                text = file.read()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise self._unusable(f"cannot be read: {error.strerror}") from error
        if not self.is_out_of_reach:
            raise self._unusable(
                "lies inside of the project, which cannot grant itself rights: set XDG_DATA_HOME "
                "to another place"
            )
        try:
            kept = _Stored.model_validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise self._unusable(f"{place or 'the file'}: {first['msg']}") from error
        if kept.directory != self._name:
            raise self._unusable(f"is about another directory, {kept.directory!r}")
        return kept.rules

    def add(self, rule: PermissionRule) -> None:
        """Remember a rule, unless it is stored already.

        Raises:
            CliError: The file cannot be used, or lies where the project's agent may edit it.
        """
        if not self.is_out_of_reach:
            raise CliError(
                f"the rules for {self.directory} would be kept inside of it, where its agent could "
                "change them; work in a narrower directory, or set XDG_DATA_HOME to another place",
                ExitCode.CONFIG,
            )
        new = StoredRule(
            behavior=rule.behavior.value,  # type: ignore[arg-type]  # a rule never passes a call on
            tool_name=rule.tool_name,
            rule_content=rule.rule_content,
            added_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        with self._locked():
            kept = self.stored()
            same = new.model_dump(exclude={"added_at"})
            if all(old.model_dump(exclude={"added_at"}) != same for old in kept):
                self._write((*kept, new))

    def remove(self, number: int) -> StoredRule:
        """Forget the rule of this number, counted from 1, and return it.

        Raises:
            CliError: There is no rule of that number, or the file cannot be used.
        """
        with self._locked():
            kept = self.stored()
            if not 1 <= number <= len(kept):
                there = f"1 to {len(kept)}" if kept else "no rules at all"
                raise CliError(f"there is no rule {number} for {self.directory}; there are {there}")
            self._write(kept[: number - 1] + kept[number:])
            return kept[number - 1]

    @property
    def _name(self) -> str:
        return os.fsencode(self.directory).decode("utf-8", "backslashreplace")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.path.parent, os.O_RDONLY)
        except OSError as error:
            raise self._unusable(f"its directory cannot be made: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _write(self, rules: tuple[StoredRule, ...]) -> None:
        kept = _Stored(directory=self._name, rules=rules)
        text = json.dumps(kept.model_dump(mode="json"), indent=2)
        descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=".rules-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text + "\n")
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self.path)
        except OSError as error:
            Path(name).unlink(missing_ok=True)
            raise self._unusable(f"cannot be written: {error.strerror}") from error
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _check_owner(self, status: os.stat_result) -> None:
        if status.st_uid != os.geteuid():
            raise self._unusable("belongs to another user")
        if status.st_mode & 0o022:
            raise self._unusable("can be changed by other users: run chmod 600 on it")

    def _unusable(self, problem: str) -> CliError:
        return CliError(
            f"project rules {self.path}: {problem}; fix that, or delete the file to start again",
            ExitCode.CONFIG,
        )
