"""The language of path patterns, and what it refuses."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wcmatch import glob

from agentscope_like.paths import (
    Location,
    PathRuleIndex,
    PatternCompiler,
    escape,
    fixed_ends,
    fold,
    locate,
    locate_directories,
)
from agentscope_like.permission import PatternError

WORK = "/nonexistent/work"
HOME = "/nonexistent/home"
DIRECTORIES = locate_directories([WORK], home=HOME)


def at(path: str) -> Location:
    return locate(path, directory=WORK, home=HOME)


def matches(
    pattern: str,
    location: Location,
    directories: Sequence[Location] = DIRECTORIES,
    *,
    strict: bool,
    home: str = HOME,
) -> bool:
    index = PathRuleIndex([pattern], strict=strict, home=home)
    return index.match(location, directories) is not None


def allows(pattern: str, path: str) -> bool:
    return matches(pattern, at(path), strict=True)


def forbids(pattern: str, path: str) -> bool:
    return matches(pattern, at(path), strict=False)


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("src/**", "src/a/main.py", "srcs/main.py"),
        ("src/**", "src", "."),
        ("src/**", "src/.env", "src/../etc"),
        ("src/", "src/a/b", "source"),
        ("src/*", "src/.hidden", "src/a/b"),
        ("src/**/*.py", "src/main.py", "src/main.pyc"),
        ("src/*/./b", "src/a/b", "src/a/c"),
        ("src/*//b", "src/a/b", "src/a"),
        ("src/**/*.py", "src/a/b/main.py", "main.py"),
        ("config.json", "config.json", "config.jsonc"),
        ("*.py", "main.py", "main.pyc"),
        ("**/*.py", "main.py", "main.js"),
        ("**/node_modules/**", "a/node_modules/b", "a/node_module/b"),
        ("**/node_modules/**", "node_modules", "a/b"),
        ("a/**/b/**/c", "a/x/b/y/z/c", "a/x/c"),
        ("a/**/b/**/c", "a/b/b/c", "a/b/x"),
        ("*/**", "a", "/nonexistent/x"),
        ("**", "a/b/c", ""),
        (".", ".", "a"),
        ("./src//./x", "src/x", "x"),
        ("{src,lib}/*.py", "lib/a.py", "bin/a.py"),
        ("{src/a,lib}/x", "src/a/x", "src/x"),
        ("{~/a,/srv}/x", "~/a/x", "srv/x"),
        ("x{,.bak}", "x.bak", "x.old"),
        ("{a}", "{a}", "a"),
        ("f{1..3}", "f2", "f4"),
        ("[ab]c", "bc", "cc"),
        ("[!ab]c", "cc", "ac"),
        ("[[:digit:]]", "7", "x"),
        ("a?c", "abc", "ac"),
        ("*x", ".x", "x.y"),
        ("?x", ".x", ".xy"),
        ("[.a]x", ".x", "bx"),
        ("src/**/", "src/a", "a"),
        ("a/**/**/b", "a/b", "a/c"),
        (r"a\*b", "a*b", "axb"),
        (r"\~x", "./~x", "x"),
        (r"\{a,b\}", "{a,b}", "a"),
        (r"a\/b", "a/b", "ab"),
        (r"\!x", "!x", "y"),
        ("/etc/**", "/etc/passwd", "etc/passwd"),
        ("/etc/**", "//etc/./passwd", "/etcetera"),
        ("/**", "/x", ""),
        ("~/notes/*", f"{HOME}/notes/x", "~/notes"),
        ("~", "~", "~/x"),
        ("~/", "~/x", "x"),
        ("app/(auth)/page.tsx", "app/(auth)/page.tsx", "app/auth/page.tsx"),
        ("@modal/(.)x", "@modal/(.)x", "modal/x"),
        (f"{WORK}/src/*", "src/x", "x"),
        (r"\[z-a]*", "[z-a]x", "z"),
        (r"a\\b", "a\\b", "ab"),
        (r"a\\/b", "a\\/b", "a/b"),
        (r"a\/", "a/b", "b"),
        ("**/**", "a/b", ""),
        ("a//", "a/b", "ab"),
        (r"\./a", "a", "b"),
        (r"\*\*/a", "**/a", "x/a"),
        ("{a,b}[0-9]", "b7", "c7"),
        (r"{a\*,b}x", "a*x", "abx"),
        ("[a-a]x", "ax", "bx"),
        ("[a-c-z]x", "bx", "dx"),
        ("[^ab]c", "cc", "ac"),
        ("x[]]", "x]", "x"),
        ("a[b", "a[b", "ab"),
        ("é*", "éa", "ea"),
        ("*.é", "a.é", "a.e"),
        ("abcdef*", "abcdefg", "abcdx"),
        ("Ab*", "Abc", "Bbc"),
        ("*.Py", "a.Py", "a.x"),
        ("caf\u00e9*", "caf\u00e9s", "cafes"),
        ("cafe\u0301*", "cafe\u0301s", "cafes"),
        ("*fe\u0301", "cafe\u0301", "cafe"),
        ("*uvwxyz", "tuvwxyz", "vwxyz"),
        ("a*z", "abz", "abc"),
        ("X", "X", "XX"),
        ("XX/*", "XX/y", "XX"),
    ],
)
def test_what_a_pattern_matches(pattern: str, matching: str, other: str) -> None:
    """Each pattern matches one path and leaves its neighbour alone, to allow and to forbid."""
    assert allows(pattern, matching)
    assert forbids(pattern, matching)
    if other:
        assert not allows(pattern, other)
        assert not forbids(pattern, other)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("config.json", "sub/config.json"),
        ("config.json", "/srv/x/CONFIG.json"),
        (".env", "../other/.env"),
        ("*.pem", "/etc/ssl/a.pem"),
        ("**.pem", "/etc/ssl/a.pem"),
        ("**/", "/srv/x"),
        ("**/.env", "/srv/.env"),
        ("**/keys/*", "~/x/keys/a"),
        ("{.env,src/x}", "/srv/.env"),
        ("**", "/x"),
    ],
)
def test_a_pattern_that_names_no_place_forbids_in_any(pattern: str, path: str) -> None:
    """To forbid, a bare name and `**/` match outside of the working directories as well."""
    assert forbids(pattern, path)
    assert not allows(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("./config.json", "sub/config.json"),
        ("src/.env", "/srv/src/.env"),
        ("{.env,src/x}", "/srv/src/x"),
        ("src/**", "/srv/src/x"),
        ("/srv/.env", ".env"),
    ],
)
def test_a_pattern_that_names_a_place_forbids_there(pattern: str, path: str) -> None:
    """With a directory in front, a pattern starts at the working directories or at the root."""
    assert not forbids(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("", "empty"),
        ("/", r"/\*\*"),
        ("//", r"/\*\*"),
        ("src/../etc", r"\.\."),
        ("src/{a,..}/x", r"\.\."),
        (r"src/\.\./x", r"\.\."),
        ("..", r"\.\."),
        ("src/**\n", r"U\+000A"),
        ("a\0", r"U\+0000"),
        ("\ud800", r"U\+D800"),
        ("!src/**", "negation"),
        ("*.@(py|js)", "extended"),
        ("!(a|b)/x", "negation"),
        ("x!(a|b)", "extended"),
        ("~other/x", "~other"),
        ("a\\", "backslash"),
        ("[z-a]x", "range z-a"),
        ("[!Z-A]x", "write A-Z"),
        ("[a-c9-0]x", "range 9-0"),
        ("a/!(b|c)", "extended"),
        ("a/+(b|c)d", "extended"),
        ("a\\\\\\", "backslash"),
        ("~a", "~a"),
        ("\x7f", r"U\+007F"),
        ("a\x9fb", r"U\+009F"),
        ("a\u2029", r"U\+2029"),
        ("{1..200000}", "256"),
        ("{a,b}" * 9, "256"),
        ("{" * 1500 + "a,b" + "}" * 1500, "nest"),
        ("{,}", "no path"),
        ("{,src}/**", "the root"),
        ("{src,/etc}/**", "one rule for each"),
        ("x" * 5000, "4096"),
    ],
)
def test_a_pattern_that_cannot_mean_anything_is_refused(pattern: str, says: str) -> None:
    """What could never match, costs too much or is of another language raises, and says how."""
    with pytest.raises(PatternError, match=says):
        PatternCompiler().compile(pattern)


def test_a_refused_pattern_is_quoted() -> None:
    """The error carries the pattern, so that it can be found in a file of rules."""
    with pytest.raises(PatternError, match=re.escape("'src/../x'")):
        PatternCompiler().compile("src/../x")


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (r"a\(b|c)", "a(b|c)"),
        ("a(b)|c", "a(b)|c"),
        ("(a|b)", "(a|b)"),
        ("a\\\\", "a\\"),
        ("[a-]x", "-x"),
        (r"\[!b-a]", "[!b-a]"),
        ("a!b", "a!b"),
        ("a~", "a~"),
        ("a..", "a.."),
        ("...", "..."),
        ("x\xa0y", "x\xa0y"),
    ],
)
def test_what_only_resembles_a_mistake_is_taken(pattern: str, path: str) -> None:
    """A neighbour of each refused pattern is one that matches."""
    assert allows(pattern, path)
    assert not allows(pattern, f"{path}x")


@pytest.mark.parametrize("home", [HOME, f"{HOME}/"])
def test_the_home_may_end_in_a_slash(home: str) -> None:
    """`~` is the home, however it is spelled; and the user's own by default."""
    for strict in (True, False):
        assert matches("~/x/*", at(f"{HOME}/x/y"), strict=strict, home=home)
        assert not matches("~/x/*", at("/x/y"), strict=strict, home=home)


