"""Starts a program below a keeper, which ends everything that came of it.

The keeper is the program's parent. Orphans of the program become children of the keeper
(PR_SET_CHILD_SUBREAPER, prctl(2)), so that none leaves it, whatever session or environment it is
in. It ends them when the program has ended, and when the pipe from this process is closed, which
the kernel does however this process ends. The program is started from a file descriptor, since
every user can see a command line.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping, Sequence

from agentscope_like.sandbox.isolation import INTERPRETER

__all__ = [
    "EXITED",
    "FAILED",
    "LEFT",
    "confined_environment",
    "foreground_words",
    "keeper_words",
    "keeper_works",
    "order_text",
]

EXITED, LEFT, FAILED = "exited", "left", "failed"
"""What the lines begin with that the keeper writes: the program's exit status follows; that it left
processes in the background; why the program could not be started."""

_CALLS = {"x86_64": ("157", "112", "3"), "aarch64": ("167", "157", "57")}
"""The numbers of prctl, setsid and close (asm/unistd.h)."""

_SCRIPT = r"""
my ($control, $status, $order, $prctl, $setsid, $close) = map { $_ + 0 } @ARGV;
my ($subreaper, $pidfd_open, $controlling, $waits_not) = (36, 434, 0x540E, 1);
my ($set_flags, $close_on_exec) = (2, 1);
syscall($prctl, $subreaper, 1, 0, 0, 0) == 0 or exit 126;
$/ = undef;
open(my $said, '<&=', $order) or exit 126;
my ($piped, $count, @words) = split /\0/, <$said>, -1;
pop @words;
my @variables = splice @words, $count;

sub say_it { syswrite $told, join(' ', @_) . "\n" }
sub children {
    my $ended;
    do { $ended = waitpid(-1, $waits_not); note($ended) } while $ended > 0;
    return $ended == 0;
}
sub pause_for { select undef, undef, undef, $_[0] }
sub note {
    return if !defined $main or $_[0] != $main;
    say_it('exited', $? & 127 ? 128 + ($? & 127) : $? >> 8);
    undef $main;
}
sub family {
    my (%below, @found);
    opendir(my $processes, '/proc') or return;
    for my $id (grep /^\d+$/, readdir $processes) {
        open(my $file, '<', "/proc/$id/stat") or next;
        push @{$below{$1}}, $id if (<$file> // '') =~ /^.*\) \S (\d+)/s;
    }
    my @parents = ($$);
    while (@parents) {
        my $below = $below{shift @parents} or next;
        push @found, @$below;
        push @parents, @$below;
    }
    return @found;
}
sub end_all {
    kill 'TERM', family();
    for (1 .. 40) { return if !children(); pause_for(0.005) }
    for (1 .. 1000) { kill 'KILL', family(); return if !children(); pause_for(0.005) }
}

our $main = fork();
defined $main or exit 126;
our $told;
open($told, '>&=', $status) or exit 126;
fcntl($told, $set_flags, $close_on_exec);
if ($main == 0) {
    $SIG{$_} = 'DEFAULT' for qw(HUP INT QUIT TSTP TTIN TTOU PIPE);
    syscall($setsid);
    ioctl(STDIN, $controlling, 0);
    if ($piped ne '') {
        open(STDIN, '<', '/dev/null');
        open(STDOUT, '>&', $piped + 0);
        open(STDERR, '>&', $piped + 0);
        syscall($close, $piped + 0);
    }
    syscall($close, $control);
    syscall($close, $order);
    %ENV = map { split /=/, $_, 2 } @variables;
    exec {$words[0]} @words;
    say_it('failed', "$!");
    exit 127;
}
chdir '/';
$SIG{$_} = 'IGNORE' for qw(HUP INT QUIT TERM USR1 USR2 PIPE);
for my $standard (0 .. 2) { syscall($close, $standard) }
open(STDIN, '<', '/dev/null'); open(STDOUT, '>', '/dev/null'); open(STDERR, '>', '/dev/null');
my $handle = syscall($pidfd_open, $main, 0);
opendir(my $own, '/proc/self/fd');
my %kept = map { $_ => 1 } (0, 1, 2, $control, $status, $handle);
my @inherited = grep { /^\d+$/ && !$kept{$_} } readdir $own;
closedir $own;
syscall($close, $_ + 0) for @inherited;
while (defined $main) {
    my $watched = '';
    vec($watched, $control, 1) = 1;
    vec($watched, $handle, 1) = 1 if $handle >= 0;
    select $watched, undef, undef, $handle >= 0 ? 1 : 0.02;
    if (vec($watched, $control, 1)) { end_all(); exit 0 }
    children();
}
for (1 .. 20) { exit 0 if !children(); pause_for(0.005) }
say_it('left');
end_all();
"""

_OF_INTERPRETER = "PERL"
_KEPT = "AGENTSCOPE_LIKE_SHOWN_"

_FOREGROUND = rf"""
my $set_foreground = 0x5410;
delete $ENV{{PERL_BADLANG}};
for my $kept (grep {{ /^{_KEPT}/ }} keys %ENV) {{
    $ENV{{substr $kept, {len(_KEPT)}}} = delete $ENV{{$kept}};
}}
setpgrp(0, 0);
$SIG{{TTOU}} = 'IGNORE';
ioctl(STDIN, $set_foreground, pack('i', $$));
$SIG{{TTOU}} = 'DEFAULT';
exec {{$ARGV[0]}} @ARGV or exit 127;
"""


def keeper_works() -> bool:
    """Return whether there can be a keeper on this machine."""
    return (
        sys.platform == "linux" and platform.machine() in _CALLS and os.access(INTERPRETER, os.X_OK)
    )


def foreground_words() -> list[str]:
    """Return the words before a confined program that make it the one that `C-c` interrupts.

    Else what confines it would be interrupted as well, and its exit status be lost.
    """
    return ["/usr/bin/env", "PERL_BADLANG=0", INTERPRETER, "-e", _FOREGROUND]


def confined_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a confined program gets by way of `foreground_words`.

    Variables of the interpreter, such as PERL5OPT, are renamed until the program begins.

    Args:
        environment: The variables of the program.
    """
    if not keeper_works():
        return dict(environment)
    return {
        f"{_KEPT}{name}" if name.startswith(_OF_INTERPRETER) else name: value
        for name, value in environment.items()
    }


def keeper_words(control: int, status: int, order: int) -> list[str]:
    """Return the words that start a keeper, whose standard streams are those of the program.

    Args:
        control: A descriptor whose other end this process holds open.
        status: The descriptor that the keeper writes its lines to.
        order: The descriptor that `order_text` is read from.
    """
    numbers = (str(control), str(status), str(order), *_CALLS[platform.machine()])
    return [INTERPRETER, "-e", _SCRIPT, *numbers]


def order_text(
    words: Sequence[str],
    environment: Mapping[str, str],
    piped: int | None = None,
) -> bytes:
    """Return what a keeper starts: a program as the leader of a new session, on its terminal.

    Args:
        words: The program and its arguments.
        environment: All of its variables.
        piped: The descriptor that its output goes to, with no input; by default, the terminal.
    """
    variables = [f"{name}={value}" for name, value in environment.items()]
    output = "" if piped is None else str(piped)
    fields = (output, str(len(words)), *words, *variables)
    return b"".join(os.fsencode(field) + b"\0" for field in fields)
