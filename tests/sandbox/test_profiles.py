"""Profiles as options of bubblewrap, as programs of seccomp, and as texts of seatbelt."""

from __future__ import annotations

import errno
import os
import struct
from pathlib import Path

import pytest

from agentscope_like.exception import ConfigurationError
from agentscope_like.sandbox import VolumeMount
from agentscope_like.sandbox.isolation.bubblewrap import options
from agentscope_like.sandbox.isolation.profile import Profile, editing, reading
from agentscope_like.sandbox.isolation.seatbelt import seatbelt_profile
from agentscope_like.sandbox.isolation.seccomp import seccomp_program

ALLOWED = 0x7FFF0000
X86, ARM = 0xC000003E, 0xC00000B7


def decided(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """Return what a filter says of a system call, by running it as the kernel does."""
    data = struct.pack("=iIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    steps = list(struct.iter_unpack("=HBBI", program))
    at = accumulator = 0
    while True:
        code, then, otherwise, value = steps[at]
        at += 1
        if code == 0x20:
            accumulator = struct.unpack_from("=I", data, value)[0]
        elif code == 0x06:
            return int(value)
        else:
            holds = {
                0x15: accumulator == value,
                0x35: accumulator >= value,
                0x45: bool(accumulator & value),
            }[code]
            at += then if holds else otherwise


def refused(error: int) -> int:
    """Return what a filter says that refuses with that error."""
    return 0x00050000 | error


@pytest.mark.parametrize(
    ("machine", "architecture", "numbers"),
    [
        ("x86_64", X86, {"read": 0, "clone": 56, "socket": 41, "ioctl": 16, "bpf": 321}),
        ("aarch64", ARM, {"read": 63, "clone": 220, "socket": 198, "ioctl": 29, "bpf": 280}),
    ],
)
def test_the_filter_decides_by_call_and_argument(
    machine: str, architecture: int, numbers: dict[str, int]
) -> None:
    """Each refused case has an allowed neighbour, on both kinds of machine."""
    program = seccomp_program(sockets=True, machine=machine)
    assert program is not None

    def says(name: str, *arguments: int) -> int:
        return decided(program, architecture, numbers[name], *arguments)

    assert says("read", 0, 0, 0) == ALLOWED
    assert says("bpf") == refused(errno.EPERM)
    assert says("clone", 17) == ALLOWED
    assert says("clone", 0x10000000 | 17) == refused(errno.EPERM)
    assert says("ioctl", 0, 0x5401) == ALLOWED
    assert says("ioctl", 0, 0x5412) == refused(1)
    assert says("ioctl", 0, (1 << 32) | 0x5412) == refused(1)
    for family, answer in ((1, ALLOWED), (2, ALLOWED), (40, refused(errno.EAFNOSUPPORT))):
        assert says("socket", family, 1, 0) == answer
    assert decided(program, architecture, 435) == refused(errno.ENOSYS)
    assert decided(program, 0x40000003, numbers["read"]) == 0x80000000
    for network, answers in ((False, (97, 97)), (True, (97, 0))):
        without = seccomp_program(network=network, machine=machine)
        assert without is not None
        for family, error in zip((1, 2), answers, strict=True):
            expected = refused(error) if error else ALLOWED
            assert decided(without, architecture, numbers["socket"], family) == expected


def test_another_machine_has_no_filter() -> None:
    """Numbers that are not known are not guessed: there is no program, and so no isolation."""
    assert seccomp_program(sockets=True, machine="mips") is None


def test_options_put_what_lies_below_after() -> None:
    """Whatever the order of the profile, a mount comes after the one that it lies in."""
    profile = Profile(
        read=("/usr", "/"),
        write=("/home/me/work",),
        mounts=(VolumeMount("/srv", "/home/me/work/data", read_only=True),),
        hide=("/home",),
    )
    arguments = options(profile, directory="/home/me/work", environment={"A": "b"})
    binds = [arguments[at + 2] for at, word in enumerate(arguments) if word.endswith("bind")]
    places = [arguments.index(path) for path in ("/home", "/home/me/work", "/home/me/work/data")]
    assert places == sorted(places)
    assert binds == ["/home/me/work", "/home/me/work/data"]
    assert arguments.index("/dev") < arguments.index("/home")
    assert arguments[-2:] == ["--chdir", "/home/me/work"]
    assert arguments[arguments.index("--setenv") :][:3] == ["--setenv", "A", "b"]


def test_the_network_is_one_word() -> None:
    """Only a profile with a network shares the host's, or one that can make no socket anyway."""
    for network in (False, True):
        arguments = options(Profile(network=network), directory="/", environment={})
        assert ("--share-net" in arguments) == network
        native = Profile(network=network, sockets=True, native=True)
        arguments = options(native, directory="/", environment={})
        assert ("--unshare-net" in arguments) != network


def test_a_native_profile_is_the_user_s_own() -> None:
    """It keeps the host's name and ids, and of root's rights those for files, if any."""
    arguments = options(reading(), directory="/", environment={})
    assert "--hostname" not in arguments
    assert "CAP_DAC_OVERRIDE" not in arguments
    if os.geteuid() == 0:
        assert "--unshare-user" not in arguments
        assert "CAP_DAC_READ_SEARCH" in arguments
        assert "CAP_DAC_OVERRIDE" in options(editing(["/tmp"]), directory="/", environment={})
    else:
        assert "--unshare-user" in arguments
        assert "--cap-add" not in arguments


def test_who_sees_processes_cannot_touch_them() -> None:
    """A filter without touching refuses signals and changes of others, not of oneself."""
    for touching in (True, False):
        program = seccomp_program(touching=touching, signals=touching, machine="x86_64")
        assert program is not None
        expected = ALLOWED if touching else refused(errno.EPERM)
        for number in (62, 101, 234):  # kill, ptrace, tgkill
            assert decided(program, X86, number, 1, 9) == expected
        signalling = seccomp_program(touching=touching, machine="x86_64")
        assert signalling is not None
        assert decided(signalling, X86, 62, 1, 9) == ALLOWED
        assert decided(signalling, X86, 101, 1, 9) == expected
        assert decided(program, X86, 302, 0, 7) == ALLOWED  # prlimit64
        assert decided(program, X86, 302, 1, 7) == expected
        assert decided(program, X86, 141, 0, 0) == ALLOWED  # setpriority
        assert decided(program, X86, 141, 0, 1) == expected


def test_what_may_be_written_is_what_is_there(tmp_path: Path) -> None:
    """A path that does not exist stands for the nearest directory that does, the root excepted."""
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert editing([str(tmp_path / "file")]).write == (str(tmp_path / "file"),)
    assert editing([str(tmp_path / "link")]).write == (str(tmp_path / "file"),)
    assert editing([str(tmp_path / "new" / "er")]).write == (str(tmp_path),)
    assert editing(["/nowhere/at/all"]).write == ()


def test_seatbelt_denies_what_is_not_named() -> None:
    """The text denies by default, and allows to read and write what the profile says."""
    text = seatbelt_profile(
        Profile(
            read=("/opt/tool",),
            write=("/Users/me/work",),
            keep=("/Users/me/work/.git",),
            mounts=(VolumeMount("/opt/data", "/opt/data", read_only=True),),
            hide=("/Users/me/work/.env",),
        )
    )
    lines = text.splitlines()
    assert lines[:2] == ["(version 1)", "(deny default)"]
    assert '(allow file-write* (subpath "/Users/me/work"))' in lines
    kept = '(deny file-write* (subpath "/Users/me/work/.git") (subpath "/opt/data"))'
    assert lines.index(kept) > lines.index('(allow file-write* (subpath "/Users/me/work"))')
    reads = next(line for line in lines if line.startswith("(allow file-read* (subpath"))
    for path in ("/opt/tool", "/Users/me/work", "/opt/data", "/usr"):
        assert f'(subpath "{path}")' in reads
    assert '(subpath "/")' not in text
    assert "network" not in text
    assert lines[-1] == '(deny file-read* file-write* (subpath "/Users/me/work/.env"))'
    assert text.count("(") == text.count(")")


def test_seatbelt_has_a_network_and_a_whole_host_on_request() -> None:
    """With a network it is allowed; a profile that reads everything still writes nothing."""
    text = seatbelt_profile(reading(network=True))
    assert "(allow network*)" in text
    assert "(allow file-read*)\n" in text
    assert "allow file-write* " not in text
    assert "(allow network*)" not in seatbelt_profile(reading())


def test_a_path_cannot_break_out_of_the_seatbelt_text() -> None:
    """Quotes and backslashes in a path are data; control characters are refused (4.3)."""
    text = seatbelt_profile(Profile(write=('/a") (allow file-write* (subpath "/', "/b\\")))
    assert r'(subpath "/a\") (allow file-write* (subpath \"/")' in text
    assert r'(subpath "/b\\")' in text
    with pytest.raises(ConfigurationError, match="control"):
        seatbelt_profile(Profile(write=("/a\nb",)))
    with pytest.raises(ConfigurationError, match="another path"):
        seatbelt_profile(Profile(mounts=(VolumeMount("/usr", "/elsewhere"),)))
