"""Starts, follows and ends commands on this host."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.sandbox.host.background import BackgroundTasks
    from agentscope_like.sandbox.host.background_handle import BackgroundHandle
    from agentscope_like.sandbox.host.foreground import run_to_end
    from agentscope_like.sandbox.host.host_sandbox import HostSandbox
    from agentscope_like.sandbox.host.launcher import HostLauncher, Launcher, check_command
    from agentscope_like.sandbox.host.orphan_guard import OrphanGuard
    from agentscope_like.sandbox.host.passthrough import PassthroughSandbox, require_unmoved
    from agentscope_like.sandbox.host.process_family import MARK_VARIABLE, ProcessFamily
    from agentscope_like.sandbox.host.programs import find_bash, find_bubblewrap, find_seatbelt
    from agentscope_like.sandbox.host.started_command import (
        GRACE_SECONDS,
        RunningCommand,
        has_ended,
        readable,
        status_of,
        until_ended,
    )

__all__ = [
    "GRACE_SECONDS",
    "MARK_VARIABLE",
    "BackgroundHandle",
    "BackgroundTasks",
    "HostLauncher",
    "HostSandbox",
    "Launcher",
    "OrphanGuard",
    "PassthroughSandbox",
    "ProcessFamily",
    "RunningCommand",
    "check_command",
    "find_bash",
    "find_bubblewrap",
    "find_seatbelt",
    "has_ended",
    "readable",
    "require_unmoved",
    "run_to_end",
    "status_of",
    "until_ended",
]

__getattr__ = on_first_use(
    __name__,
    {
        "BackgroundHandle": "background_handle",
        "BackgroundTasks": "background",
        "GRACE_SECONDS": "started_command",
        "HostLauncher": "launcher",
        "HostSandbox": "host_sandbox",
        "Launcher": "launcher",
        "MARK_VARIABLE": "process_family",
        "OrphanGuard": "orphan_guard",
        "PassthroughSandbox": "passthrough",
        "ProcessFamily": "process_family",
        "RunningCommand": "started_command",
        "check_command": "launcher",
        "find_bash": "programs",
        "find_bubblewrap": "programs",
        "find_seatbelt": "programs",
        "has_ended": "started_command",
        "readable": "started_command",
        "require_unmoved": "passthrough",
        "run_to_end": "foreground",
        "status_of": "started_command",
        "until_ended": "started_command",
    },
)
