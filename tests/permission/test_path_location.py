"""Where a path leads: as text, and as the kernel follows it."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_like.paths import (
    FileKind,
    PathError,
    inside_any,
    locate,
    locate_directories,
)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A resolved workspace with a directory and a file."""
    work = tmp_path.resolve() / "work"
    (work / "src").mkdir(parents=True)
    (work / "src" / "main.py").write_text("pass\n")
    return work


@pytest.mark.parametrize(
    ("written", "absolute"),
    [
        ("src/main.py", "/w/src/main.py"),
        ("./src//main.py", "/w/src/main.py"),
        ("src/../src/./main.py/", "/w/src/main.py"),
        ("..", "/"),
        ("../../../x", "/x"),
        (".", "/w"),
        ("//etc//passwd", "/etc/passwd"),
        ("/..", "/"),
        ("~", "/h/u"),
        ("~/x", "/h/u/x"),
        ("~//x", "/h/u/x"),
        ("a~", "/w/a~"),
        ("~no-such-user-here/x", "/w/~no-such-user-here/x"),
        ("ünï/日本", "/w/ünï/日本"),
    ],
)
def test_a_path_reads_as_its_folded_text(written: str, absolute: str) -> None:
    """Tilde, the directory, dots and doubled slashes are folded without looking at the disk."""
    location = locate(written, directory="/w", home="/h/u")
    assert location.written == written
    assert location.absolute == absolute