def test_the_home_is_the_users_own_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no home is given, the environment says where it is."""
    monkeypatch.setenv("HOME", HOME)
    index = PathRuleIndex(["~/x"], strict=True)
    assert index.match(at(f"{HOME}/x"), DIRECTORIES) == 0
    assert index.match(at(f"{WORK}/x"), DIRECTORIES) is None


def test_a_link_to_the_root_is_the_root(tmp_path: Path) -> None:
    """A directory that a deny names by a link to the root, or through one, is found as it is."""
    base = tmp_path.resolve()
    (base / "root").symlink_to("/")
    for pattern in (f"{base}/root/**", f"{base}/root/nonexistent/*"):
        assert matches(pattern, at("/nonexistent/x"), strict=False)
        assert not matches(pattern, at("/nonexistent/x"), strict=True)
    assert not matches(f"{base}/root/none/*", at("/nonexistent/x"), strict=False)


def test_the_first_directories_of_a_pattern_may_be_links() -> None:
    """A directory of the root is as good by its other name, and so is a home; no other is."""
    links = {"/tmp": "/private/tmp", "/home/u": "/data/u", "/srv/a": "/data/a", "/srv": "/srv"}

    def real(path: str) -> str:
        found = [link for link in links if path == link or path.startswith(f"{link}/")]
        longest = max(found, key=len, default=None)
        return path if longest is None else links[longest] + path[len(longest) :]

    relative = PathRuleIndex(["tmp/x"], strict=False, home="/home/u", real=real)
    assert relative.match(at("/private/tmp/x"), DIRECTORIES) is None
    for pattern, path, is_allowed in (
        ("/tmp/x", "/tmp/x", True),
        ("/tmp/x", "/private/tmp/x", True),
        ("/tmp/*/y", "/private/tmp/x/y", True),
        ("~/x", "/data/u/x", True),
        ("~/x", "/home/u/x", True),
        ("/home/u/x", "/data/u/x", False),
        ("/srv/a/x", "/data/a/x", False),
        ("/srv/a/x", "/srv/a/x", True),
        ("/srv/a/*", "/data/a/x", False),
    ):
        for strict in (True, False):
            index = PathRuleIndex([pattern], strict=strict, home="/home/u", real=real)
            found = index.match(at(path), DIRECTORIES) is not None
            assert found is (is_allowed or not strict), (pattern, path, strict)
        other = PathRuleIndex([pattern], strict=False, home="/home/u", real=real)
        assert other.match(at("/other/x"), DIRECTORIES) is None


def test_a_tilde_needs_a_home() -> None:
    """Without a home directory `~` is refused rather than taken for a name."""
    with pytest.raises(PatternError, match="home"):
        PatternCompiler(home="").compile("~/x")


@pytest.mark.parametrize("pattern", ["SRC/Main.PY", "src/*.PY", "Src/**", "{SRC,x}/main.py"])
def test_only_what_forbids_ignores_case(pattern: str) -> None:
    """On a disk that ignores case a deny must hold; an allow compares exactly."""
    assert forbids(pattern, "src/main.py")
    assert not allows(pattern, "src/main.py")


@pytest.mark.parametrize(
    "pattern", ["caf\u00e9/x", "caf\u00e9/*", "c*f\u00e9/x", "**/caf\u00c9/**"]
)
def test_only_what_forbids_ignores_composition(pattern: str) -> None:
    """A name spelled with a combining accent is the same name to a deny."""
    decomposed = unicodedata.normalize("NFD", "caf\u00e9/x")
    assert forbids(pattern, decomposed)
    assert forbids(unicodedata.normalize("NFD", pattern), "caf\u00e9/x")
    assert not allows(pattern, decomposed)


def test_the_key_of_names_is_coarser_than_any_regular_expression() -> None:
    """Whatever IGNORECASE takes for equal has one key, so that no deny is filed out of sight."""
    letters = [chr(code) for code in range(0x20000) if chr(code).isalpha()]
    for letter in letters:
        for other in {letter.lower(), letter.upper(), letter.title(), letter.casefold()}:
            if len(other) == 1 and re.fullmatch(re.escape(letter), other, re.IGNORECASE):
                assert fold(letter) == fold(other)
    for one, other in (("i", "\u0130"), ("i", "\u0131"), ("s", "\u017f"), ("k", "\u212a")):
        assert fold(one) == fold(other)


def test_a_link_must_match_on_both_ends_to_be_allowed(tmp_path: Path) -> None:
    """To allow, name and target must match; to forbid, either is enough."""
    work = tmp_path.resolve()
    (work / "src").mkdir()
    (work / "secrets").mkdir()
    (work / "src" / "link").symlink_to("../secrets")
    (work / "src" / "inner").symlink_to("own")
    directories = locate_directories([str(work)])
    link = locate("src/link/x", directory=str(work))
    inner = locate("src/inner/x", directory=str(work))
    assert not matches("src/**", link, directories, strict=True)
    assert matches("src/**", inner, directories, strict=True)
    assert matches("src/**", link, directories, strict=False)
    assert matches("secrets/**", link, directories, strict=False)
    assert not matches("secrets/**", inner, directories, strict=False)


def test_a_loop_is_never_allowed_but_can_be_forbidden(tmp_path: Path) -> None:
    """What cannot be resolved is no proof."""
    (tmp_path / "a").symlink_to("a")
    directories = locate_directories([str(tmp_path)])
    location = locate("a", directory=str(tmp_path))
    assert not matches("**", location, directories, strict=True)
    assert matches("**", location, directories, strict=False)


def test_a_deny_holds_by_every_name_of_the_place_it_names(tmp_path: Path) -> None:
    """A forbidden directory behind a symlink is forbidden by its real name; an allowed one not."""
    work = tmp_path.resolve()
    (work / "real").mkdir()
    (work / "alias").symlink_to("real")
    pattern = f"{work}/alias/**"
    location = locate(str(work / "real" / "x"), directory="/")
    assert matches(pattern, location, (), strict=False)
    assert not matches(pattern, location, (), strict=True)
    assert not matches(pattern, locate(str(work / "realm"), directory="/"), (), strict=False)


def test_a_home_behind_a_link_is_one_home(tmp_path: Path) -> None:
    """`~` patterns allow files of a home directory that is itself a symlink."""
    base = tmp_path.resolve()
    (base / "real").mkdir()
    (base / "home").symlink_to("real")
    home = str(base / "home")
    location = locate("~/notes/x", directory="/", home=home)
    assert len(location.readings) > 1
    assert matches("~/notes/*", location, (), strict=True, home=home)
    assert not matches("~/other/*", location, (), strict=True, home=home)


def test_relative_patterns_start_at_each_working_directory() -> None:
    """`src/**` is meant in every workspace, and in nothing else."""
    directories = locate_directories(["/nonexistent/a", "/nonexistent/b"])
    for path, expected in (("a/src/x", True), ("b/src/x", True), ("c/src/x", False)):
        location = locate(f"/nonexistent/{path}", directory="/")
        assert matches("src/**", location, directories, strict=True) is expected


def test_without_a_working_directory_patterns_start_at_the_processs_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no working directory is known, the process's own takes its place."""
    monkeypatch.chdir(tmp_path)
    location = locate("src/x", directory=str(tmp_path.resolve()))
    assert matches("src/**", location, (), strict=True)


