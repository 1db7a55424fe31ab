"""Predicts the output of a proven command or pipeline, the value of its `$(...)`."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec import Struct

from agentscope_like.shell import catalog
from agentscope_like.shell.arguments import ArgumentReading, read_arguments
from agentscope_like.shell.catalog import Grammar, RoleKind
from agentscope_like.shell.draft import Draft
from agentscope_like.shell.syntax import Command, Redirect, Script, SimpleCommand, Word, nodes
from agentscope_like.shell.values import (
    NUMBER,
    Argument,
    Shape,
    Unknown,
    join,
    may_be_option,
    plain,
    shape_of,
    texts_of,
)
from agentscope_like.toml_tables import Expression, table_beside

__all__ = [
    "asks_for_root",
    "heeds_input",
    "keeps_input",
    "may_ask_for_root",
    "printed",
    "printed_by_any",
    "takes_all",
]

_ERRORS = 2
_CONTEXT = re.compile(r"-[0-9]+")
_FILE = re.compile(r"[A-Za-z0-9_./+][A-Za-z0-9_./+-]*")
_EXEC = re.compile(r"(?<![\w-])exec(?![\w-])")
_ECHO_OPTION = re.compile(r"-[neE]+")
_JOINING = re.compile(r"(?!-)(?:[^%\\]|%s)*(?:\\n)?")
_LONGEST = 10_000
"""How many characters of what printf repeats are put together."""

_ROOT_QUESTION = ("git", "rev-parse", "--show-toplevel")
_NOTHING_KNOWN = Unknown()
_NUMBER = Unknown(option=False, shape=Shape.INTEGER)
_NUMBERS = Unknown(option=False, shape=Shape.INTEGER, single=False)
_WORDS = Unknown(option=False, shape=Shape.WORD, single=False)
_LINE_NUMBER = Unknown(option=False, single=False, numbered=NUMBER)
"""No number where grep says that a file is binary; then it fails if it is used as one."""

_PATHS = Unknown(option=False, single=False)
"""Paths below the starting points of a search, each with a NUL behind it."""


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `printing.toml`, which says what each field is."""

    numbering: frozenset[str]
    keeping: frozenset[str]
    cutting: Expression
    picking: Expression
    matching: Expression
    trimming: Expression
    numbering_awk: Expression
    marking: Expression
    unmarking: Expression
    placing: Expression


_table = table_beside(__file__, "printing.toml", _Table)


def may_ask_for_root(command: str) -> bool:
    """Return whether a command line may ask git for the root of its work tree."""
    return _ROOT_QUESTION[-1] in command


def asks_for_root(command: Draft, places: Collection[str]) -> bool:
    """Return whether a proven command prints the root of a git work tree, or nothing.

    Args:
        command: The command.
        places: The directories in which git is known to find that work tree.
    """
    is_here = bool(command.directories) and all(each in places for each in command.directories)
    is_plain = not command.assignments and _drops_errors(command)
    return command.argv == _ROOT_QUESTION and is_plain and is_here


def printed(stages: Sequence[Draft]) -> Argument | None:
    """Return what a pipeline of proven commands prints; None if it prints nothing.

    Args:
        stages: The commands in order; the last one prints.
    """
    if _prints_line_numbers(stages):
        return _LINE_NUMBER
    if _prints_branches(stages):
        return _WORDS
    output = _of_command(stages[0])
    for stage in stages[1:]:
        shape = Shape.ANY if output is None else shape_of(output)
        if _keeps_lines(stage) or (shape >= Shape.ALPHANUMERIC and _trims(stage)):
            single = isinstance(output, str) or (output is not None and output.single)
            output = Unknown(option=shape is Shape.ANY, single=single, shape=shape)
        else:
            output = _of_command(stage)
    return output


def heeds_input(command: Command) -> bool:
    """Return whether what is known of its input matters to a command of a pipeline."""
    if isinstance(command, SimpleCommand):
        return bool(command.words) and command.words[0].literal in catalog.programs_with("fed")
    return True


def keeps_input(command: Command | Script) -> bool:
    """Return whether no part of a command replaces the stdin of later commands, as `exec` does.

    A command with a computed name may be `exec`, and a text may hold one for `eval`.
    """
    return not any(
        isinstance(node, SimpleCommand)
        and node.words
        and (
            (node.words[0].literal is None and node.redirects)
            or any(_EXEC.search(each.literal or "") for each in node.words)
        )
        for node in nodes(command)
    )


def takes_all(command: Command) -> bool:
    """Return whether a command of a pipeline reads its stdin before any substitution in it can."""
    if not isinstance(command, SimpleCommand) or command.assignments:
        return False
    words = [*command.words, *(each.target for each in command.redirects)]
    is_fixed = all(isinstance(each, Word) and each.literal is not None for each in words)
    return is_fixed and all(each.fd == _ERRORS for each in command.redirects)