def test_a_relative_directory_is_the_processs_own(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A directory that is not absolute starts where the process is."""
    monkeypatch.chdir(work)
    assert locate("main.py", directory="src").absolute == f"{work}/src/main.py"


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("", "empty"),
        ("a\0b", "U+0000"),
        ("a\nb", "U+000A"),
        ("a\x7f", "U+007F"),
        ("a\x9b", "U+009B"),
        ("a\u2028b", "U+2028"),
        ("gnp\u202eexe", "U+202E"),
        ("\ud800", "U+D800"),
        ("~\ud800/x", "U+D800"),
        ("~a\0/x", "U+0000"),
        ("x/" * 3000, "4096"),
    ],
)
def test_a_path_that_no_one_can_judge_is_refused(written: str, says: str) -> None:
    """The error names the character or the length, and says what to do."""
    with pytest.raises(PathError, match=says.replace("+", r"\+")):
        locate(written, directory="/w")


@pytest.mark.parametrize("written", ["a b", "a\u00a0b", "👩\u200d💻", "-rf", "$HOME", "*", "a\\b"])
def test_an_odd_name_is_still_a_name(written: str) -> None:
    """Blanks, emoji, dashes and shell characters are part of a name."""
    assert locate(written, directory="/w").absolute == f"/w/{written}"


def test_a_tilde_without_a_home_is_refused() -> None:
    """Where there is no home directory, `~` is not taken for a name."""
    with pytest.raises(PathError, match="home"):
        locate("~/x", directory="/w", home="")


def test_the_kind_of_a_location(work: Path) -> None:
    """A location says what it is before anything is opened."""
    os.mkfifo(work / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        cwd = Path.cwd()
        os.chdir(work)
        try:
            server.bind("socket")
        finally:
            os.chdir(cwd)
    (work / "link").symlink_to("src")
    (work / "dangling").symlink_to("nothing")
    kinds = {
        "src/main.py": FileKind.FILE,
        "src": FileKind.DIRECTORY,
        "link": FileKind.DIRECTORY,
        "link/..": FileKind.DIRECTORY,
        "fifo": FileKind.FIFO,
        "socket": FileKind.SOCKET,
        "/dev/null": FileKind.DEVICE,
        "missing": FileKind.MISSING,
        "missing/below": FileKind.MISSING,
        "dangling": FileKind.MISSING,
        "src/main.py/below": FileKind.MISSING,
        "/": FileKind.DIRECTORY,
    }
    assert {path: locate(path, directory=str(work)).kind for path in kinds} == kinds
    assert not locate("missing", directory=str(work)).exists


def test_the_identity_is_that_of_the_file(work: Path) -> None:
    """Two names of one file have one identity; a replaced file has another."""
    (work / "link").symlink_to("src/main.py")
    by_link = locate("link", directory=str(work))
    status = (work / "src" / "main.py").stat()
    assert by_link.identity == (status.st_dev, status.st_ino)
    other = work / "other"
    other.write_text("pass\n")
    other.replace(work / "src" / "main.py")
    assert locate("link", directory=str(work)).identity != by_link.identity


def test_a_symlink_has_two_readings(work: Path, tmp_path: Path) -> None:
    """What lies behind a symlink is outside even where its text is inside."""
    outside = tmp_path.resolve() / "outside"
    outside.mkdir()
    (work / "link").symlink_to(outside)
    workspace = locate(str(work), directory="/")
    location = locate("link/new.txt", directory=str(work))
    assert location.readings == (f"{work}/link/new.txt", f"{outside}/new.txt")
    assert location.resolved == f"{outside}/new.txt"
    assert not inside_any(location, [workspace])
    (work / "inner").symlink_to("src")
    assert inside_any(locate("inner/new.txt", directory=str(work)), [workspace])


def test_inside_is_where_a_path_leads_however_it_was_named(work: Path, tmp_path: Path) -> None:
    """A link from outside into the workspace is inside, and so is one to the workspace itself."""
    alias = tmp_path.resolve() / "alias"
    alias.symlink_to(work)
    to_file = tmp_path.resolve() / "to-file"
    to_file.symlink_to(work / "src" / "main.py")
    other = tmp_path.resolve() / "other"
    other.mkdir()
    (other / "file").touch()
    for workspace in (locate(str(work), directory="/"), locate(str(alias), directory="/")):
        for path in (work / "new", alias / "new", to_file, other / ".." / "alias" / "src"):
            assert inside_any(locate(str(path), directory="/"), [workspace]), path
        for path in (other / "file", alias / ".." / "other", to_file.parent, work.parent):
            assert not inside_any(locate(str(path), directory="/"), [workspace]), path


def test_folding_dots_and_following_links_differ(work: Path, tmp_path: Path) -> None:
    """`link/../x` is judged as its text, as the kernel sees it, and as folded text is followed."""
    deep = tmp_path.resolve() / "outside" / "deep"
    deep.mkdir(parents=True)
    secret = tmp_path.resolve() / "secret"
    secret.write_text("s")
    (work / "link").symlink_to(deep)
    (work / "x").symlink_to(secret)
    location = locate("link/../x", directory=str(work))
    assert location.absolute == f"{work}/x"
    assert location.resolved == f"{deep.parent}/x"
    assert str(secret) in location.readings
    assert not inside_any(location, [locate(str(work), directory="/")])


def test_every_link_on_the_way_is_a_reading(work: Path) -> None:
    """A chain of links is seen at each hop, since replacing a file replaces the link it is."""
    home = work.parent / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / "dotfiles").mkdir()
    (home / "dotfiles" / "config").write_text("")
    (home / ".ssh" / "config").symlink_to("../dotfiles/config")
    (work / "notes").symlink_to(home / ".ssh")
    location = locate("notes/config", directory=str(work))
    assert location.readings == (
        f"{work}/notes/config",
        f"{home}/.ssh/config",
        f"{home}/dotfiles/config",
    )


def test_a_link_itself_can_be_meant(work: Path) -> None:
    """Removing a link touches the link only, unless a slash follows it."""
    (work / "link").symlink_to("/usr")
    link = locate("link", directory=str(work), follow=False)
    assert (link.kind, link.resolved) == (FileKind.SYMLINK, f"{work}/link")
    workspace = locate(str(work), directory="/")
    assert inside_any(link, [workspace])
    assert not inside_any(locate("link/", directory=str(work), follow=False), [workspace])
    assert not inside_any(locate("link/lib", directory=str(work), follow=False), [workspace])
    assert not inside_any(locate("link", directory=str(work)), [workspace])


def test_a_loop_lies_nowhere(work: Path) -> None:
    """Symlinks in a circle are in no directory, though their text is."""
    (work / "a").symlink_to("b")
    (work / "b").symlink_to("a")
    (work / "self").symlink_to("self/x")
    workspace = locate(str(work), directory="/")
    for path in ("a", "a/x", "b/../c", "self"):
        location = locate(path, directory=str(work))
        assert (location.kind, location.certain) == (FileKind.LOOP, False)
        assert not inside_any(location, [workspace])
    assert inside_any(locate("a", directory=str(work), follow=False), [workspace])


def test_a_loop_counts_in_each_reading(work: Path) -> None:
    """`link/../loop` is in doubt where its folded text is a loop, though the kernel sees none."""
    (work / "src" / "deep").mkdir()
    (work / "link").symlink_to("src/deep")
    (work / "loop").symlink_to("loop")
    workspace = locate(str(work), directory="/")
    assert not inside_any(locate("link/../loop", directory=str(work)), [workspace])
    assert inside_any(locate("link/../main.py", directory=str(work)), [workspace])


def test_more_links_than_the_kernel_follows_are_a_loop(work: Path) -> None:
    """A chain of forty symlinks is followed, a longer one is not."""
    (work / "0").write_text("")
    for number in range(1, 42):
        (work / str(number)).symlink_to(str(number - 1))
    assert locate("40", directory=str(work)).kind is FileKind.FILE
    assert locate("41", directory=str(work)).kind is FileKind.LOOP


def test_what_cannot_be_looked_up_lies_nowhere(work: Path) -> None:
    """A name over the limit of the file system is in doubt; one within it is not."""
    workspace = locate(str(work), directory="/")
    doubtful = locate("n" * 300 + "/x", directory=str(work))
    assert doubtful.kind is FileKind.UNREADABLE
    assert not inside_any(doubtful, [workspace])
    assert inside_any(locate("n" * 200 + "/x", directory=str(work)), [workspace])


def test_containment_ends_at_a_name(work: Path) -> None:
    """`/work-2` is not in `/work`; everything is in the root."""
    workspace = locate(str(work), directory="/")
    assert inside_any(workspace, [workspace])
    assert not inside_any(locate(f"{work}-2/x", directory="/"), [workspace])
    assert not inside_any(locate(str(work).upper(), directory="/"), [workspace])
    assert inside_any(workspace, [locate("/", directory="/")])


def test_a_workspace_reached_by_a_link_holds_its_files(work: Path) -> None:
    """A working directory that is a symlink counts by both its names."""
    alias = work.parent / "alias"
    alias.symlink_to(work)
    directories = locate_directories([str(alias)])
    assert inside_any(locate("src/main.py", directory=str(alias)), directories)
    assert inside_any(locate("src/main.py", directory=str(work)), directories)
    assert not inside_any(locate("../x", directory=str(work)), directories)


def test_readings_may_lie_in_different_workspaces(work: Path, tmp_path: Path) -> None:
    """A link from one working directory into another stays within the work."""
    other = tmp_path.resolve() / "other"
    other.mkdir()
    (work / "link").symlink_to(other)
    location = locate("link/x", directory=str(work))
    assert not inside_any(location, locate_directories([str(work)]))
    assert inside_any(location, locate_directories([str(work), str(other)]))


def test_no_working_directory_means_the_processs_own(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a context names none, the directory in use is the only one."""
    monkeypatch.chdir(work)
    assert [each.absolute for each in locate_directories(())] == [str(work)]
    assert [each.absolute for each in locate_directories((), directory="/srv")] == ["/srv"]
    assert [each.absolute for each in locate_directories(["src"])] == [f"{work}/src"]


_NAMES = st.sampled_from(["a", "b", "c", "l", "m", "..", ".", ""])
_PATHS = st.tuples(st.sampled_from(["a", "c", "l", "m", ".."]), st.lists(_NAMES, max_size=5)).map(
    lambda path: "/".join((path[0], *path[1]))
)
_PLACES = st.sampled_from(["l", "m", "a/l", "a/m", "c/b/l"])


@given(_PATHS)
def test_folding_twice_changes_nothing(path: str) -> None:
    """A folded path is a fixed point."""
    once = locate(f"x/{path}", directory="/w").absolute
    assert locate(once, directory="/elsewhere").absolute == once


@settings(deadline=None, max_examples=150)
@given(
    links=st.dictionaries(_PLACES, _PATHS, max_size=4),
    path=_PATHS,
)
def test_containment_agrees_with_the_kernel(
    tmp_path_factory: pytest.TempPathFactory, links: dict[str, str], path: str
) -> None:
    """Whatever links there are, a contained path opens to something inside, and nothing else."""
    root = tmp_path_factory.mktemp("tree").resolve()
    work = root / "work"
    for name in ("a/b", "c/b"):
        (work / name).mkdir(parents=True)
    (root / "a").mkdir()
    for place, target in links.items():
        (work / place).symlink_to(target)
    location = locate(path, directory=str(work))
    raw = f"{work}/{path}"
    try:
        status = os.stat(raw)
    except OSError:
        status = None
    if status is not None:
        assert location.identity == (status.st_dev, status.st_ino)
        assert location.resolved == os.path.realpath(raw)
        assert location.kind is FileKind.DIRECTORY
    if inside_any(location, [locate(str(work), directory="/")]):
        real = os.path.realpath(raw)
        assert real == str(work) or real.startswith(f"{work}/")
    assert location.absolute == os.path.normpath(raw)
