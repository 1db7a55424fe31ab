"""What is remembered of texts is bounded by their characters."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import pytest

from agentscope_like.permission import PermissionContext, PermissionEngine
from agentscope_like.shell import CommandAnalysis
from agentscope_like.sized_cache import cached_by_size
from agentscope_like.tool import Bash


def test_a_result_is_made_once_and_the_oldest_goes_first() -> None:
    """Short texts stay together, a long one makes room for itself, and goes in its turn."""
    made: list[str] = []

    @cached_by_size(1_000)
    def upper(text: str, *, twice: bool = False) -> str:
        made.append(text[:1])
        return text.upper() * (1 + twice)

    for text in ("a", "b", "a", "b"):
        assert upper(text) == text.upper()
    assert upper("a", twice=True) == "AA"
    assert made == ["a", "b", "a"]
    long = "c" * 5_000
    assert upper(long) == upper(long) == long.upper()
    assert made == ["a", "b", "a", "c"]
    assert [upper("a"), upper("a"), upper(long)] == ["A", "A", long.upper()]
    assert made == ["a", "b", "a", "c", "a", "c"]


def test_an_error_is_not_remembered() -> None:
    """What failed is tried again."""
    tries: list[str] = []

    @cached_by_size(1_000)
    def second(text: str) -> str | None:
        tries.append(text)
        if len(tries) == 1:
            raise ValueError(text)
        return None

    with pytest.raises(ValueError, match="a"):
        second("a")
    assert second("a") is second("a") is None
    assert len(tries) == 2


def test_threads_get_the_right_results() -> None:
    """Many threads that ask and push each other's results out get what they asked for."""

    @cached_by_size(500)
    def upper(text: str) -> str:
        return text.upper()

    wrong: list[str] = []

    def ask(start: int) -> None:
        for number in range(start, start + 3_000):
            text = f"a{number % 17}"
            if upper(text) != text.upper():
                wrong.append(text)

    threads = [threading.Thread(target=ask, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


async def test_long_commands_do_not_pile_up(tmp_path: Path) -> None:
    """Of many long commands the readings of a few are held."""
    bash = Bash(cwd=tmp_path, confine="off")
    engine = PermissionEngine(PermissionContext())
    for number in range(60):
        command = f"echo {number} {'a' * 9_000}"
        await engine.check_permission(bash, {"command": command})
    gc.collect()
    held = [
        each
        for each in gc.get_objects()
        if isinstance(each, CommandAnalysis) and len(each.command) > 9_000
    ]
    assert 1 <= len(held) <= 25
