"""Masks secrets in logs."""

from __future__ import annotations

import logging

from typing_extensions import override

from agentscope_like.observability.masker import SecretMasker

__all__ = ["SecretFilter"]

_STANDARD = frozenset(vars(logging.makeLogRecord({})))
_UNREADABLE = "a record was left out: its message does not fit its arguments"


class SecretFilter(logging.Filter):
    """Masks secrets in the message, the traceback and the extra fields of log records.

    Add it to handlers, not to loggers: a logger's filters do not see the records of its child
    loggers.

    Args:
        masker: Knows the secrets.
    """

    def __init__(self, masker: SecretMasker) -> None:
        super().__init__()
        self._masker = masker
        self._formatter = logging.Formatter()

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        """Mask the record in place, and keep it."""
        try:
            message = record.getMessage()
        except Exception:
            message = _UNREADABLE  # logging would print the arguments as they are
            record.msg, record.args = message, ()
        masked = self._masker.mask(message)
        if masked != message:
            record.msg, record.args = masked, ()
        self._mask_traceback(record)
        if record.stack_info:
            record.stack_info = self._masker.mask(record.stack_info)
        for name, value in list(vars(record).items()):
            if name not in _STANDARD:
                setattr(record, name, self._masker.mask_value(value))
        return True

    def _mask_traceback(self, record: logging.LogRecord) -> None:
        told = record.exc_text or ""
        if record.exc_info and not told:
            told = self._formatter.formatException(record.exc_info)
        masked = self._masker.mask(told)
        if masked != told:
            # What is left of it is text; a handler that formats it anew would show the secret.
            record.exc_text, record.exc_info = masked, None