_PARTS = st.sampled_from(
    ["a", "b", "ab", ".a", "*", "**", "a*", "*b", "?", "[ab]", "{a,b}", "{a/b,b}", "[!a]*", "***"]
)
_PATTERNS = st.lists(_PARTS, min_size=1, max_size=4).map("/".join)
_PATHS = st.lists(st.sampled_from(["a", "b", "ab", ".a", "ba"]), min_size=1, max_size=5).map(
    "/".join
)


@settings(max_examples=400, deadline=None)
@given(_PATTERNS, _PATHS)
def test_the_language_is_that_of_wcmatch(pattern: str, path: str) -> None:
    """A pattern means what wcmatch means by it, and `X/**` is `X` as well."""
    flags = glob.GLOBSTAR | glob.DOTGLOB | glob.BRACE | glob.FORCEUNIX
    patterns = [pattern]
    while pattern.endswith("/**"):
        pattern = pattern.removesuffix("/**")
        patterns.append(pattern)
    assert allows(patterns[0], path) == glob.globmatch(path, patterns, flags=flags)


_NAMES = st.text(
    st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="/\u2028\u2029")
    .filter(lambda char: not "\u202a" <= char <= "\u202e")
    .filter(lambda char: not "\u2066" <= char <= "\u2069")
    | st.sampled_from("*?[]{}\\!~()|-,+@ "),
    min_size=1,
    max_size=12,
).filter(lambda name: name not in (".", ".."))


