"""What a wrapper puts into the command that it runs, and whether it ends it in time."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from agentscope_like.shell import analyze, catalog
from agentscope_like.shell.arguments.argument_reader import read_arguments
from agentscope_like.shell.arguments.wrapper_arguments import fed_arguments
from agentscope_like.shell.catalog.grammar import RoleKind
from agentscope_like.shell.values import Argument, Output, Shape, Unknown

ANY, ANY_NUMBER = Unknown(), Unknown(single=False)
FOUND, ALL_FOUND = Unknown(option=False), Unknown(option=False, single=False)
NUMBER = Unknown(option=False, shape=Shape.INTEGER)
PLACES = Output(single=False, places=True)


def fed(command: Sequence[Argument], given: Output, *, batch: bool = False) -> list[Argument]:
    """Return the command that a wrapper runs, which reads what is `given`."""
    grammar = catalog.lookup(str(command[0]))
    assert grammar is not None
    reading = read_arguments(grammar, command)
    carrying = {RoleKind.COMMAND, RoleKind.CLAUSE}
    item = next(each for each in reading.items if each.role.kind in carrying)
    carried = command[item.start : item.end]
    if batch:
        return fed_arguments(grammar.feed, reading, carried, given, batch=True)
    return fed_arguments(grammar.feed, reading, carried, given)


def fed_words(command: str, given: Output, *, batch: bool = False) -> list[Argument]:
    """Return likewise what becomes of a command of plain words."""
    return fed(command.split(), given, batch=batch)


@pytest.mark.parametrize(
    ("word", "becomes"),
    [
        ("{}", FOUND),
        ("{}.py", Unknown(option=False, suffix=".py")),
        ("a/{}", Unknown(prefix="a/", option=False)),
        ("-x{}", Unknown(prefix="-x", option=True)),
        ("a{}b{}c", Unknown(prefix="a", option=False, suffix="c")),
        ("{}{}", FOUND),
        ("{/}", "{/}"),
        ("a", "a"),
    ],
)
def test_find_puts_a_path_in(word: str, becomes: Argument) -> None:
    """What it found stands in the place of braces: no option, and one argument."""
    assert fed_words(f"find . -exec ls {word} ;", Output()) == ["ls", becomes]
    assert fed(["find", ".", "-exec", "ls", ANY, ";"], Output()) == ["ls", ANY]


def test_find_puts_all_paths_in() -> None:
    """Where the command ends with a plus, it is any number of them."""
    assert fed_words("find . -exec ls {} +", Output(), batch=True) == ["ls", ALL_FOUND]


DEVICES = """
/dev
/dev/
/dev/sda
src /dev
"""


@pytest.mark.parametrize("places", DEVICES.strip().splitlines())
def test_what_find_finds_among_devices_is_one(places: str) -> None:
    """One place where devices are is enough."""
    device = Unknown(prefix="/dev", option=False)
    assert fed_words(f"find {places} -exec ls {{}} ;", Output()) == ["ls", device]
    for place in (Unknown(prefix="/dev/"), Unknown(choices=("src", "/dev"))):
        assert fed(["find", place, "-exec", "ls", "{}", ";"], Output()) == ["ls", device]


@pytest.mark.parametrize("places", ["/devs", "/x/dev", "dev", ". -newer /dev/null", ". -name /dev"])
def test_what_find_finds_elsewhere_is_none(places: str) -> None:
    """A place of another name, or what is only compared with, holds no devices."""
    assert fed_words(f"find {places} -exec ls {{}} ;", Output()) == ["ls", FOUND]
    for place in (ANY, Unknown(prefix="/devs"), Unknown(choices=("src", "/devs"))):
        assert fed(["find", place, "-exec", "ls", "{}", ";"], Output()) == ["ls", FOUND]


@pytest.mark.parametrize("placeholder", ["{}", "{/}", "{//}", "{.}", "{/.}"])
def test_fd_puts_in_what_it_finds(placeholder: str) -> None:
    """Each of its placeholders becomes a text that may be an option; without one, it adds it."""
    assert fed_words(f"fd x -x ls {placeholder}", Output()) == ["ls", ANY]
    assert fed_words(f"fd x -X ls {placeholder}", Output(), batch=True) == ["ls", ANY_NUMBER]
    around = Unknown(prefix="a", option=False, suffix="c")
    assert fed_words(f"fd x -x ls a{placeholder}c", Output()) == ["ls", around]
    assert fed_words(f"fd x -x ls a{{}}b{placeholder}c", Output()) == ["ls", around]
    assert fed_words(f"fd x -x ls a{placeholder}b{{}}c", Output()) == ["ls", around]
    assert fed_words("fd x -x ls a", Output()) == ["ls", "a", ANY_NUMBER]


def test_another_wrapper_passes_its_command_on() -> None:
    """What feeds nothing runs what stands there."""
    assert fed_words("timeout 5 ls {}", Output(Shape.INTEGER)) == ["ls", "{}"]


def test_xargs_adds_pieces_of_its_input() -> None:
    """Any number of them; of what it reads elsewhere nothing is known."""
    numbers = Output(Shape.INTEGER)
    several = Unknown(option=False, single=False, shape=Shape.INTEGER)
    assert fed_words("xargs ls", numbers) == ["ls", several]
    assert fed_words("xargs ls {}", numbers) == ["ls", "{}", several]
    assert fed_words("xargs ls", Output(Shape.WORD)) == ["ls", ANY_NUMBER]
    assert fed_words("xargs -a f ls", numbers) == ["ls", ANY_NUMBER]
    assert fed_words("xargs --arg-file f ls", numbers) == ["ls", ANY_NUMBER]
    assert fed_words("xargs --arg-file=f -I{} ls {}", numbers) == ["ls", ANY]


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
    assert fed_words(f"{wrapper} ls", PLACES) == ["ls", ALL_FOUND]
    assert fed_words(f"{wrapper} ls", Output(single=False)) == ["ls", ANY_NUMBER]


def test_a_place_that_is_put_in_is_no_option() -> None:
    """The same where it stands for a placeholder."""
    assert fed_words("xargs -0 -I{} ls {}", PLACES) == ["ls", FOUND]
    assert fed_words("xargs -I{} ls {}", PLACES) == ["ls", ANY]
    flags = "-0 --null -r --no-run-if-empty -t --verbose -x --exit"
    numbers = "-n 1 --max-args 1 -P 1 --max-procs 1 -s 9 --max-chars 9"
    assert fed_words(f"xargs {flags} {numbers} -I{{}} ls {{}}", PLACES) == ["ls", FOUND]


@pytest.mark.parametrize("options", ["", "-r", "-d x", "-0 -d x", "-0 -L 1", "-0 -E x", "-0 -a f"])
def test_a_place_that_may_be_cut_may_be_one(options: str) -> None:
    """Where its input is cut elsewhere, a piece may begin with anything."""
    assert fed_words(f"xargs {options} ls", PLACES) == ["ls", ANY_NUMBER]


@pytest.mark.parametrize(
    ("command", "becomes"),
    [
        ("xargs -I{} ls {} a{}b R", [NUMBER, Unknown("a", option=False, suffix="b"), "R"]),
        ("xargs -I R ls R {}", [NUMBER, "{}"]),
        ("xargs -i ls {} R", [NUMBER, "R"]),
        ("xargs --replace ls {} R", [NUMBER, "R"]),
        ("xargs -I {} -I {} ls {}", [NUMBER]),
        ("xargs -I R -I {} ls {} R", [ANY, ANY, ANY_NUMBER]),
        ("xargs -iR ls {} R", [ANY, ANY, ANY_NUMBER]),
        ("xargs --replace=R ls {} R a", [ANY, ANY, "a", ANY_NUMBER]),
        ("xargs -i{} ls {}", [NUMBER]),
    ],
)
def test_xargs_puts_its_input_in(command: str, becomes: list[Argument]) -> None:
    """In the place of what it is told to replace; where it is told twice, nobody can say."""
    assert fed_words(command, Output(Shape.INTEGER)) == ["ls", *becomes]


def test_nothing_is_no_placeholder() -> None:
    """An empty text stands for nothing, so that what is read is added."""
    assert fed(["xargs", "-I", "", "ls", "a"], Output()) == ["ls", "a", ANY_NUMBER]


@pytest.mark.parametrize(
    "options", ["-n 2", "-n2", "--max-args 2", "--max-args=2", "-L 1", "-l", "-l1", "--max-lines=1"]
)
def test_a_number_of_arguments_or_lines_ends_replacing(options: str) -> None:
    """Behind the option that says what to replace, it is added as well; before it, it is not."""
    numbers = Output(Shape.INTEGER)
    assert fed_words(f"xargs -I{{}} {options} ls {{}}", numbers) == ["ls", ANY, ANY_NUMBER]
    assert fed_words(f"xargs -I {{}} {options} ls {{}}", numbers) == ["ls", ANY, ANY_NUMBER]
    assert fed_words(f"xargs -i {options} ls {{}}", numbers) == ["ls", ANY, ANY_NUMBER]
    if options != "-l":  # of which the place is not known
        assert fed_words(f"xargs {options} -I{{}} ls {{}}", numbers) == ["ls", NUMBER]
        assert fed_words(f"xargs -I{{}} {options} -I{{}} ls {{}}", numbers) == ["ls", NUMBER]


@pytest.mark.parametrize("options", ["-n 1", "-n1", "--max-args 1", "--max-args=1", "-r", "-P 2"])
def test_one_argument_at_a_time_is_replaced(options: str) -> None:
    """Taking one at a time is what replacing means."""
    assert fed_words(f"xargs -I{{}} {options} ls {{}}", Output(Shape.INTEGER)) == ["ls", NUMBER]


def test_a_computed_placeholder_may_be_anywhere() -> None:
    """A number can only be where a digit is; any other text may be part of each word."""
    number = Unknown(shape=Shape.INTEGER)
    words: list[Argument] = ["ls", "a1", "b", ANY_NUMBER]
    assert fed(["xargs", "-I", number, *words], Output()) == ["ls", ANY, "b", ANY]
    assert fed(["xargs", "-I", ANY, *words], Output()) == [ANY, ANY, ANY, ANY]
    assert fed(["xargs", "-I", number, "-I", ANY, *words], Output()) == [ANY, ANY, ANY, ANY]
    assert fed(["xargs", "-I", "b", "-I", number, *words], Output()) == ["ls", ANY, "b", ANY]


def ends(command: str) -> bool:
    """Return whether a command that would go on for ever is known to end."""
    analysis = analyze(command, directory="/ws", home="/home/u")
    return not any("goes on for ever" in doubt.message for doubt in analysis.all_doubts)


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
