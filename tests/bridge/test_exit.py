"""What is left of the bridge when a program is interrupted, ends or forks: nothing."""

from __future__ import annotations

import subprocess
import sys

HEAD = """
import asyncio, atexit, os, signal, sys, threading, time
from agentscope_like.bridge import BackgroundLoop, call_in_thread, iterate, run, shared_loop
def left():
    print("left", sorted(one.name for one in threading.enumerate()), flush=True)
def interrupt_soon(after=0.3):
    def interrupt():
        time.sleep(after)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt, daemon=True).start()
async def slow():
    try:
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0.05)
        print("clean", flush=True)
async def numbers():
    try:
        yield 1
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0.05)
        print("clean", flush=True)
async def answer():
    return 1
"""


def result_of(program: str) -> subprocess.CompletedProcess[str]:
    """Run a program, which may not take long to end."""
    return subprocess.run(
        [sys.executable, "-X", "dev", "-c", HEAD + program],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_ctrl_c_cancels_and_waits_for_the_cleanup() -> None:
    """`KeyboardInterrupt` is raised after the coroutine's cleanup, and the loop can be used."""
    done = result_of(
        """
interrupt_soon()
try:
    run(slow())
except KeyboardInterrupt:
    print("interrupted", run(answer()))
"""
    )
    assert done.stdout.split() == ["clean", "interrupted", "1"]
    assert done.stderr == ""


def test_ctrl_c_closes_what_is_iterated() -> None:
    """The same holds in the middle of a step of a generator."""
    done = result_of(
        """
interrupt_soon()
try:
    for number in iterate(numbers()):
        print(number)
except KeyboardInterrupt:
    print("interrupted", run(answer()))
"""
    )
    assert done.stdout.split() == ["1", "clean", "interrupted", "1"]
    assert done.stderr == ""


def test_a_second_ctrl_c_does_not_wait() -> None:
    """Who interrupts again need not wait for a cleanup that hangs."""
    done = result_of(
        """
async def hangs():
    try:
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(60)
loop = BackgroundLoop(grace=20)
interrupt_soon()
begun = time.monotonic()
try:
    interrupt_soon(after=1)
    loop.run(hangs())
except KeyboardInterrupt:
    print("out", 0.9 < time.monotonic() - begun < 10, flush=True)
    os._exit(0)
"""
    )
    assert done.stdout.split() == ["out", "True"]


def test_no_thread_is_left_when_a_program_ends_without_closing_anything() -> None:
    """At exit, tasks are cancelled and cleaned up, and the loop's and the workers' threads end."""
    done = result_of(
        """
async def leave_behind():
    global task
    task = asyncio.create_task(slow())
    await call_in_thread(lambda: None)
    await asyncio.to_thread(lambda: None)
run(leave_behind())
left()
"""
    )
    assert "background-loop" in done.stdout.splitlines()[0]
    assert done.stdout.splitlines()[1:] == ["clean"]
    assert (done.returncode, done.stderr) == (0, "")


def test_the_threads_have_ended_before_the_last_exit_handler() -> None:
    """An exit handler that was registered before the bridge was used finds the main thread only."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import atexit, threading\n"
            "atexit.register(lambda: print([one.name for one in threading.enumerate()]))\n"
            + HEAD
            + "run(call_in_thread(lambda: None))\nBackgroundLoop().run(answer())\n"
            + "raise ValueError('boom')\n",
        ],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.stdout.strip() == "['MainThread']"
    assert done.stderr.strip().endswith("ValueError: boom")
    assert done.returncode == 1


def test_a_program_with_a_generator_in_the_middle_ends_in_order() -> None:
    """An iterator that nobody closed does not keep the process, and its cleanup is done."""
    done = result_of("kept = iterate(numbers())\nnext(kept)\nprint('end', flush=True)\n")
    assert done.stdout.split() == ["end", "clean"]
    assert (done.returncode, done.stderr) == (0, "")


def test_a_block_leaves_no_thread_after_an_exception() -> None:
    """After a `with` block only the main thread is left, even if the block failed."""
    done = result_of(
        """
for make in (shared_loop, BackgroundLoop):
    try:
        with make() as loop:
            loop.run(call_in_thread(lambda: None))
            raise KeyError
    except KeyError:
        left()
"""
    )
    assert done.stdout.splitlines() == ["left ['MainThread']"] * 2
    assert done.stderr == ""


def test_a_fork_begins_anew() -> None:
    """A child's calls run on a loop of its own; a loop of the parent's refuses there."""
    done = result_of(
        """
own = BackgroundLoop()
print("parent", run(answer()), own.run(answer()), flush=True)
if (child := os.fork()) == 0:
    print("child", run(answer()), flush=True)
    try:
        own.run(answer())
    except Exception as error:
        print(type(error).__name__, "make another BackgroundLoop in the child" in str(error))
    own.close()
    print("child ends", flush=True)
    sys.exit(0)
os.waitpid(child, 0)
print("parent", run(answer()), own.run(answer()), flush=True)
"""
    )
    assert done.stdout.splitlines() == [
        "parent 1 1",
        "child 1",
        "BridgeError True",
        "child ends",
        "parent 1 1",
    ]
    assert done.stderr == ""


def test_a_loop_that_is_blocked_does_not_keep_the_process() -> None:
    """Async code that blocks its thread for ever is left behind at exit, and that is said."""
    done = result_of(
        """
async def blocks():
    asyncio.get_running_loop().call_later(0.05, threading.Event().wait)
BackgroundLoop(grace=0.1).run(blocks())
time.sleep(0.3)
print("end", flush=True)
"""
    )
    assert done.stdout.split() == ["end"]
    assert done.returncode == 0
    assert "a task blocks its thread" in done.stderr
