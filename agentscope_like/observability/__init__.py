"""Traces what agents do, and masks secrets in traces, logs and results.

Modules that a handler does not need are imported on first use.
"""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use
from agentscope_like.observability.handler import BaseTraceHandler
from agentscope_like.observability.manager import ObservabilityManager
from agentscope_like.observability.masker import MASK, MaskedStream, SecretMasker

if TYPE_CHECKING:
    from agentscope_like.observability.log_filter import SecretFilter
    from agentscope_like.observability.masked_progress import MaskedProgressQueue
    from agentscope_like.observability.masking import MaskSecretsMiddleware
    from agentscope_like.observability.opentelemetry import OpenTelemetryTraceHandler
    from agentscope_like.observability.trace import TraceMiddleware

__all__ = [
    "MASK",
    "BaseTraceHandler",
    "MaskSecretsMiddleware",
    "MaskedProgressQueue",
    "MaskedStream",
    "ObservabilityManager",
    "OpenTelemetryTraceHandler",
    "SecretFilter",
    "SecretMasker",
    "TraceMiddleware",
]

__getattr__ = on_first_use(
    __name__,
    {
        "MaskSecretsMiddleware": "masking",
        "MaskedProgressQueue": "masked_progress",
        "OpenTelemetryTraceHandler": "opentelemetry",
        "SecretFilter": "log_filter",
        "TraceMiddleware": "trace",
    },
)
