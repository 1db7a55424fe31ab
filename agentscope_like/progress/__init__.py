"""What tools show while they run, for whoever watches: beside the results, never part of them."""

from agentscope_like.progress.call import (
    bind_tool_progress,
    emit_tool_progress,
    emit_tool_progress_closed,
    register_progress_queue,
    reported,
    unregister_progress_queue,
)
from agentscope_like.progress.event import ProgressStream, ToolProgressEvent
from agentscope_like.progress.following import BackgroundOutput, OutputFollower
from agentscope_like.progress.merge import interleave_message_and_progress
from agentscope_like.progress.queue import ProgressQueue
from agentscope_like.progress.settings import ProgressSettings

__all__ = [
    "BackgroundOutput",
    "OutputFollower",
    "ProgressQueue",
    "ProgressSettings",
    "ProgressStream",
    "ToolProgressEvent",
    "bind_tool_progress",
    "emit_tool_progress",
    "emit_tool_progress_closed",
    "interleave_message_and_progress",
    "register_progress_queue",
    "reported",
    "unregister_progress_queue",
]
