"""A lifelike project, and what commands do in it, plainly and held.

    python -m tests.sandbox.held.lifelike       # compares all everyday commands, and reports

Root compares them as a user without rights, too, who has the same programs (`share_programs`).
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from agentscope_like.exception import IsolationError
from agentscope_like.sandbox.held import HeldCredentials, HeldRun
from agentscope_like.sandbox.layer import Layer, apply_layer
from tests.sandbox.held.other_user import told_by_other_user
from tests.sandbox.held.shared_programs import share_programs
from tests.sandbox.held.world import place_of_worlds

__all__ = [
    "LISTS",
    "MISSING",
    "SECRET",
    "Compared",
    "EverydayCommand",
    "Lifelike",
    "asking_commands",
    "compared_as_other_user",
    "compared_here",
    "everyday_commands",
]

SECRET = "planted-in-dot-env"
LISTS = Path(__file__).parents[2] / "data" / "commands" / "held"
"""The lists of commands."""
MISSING = 127
"""The exit status of a shell that does not find a program."""

_FILES = Path(__file__).with_name("lifelike.toml")
_DATE = "2026-01-02T03:04:05 +0000"
_SHELL = ("/bin/bash", "--norc", "--noprofile", "-c", "--")
_SECONDS = 120
_MOST_PLAIN_RUNS = 12
"""So many only where something differs: cargo writes a file of two entries in either order."""
_SETTINGS = "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n"

_HISTORY = """
git init -q . && git add . && git commit -qm 'Start the shop' && git tag v1.0
git checkout -q -b feature && cp -r {feature}/. . && git add . && git commit -qm 'Add discounts'
git checkout -q -b merged main
cp -r {main}/. . && git commit -qam 'Sum up the cart'
git checkout -q main && git merge -q merged
cp -r {staged}/. . && git add docs && cp -r {now}/. .
"""


class EverydayCommand(Struct, frozen=True):
    """A row of a list: a command, its kind, and a program that it needs unseen."""

    command: str
    kind: str
    needs: str = ""


class Ended(Struct, frozen=True):
    """How a command ended.

    Attributes:
        status: Its exit status; None if it did not run.
        output: What it printed.
        files: Kind and mode, and a digest of the content, of every file by its path.
    """

    status: int | None
    output: str
    files: dict[str, tuple[str, str]]


class Compared(Struct, frozen=True):
    """What became of a command, plainly and held.

    Attributes:
        command: The command.
        missing: Whether a program of it is not installed.
        status: Its exit status, plainly.
        held_status: Its exit status, held.
        different: The paths that are not as they are after a plain run.
        varying: How many paths differ between plain runs.
        shows_secret: Whether the output of the held run has the secret.
        output: The output of the held run.
    """

    command: str
    missing: bool = False
    status: int | None = None
    held_status: int | None = None
    different: tuple[str, ...] = ()
    varying: int = 0
    shows_secret: bool = False
    output: str = ""

    @property
    def is_same(self) -> bool:
        """Return whether it ended held as it does plainly."""
        return self.status == self.held_status and not self.different


class Lifelike:
    """A project as people have them; use it as a context manager.

    Every run begins with a fresh copy at the same path. Git history, untracked and changed files
    and an ignored `.env` with a secret are in it.

    Args:
        place: The directory to make it in.
    """

    def __init__(self, place: str | None = None) -> None:
        where = place or place_of_worlds()
        self.top = Path(os.path.realpath(tempfile.mkdtemp(prefix="lifelike-", dir=where)))
        self.project = self.top / "project"
        self.home = self.top / "home"
        self._kept = self.top / "kept"
        self._credentials = HeldCredentials()
        self.variables = dict(_variables(str(self.home)))

    def __enter__(self) -> Lifelike:
        self.top.chmod(0o755)
        self.home.mkdir()
        (self.home / ".gitconfig").write_text(_SETTINGS)
        table = tomllib.loads(_FILES.read_text("utf-8"))
        _write(self.project, table["files"])
        for name in table["executable"]:
            (self.project / name).chmod(0o755)
        _write_archives(self.project)
        changed = {name: self.top / name for name in table["changed"]}
        for name, files in table["changed"].items():
            _write(changed[name], files)
        self._plainly("set -e" + _HISTORY.format(**changed))
        (self.project / ".env").write_text(f"API_KEY={SECRET}\n")
        self.project.rename(self._kept)
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.top, ignore_errors=True)

    def compared(self, row: EverydayCommand) -> Compared:
        """Run a command plainly and held, and compare what became of it."""
        command = row.command
        if not self.is_there(row.needs):
            return Compared(command, missing=True)
        plain = [self.plainly(command)]
        if plain[0].status == MISSING:
            return Compared(command, missing=True)
        plain.append(self.plainly(command))
        held = self.held(command)
        while (found := _difference(plain, held)) and len(plain) < _MOST_PLAIN_RUNS:
            plain.append(self.plainly(command))
        return Compared(
            command,
            status=plain[0].status,
            held_status=held.status,
            different=tuple(found),
            varying=len(_varying(plain)),
            shows_secret=SECRET in held.output,
            output=held.output,
        )

    def is_there(self, program: str) -> bool:
        """Return whether a program is installed; also if none is named."""
        return not program or shutil.which(program, path=self.variables["PATH"]) is not None

    def plainly(self, command: str) -> Ended:
        """Run a command as it is."""
        self.renew()
        status, output = self._plainly(command)
        return Ended(status, output, self._seen())

    def held(self, command: str) -> Ended:
        """Run a command held, and apply what it changed."""
        self.renew()
        layer = Layer.make(self.top / "store", [str(self.project)])
        try:
            status, output = self._held(command, layer)
            try:
                apply_layer(layer, tuple(layer.manifests()))
            except IsolationError as error:
                output, status = f"{output}\n{error}", None
            return Ended(status, output, self._seen())
        finally:
            layer.drop()

    def renew(self) -> None:
        """Make a fresh copy of the project."""
        shutil.rmtree(self.project, ignore_errors=True)
        subprocess.run(["cp", "-a", str(self._kept), str(self.project)], check=True)

    def _plainly(self, command: str) -> tuple[int, str]:
        words = [*_SHELL, command]
        done = _run(words, self.variables, str(self.project))
        return done.returncode, done.stdout

    def _held(self, command: str, layer: Layer) -> tuple[int | None, str]:
        temporary = self.top / "temporary"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        with HeldRun(
            layer,
            directory=str(self.project),
            environment=self.variables,
            temporary=str(temporary),
            home=str(self.home),
            credentials=self._credentials,
        ) as run:
            done = _run([*run.words, *_SHELL, command], {}, "/", run.descriptors)
            return run.exit_status, done.stdout

    def _seen(self) -> dict[str, tuple[str, str]]:
        """Return all files of the project, and what git's index has without the times."""
        found = {}
        for folder, folders, names in os.walk(self.project):
            for name in (*folders, *names):
                path = Path(folder, name)
                status = path.lstat()
                kind = f"{stat.S_IFMT(status.st_mode):o} {stat.S_IMODE(status.st_mode):o}"
                found[str(path.relative_to(self.project))] = (kind, _digest(path, status.st_mode))
        found[".git/index"] = ("", self._plainly("git ls-files --stage -v")[1])
        return found


