"""A server that refuses what its models do not support, as OpenAI's does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.model.chat_server import ChatServer, Json, Reply, delta, failed, streamed

__all__ = ["Abilities", "StrictServer", "completion", "image_part", "images_in"]

SAMPLING = ("temperature", "top_p", "presence_penalty", "frequency_penalty", "logit_bias")


@dataclass(frozen=True)
class Abilities:
    """What a model can do.

    Attributes:
        images: Whether it sees images.
        structured: Whether it follows a schema; a server may also take one and ignore it.
        ignores_format: Whether a schema is taken, and ignored.
        reasons: Whether it reasons: takes an effort and no sampling, and counts all its tokens.
        thinks: Tokens that it needs before it speaks.
        complains: Whether too few of them are a 400; else the answer is cut.
        says: What it says about an image.
    """

    images: bool = False
    structured: bool = False
    ignores_format: bool = False
    reasons: bool = False
    thinks: int = 0
    complains: bool = False
    says: str = "Red."


def completion(text: str, finish: str = "stop") -> Reply:
    """Return a whole answer."""
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": text},
    }
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return Reply([json.dumps(body).encode()], headers={"content-type": "application/json"})


def image_part(url: str = "data:image/png;base64,AAAA") -> Json:
    """Return an image as a part of a message."""
    return {"type": "image_url", "image_url": {"url": url}}


def images_in(request: Mapping[str, Any]) -> int:
    """Return how many images a request shows."""
    contents = [m["content"] for m in request["messages"] if isinstance(m["content"], list)]
    return sum(part["type"] == "image_url" for content in contents for part in content)


class StrictServer(ChatServer):
    """Answers what a model supports; anything else is a 400 that names the field."""

    def __init__(self, **models: Abilities) -> None:
        super().__init__([])
        self.models = {name.replace("_", "-"): abilities for name, abilities in models.items()}

    def reply_to(self, request: Json) -> Reply:
        if self.replies:
            return self.replies.pop(0)
        abilities = self.models.get(request["model"])
        if abilities is None:
            return failed(404, f"The model {request['model']!r} does not exist")
        if refused := _refused(request, abilities):
            hint = "; use 'max_completion_tokens'" if refused == "max_tokens" else ""
            return failed(400, f"Unsupported parameter: {refused!r} is not supported{hint}")
        return self._answer(request, abilities)

    def asked(self, model: str) -> list[Json]:
        """Return the requests for a model."""
        return [request for request in self.requests if request["model"] == model]

    def _answer(self, request: Json, abilities: Abilities) -> Reply:
        limits = [
            request[name] for name in ("max_tokens", "max_completion_tokens") if name in request
        ]
        if limits and limits[-1] <= abilities.thinks:
            reached = "max_tokens or model output limit was reached"
            return failed(400, reached) if abilities.complains else completion("", "length")
        text = f"I am {request['model']}."
        if "response_format" in request and not abilities.ignores_format:
            text = '{"ok": true}'
        elif images_in(request):
            text = abilities.says
        if request.get("stream"):
            return streamed(delta(content=text[:3]), delta("stop", content=text[3:]))
        return completion(text)


def _refused(request: Json, abilities: Abilities) -> str | None:
    """Return the first field that the model does not take, and that no request should hold."""
    refused = {"supports_multimodal", "supports_structured_output"}
    refused |= {name for name in SAMPLING if name in request and request[name] is None}
    refused |= {*SAMPLING, "max_tokens"} if abilities.reasons else {"reasoning_effort"}
    if not abilities.structured and not abilities.ignores_format:
        refused.add("response_format")
    if not abilities.images and images_in(request):
        return "image_url"
    return next((name for name in request if name in refused), None)
