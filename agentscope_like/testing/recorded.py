"""Compares decisions with a record, and says in words what changed."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentscope_like.exception import ConfigurationError
from agentscope_like.permission import PermissionContext
from agentscope_like.testing.decisions import decide, run_now
from agentscope_like.tool import ToolBase, Toolkit

__all__ = ["RECORD_VARIABLE", "assert_recorded"]

RECORD_VARIABLE = "AGENTSCOPE_LIKE_RECORD"
"""Set to 1, this environment variable has records written anew instead of compared."""

_SHOWN = 5
_FIELDS = {"tool", "arguments", "decision"}


def assert_recorded(
    tools: Toolkit | ToolBase,
    record: str | os.PathLike[str],
    *,
    policy: PermissionContext | None = None,
) -> None:
    """Check that the calls of a record are decided as it says.

    The record is a file of JSON lines: `{"tool": "Bash", "arguments": {"command": "ls"},
    "decision": "allow"}`. With AGENTSCOPE_LIKE_RECORD=1 in the environment the decisions are
    written into it instead; a call may be added without one.

    Args:
        tools: The toolkit, or the one tool.
        record: The file.
        policy: As in `decide`.

    Raises:
        AssertionError: Decisions changed; the message counts and shows them by kind.
        ConfigurationError: A line of the record is no call.
    """
    path = Path(record)
    calls = [_call(line, number) for number, line in enumerate(_lines(path), start=1)]

    async def decided() -> list[str]:
        found = [await decide(tools, each["tool"], each["arguments"], policy) for each in calls]
        return [each.behavior.value for each in found]

    now = run_now(decided())
    if os.environ.get(RECORD_VARIABLE) == "1":
        lines = [
            json.dumps({**call, "decision": said}, ensure_ascii=False)
            for call, said in zip(calls, now, strict=True)
        ]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return
    if changes := _changes(calls, now):
        raise AssertionError(
            f"decisions differ from {path.name}:\n{changes}\n"
            f"If that is meant, record them with {RECORD_VARIABLE}=1."
        )


def _lines(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return [line for line in text.split("\n") if line.strip()]


def _call(line: str, number: int) -> dict[str, Any]:
    try:
        call = json.loads(line)
    except ValueError as error:
        raise ConfigurationError(f"line {number} of the record is not JSON: {error}") from None
    named = isinstance(call, dict) and isinstance(call.get("tool"), str)
    if not named or not isinstance(call.get("arguments"), dict) or not set(call) <= _FIELDS:
        raise ConfigurationError(
            f"line {number} of the record is no call: write an object with `tool`, `arguments` "
            "and, once it is recorded, `decision`"
        )
    return dict(call)


def _changes(calls: Sequence[Mapping[str, Any]], now: Sequence[str]) -> str:
    by_kind: dict[tuple[str, str], list[str]] = defaultdict(list)
    for call, said in zip(calls, now, strict=True):
        before = str(call.get("decision", "not recorded"))
        if before != said:
            arguments = json.dumps(call["arguments"], ensure_ascii=False)
            by_kind[before, said].append(f"  {call['tool']}({arguments})")
    told = []
    for (before, said), shown in sorted(by_kind.items()):
        more = [f"  ... and {len(shown) - _SHOWN} more"] if len(shown) > _SHOWN else []
        count = f"{len(shown)} call{'' if len(shown) == 1 else 's'}"
        told.append("\n".join([f"{count} {before} -> {said}:", *shown[:_SHOWN], *more]))
    return "\n".join(told)
