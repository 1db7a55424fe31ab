"""Yields each command that a command line may start, in every spelling, for deny and ask rules.

Programs may also run their arguments. A command that certainly runs is matched like any other. A
command that may run is a guess: a match asks.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import TypeAlias

from agentscope_like.shell.analysis import CommandAnalysis, EffectKind, Part
from agentscope_like.shell.catalog import (
    Runner,
    bare_name,
    families,
    program_name,
    programs_with,
)
from agentscope_like.shell.facts.possible_commands import (
    led_to,
    raw_commands,
    readings,
    readings_of,
    readings_within,
    renamed_in,
    unread_commands,
)
from agentscope_like.shell.facts.spellings import (
    alias_readings,
    called_alias,
    other_spellings,
    perhaps_aliased,
    perhaps_spelled,
)
from agentscope_like.shell.surroundings import Surroundings
from agentscope_like.shell.syntax import Literal
from agentscope_like.shell.values import Unknown, Words

__all__ = ["GitAliases", "lines_started_by", "names_in_words", "started_by", "started_in"]

GitAliases: TypeAlias = Mapping[str, Sequence[str]]
"""What git's aliases stand for, by their names."""

_PLAIN = re.compile(r"[A-Za-z0-9_+./:,@%^=\- |&;]+")
"""A text in which nothing is quoted, computed or a pattern."""

_PLAIN_PATTERN = re.compile(r"[A-Za-z0-9_./*?:@%+,=\-]+")
_BLANK = re.compile(r"\s")
_MARKS = str.maketrans("=[]", "   ")


def names_in_words(command: str, commands: Sequence[Words]) -> str | None:
    """Return a text that holds the names of all programs that may run; None if any program may.

    They stand in the command or in its words, in one of their spellings, where nothing is computed
    or quoted; but a path may be a link to any program, and an alias of git may be any.

    Args:
        command: The text.
        commands: The words of each command in it.
    """
    if _PLAIN.fullmatch(command) is None or any(map(_may_be_any, commands)):
        return None
    words = [word for each in commands for word in each]
    if None in words:
        return None
    return " ".join((command, *filter(None, words))).casefold()


def _may_be_any(words: Words) -> bool:
    """Return whether a command may start a program of any name."""
    if words and "/" in (words[0] or "") and program_name(words[0] or "") is None:
        return True
    for at, word in enumerate(words):
        is_git = word is not None and bare_name(word) == "git"
        if is_git and called_alias(("git", *words[at + 1 :])) is not None:
            return True
    return False


def started_by(
    part: Part,
    analysis: CommandAnalysis,
    around: Surroundings,
    aliases: Callable[[], GitAliases | None],
    *,
    guess: bool,
) -> Iterator[Words]:
    """Yield each command that a part starts.

    Args:
        part: The part.
        analysis: The command that it is of.
        around: Where it runs.
        aliases: Returns what git's aliases stand for; None where that is not known.
        guess: Whether commands count that it may start.
    """
    opened: set[Words] = set()
    for words in _read(part, analysis, around, guess=guess):
        yield from _spelled(words, guess=guess)
        if words in opened or called_alias(words) is None:
            continue
        opened.add(tuple(families().without_leading_options(words)))
        known = aliases()
        yield from alias_readings(words, known or {})
        if guess:
            yield from perhaps_aliased(words, known, analysis.command)


def started_in(text: str, *, guess: bool) -> Iterator[Words]:
    """Yield each command that a text may start which could not be read.

    Args:
        text: The text, of which every word may be a program.
        guess: Whether commands count that another name of these may be.
    """
    for words in raw_commands(text):
        yield from _spelled(words, guess=guess)
        yield from alias_readings(words, {})
        if guess:
            yield from perhaps_aliased(words, None, text)
    marked = text.translate(_MARKS)  # for arrays that say what a name stands for
    if marked != text:
        yield from raw_commands(marked)


