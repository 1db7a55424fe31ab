"""Files whose reading may never end: each way to one, and its harmless neighbour."""

from __future__ import annotations

import pytest

from tests.permission.kit import analyze


def may_never_end(command: str) -> bool:
    """Return whether a command is in doubt because what it reads may be a device."""
    analysis = analyze(command, directory="/ws", home="/home/u")
    return any("may never end" in doubt.message for doubt in analysis.all_doubts)


PATHS = """
/dev /device
/dev/sda /x/dev/sda
/dev/nullx /dev/null
/dev/xstdin /dev/stdin
/dev/stdout/ /dev/stdout
/dev/stderrs /dev/stderr
/dev/fd /dev/fd/0
/dev/fd/ /dev/fd/12
/dev/fd/x /dev/fd/3
/dev/fd/0/x /dev/fd/0
/dev/null/ /dev/null
/x/../dev/sda /x/../sda
/proc/kmsg /proc/kmsgs
/proc/kmsg /proc/meminfo
/proc/acpi/event /proc/acpi/events
/proc/acpi/event /proc/acpi/wakeup
/proc/1/root/etc/hosts /proc/1/roots/etc/hosts
/proc/self/cwd/a /proc/self/cwds/a
/proc/self/task/1/cwd/a /proc/self/task/1/stat
/proc/self/cwd/../stat /proc/self/stat
/sys/kernel/tracing/trace_pipe /sys/kernel/tracing/trace
/sys/kernel/tracing/trace_pipe /sys/kernel/tracing/xtrace_pipe
/sys/kernel/debug/tracing/trace_pipe /sys/kernel/debug/trace_pipe
/sys/kernel/tracing/per_cpu/cpu0/trace_pipe_raw /sys/kernel/tracing/trace_pipes
/run/initctl /run/initctls
/var/run/initctl /x/run/initctl
"""

PATTERNS = """
/d* /e*
/dev/* /devs/*
/d*/null /de/n*
/*v/x /*w/x
/*/* /*
/[d]ev/x /[d]evs/x*
/proc/kms? /proc/kn?
/pro?/kmsg /pro?/kmsgs
/proc/k* /proc/k*/x
/proc/a*/event /proc/b*/event
/proc/acpi/e* /proc/acpi/f*
/proc/*/root /proc/*/status
/proc/1/r*/x /proc/1/t*/x
/proc/1/c*d /proc/1/c*e
/pro*/1/cwd/x /x/root/*
/proc/1/cw? /x/cwd/*
/run/i* /run/j*
/ru*/initctl /ru*/initctls
/var/run/i* /var/run/j*
/var/ru*/initctl /var/ru*s/initctl
/v*/run/initctl /w*/run/initctl
/sys/kernel/t* /sys/kernel/s*
/sys/k*/tracing/x /sys/k*/x
/s*/kernel/tracing/x /t*/kernel/tracing/x
/sys/kernel/debug/t*/x /sys/kernel/debug/u*/x
/sys/kernel/d*/tracing/x /sys/kernel/d*/x
/sys/k*/debug/tracing/x /sys/k*/debug/x
/s*/kernel/debug/tracing/x /s*/kernel/debug/x
"""

UNKNOWN_ENDS = """
random urandom zero full tty tty0 ttyS1 console kmsg mem kmem port hda sdb1 vdc nozero
"""


@pytest.mark.parametrize("paths", [*PATHS.strip().splitlines(), *PATTERNS.strip().splitlines()])
def test_a_device_and_what_leads_to_one_is_in_doubt(paths: str) -> None:
    """The first path or pattern may be a file that never ends; the second, like it, is none."""
    device, file = paths.split()
    assert may_never_end(f"cat {device}")
    assert may_never_end(f"wc -c < {device}")
    assert not may_never_end(f"ls {device}")
    assert not may_never_end(f"cat {file}")


def test_a_pattern_that_is_quoted_is_a_name() -> None:
    """What stands for itself matches no device."""
    assert may_never_end("cat /d*/null")
    assert not may_never_end("cat '/d*/null'")


@pytest.mark.parametrize("start", ['"/dev$x"', '"/dev/$x"', '"/dev/f$x"', '"/dev/fd$x"'])
def test_a_path_that_begins_as_a_device_does_may_be_one(start: str) -> None:
    """Whatever follows; what follows the directory of open files is one of those."""
    assert may_never_end(f"cat {start}")
    assert not may_never_end('cat "/dev/fd/$x"')
    assert not may_never_end('cat "/devs/$x"')
    assert not may_never_end('cat "/x/dev/$x"')


@pytest.mark.parametrize("name", UNKNOWN_ENDS.split())
def test_a_path_that_ends_as_a_device_does_may_be_one(name: str) -> None:
    """Where the directory is not known, the name is all there is to go by, however it is quoted."""
    is_device = name != "nozero"
    for path in (f'"$x/{name}"', f'"$x"/{name}', f"~bob/{name}", f'/tmp/"$x"/{name}'):
        assert may_never_end(f"cat {path}") is is_device
    assert may_never_end(f"find . -execdir cat {name} ';'") is is_device
    assert may_never_end(f"xargs -I{{}} cat '{{}}/{name}' < f") is is_device
    assert not may_never_end(f'cat "$x/{name}.txt"')
    assert not may_never_end(f'cat "$x{name}"')
    assert not may_never_end(f'ls "$x/{name}"')
    assert not may_never_end(f"cat /x/{name}")
