"""The catalog: every table compiles, mistakes in it are refused, each program has its limits."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentscope_like.shell import catalog
from agentscope_like.shell.arguments import read_arguments
from agentscope_like.shell.catalog import REST, CatalogError, Grammar, parse_program, tables
from tests.permission.kit import analyze

PROGRAMS = tomllib.loads(Path(__file__).with_name("programs.toml").read_text("utf-8"))

CHANGE = re.compile(r"`[\w ]+` (?:writes|removes) `\w+`")

LINES = tomllib.loads(Path(__file__).with_name("catalog.toml").read_text("utf-8"))


def grammars(grammar: Grammar) -> Iterator[Grammar]:
    """Yield a grammar and those of all its sub-commands."""
    yield grammar
    for sub in grammar.subs.values():
        yield from grammars(sub)


def proven(command: str) -> bool:
    """Return whether the command is known to read only."""
    return analyze(command, directory="/ws", home="/home/u").read_only


@pytest.mark.parametrize("group", PROGRAMS)
def test_reading_is_proven(group: str) -> None:
    """A command that only reads needs no question."""
    for command in PROGRAMS[group]["reads"]:
        analysis = analyze(command, directory="/ws", home="/home/u")
        assert analysis.all_doubts == (), command
        assert analysis.read_only, command


@pytest.mark.parametrize("group", PROGRAMS)
def test_anything_else_is_not_proven(group: str) -> None:
    """A neighbour of a harmless command that may do more is doubted, with a reason."""
    for command in PROGRAMS[group]["other"]:
        analysis = analyze(command, directory="/ws", home="/home/u")
        assert not analysis.read_only, command
        assert all(doubt.message for doubt in analysis.all_doubts), command
        assert not any("failed" in doubt.message for doubt in analysis.all_doubts), command


@pytest.mark.parametrize("program", LINES["programs"])
def test_each_line_of_the_catalog_decides(program: str) -> None:
    """What a line of a program's table allows is proven, and what it narrows is not."""
    cases = LINES["programs"][program]
    unproven = [each for each in cases.get("reads", ()) if not proven(each)]
    assert unproven == []
    assert [each for each in cases.get("other", ()) if proven(each)] == []


def doubts_but_changes(command: str) -> list[str]:
    """Return the doubts about a command, without those that it changes a path that is known."""
    doubts = analyze(command, directory="/ws", home="/home/u").all_doubts
    return [each.message for each in doubts if not CHANGE.fullmatch(each.message)]


def test_each_line_about_a_program_that_changes_files_decides() -> None:
    """What a line allows to a program that changes files is in doubt for these changes alone."""
    programs = LINES["programs"].values()
    changes = [command for cases in programs for command in cases.get("changes", ())]
    doubted = [command for cases in programs for command in cases.get("doubted", ())]
    assert {each: doubts_but_changes(each) for each in changes if doubts_but_changes(each)} == {}
    assert [each for each in doubted if not doubts_but_changes(each)] == []
    assert changes
    assert doubted


def test_the_catalog_tells_what_happens_to_a_path() -> None:
    """The role of an argument says what is done to its path, and how far that reaches."""
    for command, effects in LINES["effects"].items():
        analysis = analyze(command, directory="/ws", home="/home/u")
        found = {
            f"{effect.kind} {'below ' if effect.recursive else ''}{effect.path}"
            for part in analysis.parts
            for effect in part.effects
            if effect.path is not None and "secret" in effect.path
        }
        assert found == set(effects), command


def test_each_program_has_both_sides() -> None:
    """Each group of cases has commands that are allowed beside those that are not."""
    assert all(group["reads"] and group["other"] for group in PROGRAMS.values())


def programs() -> Iterator[tuple[str, Grammar]]:
    """Yield the name and the grammar of every program of the catalog."""
    for name in sorted(catalog.names()):
        program = catalog.lookup(name)
        assert program is not None, name
        yield name, program


def test_each_table_compiles() -> None:
    """Every program and every sub-command of the catalog compiles, and cites its manual."""
    for name, program in programs():
        assert program.source, name
        assert len(list(grammars(program))) >= 1, name


def test_an_unknown_flag_is_a_doubt() -> None:
    """A flag that no program has makes every program unproven, at every level."""
    for name, program in programs():
        if program.optionless:
            continue
        assert read_arguments(program, [name, "--no-such-flag-anywhere"]).problems, name
        for sub in program.subs:
            if not program.subs[sub].optionless:
                words = [name, sub, "--no-such-flag-anywhere"]
                assert read_arguments(program, words).problems, words


