"""Walks the files below a directory; follows no symlinks and skips caches and the like."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from msgspec import Struct

from agentscope_like.paths import FileKind, Location, PatternCompiler, PatternTable
from agentscope_like.permission import PatternError
from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.file_system import Entry, Files
from agentscope_like.tool.builtin.tool_results import CancelCheck

__all__ = ["PASSED_OVER", "FileGlob", "Found", "Tree", "modified", "notes_of", "printable"]

PASSED_OVER = frozenset(
    {
        *(".git", ".hg", ".svn", ".bzr", ".jj", ".sl", "CVS"),
        *("node_modules", "bower_components", "__pycache__", ".venv", ".tox", ".nox", ".eggs"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".gradle", ".terraform"),
    }
)
"""Directories of version control, dependencies and caches; they are searched only if named
explicitly. `.gitignore` is not used: a search that silently omits files gives wrong answers."""


class FileGlob:
    """A glob for files below a directory.

    Args:
        text: Such as `**/*.py`, `src/{a,b}/*.txt`: `*` matches within a name, `**` any number of
            names.
        anywhere: Whether a glob without `/` matches names at any depth, as in `.gitignore`.

    Attributes:
        names: The literal names in the glob.

    Raises:
        FileToolError: It is not a valid glob below a directory.
    """

    def __init__(self, text: str, *, anywhere: bool = False) -> None:
        pattern = text.removeprefix("./")
        try:
            branches = PatternCompiler(real=str).compile(
                f"**/{pattern}" if anywhere and "/" not in text else pattern
            )
        except PatternError as error:
            raise FileToolError(f"The glob cannot be used: {error}.") from None
        if any(branch.absolute for branch in branches):
            raise FileToolError(
                f"The glob {text!r} begins at the root: make it relative to the searched directory."
            )
        self._table = PatternTable(strict=True)
        names: set[str] = set()
        for position, branch in enumerate(branches):
            self._table.add(branch.components, position)
            names.update(each.text for each in branch.components if each.shape == "name")
        self.names = frozenset(names)

    def matches(self, names: Sequence[str]) -> bool:
        """Return whether the glob matches a file, given as its names below the directory."""
        return any(node.positions for node in self._table.walk(names))

    def may_hold(self, names: Sequence[str]) -> bool:
        """Return whether the glob may match a file below the directory of these names."""
        return any(node.first_below is not None for node in self._table.walk(names))


class Found(Struct, frozen=True):
    """A regular file of the tree.

    Attributes:
        relative: Its path below the root, with `/` between the names.
        entry: The directory entry, for its status.
    """

    relative: str
    entry: Entry


class Tree:
    """The files below one directory.

    Args:
        files: The files of the host or sandbox.
        root: The directory.
        wanted: The files to find; all by default.
        read_objection: Returns why a person must approve reading a file, or None; files with a
            reason are left out. None to include them, since a person approved the root.
        hides: Returns whether a rule hides a file, by its path below the root; None if no rule
            does.

    Attributes:
        secrets: The number of credential files left out so far.
        hidden: The number of files hidden by rules so far.
        unreadable: The number of directories that could not be listed so far.
        passed_over: Names of directories to skip.
    """

    def __init__(
        self,
        files: Files,
        root: Location,
        wanted: FileGlob | None = None,
        *,
        read_objection: Callable[[Location], str | None] | None = None,
        hides: Callable[[str], bool] | None = None,
    ) -> None:
        self.secrets = 0
        self.hidden = 0
        self.unreadable = 0
        self._files = files
        self._root = root
        self._wanted = wanted
        self._read_objection = read_objection
        self._hides = hides
        self.passed_over: Collection[str] = PASSED_OVER
        if wanted is not None:
            self.passed_over = PASSED_OVER - wanted.names

    def walk(
        self, cancel_check: CancelCheck, *, also: Callable[[str], bool] = lambda _: True
    ) -> Iterator[Found]:
        """Yield the files, directory by directory.

        Args:
            cancel_check: Called at each directory.
            also: A further condition on file names.
        """
        level: list[tuple[str, ...]] = [()]
        while level:
            deeper: list[tuple[str, ...]] = []
            for names, entries in self._listed(level):
                cancel_check()
                for entry in entries:
                    inner = (*names, entry.name)
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in self.passed_over and self._may_hold(inner):
                            deeper.append(inner)
                    elif self._is_wanted(entry, inner) and also(entry.name):
                        found = self._shown(entry, "/".join(inner))
                        if found is not None:
                            yield found
            level = deeper

    def _listed(
        self, level: Sequence[tuple[str, ...]]
    ) -> Iterator[tuple[tuple[str, ...], Iterable[Entry]]]:
        root = self._root.resolved.rstrip("/")
        paths = ["/".join((root, *names)) or "/" for names in level]
        for names, entries in zip(level, self._files.list(paths), strict=True):
            if entries is None:
                self.unreadable += 1
            else:
                yield names, entries

    def _shown(self, entry: Entry, relative: str) -> Found | None:
        """Return the file, or None if it is left out."""
        if self._hides is not None and self._hides(relative):
            self.hidden += 1
        elif self._is_secret(entry.path):
            self.secrets += 1
        else:
            return Found(relative, entry)
        return None

    def _may_hold(self, names: Sequence[str]) -> bool:
        return self._wanted is None or self._wanted.may_hold(names)

    def _is_wanted(self, entry: Entry, names: Sequence[str]) -> bool:
        return entry.is_file(follow_symlinks=False) and (
            self._wanted is None or self._wanted.matches(names)
        )

    def _is_secret(self, path: str) -> bool:
        if self._read_objection is None:
            return False
        location = Location(
            written=path,
            absolute=path,
            resolved=path,
            readings=(path,),
            kind=FileKind.FILE,
            identity=None,
            home=self._root.home,
        )
        return self._read_objection(location) is not None


def notes_of(tree: Tree) -> list[str]:
    """Return notes on what was left out of the results."""
    notes = []
    if tree.secrets:
        notes.append(
            f"{tree.secrets:,} credential file{'' if tree.secrets == 1 else 's'} left out; "
            "name one as `path` to have the user asked."
        )
    if tree.hidden:
        notes.append(
            f"{tree.hidden:,} file{'' if tree.hidden == 1 else 's'} left out, which a rule denies "
            "or asks about."
        )
    if tree.unreadable:
        notes.append(f"{tree.unreadable:,} directories could not be read.")
    return notes


def modified(entry: Entry) -> int:
    """Return the time of a file's last change in nanoseconds; 0 if it no longer exists."""
    try:
        return entry.stat(follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0


def printable(path: str) -> str:
    """Return a path with control characters, such as a line end in a name, escaped."""
    if path.isprintable():
        return path
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in path
    )
