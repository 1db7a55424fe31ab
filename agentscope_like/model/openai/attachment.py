"""Formats images, sounds and files as parts of a chat-completions message."""

from __future__ import annotations

import base64
import mimetypes
from typing import Any

from agentscope_like.message import Base64Source, DataBlock

__all__ = ["describe", "to_part"]

_AUDIO_FORMATS = {
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
    "audio/mpeg": "mp3",
    "audio/mp3": "mp3",
}


def describe(block: DataBlock) -> str:
    """Return a line of text that describes the data where only text is possible."""
    named = f" {block.name!r}" if block.name else ""
    if isinstance(block.source, Base64Source):
        return f"[{block.source.media_type}{named}]"
    return f"[{block.source.media_type}{named} at {block.source.url}]"


def to_part(block: DataBlock) -> dict[str, Any]:
    """Return the data as a content part of a user message; JSON, so of any shape.

    Images are sent as data or by URL; WAV, MP3 and files if the block holds their data; text as
    text; anything else is only described.
    """
    source = block.source
    media_type = source.media_type.partition(";")[0].strip().lower()
    if media_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": _address(block, media_type)}}
    if not isinstance(source, Base64Source):
        return {"type": "text", "text": describe(block)}
    if media_type in _AUDIO_FORMATS:
        audio = {"data": source.data, "format": _AUDIO_FORMATS[media_type]}
        return {"type": "input_audio", "input_audio": audio}
    if media_type.startswith("text/"):
        return {"type": "text", "text": f"{describe(block)}\n{_decoded(source)}"}
    if media_type.startswith(("audio/", "video/")):
        return {"type": "text", "text": describe(block)}
    name = block.name or f"file{mimetypes.guess_extension(media_type) or ''}"
    return {"type": "file", "file": {"filename": name, "file_data": _address(block, media_type)}}


def _address(block: DataBlock, media_type: str) -> str:
    source = block.source
    if isinstance(source, Base64Source):
        return f"data:{media_type};base64,{source.data}"
    return str(source.url)


def _decoded(source: Base64Source) -> str:
    try:
        return base64.b64decode(source.data, validate=True).decode("utf-8", "replace")
    except ValueError:
        return "[not valid base64]"
