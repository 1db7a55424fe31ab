"""Expands the words of one command and judges the substitutions in them."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import TypeAlias

from msgspec.structs import replace

from agentscope_like.shell.draft import UNKNOWN_INPUT, Draft, Pipe, WalkScope
from agentscope_like.shell.expand.word_evaluation import evaluate
from agentscope_like.shell.expand.word_names import names_in_variable
from agentscope_like.shell.state import Parameters, State, are_counted, own_doubt, special_parameter
from agentscope_like.shell.syntax import (
    Arithmetic,
    Literal,
    Script,
    Segment,
    Substitution,
    Variable,
    Word,
    fails,
)
from agentscope_like.shell.values import (
    NO_NAMES,
    NUMBER,
    UNKNOWN_NAMES,
    Argument,
    Names,
    Shape,
    Unknown,
    any_of,
    element,
    elements_of,
    names_of,
    several,
    shape_of,
)
from agentscope_like.shell.values import join as either

__all__ = ["Expander"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_GIVING = frozenset({":=", "=", ":-", "-", ":+", "+"})
"""Operators whose argument an expansion may become."""

_SAID = frozenset({"grep", "Binary", "file"})
_UNAWAITED = frozenset({"<(", ">("})


_Substitute: TypeAlias = Callable[[Script, State, WalkScope], tuple[Argument, Names]]
"""Judges a script that runs in a subshell, and returns what is known of what it prints."""


class Expander:
    """Expands words in one shell state.

    Attributes:
        draft: The part that gets the doubts.
        state: What is known, also of what the words so far have set.
        scope: The surroundings of the command in the walk.
        assigned: Names that the expansions themselves may set (`${name:=value}`).
    """

    def __init__(
        self,
        substitute: _Substitute,
        held: list[Unknown],
        state: State,
        draft: Draft,
        scope: WalkScope,
        *,
        home: str | None,
    ) -> None:
        self._substitute = substitute
        self._held = held
        self.state = state
        self.draft = draft
        self.scope = scope
        self._home = home
        self.assigned: dict[str, Shape] = {}

    def argument(self, word: Word) -> Argument:
        """Return the expansion of `word` as an argument."""
        self._check_arithmetic(word.segments)
        return evaluate(word, self._value, home=self._home)

    def text(self, word: Word) -> Argument:
        """Return the expansion of `word` without word splitting and globbing."""
        self._check_arithmetic(word.segments)
        value = evaluate(word, self._value, home=self._home, splits=False)
        if any(map(_is_array, word.segments)):
            return Unknown(names=names_of(value))
        return value

    def evaluate(self, expression: Arithmetic) -> None:
        """Note a doubt if the variables of an expression may run code or change a program."""
        self._check_arithmetic((expression,))
        for name in expression.assigned:
            problem = own_doubt(name, Unknown(shape=Shape.INTEGER))
            if problem:
                self.draft.doubt(problem, self.scope.span(expression.span))
            self.assigned[name] = Shape.INTEGER

    def _check_arithmetic(self, segments: tuple[Segment, ...]) -> None:
        for segment in segments:
            if isinstance(segment, Arithmetic):
                for name in segment.names:
                    self._check_operand(name, segment)
                if fails(segment.text, self._text_of):
                    self.draft.doubt(
                        "this arithmetic is an error, for which bash leaves out what follows",
                        self.scope.span(segment.span),
                    )
                for substitution in segment.substitutions:
                    if shape_of(self.output(substitution)[0]) is not Shape.INTEGER:
                        self.draft.doubt(
                            "this is not known to print a number, and arithmetic runs what it is",
                            self.scope.span(substitution.span),
                        )

    def _check_operand(self, name: str, segment: Arithmetic) -> None:
        """Note a doubt if a name in arithmetic may hold code: bash evaluates its value."""
        value = self._base(name)
        integer = (
            value.isascii() and value.isdigit()
            if isinstance(value, str)
            else (value.shape is Shape.INTEGER or self._is_line_number(value))
        )
        if not integer:
            self.draft.doubt(
                f"`{name}` is not known to hold a number, and arithmetic runs what it holds",
                self.scope.span(segment.span),
            )

    def _text_of(self, name: str) -> str | None:
        value = self._base(name)
        return value if isinstance(value, str) else None

    def _is_line_number(self, value: Unknown) -> bool:
        """Return whether a value is a number, or text without code if evaluated as arithmetic.

        The message of grep about a binary file begins with names, which bash looks up.
        """
        names = self.state.variables.keys()
        return value.numbered == NUMBER and not self.scope.defined and _SAID.isdisjoint(names)

    def _base(self, name: str) -> Argument:
        value = self.state.variables.get(name)
        if name == "_":
            return Unknown()
        if (known := _positional(name, self.state.parameters)) is not None:
            return known
        if value is not None:
            return value
        posix = self.scope.posix
        return special_parameter(name, self.state.directories, self._home, posix=posix)

    def output(self, segment: Substitution) -> tuple[Argument, Names]:
        """Return what a substitution prints, and what is known of the file names in that."""
        scope = replace(self.scope.inside(self.draft.index), output=Pipe())
        if segment.opener == ">(":
            self.scope.output.printers.append(scope.output)
            scope = replace(scope, source=UNKNOWN_INPUT)
        if segment.opener in _UNAWAITED:
            scope = replace(scope, bounded=False)
        return self._substitute(segment.script, self.state, scope)

    def _value(self, segment: Variable | Substitution) -> tuple[Argument, Names]:
        """Return what a segment expands to, and what is known of the file names in that."""
        if isinstance(segment, Substitution):
            return self.output(segment)
        base = self._element(segment) if "[" in segment.name else self._base(segment.name)
        argument = self.text(segment.argument) if segment.argument is not None else ""
        if segment.operator in _GIVING:
            self.hold(argument)
        value = self._operated(segment, base, argument)
        return value, names_in_variable(segment, base, argument)

    def _operated(self, segment: Variable, base: Argument, argument: Argument) -> Argument:
        operator = segment.operator
        if operator is None:
            return base
        if operator == "indirect":
            return self._named_by(base, segment)
        if operator == "length":
            return Unknown(option=False, shape=Shape.INTEGER, filled=True)
        if operator in {":=", "="}:
            self._assign_default(segment, argument)
        known = _known(operator, base, segment.argument)
        return _operated(operator, base, argument) if known is None else known

    def hold(self, value: Argument) -> None:
        """Note that commands may get `value` by a variable or as their input."""
        self._held.append(Unknown(choices=(value,)) if isinstance(value, str) else value)

    def assign(self, name: str, value: Argument) -> None:
        """Note that `name` holds `value` where the next word is expanded."""
        self.state = self.state.assign(name, value)

    def _named_by(self, base: Argument, segment: Variable) -> Argument:
        """Return the value of the variable that `base` names; anything but a name may run code."""
        names = (base,) if isinstance(base, str) else base.choices
        if not names or not all(map(_NAME.fullmatch, names)):
            self.draft.doubt(
                f"which variable `${{!{segment.name}}}` means is computed",
                self.scope.span(segment.span),
            )
            return Unknown()
        return either([self._base(name) for name in names])

    def _element(self, segment: Variable) -> Argument:
        """Return what one element of an array holds, or what all of them become."""
        array, _, subscript = segment.name.partition("[")
        known = [self.state.variables.get(name) for name in (array, elements_of(array))]
        held = [Unknown() if value is None else value for value in known]
        names = any_of([names_of(value) for value in known if value is not None] or [UNKNOWN_NAMES])
        if subscript == "*]":
            return Unknown(single=False, names=names)
        value = several(either(held)) if subscript == "@]" else either([*held, ""])
        return value if isinstance(value, str) else replace(value, names=names)

    def _assign_default(self, segment: Variable, argument: Argument) -> None:
        problem = own_doubt(segment.name, argument)
        if problem:
            self.draft.doubt(problem, self.scope.span(segment.span))
        self.assigned[segment.name] = Shape.ANY
        self.state = self.state.forget({segment.name: Shape.ANY})


def _positional(name: str, parameters: Parameters) -> Argument | None:
    """Return what `$1`, `$#`, `$@` or `$*` is; None for any other name, or an unknown number."""
    if name in {"@", "*"}:
        any_one = either(parameters) if parameters else Unknown(names=NO_NAMES)
        return several(any_one) if name == "@" else Unknown(single=False, names=names_of(any_one))
    if name == "#":
        return str(len(parameters)) if are_counted(parameters) else None
    if not name.isdecimal() or int(name) == 0:
        return None
    if not are_counted(parameters):
        return element(parameters[0])
    return parameters[int(name) - 1] if int(name) <= len(parameters) else ""


def _is_array(segment: Segment) -> bool:
    """Return whether a segment expands to several texts that are then joined."""
    if not isinstance(segment, Variable) or segment.operator == "length":
        return False
    return segment.name.endswith(("@", "*", "[@]", "[*]"))


def _known(operator: str, base: Argument, argument: Word | None) -> Argument | None:
    """Return the result of an operator on a parameter whose possible texts are all known."""
    texts = (base,) if isinstance(base, str) else base.choices if base.single else ()
    made = [_operated_text(operator, text, argument) for text in texts]
    known = [text for text in made if text is not None]
    return either(list(known)) if known and len(known) == len(made) else None


def _operated(operator: str, base: Argument, argument: Argument) -> Argument:
    """Return what `${name OPERATOR argument}` becomes where `name` holds `base`."""
    if operator in {":-", "-", ":=", "="}:
        return base if isinstance(base, str) and base else either([base, argument])
    if operator in {":+", "+"}:
        return either(["", argument])
    if operator in {":?", "?"}:
        return base
    if isinstance(base, str):
        return Unknown()
    if operator in {"%", "%%"}:
        return Unknown(option=base.option, single=base.single, shape=min(base.shape, Shape.WORD))
    return Unknown(single=base.single)


_CASES = {"^": str.upper, "^^": str.upper, ",": str.lower, ",,": str.lower}
_TRIMMING = frozenset({"#", "##", "%", "%%"})
_REPLACING = frozenset({"/", "//"})
_SUBSTRING = re.compile(r" *([0-9]+)(?:: *([0-9]+))?")
_MAGIC = frozenset("*?[\\")
_UNSURE = frozenset("[\\()!@+|&~")
"""Characters that mean something in a pattern, or in a replacement, only at times."""


def _operated_text(operator: str, text: str, argument: Word | None) -> str | None:
    """Return the result of an operator on a text; None if it is not certain."""
    if not text.isascii():
        return None  # what is a character depends on the locale
    if operator in _CASES:
        first, rest = (text[:1], text[1:]) if len(operator) == 1 else (text, "")
        return _CASES[operator](first) + rest
    operand = _written(argument)
    if operand is None:
        return None
    if operator == ":":
        return _substring(text, operand)
    if operator in _TRIMMING:
        return _trimmed(operator, text, operand)
    return _replaced(text, operand, everywhere=operator == "//") if operator in _REPLACING else None


def _written(argument: Word | None) -> str | None:
    """Return an argument if no character of it was quoted or computed."""
    text = ""
    for segment in () if argument is None else argument.segments:
        if not isinstance(segment, Literal):
            return None
        if len(segment.text) != segment.span.end - segment.span.start:
            return None
        text += segment.text
    return text if text.isascii() else None


def _substring(text: str, operand: str) -> str | None:
    found = _SUBSTRING.fullmatch(operand)
    if found is None:
        return None
    start = int(found[1])
    end = len(text) if found[2] is None else start + int(found[2])
    return text[start:end]


def _trimmed(operator: str, text: str, pattern: str) -> str | None:
    """Return a text without the shortest, or the longest, match of a pattern at one end of it."""
    if not _UNSURE.isdisjoint(pattern):
        return None
    if operator[0] == "%":
        places = range(len(text), -1, -1) if operator == "%" else range(len(text) + 1)
        return next((text[:at] for at in places if fnmatchcase(text[at:], pattern)), text)
    places = range(len(text) + 1) if operator == "#" else range(len(text), -1, -1)
    return next((text[at:] for at in places if fnmatchcase(text[:at], pattern)), text)


def _replaced(text: str, operand: str, *, everywhere: bool) -> str | None:
    """Return a text with a plain text in it replaced.

    Not where `nocasematch` would make a difference, nor where the pattern is more than a text.
    """
    pattern, _, replacement = operand.partition("/")
    plain = (_UNSURE | _MAGIC | {"/"}).isdisjoint(pattern + replacement)
    if not pattern or not plain or pattern[0] in "#%":
        return None
    if text.lower().count(pattern.lower()) != text.count(pattern):
        return None
    return text.replace(pattern, replacement, -1 if everywhere else 1)
