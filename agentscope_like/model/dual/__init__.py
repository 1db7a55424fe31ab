"""Combines a standard and a fast model in one client, and probes what they can do."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.model.dual.capabilities import (
        ModelCapabilities,
        sanitize_model_request_kwargs,
    )
    from agentscope_like.model.dual.dual_client import DualAsyncOpenAI, ModelEndpoint
    from agentscope_like.model.dual.probe import (
        probe_capabilities,
        probe_connection,
        probe_multimodal,
        probe_structured_output,
    )
    from agentscope_like.model.dual.routed import ModelType

__all__ = [
    "DualAsyncOpenAI",
    "ModelCapabilities",
    "ModelEndpoint",
    "ModelType",
    "probe_capabilities",
    "probe_connection",
    "probe_multimodal",
    "probe_structured_output",
    "sanitize_model_request_kwargs",
]

__getattr__ = on_first_use(
    __name__,
    {
        "DualAsyncOpenAI": "dual_client",
        "ModelCapabilities": "capabilities",
        "ModelEndpoint": "dual_client",
        "ModelType": "routed",
        "probe_capabilities": "probe",
        "probe_connection": "probe",
        "probe_multimodal": "probe",
        "probe_structured_output": "probe",
        "sanitize_model_request_kwargs": "capabilities",
    },
)
