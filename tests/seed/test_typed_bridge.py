"""The document "Tool System" (seed 004): the bridge from blocking code to async code."""

from __future__ import annotations

import asyncio
import threading

import pytest

from agentscope_like import bridge


def test_004_27_async_code_runs_for_blocking_code() -> None:
    """On a loop in a thread in the background, which ends with its block."""

    async def where() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    with bridge.shared_loop():
        assert bridge.run(where()) != threading.current_thread().name


def test_004_28_blocking_calls_have_time_outs() -> None:
    """What takes longer is cancelled, and says so."""
    with bridge.shared_loop(), pytest.raises(TimeoutError):
        bridge.run(asyncio.sleep(30), timeout=0.05)