def lines_started_by(part: Part) -> Iterator[str]:
    """Yield as a line of its own each command that a part is known to run from its words.

    What it runs in a container or on another machine is left out, as its paths are not those here;
    so is what the analysis has as a part. A computed word counts only where it certainly is the
    program: behind an option it may be the value of that.
    """
    if part.assignments or part.name in programs_with("takes_settings"):
        yield from (value for name, value in _settings(part) if not _names_a_shell(name, value))
    words = _words(part)
    plain = families().without_leading_options(words)
    runner = families().runner(plain)
    if runner.elsewhere:
        return
    starts = _commands_in(plain, runner) if runner.before else ()
    operands = [each for each in starts if not (plain[each - 1] or "").startswith("-")]
    certain = operands[runner.before[1] :] if runner.before else ()
    for start in starts:
        if start in certain or plain[start] is not None:
            yield " ".join(map(_as_text, part.arguments[start + len(words) - len(plain) :]))
    for option, value in _option_values(words, runner.options):
        if not _names_a_shell(option, value):
            yield value
    for word in words[1:] if runner.texts else ():
        if word and _BLANK.search(word):
            yield word.partition("=")[2] if word.startswith("-") else word


def _names_a_shell(name: str, value: str) -> bool:
    """Return whether a setting names the shell that runs other scripts: `SHELL=/bin/bash`."""
    return name.rstrip("=") == "SHELL" and families().is_shell(bare_name(value))


def _as_text(word: str | Unknown) -> str:
    """Return how a word could be written: what is computed as a variable."""
    if isinstance(word, str):
        return shlex.quote(word)
    if word.pattern and _PLAIN_PATTERN.fullmatch(word.pattern):
        return word.pattern
    return '"$unknown"' if word.single else "$unknown"


def _read(
    part: Part, analysis: CommandAnalysis, around: Surroundings, *, guess: bool
) -> Iterator[Words]:
    yield from readings(part)
    yield from led_to(part, around)
    yield from unread_commands(part)
    for _, value in _settings(part):
        yield from _in_text(value)
    yield from _carried(part, guess=guess)
    if guess:
        yield from renamed_in(analysis, part)


def _spelled(words: Words, *, guess: bool) -> Iterator[Words]:
    yield words
    if words and words[0] is not None:
        yield from other_spellings(words)
        if guess:
            yield from perhaps_spelled(words)


_KIND = attrgetter("kind")
_RUNNING = frozenset({EffectKind.EXECUTE, EffectKind.UNKNOWN})
_NAMES_A_PROGRAM = re.compile(
    r".*(?:PAGER|EDITOR|VISUAL|COMMAND|ASKPASS|SSH|RSH|EXTERNAL_DIFF|BROWSER|SHELL|LESSOPEN|LESSCLOSE)"
)
_SETTING = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
_COMMAND_FLAG = re.compile(r"-[A-Za-z]?[cCeEprxX]|--(?:exec|command|run|eval|call|cmd)[a-z-]*")
_ARGUMENT_MARKS = str.maketrans("=:[]", "    ")
_MOST_BEFORE = 8
_MOST_ARGUMENTS = 64


def _carried(part: Part, *, guess: bool) -> Iterator[Words]:
    """Yield the commands that a part runs from its arguments; with `guess`, those that it may run.

    It may run what stands behind `--` or `exec`, in `--command` and `-e`; any argument of an
    unknown program may begin or contain a command.
    """
    words = _words(part)
    if not words:
        return
    name, plain = words[0] or "", families().without_leading_options(words)
    runner = families().runner(plain)
    starts = _commands_in(plain, runner)
    for start in starts:
        yield from readings_of(plain[start] or "", plain[start + 1 : start + _MOST_ARGUMENTS])
    for _, value in _option_values(words, runner.options):
        yield from _in_text(value)
    if runner.texts:
        yield from _in_texts(words)
    inner = plain[starts[-1] :] if starts else ()
    if inner and _runs_its_words(bare_name(inner[0] or ""), guess=guess):
        yield from _anywhere_in(inner)
    if not guess:
        return
    if (pattern := families().language_of(name)) is not None:
        yield from _in_texts([word for word in words[1:] if word and pattern.fullmatch(word)])
    if name in programs_with("input_language") or families().interpreter(name):
        yield from _in_input(part)
    if _is_unknown(part) and not starts:
        yield from _anywhere_in(words)
    elif not starts:
        yield from readings_within(words, _before_tail(words))
        yield from _in_texts(tuple(_flag_values(words)))


