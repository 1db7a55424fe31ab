"""Finding one pattern among many."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_like.paths import (
    Location,
    locate,
    locate_directories,
)
from agentscope_like.permission import (
    PathRuleIndex,
    PathRules,
    PatternError,
    PermissionBehavior,
    PermissionContext,
    PermissionRule,
    RuleError,
)
from agentscope_like.tool import Read

WORK = "/nonexistent/work"
HOME = "/nonexistent/home"
AT_HOME = partial(PathRuleIndex, home=HOME)
DIRECTORIES = locate_directories([WORK, "/nonexistent"], home=HOME)


def alone(contents: list[str], location: Location, *, strict: bool) -> int | None:
    """Return what the index must say: the first pattern that matches when each is tried."""
    for position, content in enumerate(contents):
        index = PathRuleIndex([content], strict=strict, home=HOME)
        if index.match(location, DIRECTORIES) is not None:
            return position
    return None


def test_the_first_pattern_wins() -> None:
    """The position is that of the first rule in the list, however it is filed."""
    index = PathRuleIndex(["**/*.md", "src/**", "**/main.py", "src/main.py"], strict=True)
    assert index.match(locate("src/main.py", directory=WORK), DIRECTORIES) == 1
    assert index.match(locate("main.py", directory=WORK), DIRECTORIES) == 2
    assert index.match(locate("src/x.md", directory=WORK), DIRECTORIES) == 0
    assert index.match(locate("main.rs", directory=WORK), DIRECTORIES) is None


def test_the_first_pattern_that_may_match_below_wins() -> None:
    """The position is the least one, of patterns that begin alike and of those at the root."""
    index = AT_HOME(["other/x", "src/a", "src/**", "/nonexistent/*", "src/b"], strict=False)
    below = {"src": 1, "src/a": 2, ".": 0, "/nonexistent": 0, "/": 0, "/srv": None, "none": None}
    for path, position in below.items():
        location = locate(path, directory=WORK, home=HOME)
        assert index.match_below(location, DIRECTORIES[:1]) == position, path


def test_no_pattern_matches_nothing() -> None:
    """An empty index speaks of no path."""
    for strict in (True, False):
        assert PathRuleIndex([], strict=strict).match(locate("x", directory=WORK), ()) is None


def test_a_pattern_that_cannot_be_compiled_is_refused_on_loading() -> None:
    """A mistake is told when the rules are loaded, not when one of them is needed."""
    with pytest.raises(PatternError, match=r"\.\."):
        PathRuleIndex(["src/**", "../x"], strict=False)


async def test_one_more_pattern_does_not_change_the_others(tmp_path: Path) -> None:
    """An extended matcher answers as one built with the pattern; the first is unchanged."""
    tool = Read(cwd=tmp_path)
    matcher = tool.compile_rules(["a/**", "b/**"], PermissionBehavior.ALLOW)
    extended = matcher.extended("**/*.py").extended("c")
    expected = {"a/x.py": 0, "b/x": 1, "x.py": 2, "c": 3, "d": None}
    calls = {
        path: await tool.prepare_call({"file_path": path}, PermissionContext()) for path in expected
    }
    assert {path: extended.match(call) for path, call in calls.items()} == expected
    assert matcher.match(calls["x.py"]) is None
    with pytest.raises(PatternError):
        matcher.extended("")


def test_all_readings_must_match_the_same_pattern_to_be_allowed(tmp_path: Path) -> None:
    """A link from one allowed place to another needs one rule that covers both."""
    work = tmp_path.resolve()
    for name in ("a", "b", "c"):
        (work / name).mkdir()
    (work / "a" / "link").symlink_to("../b")
    directories = locate_directories([str(work)])
    location = locate("a/link/x", directory=str(work))
    apart = ["a/**", "b/**"]
    assert PathRuleIndex(apart, strict=True).match(location, directories) is None
    assert PathRuleIndex(apart, strict=False).match(location, directories) == 0
    assert PathRuleIndex(["b/**"], strict=False).match(location, directories) == 0
    together = ["{a,c}/**", "{a,b}/**", "{b,c}/**"]
    assert PathRuleIndex(together, strict=True).match(location, directories) == 1


def test_a_loop_is_never_allowed(tmp_path: Path) -> None:
    """What cannot be resolved is matched by no rule that allows, and by those that deny."""
    (tmp_path / "a").symlink_to("a")
    directories = locate_directories([str(tmp_path)])
    location = locate("a", directory=str(tmp_path))
    assert PathRuleIndex(["**"], strict=True).match(location, directories) is None
    assert PathRuleIndex(["**"], strict=False).match(location, directories) == 0


@pytest.mark.parametrize(
    "pattern",
    [
        "SRC/Main.PY",
        "SRC/**",
        "SRC/*.py",
        "*/MAIN.py",
        "**/*.PY",
        "**/MAI*",
        "**/*[N].Py",
        "src/*[A]*",
    ],
)
def test_only_what_forbids_ignores_case(pattern: str) -> None:
    """However a pattern is filed, a deny finds it in any case, an allow in none but its own."""
    location = locate("src/main.py", directory=WORK)
    shouted = locate_directories([WORK.upper()])
    forbidding = PathRuleIndex([pattern], strict=False)
    assert forbidding.match(location, DIRECTORIES) == 0
    assert forbidding.match(location, shouted) == 0
    assert PathRuleIndex([pattern], strict=True).match(location, DIRECTORIES) is None
    assert PathRuleIndex(["**"], strict=True).match(location, shouted) is None


def test_a_deny_is_found_by_every_name_of_the_place_it_names(tmp_path: Path) -> None:
    """A forbidden directory behind a symlink is filed under its real name as well."""
    work = tmp_path.resolve()
    (work / "real").mkdir()
    (work / "alias").symlink_to("real")
    location = locate(str(work / "real" / "x"), directory="/")
    contents = [f"{work}/alias/**"]
    assert PathRuleIndex(contents, strict=False).match(location, ()) == 0
    assert PathRuleIndex(contents, strict=True).match(location, ()) is None


def test_globs_that_end_alike_are_told_apart() -> None:
    """Patterns filed under one ending, beginning or name are each tried."""
    contents = ["[ab]*.py", "[cd]*.py", "t[ab]*", "t[cd]*", "[ab]*/x", "[cd]*/x", "[ab]*/y"]
    index = PathRuleIndex(contents, strict=True)
    for position, path in enumerate(["a.py", "c.py", "ta", "tc", "a/x", "c/x", "a/y"]):
        assert index.match(locate(path, directory=WORK), DIRECTORIES) == position


_PARTS = st.sampled_from(
    [
        *("a", "b", "A", "caf\u00e9", "cafe\u0301", "*", "**", "a*", "*b", "*A", "a*b", "?"),
        *("[ab]", "[!a]*", "{a,b}", "{a,**}", "{a/b,*b}", "\u0130", "i"),
    ]
)
_STARTS = st.sampled_from(["", "", "", "/nonexistent/work/", "/NonExistent/", "~/", "/**/"])
_PATTERNS = st.builds(
    lambda start, parts: start + "/".join(parts),
    _STARTS,
    st.lists(_PARTS, min_size=1, max_size=3),
)
_PATHS = st.builds(
    lambda start, parts: start + "/".join(parts),
    st.sampled_from(["", "", "../", "~/"]),
    st.lists(
        st.sampled_from(["a", "b", "A", "B", "ab", "CAF\u00c9", "cafe\u0301", "\u0131"]),
        min_size=1,
        max_size=3,
    ),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(_PATTERNS, max_size=12), _PATHS, st.booleans())
def test_the_index_agrees_with_each_pattern_alone(
    contents: list[str], path: str, strict: bool
) -> None:
    """To find a pattern quickly is to find the one that trying each would have found."""
    location = locate(path, directory=WORK, home=HOME)
    index = PathRuleIndex(contents, strict=strict, home=HOME)
    assert index.match(location, DIRECTORIES) == alone(contents, location, strict=strict)


@settings(max_examples=150, deadline=None)
@given(st.lists(_PATTERNS, min_size=1, max_size=8), _PATTERNS, _PATHS)
def test_adding_a_pattern_never_hides_another(contents: list[str], more: str, path: str) -> None:
    """A deny that holds goes on holding, and an allow, whatever else is added before or after."""
    location = locate(path, directory=WORK, home=HOME)
    for strict in (True, False):
        found = PathRuleIndex(contents, strict=strict, home=HOME).match(location, DIRECTORIES)
        before = PathRuleIndex([more, *contents], strict=strict, home=HOME)
        after = PathRuleIndex([*contents, more], strict=strict, home=HOME)
        if found is not None:
            assert before.match(location, DIRECTORIES) in (0, found + 1)
            assert after.match(location, DIRECTORIES) == found


@settings(max_examples=200, deadline=None)
@given(_PATTERNS, _PATHS)
def test_what_is_allowed_by_a_pattern_is_forbidden_by_it_too(pattern: str, path: str) -> None:
    """The reading that forbids is never narrower than the one that allows."""
    location = locate(path, directory=WORK, home=HOME)
    if PathRuleIndex([pattern], strict=True, home=HOME).match(location, DIRECTORIES) is not None:
        forbidding = PathRuleIndex([pattern], strict=False, home=HOME)
        assert forbidding.match(location, DIRECTORIES) == 0


@settings(max_examples=400, deadline=None)
@given(st.lists(_PATTERNS, min_size=1, max_size=6), _PATHS)
def test_what_matches_below_a_directory_is_looked_for_there(contents: list[str], path: str) -> None:
    """No directory on the way to a path that a pattern forbids is passed over."""
    index = PathRuleIndex(contents, strict=False, home=HOME)
    location = locate(path, directory=WORK, home=HOME)
    if index.match(location, DIRECTORIES) is None:
        return
    parent = location.absolute
    while parent != "/":
        parent = parent.rpartition("/")[0] or "/"
        above = locate(parent, directory="/", home=HOME)
        assert index.match_below(above, DIRECTORIES) is not None


@settings(max_examples=400, deadline=None)
@given(st.lists(_PATTERNS, min_size=1, max_size=8), _PATHS, st.booleans())
def test_names_in_a_directory_are_told_as_their_paths_are(
    contents: list[str], path: str, above: bool
) -> None:
    """What is said of a name in a directory is what is said of the path that it makes."""
    index = PathRuleIndex(contents, strict=False, home=HOME)
    folder = locate("/nonexistent" if above else path, directory=WORK, home=HOME)
    match = index.within(folder, DIRECTORIES)
    for name in ("a", "B", "ab", "CAF\u00c9", "cafe\u0301", "\u0131", "work", "WORK"):
        location = locate(f"{folder.absolute}/{name}", directory="/", home=HOME)
        found = None if match is None else match(name)
        assert found == index.match(location, DIRECTORIES), name


def test_where_nothing_can_match_nothing_is_looked_for() -> None:
    """A directory is passed over where no pattern could speak of anything below it."""
    index = PathRuleIndex(["secrets/**", "src/*/keys", "/etc/x"], strict=False)
    for path, may_hold in (
        *((".", 0), ("secrets", 0), ("secrets/a", 0), ("SECRETS", 0), ("src", 1), ("src/a", 1)),
        *(("docs", None), ("src/a/keys", None), ("src/a/b", None), ("secret", None)),
        *(("/etc", 2), ("/etc/x", None), ("/usr", None), ("/", 0)),
    ):
        location = locate(path, directory=WORK)
        assert index.match_below(location, locate_directories([WORK])) == may_hold, path


def many(count: int) -> list[str]:
    """Return rules of the kinds that people write, none of which speaks of the path tried."""
    kinds = (
        "src/pkg{}/**",
        "/data/d/f{}.txt",
        "lib/*/x{}.py",
        "**/*.e{}",
        "docs/{{a,b}}/p{}*.md",
        "lib/core/t_{}*",
    )
    return [kinds[number % len(kinds)].format(number) for number in range(count)]


def test_the_number_of_patterns_does_not_matter() -> None:
    """100,000 rules cost what 10 do, up to the noise of the machine."""
    location = locate("lib/core/engine.py", directory=WORK)

    def cost(count: int) -> float:
        index = PathRuleIndex([*many(count), "lib/core/engine.py"], strict=True)
        assert index.match(location, DIRECTORIES) == count
        best = float("inf")
        for _ in range(20):
            started = time.perf_counter()
            for _ in range(50):
                index.match(location, DIRECTORIES)
            best = min(best, time.perf_counter() - started)
        return best

    assert cost(100_000) < 4 * cost(10)


@pytest.mark.parametrize("content", ["a/**/**", "a/**/", "a//**", "a/**"])
def test_a_directory_is_forbidden_with_all_that_is_below_it(content: str) -> None:
    """However `**` is spelled, the directory itself counts, and its neighbour does not."""
    for strict in (True, False):
        index = PathRuleIndex([content], strict=strict)
        assert index.match(locate("a", directory=WORK), DIRECTORIES) == 0
        assert index.match(locate("a/b/c", directory=WORK), DIRECTORIES) == 0
        assert index.match(locate("ab", directory=WORK), DIRECTORIES) is None


def test_a_working_directory_is_a_name_in_its_parent() -> None:
    """What speaks of a working directory speaks of its name where that lies, and nowhere else."""
    index = PathRuleIndex(["./x", "./**"], strict=False, home=HOME)
    directories = locate_directories([WORK], home=HOME)
    parent = index.within(locate("/nonexistent", directory="/", home=HOME), directories)
    assert parent is not None
    assert [parent(name) for name in ("work", "WORK", "works", "x")] == [1, 1, None, None]
    root = index.within(locate("/", directory="/", home=HOME), directories)
    assert root is not None
    assert [root(name) for name in ("work", "nonexistent", "x")] == [None, None, None]
    inner = index.within(locate(WORK, directory="/", home=HOME), directories)
    assert inner is not None
    assert [inner(name) for name in ("work", "x")] == [1, 0]


def rules(*contents: str | None) -> list[PermissionRule]:
    """Return deny rules for reading with these contents."""
    return [
        PermissionRule(tool_name="Read", rule_content=content, behavior=PermissionBehavior.DENY)
        for content in contents
    ]


def test_a_rule_is_found_by_what_it_says() -> None:
    """The first that speaks of a path, of what may be below it, or of a name in a directory."""
    listed = rules("SRC/*", "docs/a/**")
    found = PathRules(listed, compile=AT_HOME)
    assert found.rules == tuple(listed)
    for path, itself, below in (
        ("src/x", listed[0], None),
        ("src", None, listed[0]),
        ("docs/a", listed[1], listed[1]),
        ("docs", None, listed[1]),
        ("lib", None, None),
    ):
        location = locate(path, directory=WORK, home=HOME)
        assert found.match(location, DIRECTORIES) is itself
        assert found.match_below(location, DIRECTORIES) is below
    docs = found.within(locate("docs", directory=WORK, home=HOME), DIRECTORIES)
    assert docs is not None
    assert docs("a") is listed[1]
    assert docs("b") is None
    assert found.within(locate("lib", directory=WORK, home=HOME), DIRECTORIES) is None


def test_a_rule_without_content_speaks_of_every_path() -> None:
    """It is the same as one for all there is, in any directory."""
    listed = rules("x", None)
    found = PathRules(listed, compile=AT_HOME)
    for path in (".", "y", "/", "/etc/passwd", "~"):
        assert found.match(locate(path, directory=WORK, home=HOME), DIRECTORIES) is listed[1]
    assert found.match(locate("x", directory=WORK, home=HOME), DIRECTORIES) is listed[0]


def test_a_rule_that_is_no_pattern_is_refused_by_its_behavior() -> None:
    """It is told which rules are meant."""
    with pytest.raises(RuleError, match=r"deny rule for files: .*negation"):
        PathRules(rules("x", "!y"), compile=AT_HOME)
    with pytest.raises(RuleError, match="home"):
        PathRules(rules("~/x"), compile=partial(PathRuleIndex, home=""))


def test_links_are_followed_as_the_host_says() -> None:
    """A directory that a rule names counts by its other name, as it is told."""
    listed = rules("/var/run/**")

    def real(path: str) -> str:
        return path.replace("/var/run", "/run")

    location = locate("/run/x", directory="/", home=HOME)
    assert (
        PathRules(listed, compile=partial(AT_HOME, real=real)).match(location, DIRECTORIES)
        is listed[0]
    )
    assert (
        PathRules(listed, compile=partial(AT_HOME, real=str)).match(location, DIRECTORIES) is None
    )
