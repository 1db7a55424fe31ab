"""What is offered to a person who does not want to be asked again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_like.paths import (
    PathRuleIndex,
    locate,
    locate_directories,
    suggest_pattern,
)

HOME = "/nonexistent/home/u"
WORK = f"{HOME}/code/project"


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("src/main.py", "src/**"),
        ("src/a/b/main.py", "src/a/b/**"),
        ("README.md", "README.md"),
        ("a[1]/x.py", r"a\[1\]/**"),
        ("a[1].py", r"a\[1\].py"),
        ("my-app/(x)/a.py", "my-app/(x)/**"),
        ("!a/x", r"\!a/**"),
        ("a{1}/x", r"a\{1\}/**"),
        ("./src/../lib/x", "lib/**"),
        ("/srv/data/set/x.csv", "/srv/data/set/**"),
        ("/tmp/build/x", "/tmp/build/**"),
        ("/tmp/x", "/tmp/x"),
        ("/x", "/x"),
        ("/etc/app/x.conf", "/etc/app/x.conf"),
        ("/usr/src/app/x.py", "/usr/src/app/**"),
        ("~/x", f"{HOME}/x"),
        ("~/notes/x", f"{HOME}/notes/**"),
        ("~/Documents/x", f"{HOME}/Documents/x"),
        ("~/code/x", f"{HOME}/code/x"),
        ("/home/v/x", "/home/v/x"),
        (".", None),
        ("/", None),
    ],
)
def test_the_directory_of_a_file_is_offered(path: str, pattern: str | None) -> None:
    """A directory within the work or beside it; never a root, home, system or workspace."""
    directories = locate_directories([WORK], home=HOME)
    assert suggest_pattern(locate(path, directory=WORK, home=HOME), directories) == pattern


def test_the_innermost_workspace_is_the_base() -> None:
    """Where working directories lie in one another, the pattern starts at the nearest."""
    directories = locate_directories([WORK, f"{WORK}/packages/a"], home=HOME)
    location = locate("packages/a/src/x", directory=WORK, home=HOME)
    assert suggest_pattern(location, directories) == "src/**"


@pytest.mark.parametrize("work", ["/srv/X", "/srv/aXX", "/srv/a b", "/srv/-", "/"])
def test_the_base_may_have_any_name(work: str) -> None:
    """Whatever the working directory is called, the pattern starts behind it."""
    directories = locate_directories([work], home=HOME)
    location = locate(f"{work.rstrip('/')}/data/x", directory=work, home=HOME)
    assert suggest_pattern(location, directories) == "data/**"


def test_nothing_is_offered_that_would_not_work(tmp_path: Path) -> None:
    """A link into another directory is not covered by the directory it stands in."""
    work = tmp_path.resolve()
    (work / "src").mkdir()
    (work / "lib").mkdir()
    (work / "src" / "x.py").symlink_to("../lib/x.py")
    (work / "src" / "y.py").symlink_to("z.py")
    (work / "src" / "loop").symlink_to("loop")
    directories = locate_directories([str(work)])
    offers = {
        name: suggest_pattern(locate(f"src/{name}", directory=str(work)), directories)
        for name in ("x.py", "y.py", "loop")
    }
    assert offers == {"x.py": None, "y.py": "src/**", "loop": None}


@given(st.lists(st.sampled_from(["a", "b*", "{c,d}", "[e]", "~", "!f", "\\"]), min_size=1))
def test_what_is_offered_allows_the_file(names: list[str]) -> None:
    """Whatever the names are made of, the offered pattern matches the file it is offered for."""
    directories = locate_directories([WORK], home=HOME)
    location = locate("./" + "/".join(names), directory=WORK, home=HOME)
    pattern = suggest_pattern(location, directories)
    assert pattern is not None
    index = PathRuleIndex([pattern], strict=True, home=HOME)
    assert index.match(location, directories) == 0
    elsewhere = locate("zzz/zzz", directory=WORK, home=HOME)
    assert index.match(elsewhere, directories) is None
