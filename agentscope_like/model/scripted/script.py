"""Reads a recorded session, one JSON object a line.

A line that begins with `#` is a comment. The others are turns of the model::

    {"think": "Look first.", "say": "I will look.", "calls": [{"id": "c1", "name": "Bash",
     "input": {"command": "ls"}}]}

(on one line), or recorded answers to the questions that its calls raise::

    {"answer": "c1", "confirmed": true, "remember": "git commit:*"}
    {"answer": "c2", "confirmed": false, "message": "Use the tests instead."}
    {"answer": "c3", "output": "approved"}
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from agentscope_like.exception import ConfigurationError
from agentscope_like.nearest import nearest

__all__ = ["RecordedAnswer", "RecordedCall", "Script", "Turn"]

_ANSWER_KEYS = ("answer", "confirmed", "remember", "message", "output")
_TURN_KEYS = ("say", "think", "calls")
_CALL_KEYS = ("id", "name", "input")


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call of a turn.

    Attributes:
        id: Its id, the script's own or `turn-N-call-M`.
        name: The tool.
        input: The arguments as raw text: JSON, unless the script is malformed here on purpose.
    """

    id: str
    name: str
    input: str


@dataclass(frozen=True, slots=True)
class Turn:
    """The model's answer in one round; an empty turn is an empty answer."""

    say: str = ""
    think: str = ""
    calls: tuple[RecordedCall, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """The answer of a person or an external system about one call.

    Attributes:
        call_id: The call.
        confirmed: Whether it may run; None if the answer is an external result.
        remember: The content of the rule to remember with an approval.
        message: The message to the model with a rejection.
        output: The result of an external call; None if the answer approves or rejects.
    """

    call_id: str
    confirmed: bool | None = None
    remember: str | None = None
    message: str | None = None
    output: str | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """The turns of a recorded session, in order, and the answers by call id.

    Attributes:
        turns: The model's answers, one for each round.
        answers: The recorded answers, by call id.
        source: The file it was read from, for messages.
    """

    turns: tuple[Turn, ...]
    answers: Mapping[str, RecordedAnswer] = field(default_factory=dict)
    source: str = "<script>"

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Return the script in the file; blocks while it reads.

        Raises:
            ConfigurationError: The file cannot be read, or a line is not a turn or an answer; the
                message names the file, the line and, for an unknown key, the nearest known one.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(
                f"cannot read the script {path}: {error}; give the path of a JSON-lines file"
            ) from error
        return cls.parse(text, source=str(path))

    @classmethod
    def parse(cls, text: str, *, source: str = "<script>") -> Self:
        """Parse a script from `text`.

        Raises:
            ConfigurationError: As for `load`.
        """
        reader = _Reader(source)
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip() and not line.lstrip().startswith("#"):
                reader.read(number, line)
        reader.check_answers()
        return cls(tuple(reader.turns), MappingProxyType(reader.answers), source)

    def calls(self) -> Iterator[tuple[int, RecordedCall]]:
        """Yield every call with the index of its turn."""
        for index, turn in enumerate(self.turns):
            for call in turn.calls:
                yield index, call


class _Reader:
    def __init__(self, source: str) -> None:
        self.turns: list[Turn] = []
        self.answers: dict[str, RecordedAnswer] = {}
        self._source = source
        self._line = 0
        self._answered_at: dict[str, int] = {}
        self._call_ids: set[str] = set()

    def read(self, number: int, line: str) -> None:
        self._line = number
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._error(f"not JSON ({error}); write one object a line") from error
        if not isinstance(entry, dict):
            raise self._error("not a JSON object; write a turn or an answer")
        if "answer" in entry:
            self._read_answer(entry)
        else:
            self._read_turn(entry)

    def check_answers(self) -> None:
        for call_id, line in self._answered_at.items():
            if call_id not in self._call_ids:
                self._line = line
                hint = nearest(call_id, self._call_ids)
                raise self._error(f"no call of the script has the id {call_id!r}{hint}")

    def _read_turn(self, entry: dict[str, Any]) -> None:
        self._check_keys(entry, _TURN_KEYS, "a turn")
        calls = entry.get("calls", [])
        if not isinstance(calls, list):
            raise self._error("`calls` is not a list")
        self.turns.append(
            Turn(
                say=self._text(entry, "say") or "",
                think=self._text(entry, "think") or "",
                calls=tuple(self._call(call, place) for place, call in enumerate(calls, start=1)),
            )
        )

    def _call(self, entry: object, place: int) -> RecordedCall:
        if not isinstance(entry, dict):
            raise self._error(f"call {place} is not a JSON object")
        self._check_keys(entry, _CALL_KEYS, "a call")
        name = self._text(entry, "name")
        if not name:
            raise self._error(f"call {place} has no `name`; name the tool")
        call_id = self._text(entry, "id") or f"turn-{len(self.turns) + 1}-call-{place}"
        if call_id in self._call_ids:
            raise self._error(f"the call id {call_id!r} is used twice; give each call its own")
        self._call_ids.add(call_id)
        arguments = entry.get("input", {})
        if not isinstance(arguments, dict | str):
            raise self._error(
                f"the `input` of call {place} is neither an object nor (malformed) text"
            )
        raw = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        return RecordedCall(call_id, name, raw)

    def _read_answer(self, entry: dict[str, Any]) -> None:
        self._check_keys(entry, _ANSWER_KEYS, "an answer")
        call_id = self._text(entry, "answer") or ""
        answer = RecordedAnswer(
            call_id,
            self._confirmed(entry),
            self._text(entry, "remember"),
            self._text(entry, "message"),
            self._text(entry, "output"),
        )
        if (answer.confirmed is None) == (answer.output is None):
            raise self._error("an answer has either `confirmed` or `output`; give exactly one")
        if answer.remember is not None and not answer.confirmed:
            raise self._error("`remember` goes with `confirmed: true` only")
        if call_id in self.answers:
            raise self._error(f"the call {call_id!r} is answered twice")
        self.answers[call_id] = answer
        self._answered_at[call_id] = self._line

    def _confirmed(self, entry: dict[str, Any]) -> bool | None:
        value = entry.get("confirmed")
        if value is None or isinstance(value, bool):
            return value
        raise self._error("`confirmed` is neither true nor false")

    def _text(self, entry: dict[str, Any], key: str) -> str | None:
        value = entry.get(key)
        if value is None or isinstance(value, str):
            return value
        raise self._error(f"`{key}` is not text")

    def _check_keys(self, entry: dict[str, Any], known: tuple[str, ...], what: str) -> None:
        for key in entry:
            if key not in known:
                names = ", ".join(known)
                raise self._error(
                    f"unknown key {key!r} in {what}{nearest(key, known)} (known: {names})"
                )

    def _error(self, problem: str) -> ConfigurationError:
        return ConfigurationError(f"{self._source}:{self._line}: {problem}")