def test_what_runs_a_command_has_its_own_options_first() -> None:
    """The options behind a command that a program runs are never taken for the program's."""
    for name, program in programs():
        for grammar in grammars(program):
            places = [grammar.operands, *(when.operands or () for when in grammar.whens)]
            carries = any(place.role.kind in REST for each in places for place in each)
            assert grammar.options_first or not carries, name


def test_an_option_is_either_allowed_or_just_known() -> None:
    """What `others` lists is there for abbreviations alone: no list of flags has it as well."""
    for name, program in programs():
        for grammar in grammars(program):
            known = grammar.complete or ()
            assert sorted(set(known)) == sorted(known), name
            for flag in set(known) - set(grammar.flags):
                assert read_arguments(grammar, [name, flag]).problems, (name, flag)


def test_an_unknown_program_is_not_in_the_catalog() -> None:
    """A name that is not listed has no grammar."""
    assert catalog.lookup("no-such-program") is None


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"flag": "-a"}, "did you mean 'flags'"),
        ({"operands": "raed"}, "did you mean 'read'"),
        ({"operands": 3}, "`str \\| array`, got `int`"),
        ({"values": {"txet": "-a"}}, "did you mean 'text'"),
        ({"style": "singel-dash"}, "did you mean 'single-dash'"),
        ({"use": "dif", "shared": {"diff": {}}}, "did you mean 'diff'"),
        ({"when": {"-a": {"operand": "read"}}}, "did you mean 'operands'"),
        ({"harmless": "yes"}, "`bool`, got `str`"),
        ({"flags": ["-a"]}, "`str`, got `array`"),
        ({"output_operands": "two"}, "`int`, got `str`"),
        ({"operands": "write: x"}, "takes nothing after a colon"),
    ],
)
def test_mistakes_are_refused(table: dict[str, object], expected: str) -> None:
    """A key, role or type that is not known is an error that names the program and the nearest."""
    with pytest.raises(CatalogError, match=expected) as error:
        parse_program("ls", table)
    assert "[program.ls]" in str(error.value) or "`ls" in str(error.value)


def test_a_mistake_in_a_sub_command_is_refused_when_it_is_used() -> None:
    """A sub-command is compiled when it is asked for, and its mistakes are told then."""
    program = parse_program("git", {"sub": {"log": {"flagz": "-a"}}})
    with pytest.raises(CatalogError, match="did you mean 'flags'"):
        program.subs["log"]


def test_abbreviations_need_a_complete_list() -> None:
    """`--rec` is `--recursive` only where all long options are known and no other begins so."""
    table: dict[str, object] = {"flags": "--recursive --reverse", "others": "--random-source"}
    complete = parse_program("x", table)
    assert not read_arguments(complete, ["x", "--rec"]).problems
    assert read_arguments(complete, ["x", "--re"]).problems
    assert read_arguments(complete, ["x", "--rand"]).problems
    del table["others"]
    assert read_arguments(parse_program("x", table), ["x", "--rec"]).problems


@pytest.mark.parametrize(
    "text", ["[program.broken]\nflags = \n", "[program.other]\nflags = '-a'\n", "flags = '-a'"]
)
def test_a_table_that_cannot_be_parsed_is_refused(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program whose table is no TOML, or is another one's, is an error that names it."""
    section = tables._Section("broken", text)
    monkeypatch.setattr(tables, "_sections", lambda: {"broken": section})
    with pytest.raises(CatalogError, match=r"\[program\.broken\]"):
        catalog.lookup("broken")


@pytest.mark.parametrize(
    ("places", "count", "kinds"),
    [
        (["text", "read?", "list?"], 1, ["text"]),
        (["text", "read?", "list?"], 2, ["text", "read"]),
        (["text?", "read?", "list"], 1, ["list"]),
        (["text?", "read?", "list"], 2, ["text", "list"]),
        (["text?", "read?", "list"], 3, ["text", "read", "list"]),
        (["text...", "read?", "list"], 3, ["text", "text", "list"]),
        (["text?", "read...", "list"], 4, ["text", "read", "read", "list"]),
    ],
)
def test_operands_take_their_places_from_both_ends(
    places: list[str], count: int, kinds: list[str]
) -> None:
    """What must be there gets its operand first; what may be there takes the others in order."""
    grammar = parse_program("x", {"operands": places})
    reading = read_arguments(grammar, ["x", *"abcd"[:count]])
    assert [item.role.kind.value for item in reading.items] == kinds
    assert not reading.problems
    assert read_arguments(grammar, ["x"]).problems
