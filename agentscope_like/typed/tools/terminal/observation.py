"""Defines `TerminalObservation`, what a terminal shows."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from agentscope_like.typed.observation import Observation

__all__ = ["ExecuteBashObservation", "TerminalMetadata", "TerminalObservation"]


class TerminalMetadata(BaseModel):
    """Facts about a command for programs.

    Attributes:
        pid: The process that it was started as; None if none was.
        working_dir: The directory that the next command starts in.
        duration: Seconds since it was started.
        confinement: How it was confined (a `ScopeKind`, or "off").
        not_carried: The exported variables that the next command does not get.
        violation: What it tried beyond what was decided.
        covered_secrets: Which credentials were hidden from it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    pid: int | None = None
    working_dir: str = ""
    duration: float = 0.0
    confinement: str = "off"
    not_carried: tuple[str, ...] = ()
    violation: dict[str, Any] | None = None
    covered_secrets: dict[str, Any] | None = None


class TerminalObservation(Observation):
    """What the terminal shows.

    Attributes:
        command: The command that runs or ran; None if none did.
        exit_code: Its exit status; None while it runs, or if it was ended.
        timeout: Whether it was ended after its timeout.
        is_running: Whether it is still running.
        output: What it has shown since the last call.
        metadata: Further facts.
    """

    command: str | None = None
    exit_code: int | None = None
    timeout: bool = False
    is_running: bool = False
    output: str = ""
    metadata: TerminalMetadata = TerminalMetadata()


ExecuteBashObservation = TerminalObservation
