"""What a wrapper puts into the command that it runs, and whether it ends it in time."""

from __future__ import annotations

import pytest

from tests.permission.kit import analysis_of, argv_of, doubts_of, reads


@pytest.mark.parametrize(
    ("word", "argument"),
    [
        ("{}", None),
        ("{}.py", None),
        ("a/{}", None),
        ("-x{}", None),
        ("a{}b{}c", None),
        ("{/}", "{/}"),
        ("a", "a"),
        ('"$x"', None),
    ],
)
def test_find_puts_a_path_in(word: str, argument: str | None) -> None:
    """What it found stands in the place of braces, whatever stands around them."""
    assert argv_of(f"find . -exec ls {word} \\;") == ("ls", argument)


@pytest.mark.parametrize(
    ("command", "is_read"),
    [
        ("find . -exec git show {} \\;", True),
        ("find . -exec git show {} +", True),
        ("find . -exec git show a/{} \\;", True),
        ("find . -exec git show -x{} \\;", False),
        ("fd x -x git show {}", False),
        ("fd x -X git show {}", False),
        ("fd x -x git show a{}c", True),
        ("fd x -x git show a{}b{/}c", True),
        ("fd x -x git show", False),
        ("fd x -x ls", True),
        ("seq 3 | xargs git show", True),
        ("seq 3 | xargs git show {}", True),
        ("seq 3 | xargs -a f git show", False),
        ("seq 3 | xargs --arg-file f git show", False),
        ("seq 3 | xargs --arg-file=f -I{} git show {}", False),
        ("cat f | xargs git show", False),
        ("timeout 5 git show {}", True),
    ],
)
def test_what_is_put_in_may_be_an_option_or_not(command: str, is_read: bool) -> None:
    """A path that `find` found and a number are none; a line of a file or a bare name may be."""
    assert reads(command) is is_read


@pytest.mark.parametrize("places", ["/dev", "/dev/", "/dev/sda", "src /dev", '"/dev/$x"'])
def test_what_find_finds_among_devices_is_one(places: str) -> None:
    """One place where devices are is enough: bash would connect where it reads one."""
    assert not reads(f"find {places} -exec bash -c 'cat < \"$0\"' {{}} \\;")


@pytest.mark.parametrize("placeholder", ["{}", "{/}", "{//}", "{.}", "{/.}"])
def test_fd_puts_in_what_it_finds(placeholder: str) -> None:
    """Each of its placeholders becomes a text; without one, it is added."""
    assert argv_of(f"fd x -x ls {placeholder}") == ("ls", None)
    assert argv_of(f"fd x -x ls a{placeholder}c") == ("ls", None)
    assert argv_of("fd x -x ls a") == ("ls", "a", None)


@pytest.mark.parametrize(
    ("group", "is_known"),
    [
        ("{ xargs git show; }", True),
        ("(xargs git show)", True),
        ("if true; then xargs git show; fi", True),
        ("{ a=b; xargs git show; }", True),
        ("{ < f; xargs git show; }", True),
        ("{ ls < f; xargs git show; }", True),
        ("{ ls a-exec exec-a; xargs git show; }", True),
        ("{ myexec < f; xargs git show; }", True),
        ("{ $x a; xargs git show; }", True),
        ("{ eval 'ls'; xargs git show; }", True),
        ('{ read x; git show "$x"; }', True),
        ('xargs git show "a$(nproc)"', True),
        ("xargs git show > f", True),
        ("{ exec < f; xargs git show; }", False),
        ("{ 'exec' < f; xargs git show; }", False),
        ("{ eval 'exec < f'; xargs git show; }", False),
        ("{ ls exec; xargs git show; }", False),
        ("{ $x < f; xargs git show; }", False),
        ('{ read x < f; git show "$x"; }', False),
        ('read x; git show "$x"', False),
        ("env xargs git show", False),
        ("ls | xargs git show", False),
        ("bash -c 'xargs git show'", False),
        ("xargs git show; xargs git show", False),
    ],
)
def test_what_a_pipe_gives_stays_known_as_long_as_nothing_replaces_it(
    group: str, is_known: bool
) -> None:
    """Numbers are no options, whichever command of a group takes them; `exec` may turn it away."""
    doubt = "this computed argument may be an option, or several"
    assert (doubt not in doubts_of(f"seq 3 | {group}")) is is_known


