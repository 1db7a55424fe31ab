"""Where PATH leads: which of its directories are the project's, and which programs they bring."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.shell import KnownPrograms, SearchPath, analyze, search_path


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with a project, in which programs are, and with others beside it."""
    base = tmp_path_factory.mktemp("search").resolve()
    for name in (
        "work/bin/ls",
        "work/bin/own",
        "work/bin/sub/own",
        "bin/ls",
        "bin/other",
        "more/ls",
    ):
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).touch()
    (base / "link").symlink_to("work/bin")
    (base / "loop").symlink_to("loop")
    (base / "work" / "bin" / "round").symlink_to("round")
    (base / "led").mkdir()
    (base / "led" / "own").symlink_to("../work/bin/own")
    return base


def searched(base: Path, path: str | None, *working: str) -> SearchPath:
    """Return what PATH is divided into; `BASE` stands for the directory around the project."""
    written = None if path is None else path.replace("BASE", str(base))
    return search_path(written, working, root=str(base / "work"), home=str(base))


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ("BASE/bin", "outside"),
        ("BASE/more", "outside"),
        ("/usr/bin", "outside"),
        ("/usr/bin/", "outside"),
        ("/", "outside"),
        ("BASE/none", "outside"),
        ("BASE", "outside"),
        ("BASE/work", "inside"),
        ("BASE/work/bin", "inside"),
        ("BASE/bin/../work/bin/", "inside"),
        ("BASE/link", "inside"),
        ("BASE/loop", "inside"),
        ("BASE/work/none", "inside"),
        (f"BASE/{'n' * 5000}", "inside"),
        ("bin", ""),
        ("", ""),
        ("~/work/bin", ""),
    ],
)
def test_an_entry_of_path_lies_inside_or_outside(base: Path, entry: str, place: str) -> None:
    """However it leads into the project, it is inside; what is relative is left out."""
    found = searched(base, f"BASE/work/bin:{entry}:/bin:/bin")
    entry = entry.replace("BASE", str(base))
    assert (entry in found.outside) is (place == "outside")
    assert (entry in found.inside) is (place == "inside")
    assert found.outside[-1:] == ("/bin",)
    assert found.outside.count("/bin") == 1


def test_a_further_working_directory_counts_and_no_directory_of_the_system(base: Path) -> None:
    """Whatever is worked in, the system's programs are those that are known."""
    bin_, more = str(base / "bin"), str(base / "more")
    assert searched(base, "BASE/bin:BASE/more", bin_).inside == (bin_,)
    assert searched(base, "BASE/bin:BASE/more").outside == (bin_, more)
    assert searched(base, "/usr/bin:BASE/more", "/usr").outside == ("/usr/bin", more)
    assert searched(base, "/usr/bin/:BASE/more", "/usr").outside == ("/usr/bin/", more)
    assert "/usr/bin" in searched(base, None).outside


def known(base: Path, path: str) -> KnownPrograms:
    """Return where the programs of a command are found."""
    command = f"ls; own; other; none; sub/own; \"$x\"; x=1; ''; round; {'n' * 5000}"
    return searched(base, path).programs(analyze(command, directory=str(base)))


@pytest.mark.parametrize(
    ("path", "brought"),
    [
        ("BASE/work/bin:BASE/bin", {"ls": True, "own": False, "round": False}),
        ("BASE/bin:BASE/work/bin", {"ls": True, "own": False, "round": False}),
        ("BASE/work/bin:/none", {"ls": False, "own": False, "round": False}),
        ("BASE/work/bin:BASE/led", {"ls": False, "own": False, "round": False}),
        ("BASE/bin:/none", {}),
    ],
)
def test_a_program_that_the_project_brings(base: Path, path: str, brought: dict[str, bool]) -> None:
    """It is told whether another one is found, which is no link to one of the project."""
    found = known(base, path)
    assert found.brought == brought
    assert found.path == ":".join(searched(base, path).outside)
    analysis = analyze("ls a; own 'own'; round; other", directory=str(base))
    doubted = found.doubted(analysis)
    told = {
        (part.name, doubt.span)
        for part in doubted.parts
        for doubt in part.doubts
        if "working directory" in doubt.message
    }
    assert told == {
        (part.name, part.words[0].span)
        for part in analysis.parts
        if not brought.get(part.name, True)
    }
    assert (doubted is analysis) is (not told)
    assert [part.name for part in analysis.parts if found.is_brought(part)] == [*brought]


def test_a_path_without_directories_finds_nothing(base: Path) -> None:
    """An empty PATH would mean the current directory."""
    assert known(base, "BASE/work/bin").path == "/dev/null"
    assert known(base, "").path == "/dev/null"
