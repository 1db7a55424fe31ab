"""What is looked up in a file system for one decision, and what it is charged for."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentscope_like.paths import (
    FileKind,
    FileLookups,
    LookBudget,
    PathError,
    TooManyFilesError,
    around_by_text,
    inside,
    is_below,
    lineage,
    locate,
    matches,
)

DEEP = "/n" * 9


class Names:
    """A file system in which everything is a directory, but for links and what is refused."""

    def __init__(self, *, entries: int | None = 3) -> None:
        self.links = {"/l": "/a", "/odd": "/denied"}
        self.refused: dict[str, list[type[OSError] | None]] = {}
        self.entries = entries
        self.listed = 0

    def lstat(self, path: str) -> Any:
        errors = self.refused.get(path)
        if errors and (error := errors.pop(0)) is not None:
            raise error(path)
        kind = stat.S_IFLNK if path in self.links else stat.S_IFDIR
        return SimpleNamespace(st_mode=kind, st_dev=1, st_ino=2)

    def readlink(self, path: str) -> str:
        if path == "/odd":
            raise PermissionError(path)
        return self.links[path]

    @contextmanager
    def scandir(self, path: str) -> Iterator[Iterator[Any]]:
        if path == "/none":
            raise NotADirectoryError(path)
        yield self._listed(path) if path.count("/") < 20 else iter(())

    def _listed(self, path: str) -> Iterator[Any]:
        for number in islice(count(), self.entries):
            self.listed += 1
            name = f"f{number}"
            yield SimpleNamespace(
                name=name, path=f"{path}/{name}", is_dir=lambda **_: False, is_symlink=lambda: False
            )


@pytest.mark.parametrize(
    ("paths", "spent"),
    [
        (["/a/b"], 19),
        (["/a/b", "/a/b"], 23),
        (["/a/b", "/a/c", "/a/d"], 42),
        (["/a/b", "/c/b", "/d/b"], 57),
        (["b", "c", "d"], 57),
        (["/l/x"], 34),
        ([f"{DEEP}/x"], 24),
        ([f"{DEEP[:-2]}/x"], 22),
        ([f"{DEEP[:-2]}/x", f"{DEEP[:-2]}/y", f"{DEEP[:-2]}/z"], 48),
        ([DEEP[3:]], 22),
        (["n/n"], 19),
    ],
)
def test_a_path_is_charged_for_what_is_looked_up(paths: list[str], spent: int) -> None:
    """Each path; its names, unless its folder is known; and a link once more."""
    budget = LookBudget(spent)
    lookups = FileLookups(directory="/w/d", names=Names(), effort=budget)
    for path in paths:
        lookups.locate(path)
    assert budget.left == 0
    with pytest.raises(TooManyFilesError):
        lookups.locate(paths[0])


@pytest.mark.parametrize(
    ("directory", "entries", "keep", "spent"),
    [
        ("/a", 3, 0, 13),
        ("/a", 0, 0, 10),
        ("/none", 3, 0, 10),
        ("/n" * 12, 3, 5, 17),
        ("/a", 3, 5, 13),
    ],
)
def test_a_directory_is_charged_for_its_entries(
    directory: str, entries: int, keep: int, spent: int
) -> None:
    """A deep one costs more, and what is to be kept is left where it is too much."""
    found = 0 if directory == "/none" else entries
    budget = LookBudget(spent + keep)
    assert len(budget.entries(directory, Names(entries=entries), keep=keep)) == found
    assert budget.left == keep
    budget = LookBudget(spent + keep - 1)
    with pytest.raises(TooManyFilesError):
        budget.entries(directory, Names(entries=entries), keep=keep)
    assert budget.left == keep


def test_no_more_entries_are_read_than_can_be_paid_for() -> None:
    """A directory without end is left one entry beyond the budget."""
    names = Names(entries=None)
    with pytest.raises(TooManyFilesError):
        LookBudget(22).entries("/a", names, keep=5)
    assert names.listed == 8


def test_a_text_is_charged_for_once() -> None:
    """A character costs one, a simple command forty; the same text read again costs nothing."""
    budget, text = LookBudget(1000), "x" * 100
    for given, parts, left in ((text, 2, 820), (text, 2, 820), ("y", 0, 819), (text, 1, 679)):
        budget.read(given, parts)
        assert budget.left == left


def test_what_is_below_has_a_budget_of_its_own() -> None:
    """It is listed once, and charged for each time; that of other lookups is not touched."""
    budget = LookBudget(1000)
    names = Names(entries=2000)
    lookups = FileLookups(directory="/", names=names, effort=budget)
    for _ in range(2):
        assert len(list(lookups.below("/a"))) == 2000
    with pytest.raises(TooManyFilesError):
        list(lookups.below("/a"))
    assert names.listed == 2000
    assert budget.left == 1000


def test_the_nearest_is_found_first_below(tmp_path: Path) -> None:
    """Everything below a directory, links as they are; a listing that was left counts as none."""
    base = str(tmp_path.resolve())
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").touch()
    (tmp_path / "a" / "l").symlink_to(tmp_path)
    (tmp_path / "d").touch()
    lookups = FileLookups(directory=base)
    next(lookups.below(base))
    for _ in range(2):
        found = [entry.path[len(base) :] for entry in lookups.below(base)]
        assert sorted(found[:2]) == ["/a", "/d"]
        assert sorted(found[2:4]) == ["/a/b", "/a/l"]
        assert found[4:] == ["/a/b/c"]


@pytest.mark.parametrize(
    ("pattern", "deep", "found"),
    [
        ("*", False, "a.txt b.txt d gone l"),
        (".*", False, ".h"),
        (".[hx]", False, ".h"),
        ("*.txt", False, "a.txt b.txt"),
        ("?.txt", False, "a.txt b.txt"),
        ("[ac].txt", False, "a.txt"),
        ("[^a].txt", False, "b.txt"),
        ("[!a].txt", True, "b.txt"),
        ("[[:alpha:]].txt", False, "a.txt b.txt d gone l"),
        ("a[[:punct:]]txt", False, "a.txt"),
        (r"[\a]*", False, "a.txt b.txt d gone l"),
        ("[]x]*", False, ""),
        ("*/c.txt", False, "d/c.txt l/c.txt"),
        ("d//*", False, "d/c.txt d/g"),
        ("d/.*/f.txt", False, "d/.e/f.txt"),
        ("**/c.txt", False, "d/c.txt l/c.txt"),
        ("**/c.txt", True, "d/c.txt"),
        ("**/*.txt", True, "a.txt b.txt d/c.txt d/g/k.txt"),
        ("d/**", False, "d/c.txt d/g"),
        ("d/**", True, "d d/c.txt d/g d/g/k.txt"),
        ("*/", False, "a.txt b.txt d gone l"),
        ("gon?", False, "gone"),
        ("gon?/x", False, ""),
        ("none*", False, ""),
        ("*/none", False, ""),
        ("a.txt/*", False, ""),
    ],
)
def test_what_a_pattern_of_names_finds(
    tmp_path: Path, pattern: str, deep: bool, found: str
) -> None:
    """As bash finds them, and more where it cannot be told; looked for once."""
    base = str(tmp_path.resolve())
    for path in ("d/.e/f.txt", "d/g/k.txt", "d/c.txt", "a.txt", "b.txt", ".h"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    (tmp_path / "l").symlink_to("d")
    (tmp_path / "gone").symlink_to("nowhere")
    budget = LookBudget(1000)
    lookups = FileLookups(directory=base, effort=budget)
    left = []
    for _ in range(2):
        names = [path[len(base) + 1 :] for path in lookups.expand(f"{base}/{pattern}", deep=deep)]
        assert sorted(set(names)) == found.split()
        left.append(budget.left)
    assert left[0] == left[1] < 1000


def test_each_path_that_a_pattern_finds_is_charged_for() -> None:
    """A directory and its entries, and each that matches."""
    for pattern, spent in (("/a/f*", 25), ("/a/f1*", 17), ("/a/x*", 13), ("/*/f1", 25)):
        budget = LookBudget(100)
        FileLookups(directory="/", names=Names(), effort=budget).expand(pattern)
        assert budget.left == 100 - spent
        short = FileLookups(directory="/", names=Names(), effort=LookBudget(spent - 1))
        with pytest.raises(TooManyFilesError):
            short.expand(pattern)


@pytest.mark.parametrize(
    ("name", "pattern", "fits"),
    [
        ("a", "[[:digit:]]", True),
        ("ab", "a", False),
        ("ab", "b", False),
        ("ab", "a?", True),
        ("", "*", True),
    ],
)
def test_a_name_fits_a_pattern_as_a_whole(name: str, pattern: str, fits: bool) -> None:
    """A class in brackets is taken for anything."""
    assert matches(name, pattern) is fits


@pytest.mark.parametrize(
    ("path", "refused", "kind", "resolved"),
    [
        ("/a/b", {"/a": [PermissionError]}, FileKind.UNREADABLE, "/a/b"),
        ("/a/b/../c", {"/a/b": [PermissionError]}, FileKind.UNREADABLE, "/a/c"),
        ("/a/b", {"/a/b": [FileNotFoundError]}, FileKind.MISSING, "/a/b"),
        ("/a/b", {"/a/b": [NotADirectoryError]}, FileKind.MISSING, "/a/b"),
        ("/a/b/..", {"/a": [None, PermissionError, None]}, FileKind.UNREADABLE, "/a"),
        ("/a/b/..", {"/a": [None, FileNotFoundError, None]}, FileKind.MISSING, "/a"),
        ("/a/b/..", {"/a/b": [FileNotFoundError]}, FileKind.DIRECTORY, "/a"),
        ("/a/b/../c", {"/a/c": [None, PermissionError]}, FileKind.UNREADABLE, "/a/c"),
        ("/a/b", {"/a": [FileNotFoundError]}, FileKind.DIRECTORY, "/a/b"),
        ("/l/b", {}, FileKind.DIRECTORY, "/a/b"),
        ("/l", {}, FileKind.DIRECTORY, "/a"),
        ("/l", {"/a": [FileNotFoundError]}, FileKind.MISSING, "/a"),
        ("/odd/x", {}, FileKind.UNREADABLE, "/odd/x"),
        ("/..", {}, FileKind.DIRECTORY, "/"),
    ],
)
def test_what_cannot_be_looked_up_is_told_from_what_is_not_there(
    path: str, refused: dict[str, list[type[OSError] | None]], kind: FileKind, resolved: str
) -> None:
    """A path is uncertain where a name on the way is refused, and missing where there is none."""
    names = Names()
    names.refused = {each: list(errors) for each, errors in refused.items()}
    found = locate(path, directory="/", names=names)
    assert (found.kind, found.resolved) == (kind, resolved)
    assert found.certain is (kind is not FileKind.UNREADABLE)
    assert found.identity == ((1, 2) if kind is FileKind.DIRECTORY else None)
    assert found.exists is (kind is FileKind.DIRECTORY)


def test_a_home_is_absolute_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative home is no home; where none is given it is the user's."""
    assert locate("/x", directory="/", home="h").home == ""
    with pytest.raises(PathError):
        locate("~", directory="/", home="h")
    monkeypatch.setenv("HOME", "/nonexistent/h")
    assert locate("~/x", directory="/").absolute == "/nonexistent/h/x"
    assert locate("x", directory="/").home == "/nonexistent/h"


