"""What is read ends exactly where it is said to end, whatever a command is made large with."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agentscope_like.tool import Bash
from tests.permission.kit import CommandAnalysis, analyze


def read(command: str) -> CommandAnalysis:
    """Return the analysis of a command in `/ws`."""
    return analyze(command, directory="/ws", home="/home/u")


def reads(command: str) -> bool:
    """Return whether the strict reader takes a command for a read."""
    analysis = analyze(command, directory="/ws", home="/home/u")
    return analysis.script is not None and all(part.read_only for part in analysis.parts)


LARGE: dict[str, tuple[int, Callable[[int], str]]] = {
    "characters": (10_000, lambda n: f"ls '{'a' * (n - 5)}'"),
    "characters of a word": (9_996, lambda n: f"cat {'a' * n}"),
    "words": (1_000, lambda n: f"cat {'a ' * n}"),
    "variables": (1_000, lambda n: f"ls a {'$x ' * (n - 1)}"),
    "patterns": (500, lambda n: f"cat {'* ' * n}"),
    "pieces of patterns": (250, lambda n: f"cat {'a/*/b ' * n}"),
    "quoted pieces": (500, lambda n: "cat " + "'a'\"b\"" * n),
    "pieces of a word": (999, lambda n: f"ls {'a$x' * n}"),
    "words of a range": (100, lambda n: f"cat {{1..{n}}}"),
    "words of a list": (100, lambda n: f"cat {{{','.join(map(str, range(n)))}}}"),
    "words of nothing": (99, lambda n: f"cat {{{',' * n}}}"),
    "products of lists": (6, lambda n: f"cat {'{a,b}' * n}"),
    "lists in lists": (8, lambda n: f"cat {'{a,' * n}b{'}' * n}"),
    "pieces beside a list": (295, lambda n: f"ls {{a,b}}{'$x' * n}"),
    "commands": (128, lambda n: "; ".join(["ls"] * n)),
    "alternatives": (128, lambda n: " || ".join(["ls"] * n)),
    "stages of a pipeline": (128, lambda n: " | ".join(["cat"] * n)),
    "arms": (128, lambda n: f"case x in {'a) ls;; ' * n}esac"),
    "functions": (100, lambda n: "; ".join(f"f{i}() {{ ls; }}" for i in range(n))),
    "substitutions in substitutions": (40, lambda n: f"{'echo $(' * n}ls{')' * n}"),
    "quoted substitutions": (40, lambda n: 'echo "$(' * n + "ls" + ')"' * n),
    "subshells": (40, lambda n: f"{'( ' * n}ls{' )' * n}"),
    "groups": (40, lambda n: f"{'{ ' * n}ls; {'}; ' * (n - 1)}}}"),
    "loops": (40, lambda n: f"{'while :; do ' * n}ls; {'done; ' * (n - 1)}done"),
    "choices in choices": (40, lambda n: f"{'case x in a) ' * n}ls{';; esac' * n}"),
    "defaults of defaults": (40, lambda n: f"ls {'${x:-' * n}a{'}' * n}"),
    "wrappers": (20, lambda n: f"{'env ' * n}ls"),
    "words of wrappers": (1_241, lambda n: f"{'env ' * 15}echo {'a ' * n}"),
    "words that are read nowhere": (2_499, lambda n: f"echo {'a ' * n}"),
    "letters of an option": (199, lambda n: f"while read -{'r' * n} x; do ls; done"),
    "digits of a descriptor": (3, lambda n: f"ls {'1' * n}>&1"),
    "digits of a target": (3, lambda n: f"ls >&{'1' * n}"),
}
"""The largest number with which each is read, and how it is made as large as that."""


@pytest.mark.parametrize(("most", "command"), LARGE.values(), ids=list(LARGE))
def test_a_budget_ends_where_it_says(most: int, command: Callable[[int], str]) -> None:
    """With as much as is allowed a command is taken for a read; with one more it is not."""
    assert reads(command(most))
    assert not reads(command(most + 1))


@pytest.mark.parametrize(("letters", "is_read"), [(7_987, True), (7_988, False)])
def test_scripts_in_scripts_are_read_up_to_40000_characters(letters: int, is_read: bool) -> None:
    """Each `eval` has the rest read again; what is too much of it is not read at all."""
    analysis = read(f"{'eval ' * 5}ls {'a' * letters}")
    assert bool(analysis.parts) is is_read


def test_what_ends_is_counted_no_longer() -> None:
    """Things that stand beside each other are not nested, however many they are."""
    for text in (
        "( ls ); ",
        "{ ls; }; ",
        "$(ls) ",
        "`ls` ",
        "${x:-a} ",
        "[[ ( a ) ]]; ",
        "((1)); ",
    ):
        command = ("echo " if text[0] in "$`" else "") + text * 45
        doubts = [doubt.message for doubt in read(command).all_doubts]
        assert not any("Nesting" in doubt for doubt in doubts), text
    assert read(f"[[ {'( a ) && ' * 45}b ]]").script is not None
    assert read("if a; then ls; fi; " * 45 + "ls").script is not None
    assert read("while a; do ls; done; " * 45 + "ls").script is not None
    assert read("case a in b) ls;; esac; " * 45 + "ls").script is not None


@pytest.mark.parametrize(("values", "known"), [(64, True), (65, False)])
def test_the_values_of_a_loop_are_followed_up_to_a_number(values: int, known: bool) -> None:
    """Each value of a loop's variable is known, unless there are too many."""
    words = " ".join(f"w{number}" for number in range(values))
    effects = read(f'for i in {words}; do cat "$i"; done').effects
    assert [effect.path is not None for effect in effects] == (
        [True] * values if known else [False]
    )


def test_the_texts_of_a_word_are_followed_up_to_a_number() -> None:
    """Each text that the values of two loops make is known, unless there are too many."""
    of_eight, of_nine = "a b c d e f g h", "a b c d e f g h i"
    word = 'cat "$i/$j"; done; done'
    known = read(f"for i in {of_eight}; do for j in {of_eight}; do {word}").effects
    assert len(known) == 64
    assert all(effect.path is not None for effect in known)
    (unknown,) = read(f"for i in {of_eight}; do for j in {of_nine}; do {word}").effects
    assert unknown.path is None


@pytest.mark.parametrize(("branches", "known"), [(7, True), (8, False)])
def test_the_directories_are_followed_up_to_a_number(branches: int, known: bool) -> None:
    """Each directory that a command may run in is known, unless there are too many."""
    changes = " elif b; ".join(f"then cd e{number};" for number in range(branches))
    directories = read(f"if a; {changes} fi; cat p").parts[-1].directories
    assert len(directories) == (branches + 1 if known else 0)


async def offered(command: str) -> list[str | None]:
    """Return the patterns that are offered for the parts of a command."""
    rules = await Bash(confine="off").generate_suggestions({"command": command})
    return [rule.rule_content for rule in rules]


async def test_suggestions_are_few_and_short() -> None:
    """Eight patterns are offered at most, and no command of more than 200 characters."""
    assert len(await offered("; ".join(f"foo{number} x" for number in range(8)))) == 8
    assert len(await offered("; ".join(f"foo{number} x" for number in range(9)))) == 8
    assert await offered("bash " + "a" * 195) == ["bash " + "a" * 195]
    assert await offered("bash " + "a" * 196) == []


def test_a_message_shows_sixty_characters() -> None:
    """A word of sixty characters is shown whole in a message; of a longer one, the beginning is."""
    assert f"`{'a' * 60}`" in read("a" * 60).all_doubts[0].message
    assert f"`{'a' * 57}...`" in read("a" * 61).all_doubts[0].message
