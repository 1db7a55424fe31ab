"""Checks the content that an MCP tool returns, and converts it to blocks.

The content is not trusted: data of the wrong type would make every later request to the model
invalid, so it is checked here and replaced with a description.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from pydantic_core import to_json

from agentscope_like.message import Base64Source, DataBlock, TextBlock, ToolChunk, ToolResultState

if TYPE_CHECKING:
    from mcp_types import (
        AudioContent,
        BlobResourceContents,
        CallToolResult,
        ContentBlock,
        EmbeddedResource,
        ImageContent,
        ResourceLink,
        TextResourceContents,
    )

__all__ = ["content_blocks", "resource_blocks", "to_chunk"]

SILENT_ERROR = "The tool says that it failed, and nothing more."

_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}")
_UNKNOWN_DATA = "application/octet-stream"
_WRAPPER = "result"
_SENT = "[data that is shown beside this]"


def to_chunk(result: CallToolResult) -> ToolChunk:
    """Return the result of a call as one chunk; ERROR if the server says that it failed.

    Text stays text; images, sounds and embedded files become data; a link to a resource is
    described, never followed. A structured result is added as JSON unless the text contains it
    already.
    """
    content = list(_joined(_blocks(result)))
    if result.is_error:
        content = content or [TextBlock(text=SILENT_ERROR)]
        return ToolChunk(content=content, state=ToolResultState.ERROR)
    return ToolChunk(content=content)


def content_blocks(items: Iterable[ContentBlock]) -> list[TextBlock | DataBlock]:
    """Return what a server sent as blocks."""
    return list(_joined(map(_block, items)))


def resource_blocks(
    contents: Iterable[TextResourceContents | BlobResourceContents],
) -> list[TextBlock | DataBlock]:
    """Return the contents of a resource as blocks."""
    return list(_joined(map(_contents, contents)))


def _blocks(result: CallToolResult) -> Iterator[str | DataBlock]:
    for item in result.content:
        yield _block(item)
    texts = [item.text for item in result.content if item.type == "text"]
    structured = result.structured_content
    if structured is None or _is_told(structured, texts):
        return
    sent = {item.data for item in result.content if item.type in ("image", "audio")}
    if (
        sent
        and isinstance(structured, dict)
        and _WRAPPER in structured
        and _is_media(structured[_WRAPPER], sent)
    ):
        return
    yield _json(_without_data(structured, sent) if sent else structured)


def _is_media(value: Any, sent: set[str]) -> bool:
    """Return whether a structured result has nothing but data that is sent beside it."""
    if isinstance(value, dict) and _WRAPPER in value:
        value = value[_WRAPPER]
    items = value if isinstance(value, list) else [value]
    return all(isinstance(each, dict) and each.get("data") in sent for each in items)


def _without_data(value: Any, sent: set[str]) -> Any:
    """Return a structured result with a note in the place of data that is sent beside it."""
    if isinstance(value, str):
        return _SENT if value in sent else value
    try:
        if isinstance(value, dict):
            return {key: _without_data(each, sent) for key, each in value.items()}
        if isinstance(value, list):
            return [_without_data(each, sent) for each in value]
    except RecursionError:
        return value
    return value


def _joined(parts: Iterator[str | DataBlock]) -> Iterator[TextBlock | DataBlock]:
    """Yield the parts as blocks; adjacent texts are joined with a line feed."""
    texts: list[str] = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
            continue
        if texts:
            yield TextBlock(text="\n".join(texts))
            texts.clear()
        yield part
    if any(texts):
        yield TextBlock(text="\n".join(texts))


def _block(item: ContentBlock) -> str | DataBlock:
    match item.type:
        case "text":
            return item.text
        case "image" | "audio":
            return _media(item)
        case "resource_link":
            return _link(item)
        case "resource":
            return _resource(item)


def _media(item: ImageContent | AudioContent) -> str | DataBlock:
    return _data(item.data, item.mime_type, what=item.type)


def _resource(item: EmbeddedResource) -> str | DataBlock:
    return _contents(item.resource)


def _contents(resource: TextResourceContents | BlobResourceContents) -> str | DataBlock:
    text = getattr(resource, "text", None)
    if text is not None:
        return f"[resource {resource.uri}]\n{text}"
    data: str = getattr(resource, "blob", "")
    return _data(data, resource.mime_type, what="resource", name=resource.uri)


def _link(item: ResourceLink) -> str:
    facts = [item.mime_type or "", f"{item.size:,} bytes" if item.size is not None else ""]
    told = ", ".join(filter(None, facts))
    named = item.title or item.name
    lines = [f"[link to the resource {named!r}: {item.uri}{f' ({told})' if told else ''}]"]
    return "\n".join(lines + ([item.description] if item.description else []))


def _data(
    data: str, media_type: str | None, *, what: str, name: str | None = None
) -> str | DataBlock:
    found = (media_type or _UNKNOWN_DATA).partition(";")[0].strip().lower()
    media_type = found if _MEDIA_TYPE.fullmatch(found) else _UNKNOWN_DATA
    data = "".join(data.split())
    try:
        base64.b64decode(data, validate=True)
    except ValueError:
        return f"[the server sent this {what} in a form that is not base64]"
    return DataBlock(source=Base64Source(data=data, media_type=media_type), name=name)


def _is_told(structured: Any, texts: Sequence[str]) -> bool:
    """Return whether the text already contains the structured result, as the protocol recommends.

    Servers wrap a value that is not an object as `{"result": ...}`, text also under another name,
    and write the items of a list one by one.
    """
    values = [structured]
    if isinstance(structured, dict) and len(structured) == 1:
        [(key, value)] = structured.items()
        if key == _WRAPPER or isinstance(value, str):
            values.append(value)
    read = [_read(text) for text in texts]
    return any(value in texts or value in read or value in (read, list(texts)) for value in values)


def _read(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return text


def _json(value: Any) -> str:
    try:
        return to_json(value, indent=2, fallback=str).decode()
    except (ValueError, RecursionError):  # half a surrogate pair, or no end of nesting
        return repr(value)
