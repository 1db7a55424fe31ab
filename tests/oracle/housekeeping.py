"""What programs write about themselves when they only read: logs and caches of their own.

A command that is proven to read may leave these, and only these, and only if it runs the program.
A program that reads something remote may reach for the network. Whatever is not listed is a
failure of the oracle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

__all__ = ["Housekeeping", "unexcused"]

_HOME = "/home/dev"


class Housekeeping(NamedTuple):
    """Paths, with all below, that a program may write, and whether it reads over the network."""

    paths: tuple[str, ...] = ()
    remote: bool = False


_NPM = Housekeeping((f"{_HOME}/.npm",), remote=True)
_JAVA = Housekeeping(("/tmp/hsperfdata_",))
_GOOGLE = Housekeeping((f"{_HOME}/.config/gcloud", f"{_HOME}/.gsutil"), remote=True)
_REMOTE = Housekeeping(remote=True)
_NODE = Housekeeping((f"{_HOME}/.cache", f"{_HOME}/.local", "/tmp/"), remote=True)
_KEPT: Mapping[str, Housekeeping] = {
    **dict.fromkeys(("npm", "npx"), _NPM),
    **dict.fromkeys(("yarn", "pnpm", "corepack"), _NODE),
    **dict.fromkeys(("java", "javac", "jar", "javadoc", "javap", "jps", "mvn", "gradle"), _JAVA),
    **dict.fromkeys(("jshell", "jstack", "jstat", "jcmd", "kotlinc", "scala", "keytool"), _JAVA),
    **dict.fromkeys(("jlink", "jdeps", "jmod", "jpackage", "jfr", "jimage", "kotlin"), _JAVA),
    **dict.fromkeys(("ant", "groovy", "sbt", "lein", "clojure", "jmap", "jinfo"), _JAVA),
    "svn": Housekeeping((f"{_HOME}/.subversion",)),  # made empty of settings at its first start
    "cloc": Housekeeping(("/tmp/",)),  # stays where its output is closed before it ends
    **dict.fromkeys(("gcloud", "gsutil", "bq"), _GOOGLE),
    **dict.fromkeys(("docker", "podman", "helm", "aws", "az", "pip", "pip3", "uv"), _REMOTE),
    **dict.fromkeys(("git", "who", "pg_isready"), _REMOTE),
    "gem": Housekeeping((f"{_HOME}/.local/share/gem/specs",), remote=True),
    "cargo": Housekeeping(
        (f"{_HOME}/.cargo/.package-cache", f"{_HOME}/.cargo/registry"), remote=True
    ),
    "kubectl": Housekeeping((f"{_HOME}/.kube/cache",), remote=True),
    "terraform": Housekeeping((f"{_HOME}/.terraform.d",), remote=True),
    "gh": Housekeeping((f"{_HOME}/.config/gh", f"{_HOME}/.local/state/gh"), remote=True),
    "go": Housekeeping((f"{_HOME}/.cache/go-build", f"{_HOME}/go", "/tmp/go-build")),
}

_NETWORK = "changed the network, or tried to reach it"


def unexcused(changes: Sequence[str], programs: Iterable[str | None]) -> Iterator[str]:
    """Yield the changes that none of the programs is known to make.

    Args:
        changes: As the server tells them, each with the quoted path at its end.
        programs: Every program that the command runs, at any depth.
    """
    kept = [_KEPT[program] for program in programs if program and program in _KEPT]
    paths = tuple(path for each in kept for path in each.paths)
    remote = any(each.remote for each in kept)
    made = [_path(change) for change in changes]
    for change, path in zip(changes, made, strict=True):
        if change == _NETWORK:
            if not remote:
                yield change
        elif not _is_kept(path, paths):
            yield change


def _path(change: str) -> str:
    return change.partition("'")[2].rstrip("'")


def _is_kept(path: str, paths: tuple[str, ...]) -> bool:
    """Return whether a path lies in what is kept, or leads there."""
    if not path:
        return False
    return any(path.startswith(kept) or kept.startswith(f"{path}/") for kept in paths)
