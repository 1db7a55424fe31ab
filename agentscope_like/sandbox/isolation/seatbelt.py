"""Writes the text of a macOS seatbelt profile."""

from __future__ import annotations

from collections.abc import Iterable

from agentscope_like.exception import ConfigurationError
from agentscope_like.sandbox.isolation.profile import EVERYTHING, Profile

__all__ = ["seatbelt_profile"]

_SYSTEM_READ = (
    *("/System", "/Library", "/usr", "/bin", "/sbin", "/opt", "/private/var/db/dyld"),
    *("/private/etc", "/private/var/db/timezone", "/dev"),
)
_DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/stdout", "/dev/stderr")

_BEGINNING = """\
(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow ipc-posix-sem)
(allow file-read-metadata)
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
"""


def seatbelt_profile(profile: Profile) -> str:
    """Return the profile as text for `sandbox-exec -p`.

    In this language the last matching rule counts, so hidden paths come at the end.

    Raises:
        ConfigurationError: A mount has another path than on the host, or a path holds a character
            that the language cannot express.
    """
    if profile.temporary is not None or any(mount.is_moved for mount in profile.mounts):
        raise ConfigurationError(
            "macOS cannot show a directory at another path: mount it at its own"
        )
    writable = [*profile.write]
    writable += [mount.host_path for mount in profile.mounts if not mount.read_only]
    readable = [*_SYSTEM_READ, *profile.read, *writable]
    readable += [mount.host_path for mount in profile.mounts]
    lines = [_BEGINNING.rstrip()]
    if EVERYTHING in profile.read:
        lines.append("(allow file-read*)")
    else:
        lines.append('(allow file-read* (literal "/"))')
        lines.append(_rule("allow file-read*", "subpath", readable))
    lines.append(_rule("allow file-write-data", "literal", _DEVICES))
    if writable:
        lines.append(_rule("allow file-write*", "subpath", writable))
    kept = [*profile.keep]
    kept += [mount.host_path for mount in profile.mounts if mount.read_only]
    if kept:
        lines.append(_rule("deny file-write*", "subpath", kept))
    if profile.network:
        lines += ["(allow network*)", "(allow system-socket)"]
        lines.append('(allow mach-lookup (global-name "com.apple.SystemConfiguration.configd"))')
    if profile.hide:
        lines.append(_rule("deny file-read* file-write*", "subpath", profile.hide))
    return "\n".join(lines) + "\n"


def _rule(action: str, kind: str, paths: Iterable[str]) -> str:
    unique = dict.fromkeys(paths)
    return f"({action} {' '.join(f'({kind} {_quoted(path)})' for path in unique)})"


def _quoted(path: str) -> str:
    if any(ord(character) < 32 or ord(character) == 127 for character in path):  # noqa: PLR2004
        raise ConfigurationError(
            f"{path!r} holds a control character, which a seatbelt profile cannot: rename it"
        )
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
