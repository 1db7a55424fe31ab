"""Predicts the output of a proven command or pipeline, the value of its `$(...)`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from agentscope_like.shell import catalog
from agentscope_like.shell.arguments import ArgumentReading, read_arguments
from agentscope_like.shell.catalog import Grammar, RoleKind
from agentscope_like.shell.draft import Draft
from agentscope_like.shell.syntax import Command, Redirect, Script, SimpleCommand, Word, nodes
from agentscope_like.shell.values import (
    NUMBER,
    Argument,
    Output,
    Shape,
    may_be_option,
    plain,
    shape_of,
)
from agentscope_like.toml_tables import Expression, table_beside

__all__ = [
    "WorkTree",
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
_NUMBERS = Output(Shape.INTEGER, single=False)
_WORDS = Output(Shape.WORD, single=False)
_LINE_NUMBER = Output(single=False, numbered=NUMBER)


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


class WorkTree(Struct, frozen=True):
    """The git work tree that a command line starts in.

    Attributes:
        start: The directory that the command line starts in.
        root: The root of the work tree.
    """

    start: str
    root: str

    def answers(self, command: Draft) -> bool:
        """Return whether a proven command prints the root, or nothing where git fails.

        In any directory but these two, git may find another work tree.
        """
        places = command.directories
        is_plain = not command.assignments and _drops_errors(command)
        is_here = bool(places) and {self.start, self.root}.issuperset(places)
        return command.argv == _ROOT_QUESTION and is_plain and is_here


def printed(stages: Sequence[Draft]) -> Output | None:
    """Return what a pipeline of proven commands prints; None if it prints nothing.

    Args:
        stages: The commands in order; the last one prints.
    """
    if len(stages) > 1 and _prints_line_numbers(stages):
        return _LINE_NUMBER
    if len(stages) > 1 and _prints_branches(stages):
        return _WORDS
    if len(stages) > 1 and all(map(_keeps_lines, stages[1:])):
        output = _of_command(stages[0])
        return output and output._replace(single=False, choices=(), places=False)
    kept = len(stages)
    while kept > 1 and _keeps_numbers(stages[kept - 1]):
        kept -= 1
    output = _of_command(stages[kept - 1])
    if kept == len(stages):
        return output
    if output is None or output.shape < Shape.ALPHANUMERIC:
        return Output()
    return output._replace(choices=())  # a filter may print none of it


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


def printed_by_any(outputs: Sequence[Output | None], *, after_failure: bool = False) -> Output:
    """Return what a list of commands prints of which any may run.

    Args:
        outputs: What each prints.
        after_failure: Whether each runs only if those before it fail.
    """
    known = [output for output in outputs if output is not None]
    match [output.choices for output in known]:
        case []:
            return Output()
        case [(_, *_) as choices] if outputs[1:]:
            return known[0]._replace(choices=(*choices, ""))
        case [_]:
            return known[0]
        case [(first, ""), (_, *_) as others] if after_failure:
            return Output(choices=(first, *others))
        case _:
            return Output(min(output.shape for output in known), single=False)


def _of_command(command: Draft) -> Output | None:
    """Return what one command prints."""
    if command.program is None or not _drops_errors(command):
        return Output()
    if command.program in catalog.programs_with("silent"):
        return None
    arguments = command.arguments
    texts = [each for each in arguments if isinstance(each, str)]
    by_words = _BY_WORDS.get(catalog.canonical(command.program))
    if by_words is not None:
        return by_words(texts[1:]) if len(texts) == len(arguments) else Output()
    if command.program in catalog.programs_with("prints_places"):
        return _of_place(command)
    grammar = catalog.lookup(command.program)
    return Output() if grammar is None else _of_grammar(grammar, arguments)


def _of_echo(words: Sequence[str]) -> Output:
    """Return what echo prints of known words."""
    text = " ".join(words)
    if not words or _ECHO_OPTION.fullmatch(words[0]) or "\\" in text or "\n" in text:
        return Output()
    return Output(shape_of(text), choices=(text,))


def _of_printf(words: Sequence[str]) -> Output:
    """Return what printf prints of known words, if it only joins them."""
    if not words or _JOINING.fullmatch(words[0]) is None:
        return Output()
    taken, joined = words[0].count("%s"), words[0].removesuffix("\\n")
    times, left = divmod(len(words) - 1, taken) if taken else (1, len(words) - 1)
    is_line = times == 1 or (times and joined == words[0])
    if left or not is_line or times * len(joined) > _LONGEST:
        return Output()
    text = joined * times % tuple(words[1:])
    return Output() if "\n" in text else Output(shape_of(text), choices=(text,))


def _of_dirname(words: Sequence[str]) -> Output:
    """Return what dirname prints of one known name."""
    if len(words) != 1 or words[0].startswith("-") or "\n" in words[0]:
        return Output()
    folder = words[0].rstrip("/").rpartition("/")[0].rstrip("/")
    text = folder or ("/" if words[0].startswith("/") else ".")
    return Output(shape_of(text), choices=(text,))


def _of_place(command: Draft) -> Output:
    """Return what `pwd` prints, or whether `find` prints paths, each with a NUL at its end."""
    words = [word for word in command.argv if word is not None]
    if command.program == "pwd":
        return Output() if command.argv[1:] else Output(choices=command.directories)
    places = _table().placing.fullmatch(_by_first_name(words)) is not None
    return Output(single=False, places=places and len(words) == len(command.argv))


def _keeps_lines(stage: Draft) -> bool:
    """Return whether a filter prints nothing but lines of its input, as they are."""
    return _is_filter(stage, _table().picking, _table().matching)


def _keeps_numbers(stage: Draft) -> bool:
    """Return whether a filter turns lines of numbers into lines of numbers."""
    return _is_filter(stage, _table().trimming, _table().picking)


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


def _of_awk(arguments: Sequence[str]) -> Output:
    """Return what awk prints: the numbers of lines, or nothing is known of it."""
    found = _table().numbering_awk.fullmatch(arguments[0]) if arguments else None
    if found is None or not all(map(_FILE.fullmatch, arguments[1:])):
        return Output()
    return Output(Shape.INTEGER) if "exit" in found[1] else _NUMBERS


def _prints_line_numbers(stages: Sequence[Draft]) -> bool:
    """Return whether a command prints the line numbers of `grep -n PATTERN FILE`.

    Of a binary file grep prints just `grep: FILE: ...`, which leaves `grep`, or before version 3.5
    `Binary file FILE matches`. Neither is a sed script, whatever follows, nor is it code.
    """
    texts: list[str] = []
    for stage in stages:
        words = [each for each in stage.argv[1:] if each is not None]
        fed = any(map(_takes_input, stage.redirects)) or not _drops_errors(stage)
        if fed or stage.assignments or len(words) != len(stage.argv) - 1:
            return False
        texts.append(_by_first_name([stage.program or "", *words]))
    cuts = [_table().cutting.fullmatch(text) is not None for text in texts[1:]]
    picks = [_table().picking.fullmatch(text) is not None for text in texts[1:]]
    understood = sum(cuts) == 1 and sum(cuts) + sum(picks) == len(cuts)
    return understood and stages[0].program == "grep" and _numbers_lines(stages[0])


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
    grammar = catalog.lookup("grep")
    arguments = [each for each in grep.argv if each is not None]
    if grammar is None or any(map(_CONTEXT.fullmatch, arguments)):
        return False
    reading = read_arguments(grammar, arguments)
    operands = [item for item in reading.items if not item.flag]
    files = [item.argument for item in operands if item.role.kind is RoleKind.READ]
    named = all(isinstance(each, str) and _FILE.fullmatch(each) for each in files)
    numbering, keeping = _table().numbering, _table().keeping
    numbered = not numbering.isdisjoint(reading.used)
    return len(files) <= 1 and named and numbered and reading.used <= numbering | keeping


def _of_grammar(grammar: Grammar, arguments: Sequence[Argument]) -> Output:
    reading = read_arguments(grammar, arguments)
    inner = reading.grammar
    operands = [item.argument for item in reading.items if not item.flag]
    texts = [each for each in operands if isinstance(each, str)]
    pattern = inner.output_format
    if not operands and inner.default:
        texts = [inner.default]
    if pattern is not None and not (texts and all(map(pattern.fullmatch, texts))):
        return Output()
    for when in inner.whens:
        if when.output is not None and reading.used and reading.used <= when.flags:
            return when.output
    if len(operands) > inner.output_operands or not reading.used <= inner.output_flags:
        return Output()
    output = _formatted(inner, reading)
    if inner.output_selected:
        return Output() if any(map(may_be_option, operands)) else output
    return output if all(_is_clear(each, output, pattern) for each in operands) else Output()


def _is_clear(operand: Argument, output: Output, pattern: Expression | None) -> bool:
    """Return whether an operand does not change the kind of text that is printed."""
    if isinstance(operand, str):
        return plain(operand)
    known = operand.single and not operand.option and output.shape >= Shape.ALPHANUMERIC
    return known and (pattern is None or operand.shape is Shape.INTEGER)


def _formatted(grammar: Grammar, reading: ArgumentReading) -> Output:
    """Return the output that the options select."""
    needs = grammar.output_needs
    if not needs:
        return grammar.output
    if needs.isdisjoint(reading.used):
        return Output()
    if not grammar.output_values:
        return grammar.output
    given = [item.argument for item in reading.items if item.flag in needs]
    texts = [each for each in given if isinstance(each, str)]
    for pattern, output in grammar.output_values:
        if texts and len(texts) == len(given) and all(map(pattern.fullmatch, texts)):
            return output
    return Output()


_BY_WORDS = {"awk": _of_awk, "dirname": _of_dirname, "echo": _of_echo, "printf": _of_printf}
"""What prints as its words alone say."""
