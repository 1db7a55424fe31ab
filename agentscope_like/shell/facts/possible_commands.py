"""Lists the commands that a part may run, for deny and ask rules and safety checks.

To deny or ask, each possible name of a program and each command that it may run is matched; one
match is enough. Allow rules never use this module.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import zip_longest

from msgspec.structs import replace

from agentscope_like.paths import PathError, TooManyFilesError
from agentscope_like.shell.analysis import CommandAnalysis, Part
from agentscope_like.shell.catalog import bare_name, families, program_name, programs_with
from agentscope_like.shell.surroundings import Surroundings
from agentscope_like.shell.syntax import Glob, Literal, Word
from agentscope_like.shell.syntax.words import covered
from agentscope_like.shell.values import Words

__all__ = [
    "INPUT",
    "as_written",
    "led_to",
    "raw_commands",
    "raw_words",
    "readings",
    "readings_of",
    "readings_within",
    "reads_input",
    "renamed_in",
    "runs_unseen_text",
    "unread_commands",
]

_QUOTING = str.maketrans("", "", "'\"\\")
_BETWEEN_WORDS = re.compile(r"[\s;|&()<>{},`$!]+")
_BLANK = re.compile(r"\s")
_MAX_CARRIED = 64
_GIT = "git-"
INPUT = re.compile(r"/dev/stdin|/(?:dev|proc/self|proc/thread-self)/fd/[0-9]+")
"""A path of what is read as input, which is no file."""
_SCRIPT_FLAG = re.compile(r"-[A-Za-z]*c[A-Za-z]*")
_INPUT_FLAG = re.compile(r"-[A-Za-z]*s[A-Za-z]*")
_LAST_OPTIONS = frozenset({"-", "--"})
_FLAG_WITH_VALUE = re.compile(r"[-+][A-Za-z]*[oO]|--rcfile|--init-file")


def readings(part: Part) -> Iterator[Words]:
    """Yield the words of each command that the part may run, its own first.

    The program is named by its bare name. Leading options of programs with sub-commands are also
    left out; every word of a program that runs other commands is tried as one.
    """
    if not part.argv or part.argv[0] is None:
        return
    yield from readings_of(part.name, part.argv[1:])
    if part.doubts and part.name in programs_with("carrier"):
        yield from readings_within(part.argv, 1, _MAX_CARRIED + 1)


def as_written(part: Part) -> Part:
    """Return the part with glob patterns as literal words; the part itself if it has none."""
    if None not in part.argv:
        return part
    argv = tuple(
        _pattern(word) if known is None and word else known
        for known, word in zip_longest(part.argv, part.words)
    )
    return replace(part, argv=argv)


def _pattern(word: Word) -> str | None:
    """Return a word of pattern characters and letters as it is written, None for another."""
    segments = covered(word.segments)
    texts = [each.text for each in segments if isinstance(each, Literal | Glob)]
    if len(texts) < len(segments) or word.literal is not None:
        return None
    return "".join(texts)


def readings_within(words: Words, start: int, stop: int | None = None) -> Iterator[Words]:
    """Yield the command that begins at each word from `start` to `stop`, but at options."""
    for position, word in enumerate(words[start:stop], start):
        if word and not word.startswith("-"):
            yield from readings_of(word, words[position + 1 : position + _MAX_CARRIED])


def unread_commands(part: Part) -> Iterator[Words]:
    """Yield the possible commands in each script of the part that could not be parsed."""
    name = part.name if part.doubts else ""
    is_known = name in programs_with("carrier") or name in programs_with("takes_script")
    if is_known or families().is_shell(name):
        for word in part.argv[1 : _MAX_CARRIED + 1]:
            if word and _BLANK.search(word) and not word.startswith("-"):
                yield from raw_commands(word)


def runs_unseen_text(part: Part) -> bool:
    """Return whether a part is a shell that runs its stdin, or code only known at run time."""
    if not part.doubts:
        return False
    name, arguments = part.name, part.argv[1:]
    if name in programs_with("evaluator"):
        return any(word is None or INPUT.fullmatch(word) for word in arguments)
    if name in programs_with("input_runner"):
        return True
    if not families().is_shell(name):
        return False
    return reads_input(arguments) or (
        None in arguments
        and any(word is not None and _SCRIPT_FLAG.fullmatch(word) for word in arguments)
    )


def reads_input(arguments: Words) -> bool:
    """Return whether a shell runs its stdin: with `-s`, or without a script argument."""
    is_value = False
    for count, word in enumerate(arguments, 1):
        if is_value:
            is_value = False
        elif word in _LAST_OPTIONS:
            return count == len(arguments) or _is_input(arguments[count])
        elif word is None or _SCRIPT_FLAG.fullmatch(word):
            return False
        elif _INPUT_FLAG.fullmatch(word):
            return True
        elif word.startswith(("-", "+")):
            is_value = _FLAG_WITH_VALUE.fullmatch(word) is not None
        else:
            return _is_input(word)
    return True


def _is_input(word: str | None) -> bool:
    return word is not None and INPUT.fullmatch(word) is not None


def raw_words(text: str) -> list[str]:
    """Return the possible words of a text that could not be parsed, without its quotes."""
    return [word for word in _BETWEEN_WORDS.split(text.translate(_QUOTING)) if word]


@lru_cache(maxsize=4)
def raw_commands(text: str) -> tuple[Words, ...]:
    """Return the possible commands of a text that could not be parsed; cached for all rules."""
    words = raw_words(text)
    found: dict[Words, None] = {}
    for position, word in enumerate(words):
        following = words[position + 1 : position + _MAX_CARRIED]
        found.update(dict.fromkeys(readings_of(word, following)))
    return tuple(found)


def readings_of(program: str, arguments: Words) -> Iterator[Words]:
    """Yield the words of a command by its program's bare name, and without leading options.

    `git-push` is `git push`, too.
    """
    name = bare_name(program)
    words = (name, *arguments)
    yield words
    plain = families().without_leading_options(words)
    if plain is not words:
        yield plain
    if name.startswith(_GIT):
        yield ("git", name.removeprefix(_GIT), *arguments)


def led_to(part: Part, around: Surroundings) -> Iterator[Words]:
    """Yield the command by the name of the program that a link leads to: `./x` may be `rm`."""
    name = _own_path(part)
    if name is None:
        return
    for directory in part.directories:
        try:
            target = around.locate(os.path.join(directory, name)).resolved
        except (PathError, TooManyFilesError):
            continue
        if bare_name(target) != bare_name(name):
            yield (bare_name(target), *part.argv[1:])


def renamed_in(analysis: CommandAnalysis, part: Part) -> Iterator[Words]:
    """Yield the command by the name of a program that the same line copies, moves or links."""
    name = _own_path(part)
    if name is None:
        return
    for other in analysis.parts:
        if other.is_a("relocates") or other.program == "install":
            operands = [bare_name(word) for word in other.argv[1:] if word]
            if bare_name(name) in operands[1:]:
                for source in operands[:-1]:
                    yield (source, *part.argv[1:])


def _own_path(part: Part) -> str | None:
    """Return the path that a part runs, unless it is one of the system's programs."""
    name = part.argv[0] if part.argv else None
    return name if name and "/" in name and program_name(name) is None else None
