"""A tree as one line of text, for tests to compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.permission.shell.syntax import (
    Arithmetic,
    ArithmeticCommand,
    ArithmeticFor,
    Assignment,
    Case,
    For,
    Function,
    Glob,
    Group,
    Heredoc,
    If,
    Literal,
    Loop,
    Pipeline,
    Redirect,
    Script,
    SimpleCommand,
    Substitution,
    Test,
    Tilde,
    Variable,
    Word,
)

if TYPE_CHECKING:
    from tests.permission.shell.syntax import Command, Segment

__all__ = ["script_text", "word_text"]

_PLAIN = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%^[]{}!#"
)


def script_text(script: Script) -> str:
    """Return a script's statements, each with its connector (`¶` for a newline)."""
    parts = []
    for statement in script.statements:
        connector = statement.connector.replace("\n", "¶")
        parts.append(_command(statement.command) + (f" {connector}" if connector else ""))
    return " ".join(parts)


def word_text(word: Word) -> str:
    """Return a literal word bare or as a Python literal; other words by their segments."""
    literal = word.literal
    if literal is not None:
        return literal if literal and _PLAIN.issuperset(literal) else repr(literal)
    return "".join(_segment(each) for each in word.segments)


def _segment(segment: Segment) -> str:
    match segment:
        case Literal():
            return repr(segment.text) if segment.quoted else segment.text
        case Glob():
            return f"«{segment.text}»"
        case Tilde():
            return f"<~{segment.user}>"
        case Arithmetic():
            inner = "".join(f"{{{script_text(each.script)}}}" for each in segment.substitutions)
            return f"$(({segment.text}))<{','.join(segment.names)}>{inner}"
        case Substitution():
            return f"{segment.opener}{script_text(segment.script)})"
        case Variable():
            text = f"${segment.name}"
            if segment.operator is not None:
                argument = word_text(segment.argument) if segment.argument else ""
                text = f"${{{segment.name} {segment.operator} {argument}}}"
            return f'"{text}"' if segment.quoted else text


def _assigned(assignment: Assignment) -> str:
    if assignment.elements is None:
        return word_text(assignment.value)
    return f"[{' '.join(map(word_text, assignment.elements))}]"


def _redirects(redirects: tuple[Redirect, ...]) -> str:
    text = ""
    for redirect in redirects:
        target = redirect.target
        fd = "" if redirect.fd is None else str(redirect.fd)
        if isinstance(target, Heredoc):
            quote = "'" if target.quoted else ""
            text += f" {fd}{redirect.operator}{quote}{word_text(target.body)}{quote}"
        else:
            text += f" {fd}{redirect.operator}{word_text(target)}"
    return text


def _simple(command: SimpleCommand) -> str:
    assignments = [
        f"({each.name}{'+' if each.append else ''}={_assigned(each)})"
        for each in command.assignments
    ]
    words = [word_text(each) for each in command.words]
    return (" ".join([*assignments, *words]) + _redirects(command.redirects)).strip()


def _command(command: Command) -> str:
    text = ""
    match command:
        case SimpleCommand():
            return _simple(command)
        case Pipeline():
            prefix = ("time " if command.timed else "") + ("! " if command.negated else "")
            return prefix + " | ".join(_command(each) for each in command.commands)
        case Function():
            return f"{command.name}() {_command(command.body)}"
        case Group():
            inner = script_text(command.body)
            text = f"({inner})" if command.subshell else f"{{{inner}}}"
        case For():
            words = "" if command.words is None else " in " + _words(command.words)
            text = f"for {command.name}{words} do {script_text(command.body)} done"
        case Loop():
            keyword = "until" if command.until else "while"
            condition, body = script_text(command.condition), script_text(command.body)
            text = f"{keyword} {condition} do {body} done"
        case If():
            text = "if " + " elif ".join(
                f"{script_text(condition)} then {script_text(body)}"
                for condition, body in command.branches
            )
            if command.otherwise is not None:
                text += f" else {script_text(command.otherwise)}"
            text += " fi"
        case Case():
            text = _case(command)
        case Test():
            text = f"[[ {_words(command.words)} ]]"
        case ArithmeticFor() | ArithmeticCommand():
            text = _arithmetic(command)
    return text + _redirects(command.redirects)


def _case(command: Case) -> str:
    arms = " ".join(
        f"{'|'.join(word_text(each) for each in arm.patterns)}) {script_text(arm.body)};;"
        for arm in command.arms
    )
    return f"case {word_text(command.subject)} in {arms} esac"


def _arithmetic(command: ArithmeticFor | ArithmeticCommand) -> str:
    if isinstance(command, ArithmeticCommand):
        expression = command.expression
        inner = "".join(f"{{{script_text(each.script)}}}" for each in expression.substitutions)
        return f"(({expression.text.strip()})){inner}"
    heads = (command.start, command.test, command.step)
    head = "; ".join(each.text.strip() if each else "" for each in heads)
    return f"for (({head})) do {script_text(command.body)} done"


def _words(words: tuple[Word, ...]) -> str:
    return " ".join(word_text(each) for each in words)