def printed_by_any(outputs: Sequence[Argument | None], *, after_failure: bool = False) -> Argument:
    """Return what a list of commands prints of which any may run.

    Args:
        outputs: What each prints.
        after_failure: Whether each runs only if those before it fail.
    """
    known = [output for output in outputs if output is not None]
    match list(map(texts_of, known)):
        case []:
            return _NOTHING_KNOWN
        case [(_, *_) as texts] if outputs[1:]:
            return join([*texts, ""])
        case [_]:
            return known[0]
        case [(first, ""), (_, *_) as others] if after_failure:
            return join([first, *others])
        case _:
            shape = min(map(shape_of, known))
            return Unknown(option=shape is Shape.ANY, single=False, shape=shape)


def _of_command(command: Draft) -> Argument | None:
    """Return what one command prints."""
    if command.program is None or not _drops_errors(command):
        return _NOTHING_KNOWN
    if command.program in catalog.programs_with("silent"):
        return None
    arguments = command.arguments
    texts = [each for each in arguments if isinstance(each, str)]
    by_words = _BY_WORDS.get(catalog.canonical(command.program))
    if by_words is not None:
        return by_words(texts[1:]) if len(texts) == len(arguments) else _NOTHING_KNOWN
    if command.program in catalog.programs_with("prints_places"):
        return _of_place(command)
    grammar = catalog.lookup(command.program)
    return _NOTHING_KNOWN if grammar is None else _of_grammar(grammar, arguments)


def _of_echo(words: Sequence[str]) -> Argument:
    """Return what echo prints of known words."""
    text = " ".join(words)
    if not words or _ECHO_OPTION.fullmatch(words[0]) or "\\" in text or "\n" in text:
        return _NOTHING_KNOWN
    return text


def _of_printf(words: Sequence[str]) -> Argument:
    """Return what printf prints of known words, if it only joins them."""
    if not words or _JOINING.fullmatch(words[0]) is None:
        return _NOTHING_KNOWN
    taken, joined = words[0].count("%s"), words[0].removesuffix("\\n")
    times, left = divmod(len(words) - 1, taken) if taken else (1, len(words) - 1)
    is_line = times == 1 or (times and joined == words[0])
    if left or not is_line or times * len(joined) > _LONGEST:
        return _NOTHING_KNOWN
    text = joined * times % tuple(words[1:])
    return _NOTHING_KNOWN if "\n" in text else text


def _of_dirname(words: Sequence[str]) -> Argument:
    """Return what dirname prints of one known name."""
    if len(words) != 1 or words[0].startswith("-") or "\n" in words[0]:
        return _NOTHING_KNOWN
    folder = words[0].rstrip("/").rpartition("/")[0].rstrip("/")
    return folder or ("/" if words[0].startswith("/") else ".")


def _of_place(command: Draft) -> Argument:
    """Return what `pwd` prints, or whether `find` prints paths, each with a NUL at its end."""
    words = [word for word in command.argv if word is not None]
    if command.program == "pwd":
        is_known = command.directories and not command.argv[1:]
        return join(command.directories) if is_known else _NOTHING_KNOWN
    places = _table().placing.fullmatch(_by_first_name(words)) is not None
    return _PATHS if places and len(words) == len(command.argv) else _NOTHING_KNOWN


def _keeps_lines(stage: Draft) -> bool:
    """Return whether a filter prints nothing but lines of its input, as they are."""
    return _is_filter(stage, _table().picking, _table().matching)


def _trims(stage: Draft) -> bool:
    """Return whether a filter removes nothing from a line but blanks and what is behind them."""
    return _is_filter(stage, _table().trimming)


def _is_filter(stage: Draft, *expressions: Expression) -> bool:
    """Return whether a command matches one of the expressions, and reads its stdin alone."""
    words = [each for each in stage.argv if each is not None]
    if len(words) != len(stage.argv) or any(map(_takes_input, stage.redirects)):
        return False
    text = _by_first_name(words)
    return any(each.fullmatch(text) for each in expressions) and _drops_errors(stage)


def _by_first_name(words: Sequence[str]) -> str:
    """Return the words of a command with the first name of its program."""
    return " ".join((*map(catalog.canonical, words[:1]), *words[1:]))


def _takes_input(redirect: Redirect) -> bool:
    return redirect.operator.startswith("<") and redirect.operator not in {"<&", "<>"}


def _drops_errors(command: Draft) -> bool:
    """Return whether only stdin and discarded error messages are redirected."""
    return all(
        each.fd == _ERRORS
        and each.operator == ">"
        and isinstance(each.target, Word)
        and each.target.literal == "/dev/null"
        for each in command.redirects
        if not _takes_input(each)
    )