def _runs_its_words(program: str, *, guess: bool) -> bool:
    """Return whether a program runs commands in its words; with `guess`, whether it may."""
    if program in programs_with("carrier") or families().is_shell(program):
        return True
    return guess and not families().has_own_words(program)


def _anywhere_in(words: Words) -> Iterator[Words]:
    """Yield the commands that begin at some argument, or stand in a text."""
    yield from readings_within(words, 1)
    yield from _in_texts(words)


def _in_input(part: Part) -> Iterator[Words]:
    """Yield what may be a command in a part's here-document or here-string."""
    for redirect in part.redirects:
        if redirect.operator.startswith("<<"):
            for segment in redirect.word.segments:
                if isinstance(segment, Literal):
                    yield from _in_text(segment.text)


def _words(part: Part) -> Words:
    """Return the words of a part that may run others, with its program's bare name, else none."""
    if not part.name or _RUNNING.isdisjoint(map(_KIND, part.effects)):
        return ()
    return (part.name, *part.argv[1:])


def _is_unknown(part: Part) -> bool:
    """Return whether a program is unknown."""
    name = part.argv[0] or ""
    return not families().has_own_words(bare_name(name)) and any(
        effect.kind is EffectKind.EXECUTE and effect.target == name for effect in part.effects
    )


def _before_tail(words: Words) -> int:
    """Return after how many words a command may begin; all of them if none does."""
    for position, word in enumerate(words[1:_MOST_BEFORE], 1):
        if word in families().run_words and not families().has_own_words(words[0] or ""):
            return position + 1
    return words.index("--") + 1 if "--" in words else len(words)


def _commands_in(words: Words, runner: Runner) -> list[int]:
    """Return where a command may begin that a program is known to run.

    A word behind an option may be its value, or the command already. Settings go before it.
    """
    if runner.before is None:
        return []
    position, operands = runner.before
    starts: list[int] = []
    for index, word in enumerate(words[position:], position):
        if word is not None and (word.startswith("-") or _SETTING.fullmatch(word)):
            continue
        starts.append(index)
        if (words[index - 1] or "").startswith("-"):
            continue
        if operands == 0:
            break
        operands -= 1
    return starts


def _flag_values(words: Words) -> Iterator[str | None]:
    """Yield the values of options that commonly hold a command or code."""
    for word, following in pairwise((*words[1:], None)):
        name, _, joined = (word or "").partition("=")
        if _COMMAND_FLAG.fullmatch(name):
            yield joined or following


def _option_values(words: Words, options: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the options that are given a command, each with it."""
    if not options:
        return
    first = {option[0] for option in options}
    for word, following in pairwise((*words[1:], None)):
        if not word or word[0] not in first:
            continue
        for option in options:
            value = _value(option, word, following)
            if value and option.startswith("-") and option.endswith("="):
                value = value.partition("=")[2]
            if value:
                yield option, value


def _value(option: str, word: str, following: str | None) -> str | None:
    """Return the value of an option, in its word or the next one; None for another word."""
    if option.startswith("--"):
        name, _, joined = word.partition("=")
        is_option = len(name) > len("--") and option.startswith(name)
        return (joined or following) if is_option else None
    if not option.startswith("-"):
        return word.removeprefix(option) if word.startswith(option) else None
    if word.startswith("-") and not word.startswith("--") and option[1] in word:
        return word.partition(option[1])[2] or following
    return None


def _settings(part: Part) -> Iterator[tuple[str, str]]:
    """Yield the environment variables that hold a command, such as `PAGER`, each with it."""
    for assignment in part.assignments:
        if _NAMES_A_PROGRAM.fullmatch(assignment.name) and (value := assignment.value.literal):
            yield assignment.name, value
    if part.name not in programs_with("takes_settings"):
        return
    for word in part.argv[1:]:
        match = _SETTING.fullmatch(word or "")
        if match and (part.argv[0] == "alias" or _NAMES_A_PROGRAM.fullmatch(match[1])):
            yield match[1], match[2]


def _in_texts(words: Words) -> Iterator[Words]:
    for word in words:
        if word and _BLANK.search(word):
            yield from _in_text(word)


def _in_text(text: str) -> Iterator[Words]:
    yield from raw_commands(text.translate(_ARGUMENT_MARKS))