def everyday_commands() -> list[EverydayCommand]:
    """Return the commands of everyday development that are compared."""
    return _listed("everyday.jsonl")


def asking_commands() -> list[EverydayCommand]:
    """Return the commands of which nothing takes effect unasked."""
    return _listed("asks.jsonl")


def compared_here(rows: Sequence[EverydayCommand], place: str | None = None) -> list[Compared]:
    """Compare commands as this user.

    Args:
        rows: The commands.
        place: The directory to make the project in.
    """
    with Lifelike(place) as project:
        return [project.compared(row) for row in rows]


def compared_as_other_user(rows: Sequence[EverydayCommand]) -> list[Compared]:
    """Compare commands as a user who has no rights; this user has to be root."""

    def compared(place: str) -> bytes:
        return msgspec.json.encode(compared_here(rows, place))

    return msgspec.json.decode(told_by_other_user(compared), type=list[Compared])


def _listed(name: str) -> list[EverydayCommand]:
    lines = (LISTS / name).read_text("utf-8").splitlines()
    return [msgspec.convert(json.loads(line), EverydayCommand) for line in lines]


def _variables(home: str) -> Iterator[tuple[str, str]]:
    own = os.path.dirname(sys.executable)
    places = [own] if os.access(os.path.realpath(sys.executable), os.X_OK) else []
    places += (each for each in os.get_exec_path() if each != own and os.access(each, os.X_OK))
    yield "PATH", ":".join(dict.fromkeys(places))
    yield "HOME", home
    yield "PYENV_ROOT", sys.base_prefix
    toolchains = os.path.expanduser("~/.rustup")
    if os.access(toolchains, os.X_OK):
        yield "RUSTUP_HOME", toolchains
    yield from (("TMPDIR", "/tmp"), ("LANG", "C.UTF-8"), ("TERM", "dumb"))
    yield from (("GIT_AUTHOR_DATE", _DATE), ("GIT_COMMITTER_DATE", _DATE))
    yield from (("npm_config_offline", "true"), ("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1"))


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _write_archives(project: Path) -> None:
    for kind, name in (("gztar", "sample"), ("zip", "sample")):
        shutil.make_archive(str(project / "data" / name), kind, project, "docs")
    (project / "data" / "log.txt.gz").write_bytes(gzip.compress(b"old\n", mtime=0))