@settings(deadline=None)
@given(st.lists(_NAMES, min_size=1, max_size=3), _NAMES)
def test_an_escaped_path_matches_itself_alone(names: list[str], other: str) -> None:
    """An offer to always allow a file allows that file, whatever its name is made of."""
    path = f"{WORK}/{'/'.join(names)}"
    for written, pattern in ((path, escape(path)), (path, escape("/".join(names)))):
        assert allows(pattern, written)
        if other != names[-1]:
            assert not allows(pattern, f"{path}{other}")
            assert not allows(pattern, f"{WORK}/{'/'.join([*names[:-1], other])}")


def test_the_cost_of_a_match_is_bounded() -> None:
    """Many `**` and `*` on a deep path cost milliseconds; a regular expression takes hours."""
    path = at("a/" * 1500 + "c")
    index = PathRuleIndex(["**/a/" * 20 + "*a*a*a*a*a*b"], strict=False, home=HOME)
    started = time.perf_counter()
    assert index.match(path, DIRECTORIES) is None
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize(
    ("glob", "ends"),
    [
        ("ab*cd", ("ab", "cd")),
        ("abc", ("abc", "")),
        ("[a]b", ("", "b")),
        (r"a\*b", ("a", "b")),
        ("a?[b]c]*d?", ("a", "")),
        ("a\n*\nb", ("a\n", "\nb")),
        ("", ("", "")),
    ],
)
def test_the_ends_of_a_glob_are_those_of_each_name(glob: str, ends: tuple[str, str]) -> None:
    """What stands before the first special character and behind the last is fixed."""
    assert fixed_ends(glob) == ends


def test_a_negated_range_forbids_what_it_allows() -> None:
    """Ignoring case narrows `[!a]`; a deny rule of it still forbids `A`, and still not `a`."""
    directories = [at(WORK)]
    for strict in (True, False):
        assert matches("[!a]*", at(f"{WORK}/A"), directories, strict=strict)
        assert not matches("[!a]*", at(f"{WORK}/a"), directories, strict=strict)


def test_a_relative_pattern_starts_at_the_root_where_that_is_worked_in() -> None:
    """The root is a directory like any other."""
    root = locate_directories(["/"], home=HOME)
    for strict in (True, False):
        for path, expected in (("/etc/x", True), ("/usr/x", False)):
            assert matches("etc/*", at(path), root, strict=strict) is expected
