"""Encodes states and events as JSON text, and decodes them."""

from __future__ import annotations

import json

from pydantic import BaseModel, TypeAdapter
from pydantic_core import PydanticSerializationError

from agentscope_like.event import AgentEvent, parse_event
from agentscope_like.session.storage import SessionError
from agentscope_like.state import AgentState
from agentscope_like.strict_json import read_json

__all__ = ["decode_event", "decode_state", "encode", "title_of"]

_LONGEST_TITLE = 80
_LONGEST_REASON = 300


def encode(model: BaseModel) -> str:
    """Return the model as JSON; lone surrogates, which UTF-8 cannot encode, are kept as escapes."""
    try:
        return model.model_dump_json()
    except PydanticSerializationError:
        return json.dumps(model.model_dump(mode="json"))


def decode_state(text: str, session_id: str) -> AgentState:
    """Return the state that `encode` turned into this text.

    Raises:
        SessionError: The text is not a state.
    """
    try:
        return AgentState.model_validate_json(text)
    except ValueError as error:
        raise _unreadable("the state", session_id, error) from error


def decode_event(text: str, session_id: str) -> AgentEvent:
    """Return the event that `encode` turned into this text.

    Raises:
        SessionError: The text is not an event.
    """
    try:
        if not _has_surrogates(text):
            return parse_event(text)
        adapter: TypeAdapter[AgentEvent] = TypeAdapter(AgentEvent)
        return adapter.validate_python(read_json(text))
    except ValueError as error:
        raise _unreadable("an event", session_id, error) from error


def _has_surrogates(text: str) -> bool:
    """Return whether the JSON may hold an escaped surrogate, which pydantic's parser refuses."""
    return "\\ud" in text


def _unreadable(what: str, session_id: str, error: ValueError) -> SessionError:
    reason = " ".join(str(error).split())[:_LONGEST_REASON]
    return SessionError(
        f"{what} of session {session_id!r} cannot be read ({reason}); it was written by another "
        "version, or damaged: begin a new session"
    )


def title_of(state: AgentState) -> str:
    """Return the first line of the user's first message, shortened to 80 characters."""
    for message in state.context:
        text = (message.get_text_content() or "").strip() if message.role == "user" else ""
        if text:
            line = " ".join(text.splitlines()[0].split())
            return line if len(line) <= _LONGEST_TITLE else line[: _LONGEST_TITLE - 3] + "..."
    return ""