def _run(
    words: Sequence[str], variables: dict[str, str], directory: str, descriptors: Sequence[int] = ()
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        pass_fds=descriptors,
        env=variables,
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        errors="replace",
        text=True,
        timeout=_SECONDS,
        check=False,
        start_new_session=True,
    )


def _digest(path: Path, mode: int) -> str:
    if stat.S_ISLNK(mode):
        return os.readlink(path)
    if not stat.S_ISREG(mode):
        return ""
    content = path.read_bytes()
    start = 16 if path.suffix == ".pyc" else 0  # the time of the source
    return hashlib.sha256(content[start:]).hexdigest()


def _varying(plain: Sequence[Ended]) -> set[str]:
    """Return the paths that are not the same after each plain run."""
    paths = set[str]().union(*(each.files for each in plain))
    return {path for path in paths if len({each.files.get(path) for each in plain}) > 1}


def _difference(plain: Sequence[Ended], held: Ended) -> list[str]:
    """Return the paths that differ held, but for what differs between any two runs.

    Of those that vary, kind and mode count. A name that is different each time is one that comes
    and goes in a directory where names do so plainly, too.
    """
    varying = _varying(plain)
    always = {path for path in varying if all(path in each.files for each in plain)}
    restless = {os.path.dirname(path) for path in varying - always}
    found = []
    for path in sorted(set(plain[0].files) | set(held.files)):
        one, other = plain[0].files.get(path), held.files.get(path)
        if one == other or any(f"{path}/".startswith(f"{each}/") for each in restless):
            continue
        if path in always and one and other and one[0] == other[0]:
            continue
        found.append(path)
    return found


def _report(rows: Sequence[Compared]) -> Iterator[str]:
    """Yield the lines that say what a comparison found."""
    ran = [row for row in rows if not row.missing]
    same = [row for row in ran if row.is_same]
    yield f"{len(same)} of {len(ran)} end the same; {len(rows) - len(ran)} are not installed:"
    yield from (f"    {row.command}" for row in rows if row.missing)
    yield "End plainly with another status than 0:"
    yield from (f"    {row.status}: {row.command}" for row in ran if row.status)
    yield "Paths that vary between plain runs:"
    yield from (f"    {row.varying}: {row.command}" for row in ran if row.varying)
    yield "Different:"
    for row in ran:
        if not row.is_same or row.shows_secret:
            yield f"    {row.status}, held {row.held_status}: {row.command!r} {row.different[:9]}"
            yield row.output[-800:]


def main() -> None:
    """Compare all everyday commands, and print what was found."""
    rows = everyday_commands()
    if os.geteuid() == 0:
        share_programs()
    lines = ["As this user:", *_report(compared_here(rows))]
    if os.geteuid() == 0:
        lines += ["As a user without rights:", *_report(compared_as_other_user(rows))]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
