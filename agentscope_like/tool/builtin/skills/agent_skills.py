"""Defines `skill.list`, `skill.search` and `skill.read`, by which an agent reads its skills."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar

from agentscope_like.exception import RecoverableToolError
from agentscope_like.message import ToolChunk
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.skill import Skill
from agentscope_like.text_search import SearchQuery, SearchQueryError
from agentscope_like.tool.builtin.own_state_tool import OwnStateTool, json_result
from agentscope_like.tool.builtin.skills.skill_files import MAIN_FILE, SkillFiles
from agentscope_like.tool.builtin.skills.skill_library import SkillLibrary
from agentscope_like.tool.builtin.skills.skill_passages import Passages
from agentscope_like.tool.builtin.skills.skill_text import TextRange

__all__ = ["SkillList", "SkillRead", "SkillSearch"]

DEFAULT_HITS, MOST_HITS = 20, 50
DEFAULT_CONTEXT, MOST_CONTEXT = 2, 5
DEFAULT_READ, MOST_READ = 20_000, 80_000
MOST_LISTED = 50

_NAME = {"type": "string", "minLength": 1, "description": "The skill's name, from skill_list."}


class _SkillTool(OwnStateTool):
    """A tool that reads skills.

    Args:
        library: The skills of the run.
        middlewares: Layers around `call`.
    """

    allowed_because = "It reads skills that the profile shows."

    def __init__(
        self, library: SkillLibrary, middlewares: Sequence[ToolMiddlewareBase] | None = None
    ) -> None:
        super().__init__(middlewares)
        self._library = library


class SkillList(_SkillTool):
    """Lists the skills that the agent sees (seed 001, "skill.list")."""

    name = "skill.list"
    description = (
        "List your skills: instructions for kinds of work, with their names, what they are for, "
        "and their files. Read one with skill_read before work that it is for."
    )
    input_schema: ClassVar[dict[str, Any]] = {"type": "object", "properties": {}}  # type: ignore[misc]

    async def call(self) -> ToolChunk:
        """Return the skills without their texts."""
        skills = await self._library.visible()
        listed = await asyncio.to_thread(lambda: [_summary(skill) for skill in skills])
        return json_result({"skills": listed})


class SkillSearch(_SkillTool):
    """Finds passages in one skill (seed 001, "skill.search")."""

    name = "skill.search"
    description = (
        "Find passages in the text files of one skill, by words, beginnings of words or, in "
        "scripts without blanks, parts of them. Any word suffices; the best hits come first. What "
        "is shown counts as reading."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "name": _NAME,
            "query": {"type": "string", "minLength": 1, "description": "The words to find."},
            "path": {
                "type": "string",
                "description": "A file or directory of the skill; by default all of it.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST_HITS,
                "default": DEFAULT_HITS,
                "description": "The most hits.",
            },
            "context_lines": {
                "type": "integer",
                "minimum": 0,
                "maximum": MOST_CONTEXT,
                "default": DEFAULT_CONTEXT,
                "description": "How many lines to show on each side of a hit.",
            },
        },
        "required": ["name", "query"],
    }

    async def call(
        self,
        name: str,
        query: str,
        path: str = "",
        limit: int = DEFAULT_HITS,
        context_lines: int = DEFAULT_CONTEXT,
    ) -> ToolChunk:
        """Return the passages; what they show is taken from the budget, or nothing is shown."""
        skill = await self._library.find(name)
        try:
            wanted = SearchQuery.read(query)
        except SearchQueryError as error:
            raise RecoverableToolError("skill.invalid_query", f"{error}.") from error
        passages = await asyncio.to_thread(
            lambda: Passages.search(
                SkillFiles(skill), wanted, path, limit=int(limit), context=int(context_lines)
            )
        )
        told = self._library.budget.take_characters(sum(len(one.text) for one in passages.found))
        hits = [
            {
                "ref": f"{_reference(skill, one.path)}#L{one.start}-L{one.end}",
                "path": one.path,
                "start_line": one.start,
                "end_line": one.end,
                "snippet": one.text,
                "score": one.score,
            }
            for one in passages.found
        ]
        answer = {
            "hits": hits,
            "searched_files": passages.files,
            "skipped_files": passages.skipped,
            **({"note": told} if told else {}),
        }
        return json_result(answer, [str(hit["ref"]) for hit in hits])


class SkillRead(_SkillTool):
    """Reads a file of a skill, or a part of one (seed 001, "skill.read")."""

    name = "skill.read"
    description = (
        f"Read a text file of a skill, by default {MAIN_FILE}, or a part: lines by start_line "
        "and line_count, or characters by start_char. The two are not mixed. What is longer than "
        "max_chars is cut and said to be truncated; go on with start_char. Skills cannot be "
        "changed: write what you make of them elsewhere."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "name": _NAME,
            "path": {
                "type": "string",
                "minLength": 1,
                "default": MAIN_FILE,
                "description": "A file of the skill.",
            },
            "max_chars": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST_READ,
                "description": f"The most characters to return; by default {DEFAULT_READ:,}.",
            },
            "start_line": {
                "type": "integer",
                "minimum": 1,
                "description": "The first line, from 1.",
            },
            "line_count": {
                "type": "integer",
                "minimum": 1,
                "description": "How many lines to read.",
            },
            "start_char": {
                "type": "integer",
                "minimum": 0,
                "description": "The first character, from 0.",
            },
        },
        "required": ["name"],
    }

    async def call(
        self,
        name: str,
        path: str = MAIN_FILE,
        max_chars: int | None = None,
        start_line: int | None = None,
        line_count: int | None = None,
        start_char: int | None = None,
    ) -> ToolChunk:
        """Return the text; it is taken from the budget, or nothing is shown."""
        skill = await self._library.find(name)
        most = self._most(None if max_chars is None else int(max_chars))
        wanted = TextRange.read(start_line, line_count, start_char)
        text = await asyncio.to_thread(SkillFiles(skill).read, path)
        part = wanted.of(text, most)
        told = self._library.budget.take_characters(len(part.text))
        reference = _reference(skill, path)
        answer = {"name": skill.name, "path": path, "ref": reference, **part.facts()}
        return json_result({**answer, **({"note": told} if told else {})}, [reference])

    def _most(self, asked: int | None) -> int:
        """Return the most characters of a call.

        Raises:
            RecoverableToolError: More is asked for than the profile lets one call read.
        """
        per_call = self._library.visibility.max_read_chars_per_call
        if asked is None:
            left = self._library.budget.characters_left
            most = min(DEFAULT_READ, per_call)
            return most if left is None else max(1, min(most, left))
        if asked > per_call:
            raise RecoverableToolError(
                "skill.read_budget_exceeded",
                f"max_chars is {asked:,}, and one call may read {per_call:,}: read in parts.",
            )
        return asked


def _summary(skill: Skill) -> dict[str, Any]:
    try:
        files = SkillFiles(skill).below("")
    except RecoverableToolError:
        files = []
    told: dict[str, Any] = {
        "name": skill.name,
        "description": skill.description,
        "files": files[:MOST_LISTED],
    }
    if len(files) > MOST_LISTED:
        told["more_files"] = len(files) - MOST_LISTED
    return told


def _reference(skill: Skill, path: str) -> str:
    return f"skills/{skill.name}/{path}"
