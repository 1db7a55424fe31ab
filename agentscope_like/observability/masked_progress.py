"""Masks secrets in the progress of tools."""

from __future__ import annotations

import threading

from typing_extensions import override

from agentscope_like.observability.masker import MaskedStream, SecretMasker
from agentscope_like.progress import ProgressQueue, ProgressSettings, ProgressStream
from agentscope_like.progress.event import STREAMS

__all__ = ["MaskedProgressQueue"]


class MaskedProgressQueue(ProgressQueue):
    """A progress queue that masks secrets; pass it to `register_progress_queue`.

    Each stream of a call is masked across its pieces. Text that may be the beginning of a secret is
    held back until it is not, or until the call ends.

    Args:
        masker: Knows the secrets.
    """

    def __init__(self, masker: SecretMasker) -> None:
        super().__init__()
        self._masker = masker
        self._masking = threading.Lock()
        self._masked: dict[tuple[str, ProgressStream], MaskedStream] = {}

    @override
    def put(
        self, tool_call_id: str, stream: ProgressStream, text: str, *, settings: ProgressSettings
    ) -> bool:
        with self._masking:  # over both, so that the order of a stream is kept
            key = tool_call_id, stream
            if key not in self._masked:
                self._masked[key] = self._masker.stream()
            shown = self._masked[key].feed(text)
            return super().put(tool_call_id, stream, shown, settings=settings)

    @override
    def close_call(self, tool_call_id: str) -> None:
        with self._masking:
            for stream in STREAMS:
                masked = self._masked.pop((tool_call_id, stream), None)
                if masked is not None:
                    rest = masked.flush()
                    super().put(tool_call_id, stream, rest, settings=ProgressSettings())
            super().close_call(tool_call_id)