@pytest.mark.parametrize(
    ("command", "is_known"),
    [
        ("xargs -0 sort", True),
        ("xargs -0 sort 2>/dev/null", True),
        ("xargs -0 sort 2>f", True),
        ('xargs -0 sort 2>"a$x"', False),
        ('xargs -0 sort "a$(cat)"', False),
        ("A=1 xargs -0 sort", False),
        ("xargs -0 sort > f", False),
        ("{ xargs -0 sort; }", False),
    ],
)
def test_paths_stay_whole_where_nothing_else_reads_of_the_pipe(
    command: str, is_known: bool
) -> None:
    """A substitution that is run before the program could take the beginning of a path away."""
    doubt = "this computed argument may be an option, or several"
    assert (doubt not in doubts_of(f"find . -print0 | {command}")) is is_known
    assert doubt in doubts_of(f'find "a$x" -print0 | {command}')


WHOLE = """
xargs -0
xargs --null
xargs -0 -n 1
xargs -0 --max-args 1
xargs -0 -P 1
xargs -0 --max-procs=1
xargs -0 -r
xargs -0 --no-run-if-empty
xargs -0 -t
xargs -0 --verbose
xargs -0 -s 1
xargs -0 --max-chars=1
xargs -0 -x
xargs -0 --exit
"""


@pytest.mark.parametrize("wrapper", WHOLE.strip().splitlines())
def test_a_place_that_ends_with_nul_is_no_option(wrapper: str) -> None:
    """Paths that begin with a place are taken whole, however many of them are taken at once."""
    assert reads(f"find . -print0 | {wrapper} sort")
    assert not reads(f"cat f | {wrapper} sort")


def test_a_place_that_is_put_in_is_no_option() -> None:
    """The same where it stands for a placeholder."""
    assert reads("find . -print0 | xargs -0 -I{} sort {}")
    assert not reads("find . -print0 | xargs -I{} sort {}")
    flags = "-0 --null -r --no-run-if-empty -t --verbose -x --exit"
    numbers = "-n 1 --max-args 1 -P 1 --max-procs 1 -s 9 --max-chars 9"
    assert reads(f"find . -print0 | xargs {flags} {numbers} -I{{}} sort {{}}")


@pytest.mark.parametrize("options", ["", "-d x", "-0 -d x", "-0 -L 1", "-0 -E x", "-0 -a f"])
def test_a_place_that_may_be_cut_may_be_one(options: str) -> None:
    """Where its input is cut elsewhere, a piece may begin with anything."""
    assert not reads(f"find . -print0 | xargs {options} sort")
    assert reads(f"find . -print0 | xargs {options} ls")


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ("xargs -I{} ls {} a{}b R", ("ls", None, None, "R")),
        ("xargs -I R ls R {}", ("ls", None, "{}")),
        ("xargs -i ls {} R", ("ls", None, "R")),
        ("xargs --replace ls {} R", ("ls", None, "R")),
        ("xargs -I {} -I {} ls {}", ("ls", None)),
        ("xargs -I R -I {} ls {} R", ("ls", None, None, None)),
        ("xargs -iR ls {} R", ("ls", None, None, None)),
        ("xargs --replace=R ls {} R a", ("ls", None, None, "a", None)),
        ("xargs -i{} ls {}", ("ls", None)),
        ("xargs ls", ("ls", None)),
        ("xargs ls {}", ("ls", "{}", None)),
        ("xargs -I '' ls a", ("ls", "a", None)),
        ('xargs -I "${#x}" ls a1 b', ("ls", None, "b")),
        ('xargs -I "$x" ls a1 b', (None, None, None)),
        ('xargs -I b -I "${#x}" ls a1 b', ("ls", None, "b")),
    ],
)
def test_xargs_puts_its_input_in(command: str, argv: tuple[str | None, ...]) -> None:
    """In the place of what it is told to replace; where it is told twice, nobody can say.

    A computed placeholder may be anywhere; a number only where a digit is.
    """
    assert argv_of(f"seq 3 | {command}") == argv