def test_an_entry_of_a_walk_is_located_by_its_directory() -> None:
    """Every reading of the directory is one of the entry's; the directory itself is as it is."""
    top = locate("/l", directory="/", names=Names())
    assert inside(top, "") is top
    entry = inside(top, "x/y")
    assert (entry.written, entry.absolute, entry.resolved) == ("x/y", "/l/x/y", "/a/x/y")
    assert (entry.readings, entry.kind) == (("/l/x/y", "/a/x/y"), FileKind.FILE)
    root = inside(locate("/", directory="/", names=Names()), "x", kind=FileKind.FIFO)
    assert (root.absolute, root.resolved, root.readings) == ("/x", "/x", ("/x",))
    assert (root.kind, root.identity) == (FileKind.FIFO, None)


@pytest.mark.parametrize(
    ("path", "directory", "below"),
    [
        ("/a", "/a", True),
        ("/a/b", "/a", True),
        ("/ab", "/a", False),
        ("/a", "/a/b", False),
        ("/", "/", True),
        ("/a", "/", True),
        ("/", "/a", False),
    ],
)
def test_a_path_is_below_a_directory_by_its_names(path: str, directory: str, below: bool) -> None:
    """A directory is below itself, and each that a path lies in is one of its lineage."""
    assert is_below(path, directory) is below
    assert (directory in lineage(path)) is below


@pytest.mark.parametrize(
    ("path", "given", "directory", "found"),
    [
        ("/w/a/x", ["/w/a"], "/d", ["/w/a"]),
        ("/w/a/x", ["/w/a/"], "/d", ["/w/a/"]),
        ("/w/a", ["/w/./a", "/w"], "/d", ["/w/./a", "/w"]),
        ("/d/a/x", ["a", "b"], "/d", ["a"]),
        ("/w/ab", ["/w/a"], "/d", []),
        ("/w/a/x", ["/w/a", "~"], "/d", []),
        ("/w/a/x", ["/w/a"], "d", []),
    ],
)
def test_of_many_directories_those_around_a_path_are_found_by_their_text(
    path: str, given: list[str], directory: str, found: list[str]
) -> None:
    """None where one of them begins with a tilde, where the base is relative, or of up to eight."""
    far = [f"/far/{number}" for number in range(9 - len(given))]
    location = locate(path, directory="/", home="/h")
    assert around_by_text(location, (*given, *far), directory=directory) == tuple(found)
    assert around_by_text(location, (*given, *far[1:]), directory=directory) == ()
