"""Small types that messages, events and agents share."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

__all__ = ["ErrorInfo", "ErrorType", "ReplyFinishedReason"]


class ReplyFinishedReason(StrEnum):
    """Why a reply ended."""

    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    EXCEED_MAX_ITERS = "exceed_max_iters"
    ERROR = "error"


class ErrorType(StrEnum):
    """What kind of failure ended a reply."""

    AUTHENTICATION = "authentication"
    PERMISSION = "permission"
    RATE_LIMIT = "rate_limit"
    INVALID_REQUEST = "invalid_request"
    UPSTREAM = "upstream"
    CONNECTION = "connection"
    INTERNAL = "internal"
    SETUP = "setup"
    UNKNOWN = "unknown"


class ErrorInfo(BaseModel):
    """A failure, as events and messages carry it."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    type: ErrorType = ErrorType.UNKNOWN
    message: str