@pytest.mark.parametrize(
    "options", ["-n 2", "-n2", "--max-args 2", "--max-args=2", "-L 1", "-l", "-l1", "--max-lines=1"]
)
def test_a_number_of_arguments_or_lines_ends_replacing(options: str) -> None:
    """Behind the option that says what to replace, it is added as well; before it, it is not."""
    for replacing in ("-I{}", "-I {}", "-i"):
        assert argv_of(f"seq 3 | xargs {replacing} {options} ls {{}}") == ("ls", None, None)
    if options != "-l":  # of which the place is not known
        assert argv_of(f"seq 3 | xargs {options} -I{{}} ls {{}}") == ("ls", None)
        assert argv_of(f"seq 3 | xargs -I{{}} {options} -I{{}} ls {{}}") == ("ls", None)


@pytest.mark.parametrize("options", ["-n 1", "-n1", "--max-args 1", "--max-args=1", "-r", "-P 2"])
def test_one_argument_at_a_time_is_replaced(options: str) -> None:
    """Taking one at a time is what replacing means."""
    assert argv_of(f"seq 3 | xargs -I{{}} {options} head -n {{}} f") == ("head", "-n", None, "f")
    assert reads(f"seq 3 | xargs -I{{}} {options} head -n {{}} f")
    assert not reads(f"cat f | xargs -I{{}} {options} head -n {{}} f")


def ends(command: str) -> bool:
    """Return whether a command that would go on for ever is known to end."""
    return not any("never ends" in doubt for doubt in doubts_of(command))


@pytest.mark.parametrize("duration", ["1", "9", "10", "99", "100", "599", "600", "5s", "600s"])
def test_a_command_ends_within_ten_minutes(duration: str) -> None:
    """What is stopped in so many seconds does not go on for ever."""
    assert ends(f"timeout {duration} tail -f x")
    assert ends(f"timeout -v --verbose --preserve-status -k 1 --kill-after=1 {duration} tail -f x")
    assert ends(f"timeout {duration} env A=1 tail -f x")
    assert not ends(f"timeout --foreground {duration} tail -f x")
    assert not ends(f"timeout -s CONT {duration} tail -f x")
    assert not ends(f"nice -n {duration} tail -f x")
    assert not ends(f"timeout {duration} tail -f x; tail -f x")


@pytest.mark.parametrize("duration", ["0", "601", "1000", "700", "5m", "05", "5sm", "5.5h", '"$x"'])
def test_a_command_that_may_take_longer_does_not_end(duration: str) -> None:
    """Longer times, other units and what is not known are too long; nought is for ever."""
    assert not ends(f"timeout {duration} tail -f x")
    assert ends("timeout 5 tail -f x")


@pytest.mark.parametrize(
    ("command", "start", "end"),
    [
        ("find . -exec cat {} \\;", "", ""),
        ("find . -exec cat {}.x \\;", "", ".x"),
        ("find . -exec cat a{} \\;", "/ws/a", ""),
        ("fd a -x cat {}.x", "", ".x"),
        ("fd a -x cat {/}b{.}.x", "", ".x"),
        ("fd a -x cat d/{}{.}", "/ws/d/", ""),
        ("ls | xargs -I{} cat {}.x", "", ".x"),
        ("ls | xargs -I{} cat d/{}.x", "/ws/d/", ".x"),
        ("ls | xargs -I{} cat {}", "", ""),
    ],
)
def test_what_stands_around_a_placeholder_is_known(command: str, start: str, end: str) -> None:
    """What is put in between is not; of several places, the first and the last one count."""
    effect = analysis_of(command).effects[-1]
    assert (effect.path, effect.start, effect.end) == (None, start, end)


def test_what_is_put_behind_a_dash_may_be_an_option() -> None:
    """At the beginning of a word alone."""
    said = "this computed argument may be an option, or several"
    assert said in doubts_of("find . -exec uniq -{} \\;")
    assert said not in doubts_of("find . -exec uniq x-{} \\;")