def _of_awk(arguments: Sequence[str]) -> Argument:
    """Return what awk prints: the numbers of lines, or nothing is known of it."""
    found = _table().numbering_awk.fullmatch(arguments[0]) if arguments else None
    if found is None or not all(map(_FILE.fullmatch, arguments[1:])):
        return _NOTHING_KNOWN
    return _NUMBER if "exit" in found[1] else _NUMBERS


def _prints_line_numbers(stages: Sequence[Draft]) -> bool:
    """Return whether a command prints the line numbers of `grep -n PATTERN FILE`.

    Of a binary file grep prints just `grep: FILE: ...`, which leaves `grep`, or before version 3.5
    `Binary file FILE matches`. Neither is a sed script, whatever follows, nor is it code.
    """
    cuts = [each for each in stages[1:] if not _is_filter(each, _table().picking)]
    if len(cuts) != 1 or any(stage.assignments for stage in stages):
        return False
    return _is_filter(cuts[0], _table().cutting) and _numbers_lines(stages[0])


def _prints_branches(stages: Sequence[Draft]) -> bool:
    """Return whether a pipeline takes the mark off each line that `git branch` prints.

    Behind the mark there are words without glob characters: a branch, or what HEAD is instead.
    """
    table = _table()
    if not _is_filter(stages[0], table.marking) or stages[0].assignments:
        return False
    cut = [each for each in stages[1:] if not _keeps_lines(each)]
    taken = cut or stages[1:]
    return len(cut) <= 1 and any(_is_filter(each, table.unmarking) for each in taken)


def _numbers_lines(grep: Draft) -> bool:
    """Return whether each line that grep prints begins with its number and a colon."""
    grammar = catalog.lookup("grep") if grep.program == "grep" else None
    arguments = [each for each in grep.argv if each is not None]
    is_plain = len(arguments) == len(grep.argv) and not any(map(_takes_input, grep.redirects))
    if grammar is None or any(map(_CONTEXT.fullmatch, arguments)):
        return False
    if not (is_plain and _drops_errors(grep)):
        return False
    reading = read_arguments(grammar, arguments)
    operands = [item for item in reading.items if not item.flag]
    files = [arguments[item.start] for item in operands if item.role.kind is RoleKind.READ]
    named = all(map(_FILE.fullmatch, files))
    numbering, keeping = _table().numbering, _table().keeping
    numbered = not numbering.isdisjoint(reading.used)
    return len(files) <= 1 and named and numbered and reading.used <= numbering | keeping


def _of_grammar(grammar: Grammar, arguments: Sequence[Argument]) -> Unknown:
    reading = read_arguments(grammar, arguments)
    inner = reading.grammar
    operands = [item.argument for item in reading.items if not item.flag]
    texts = [each for each in operands if isinstance(each, str)]
    pattern = inner.output_format
    if reading.is_about:
        return _NOTHING_KNOWN
    if pattern is not None and not (texts and all(map(pattern.fullmatch, texts))):
        return _NOTHING_KNOWN
    for when in inner.whens:
        if when.output is not None and reading.used and reading.used <= when.flags:
            return when.output
    if len(operands) > inner.output_operands or not reading.used <= inner.output_flags:
        return _NOTHING_KNOWN
    output = _formatted(inner, reading)
    if inner.output_selected:
        return _NOTHING_KNOWN if any(map(may_be_option, operands)) else output
    return output if all(_is_clear(each, output, pattern) for each in operands) else _NOTHING_KNOWN


def _is_clear(operand: Argument, output: Unknown, pattern: Expression | None) -> bool:
    """Return whether an operand does not change the kind of text that is printed."""
    if isinstance(operand, str):
        return plain(operand)
    known = operand.single and not operand.option and output.shape >= Shape.ALPHANUMERIC
    return known and (pattern is None or operand.shape is Shape.INTEGER)


def _formatted(grammar: Grammar, reading: ArgumentReading) -> Unknown:
    """Return the output that the options select."""
    needs = grammar.output_needs
    if not needs:
        return grammar.output
    if needs.isdisjoint(reading.used):
        return _NOTHING_KNOWN
    if not grammar.output_values:
        return grammar.output
    given = [item.argument for item in reading.items if item.flag in needs]
    texts = [each for each in given if isinstance(each, str)]
    for pattern, output in grammar.output_values:
        if texts and len(texts) == len(given) and all(map(pattern.fullmatch, texts)):
            return output
    return _NOTHING_KNOWN


_BY_WORDS = {"awk": _of_awk, "dirname": _of_dirname, "echo": _of_echo, "printf": _of_printf}
"""What prints as its words alone say."""
