"""Defines `worldinfo.read_activated`, by which an agent reads what was activated for its run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec

from agentscope_like.conversation.activation import ActivatedContextProvider, ContextEntry
from agentscope_like.conversation.text_range import (
    MOST_PER_CALL,
    MOST_PER_TEXT,
    Range,
    ReadErrors,
    check_total,
    part_of,
)
from agentscope_like.exception import RecoverableToolError
from agentscope_like.message import ToolChunk
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.nearest import nearest
from agentscope_like.tool.builtin.own_state_tool import OwnStateTool, json_result

__all__ = ["ReadActivated"]

MOST_ENTRIES = 20

_ERRORS = ReadErrors("worldinfo.invalid_range", "worldinfo.read_too_large")


class ReadActivated(OwnStateTool):
    """Lists and reads the entries of a run (seed 001, "worldinfo.read_activated").

    Args:
        provider: Knows the entries.
        run_id: The run; the model cannot name another one.
        middlewares: Layers around `call`.
    """

    name = "worldinfo.read_activated"
    description = (
        "Read the entries of world info that were activated for this run. Without arguments, list "
        "their references without texts; then read some by `ref`. An entry of more than "
        f"{MOST_PER_TEXT:,} characters is read in parts, by start_char and max_chars; one call "
        f"returns at most {MOST_PER_CALL:,} characters and fails as a whole if it would be more."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "entries": {
                "type": "array",
                "minItems": 1,
                "maxItems": MOST_ENTRIES,
                "items": {
                    "type": "object",
                    "properties": {
                        "ref": {
                            "type": "string",
                            "minLength": 1,
                            "description": "The reference, exactly as it was listed.",
                        },
                        "start_char": {
                            "type": "integer",
                            "minimum": 0,
                            "description": "Its first character to read, from 0.",
                        },
                        "max_chars": {
                            "type": "integer",
                            "minimum": 1,
                            "maximum": MOST_PER_TEXT,
                            "description": "The most characters to read of it.",
                        },
                    },
                    "required": ["ref"],
                    "additionalProperties": False,
                },
            }
        },
    }
    allowed_because = "It reads what was activated for this run."

    def __init__(
        self,
        provider: ActivatedContextProvider,
        run_id: str,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
    ) -> None:
        super().__init__(middlewares)
        self._provider = provider
        self._run_id = run_id

    async def call(self, entries: list[dict[str, Any]] | None = None) -> ToolChunk:
        """Return the list of references, or the entries in the order in which they were asked."""
        activated = await self._provider.activated(self._run_id)
        if activated is None:
            raise RecoverableToolError(
                "worldinfo.not_captured",
                "No activation was captured for this run: go on without world info.",
            )
        if entries is None:
            listed = [{**_about(one), "total_chars": len(one.text)} for one in activated]
            return json_result({"entries": listed}, [one.ref for one in activated])
        by_ref = {one.ref: one for one in activated}
        wanted = msgspec.convert(entries, list[_Wanted], strict=False)
        chosen = [_entry(by_ref, one.ref) for one in wanted]
        parts = [
            part_of(entry.text, one, what=f"The entry {one.ref!r}", errors=_ERRORS)
            for entry, one in zip(chosen, wanted, strict=True)
        ]
        check_total(parts, _ERRORS)
        told = [{**_about(one), **part.facts()} for one, part in zip(chosen, parts, strict=True)]
        return json_result({"entries": told}, [one.ref for one in chosen])


class _Wanted(Range, frozen=True, kw_only=True):
    ref: str


def _entry(by_ref: dict[str, ContextEntry], ref: str) -> ContextEntry:
    """Return the entry of this reference.

    Raises:
        RecoverableToolError: There is none.
    """
    if ref not in by_ref:
        hint = nearest(ref, by_ref) or "; call without arguments to list what there is."
        raise RecoverableToolError(
            "worldinfo.entry_not_found", f"No entry {ref!r} was activated for this run{hint}"
        )
    return by_ref[ref]


def _about(entry: ContextEntry) -> dict[str, Any]:
    return {
        "ref": entry.ref,
        "title": entry.title,
        "source": entry.source,
        "constant": entry.is_constant,
        "position": entry.position,
    }
