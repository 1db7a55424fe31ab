"""The jail sees what a command does, so that its silence means something."""

from __future__ import annotations

import pytest

from tests.oracle.jail import Jail, Outcome, is_proven
from tests.oracle.minimal import minimise

_CAUGHT = {
    "a new file": ("touch PWNED", "made '/home/dev/project/PWNED'"),
    "a removed file": ("rm f", "removed '/home/dev/project/f'"),
    "a changed file": ("echo x >> f", "changed size"),
    "a file rewritten as it was": ("cat f > /tmp/t; cat /tmp/t > f; rm /tmp/t", "of '/home/dev/"),
    "a new mode": ("chmod +x f", "changed mode"),
    "a new time": ("touch f", "modified, changed of '/home/dev/project/f'"),
    "a file that came and went": ("touch x1; rm x1", "of '/home/dev/project'"),
    "a symlink": ("ln -sfn nowhere link", "/home/dev/project/link'"),
    "the home": ("mkdir ~/.x", "made '/home/dev/.x'"),
    "/tmp": ("mktemp /tmp/x.XXXXXX", "made '/tmp/x."),
    "what is in the background": ("(sleep 0.1; touch late) & true", "/project/late'"),
    "another process": ("pkill sleep; true", "ended a process"),
    "the network": ("exec 3<>/dev/tcp/127.0.0.1/9", "tried to reach it"),
    "a name server": ("getent hosts example.org; true", "tried to reach it"),
    "IPv6": ("echo x > /dev/udp/2001:db8::1/9; true", "tried to reach it"),
    "/etc": ("echo x > /etc/oracle", "made '/etc/oracle'"),
    "/var": ("mkdir /var/oracle", "made '/var/oracle'"),
    "a file of git": ("git -c core.fsmonitor=false branch new", "refs/heads/new'"),
    "a tool of the project": ("./ls", "made '/run/marks/ls'"),
    "a PATH of the project": ("PATH=.:$PATH; git status", "made '/run/marks/git'"),
    "a script of the project": ("sh evil.sh", "made '/run/marks/evil.sh'"),
    "fsmonitor": ("GIT_CONFIG_COUNT=0 git status", "/git-fsmonitor'"),
    "a text converter": ("GIT_CONFIG_COUNT=0 git blame src/app.py", "/git-textconv'"),
    "an external diff": ("GIT_CONFIG_COUNT=0 git show HEAD", "made '/run/marks/git-external'"),
    "gpg": ("GIT_CONFIG_COUNT=0 git log -1 --format=%G? HEAD~1", "/evil.sh'"),
    "an alias of git": ("git st", "made '/run/marks/alias-st'"),
    "a hook": ("GIT_CONFIG_COUNT=0 git -C d update-ref refs/heads/z HEAD", "/hook-"),
    "a dotfile of the home": ("BASH_ENV=~/.bashrc bash -c :", "made '/run/marks/home.bashrc'"),
    "the editor": ("$EDITOR", "made '/run/marks/editor'"),
}  # fmt: skip

_UNSEEN = {
    "listing": "ls -la . src; cat < f | sort | head -3",
    "git, in the environment of a proven read": "git status",
    "a temporary file of the shell": "cat <<EOF\n" + "x" * 100_000 + "\nEOF",
    "a function in the inherited environment": "ls",
    "the shell's startup files": "true",
    "a socket that is only asked which address it would have": "fuser 8080/tcp || test $? = 1",
    "a neighbour of a write": "touch --version; echo x > /dev/null",
}


@pytest.mark.parametrize(("command", "change"), _CAUGHT.values(), ids=_CAUGHT)
def test_a_change_is_told(jail: Jail, command: str, change: str) -> None:
    """Whatever a command changes or makes a stranger's program do is in its outcome."""
    (outcome,) = jail.run([command])
    assert any(change in line for line in outcome.changes), outcome


@pytest.mark.parametrize("command", _UNSEEN.values(), ids=_UNSEEN)
def test_reading_is_no_change(jail: Jail, command: str) -> None:
    """A command that only reads has an outcome without changes."""
    (outcome,) = jail.run([command])
    assert not outcome.changes
    assert outcome.ran


def test_a_change_is_gone_for_the_next_command(jail: Jail) -> None:
    """Each command finds the world as it was, whatever the one before it did."""
    outcomes = list(jail.run(["ls f", "rm f; touch new", "ls f", "ls new", "kill -9 -1", "ls f"]))
    changed = [outcome.command for outcome in outcomes if outcome.changes]
    assert changed == ["rm f; touch new", "kill -9 -1"]
    assert [outcome.status for outcome in outcomes] == [0, 0, 0, 2, None, 0]


def test_the_machine_s_settings_are_out_of_reach(jail: Jail) -> None:
    """Root needs no capability to write them, and they are not the jail's own."""
    setting = "/proc/sys/kernel/core_pattern"
    refused, fine = jail.run([f"cat {setting} > {setting}", "echo sh > /proc/self/comm"])
    assert refused.status != 0
    assert "Read-only file system" in refused.output or "Permission denied" in refused.output
    assert fine.status == 0


def test_a_change_that_leaves_no_time_is_told(jail: Jail) -> None:
    """What is written through a memory mapping, which moves no clock in memory, is seen too."""
    write = "import mmap; f = open('f', 'r+b'); m = mmap.mmap(f.fileno(), 0); m[0] = 90"
    outcomes = list(jail.run(["true", f'python3 -S -c "{write}"', "true"]))
    assert [bool(outcome.changes) for outcome in outcomes] == [False, True, False]


def test_a_command_that_does_not_end_is_ended(jail: Jail) -> None:
    """A command without an end is stopped, with what it left running, and the next one runs."""
    endless, then = jail.run(["sleep 60 & sleep 60", "echo then"])
    assert endless.status is None
    assert not endless.changes
    assert then.output == "then\n"


def test_processes_that_start_others_are_ended(jail: Jail) -> None:
    """Nothing that a command leaves running is there for the next one, however it hands on."""
    handing_on = "hand_on() { hand_on & }; for i in {1..40}; do hand_on & done"
    first, second = jail.run([f"({handing_on}) > /dev/null 2>&1 &", "pgrep -cf 'hand[_]on'"])
    assert not first.changes
    assert second.output == "0\n"


def test_a_finding_is_made_small(jail: Jail, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report of a change names the shortest command that still makes it."""
    monkeypatch.setattr("tests.oracle.minimal.is_proven", lambda command: True)
    found = Outcome("ls -la ; cat f | wc -l ; touch PWNED ; echo done", ("made",), 0)
    smallest = minimise(jail, found)
    assert smallest.changes
    assert len(smallest.command.split()) == 2


def test_what_is_run_is_what_is_judged() -> None:
    """The engine proves reads in the jail's project, and nothing that writes."""
    assert is_proven("cat f | sort")
    assert not is_proven("cat f | sort -o g")
