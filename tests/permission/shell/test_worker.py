"""The process of the other parsers, where it or whoever asks it misbehaves."""

from __future__ import annotations

import signal
import sys
import time
from typing import NoReturn

import pytest

from agentscope_like.shell.voters.answer import NoAnswerError
from agentscope_like.shell.voters.worker import Worker

DEAF = "import sys, time; print('{}', flush=True); sys.stdin.readline(); time.sleep(60)"
HANG = "(echo '${'$HOME); ls"


def test_one_that_never_ends_by_itself_is_killed() -> None:
    """A process that heeds neither the end of its input nor an alarm is gone at once."""
    worker = Worker((sys.executable, "-I", "-c", DEAF), answer_seconds=0.25)
    started = time.monotonic()
    with pytest.raises(NoAnswerError):
        worker.ask("ls")
    assert time.monotonic() - started < 8
    assert worker.pid is None


def test_an_interrupted_question_leaves_no_answer_behind() -> None:
    """Whatever ends a question early, its answer is not taken for that of the next one."""

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    worker = Worker(answer_seconds=10)
    worker.ask("ls")
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            worker.ask(HANG)
        assert worker.pid is None
        assert worker.ask("ls").bashlex.commands == (((0, 2),),)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        worker.close()
