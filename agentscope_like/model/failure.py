"""Turns exceptions of the `openai` library into errors that say how to fix them."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import mktime_tz, parsedate_tz

from agentscope_like.exception import ModelError
from agentscope_like.model.retry import TransientModelError
from agentscope_like.types import ErrorType

__all__ = ["model_error", "no_completion", "seconds_to_wait"]

_SHORTEST_KEY = 4
"""A shorter key is a placeholder for servers without keys, such as `x`, and occurs in any text."""

_LONGEST_DETAIL = 500
_NEVER_PASSES = ("insufficient_quota", "billing_hard_limit_reached")

_BY_STATUS: dict[int, tuple[ErrorType, str]] = {
    401: (ErrorType.AUTHENTICATION, "set OPENAI_API_KEY or pass api_key"),
    403: (ErrorType.PERMISSION, "use a key that may use this model, or another model"),
    404: (ErrorType.INVALID_REQUEST, "check the model's name and base_url"),
    408: (ErrorType.CONNECTION, "try again"),
    409: (ErrorType.UPSTREAM, "try again"),
    413: (ErrorType.INVALID_REQUEST, "shorten the conversation or its attachments"),
    429: (ErrorType.RATE_LIMIT, "wait, or raise the account's limit"),
}
_OTHER_4XX = (ErrorType.INVALID_REQUEST, "correct the request or generate_kwargs")
_5XX = (ErrorType.UPSTREAM, "try again later, or use another server")
_PASSING = (408, 409, 429)


def model_error(error: Exception, *, model: str, where: str, secret: str | None) -> ModelError:
    """Return the model error for a failed call of `model`.

    Transient failures (connection, 408, 409, 429, 5xx) are `TransientModelError`s, except a 429 for
    an account without credit.

    Args:
        error: What the client raised.
        model: The model, for the message.
        where: The server's address, for the message.
        secret: The API key, which some servers repeat; it is removed from messages.
    """
    import openai

    subject = f"model {model!r} at {where}"
    if isinstance(error, ModelError):
        return error
    if isinstance(error, openai.APIStatusError):
        return _status_error(error.status_code, error, subject, secret)
    if isinstance(error, openai.APIConnectionError) or _from_transport(error):
        problem = "timed out" if "Timeout" in type(error).__name__ else "failed"
        cause = _detail(error.__cause__ or error, secret)
        return TransientModelError(
            f"The connection to the {subject} {problem} ({cause}); check base_url and the network."
        )
    if isinstance(error, openai.APIError):
        return _streamed_error(error, subject, secret)
    if isinstance(error, ValueError | AttributeError):  # what came is no JSON, or no object
        return ModelError(
            f"The {subject} sent something that cannot be read "
            f"({_detail(error, secret)}); check that base_url leads to a compatible server.",
            type=ErrorType.UPSTREAM,
        )
    return ModelError(f"Calling the {subject} failed: {error!r:.{_LONGEST_DETAIL}}.")


def no_completion(what: str, where: str, mend: str = "check base_url") -> ModelError:
    """Return the error for a response without an answer.

    Args:
        what: What the server sent instead.
        where: The server's address.
        mend: How to fix it.
    """
    return ModelError(
        f"The server at {where} answered with {what}, which is not a chat completion; {mend}.",
        type=ErrorType.UPSTREAM,
    )


def _status_error(status: int, error: Exception, subject: str, secret: str | None) -> ModelError:
    kind, mend = _BY_STATUS.get(status) or (_5XX if status >= 500 else _OTHER_4XX)  # noqa: PLR2004
    if getattr(error, "code", None) == "context_length_exceeded":
        mend = "shorten the conversation"
    passing = status in _PASSING or status >= 500  # noqa: PLR2004
    if passing and getattr(error, "code", None) in _NEVER_PASSES:
        passing, mend = False, "add credit to the account"
    message = f"The {subject} answered {status}: {_detail(error, secret)}; {mend}."
    if not passing:
        return ModelError(message, type=kind)
    wait = seconds_to_wait(getattr(getattr(error, "response", None), "headers", None) or {})
    if wait is not None:
        message += f" It asks to wait {wait:.0f} s."
    return TransientModelError(message, type=kind, retry_after=wait)


def _streamed_error(error: Exception, subject: str, secret: str | None) -> ModelError:
    """Return the error for one sent within a stream, which has no HTTP status."""
    message = f"The {subject} broke off: {_detail(error, secret)}"
    if "invalid_request" in f"{getattr(error, 'type', '')}":
        return ModelError(f"{message}; correct the request.", type=ErrorType.INVALID_REQUEST)
    return TransientModelError(f"{message}; try again.", type=ErrorType.UPSTREAM)


def _from_transport(error: Exception) -> bool:
    """Return whether it is an exception of the HTTP library that the client let through.

    The library's package name differs between versions, so it is recognised by its origin.
    """
    origins = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return isinstance(error, OSError) or bool(origins & {"httpx", "httpx2", "httpcore"})


def _detail(error: BaseException, secret: str | None) -> str:
    body = getattr(error, "body", None)
    told = body.get("message") if isinstance(body, Mapping) else None
    text = told if isinstance(told, str) and told else str(error) or type(error).__name__
    text = " ".join(text.split())
    if secret and len(secret) >= _SHORTEST_KEY:
        text = text.replace(secret, "[API key]")
    return text if len(text) <= _LONGEST_DETAIL else text[:_LONGEST_DETAIL] + "..."


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait that a `Retry-After` header asks for, or None.

    It may hold seconds or a date (RFC 9110, section 10.2.3); `retry-after-ms` is more exact.
    """
    for header, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(header, "")) / unit
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    date = parsedate_tz(headers.get("retry-after", ""))
    return max(mktime_tz(date) - time.time(), 0.0) if date else None
