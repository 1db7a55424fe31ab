"""The strict reader: parses a command line only if bash certainly parses it the same way."""

from __future__ import annotations

import re

from msgspec.structs import replace

from agentscope_like.shell.syntax.compound import ARM_END, CompoundReader
from agentscope_like.shell.syntax.gate import check_text
from agentscope_like.shell.syntax.lexer import ReadError
from agentscope_like.shell.syntax.tree import (
    Command,
    Function,
    Literal,
    Pipeline,
    Redirect,
    Script,
    SimpleCommand,
    Span,
    Statement,
    Word,
)
from agentscope_like.shell.syntax.words import RESERVED

__all__ = ["PLAIN_LINE", "ReadError", "read"]

PLAIN_LINE = re.compile(r"(?!-)[A-Za-z0-9_+./:,@%^=\- |]{1,5000}")
"""What the gate lets pass, and no word of which needs to be looked into."""

_DELIMITED = r"(?=[ \t\n;|&()<>]|\Z)"
_KEYWORD = re.compile(
    r"(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|in|time|function|select|coproc"
    rf"|[{{}}!]|\[\[|\]\]){_DELIMITED}"
)
_CLOSING_KEYWORD = re.compile(rf"(?:then|elif|else|fi|do|done|esac|\}}){_DELIMITED}")
_NEGATION = re.compile(r"![ \t]+")
_TIMING = re.compile(r"time[ \t]+(?:-p[ \t]+)?(?!-)")
_LOCALE = re.compile(r"LC_|LANG")
_CONNECTOR = re.compile(r"&&|\|\||;(?![;&])|&|\n")


def read(command: str) -> Script:
    """Parse a command line as bash 5.2 and 5.3 do, or refuse it.

    Args:
        command: The whole text that `bash --norc --noprofile -c --` gets.

    Returns:
        The tree of the whole text; without statements if it holds only blanks and comments.

    Raises:
        ReadError: bash may parse the text differently, or not at all. The error says what and
            where; nothing is known about any part of such a text.
    """
    if PLAIN_LINE.fullmatch(command) is not None:
        script = _plain_script(command)
        if script is not None:
            return script
    doubt = check_text(command)
    if doubt is not None:
        raise ReadError(doubt.message, doubt.span)
    reader = _Reader(command)
    try:
        return reader.whole()
    except RecursionError:
        message = "The command is nested too deeply to be understood."
        raise ReadError(message, Span(0, len(command))) from None


def _plain_script(command: str) -> Script | None:
    """Read a pipeline of plain words, where only the first word of a command can be special."""
    stages: list[SimpleCommand] = []
    position = 0
    for stage in command.split("|"):
        name = stage.strip(" ").partition(" ")[0]
        if not name or "=" in name or name in RESERVED:
            return None
        words: list[Word] = []
        for text in stage.split(" "):
            if text:
                span = Span(position, position + len(text))
                words.append(Word((Literal(text, span),), span))
            position += len(text) + 1
        span = Span(words[0].span.start, words[-1].span.end)
        stages.append(SimpleCommand((), tuple(words), (), span))
    plain: Command = stages[0]
    if len(stages) > 1:
        plain = Pipeline(tuple(stages), Span(plain.span.start, stages[-1].span.end))
    return Script((Statement(plain, ""),), Span(0, len(command)))


class _Reader(CompoundReader):
    """Reads pipelines and lists."""

    def whole(self) -> Script:
        """Read all of the text."""
        if not self.text.isascii() and _LOCALE.search(self.text) is not None:
            raise self.refusal("Text beyond ASCII beside a change of locale is not understood.", 0)
        script = self.script()
        if self.position != self.end:
            raise self.refusal(f"{self._found()} is not understood here.", self.position)
        if self.heredoc_waits():
            raise self.refusal("A heredoc without a body is not understood.", self.position)
        return script

    def script(self) -> Script:
        """Read statements up to the end of the text, a closing bracket or a closing keyword."""
        start = self.position
        outer_comments, self.comments = self.comments, []
        statements: list[Statement] = []
        connector = "\n"
        while True:
            self.skip_lines()
            if self._closes(after_separator=connector != ""):
                break
            if connector == "":
                raise self.refusal(f"{self._found()} is not understood here.", self.position)
            command = self._pipeline()
            connector = self._connector()
            statements.append(Statement(command, connector))
        if connector in {"&&", "||"}:
            raise self.refusal(
                f"`{connector}` without a command after it is not understood.", start
            )
        comments, self.comments = tuple(self.comments), outer_comments
        return Script(tuple(statements), Span(start, self.position), comments)

    def command(self) -> Command:
        """Read one command of a pipeline."""
        start = self.position
        if self.peek() == "(":
            self.count(start)
            self.position += 1
            if self.peek() == "(":
                self.position += 1
                return self.evaluation(start)
            return self.subshell(start)
        match = self.take(_KEYWORD)
        if match is None:
            return self.simple()
        self.count(start)
        return self._compound(match.group(), start)

    def _compound(self, keyword: str, start: int) -> Command:
        command: Command
        match keyword:
            case "{":
                command = self.group(start)
            case "if":
                command = self.conditional(start)
            case "for":
                command = self.for_loop(start)
            case "while" | "until":
                command = self.loop(start, keyword)
            case "case":
                command = self.case(start)
            case "function":
                command = self.named_function(start)
            case "[[":
                command = self.test(start)
            case _:
                raise self.refusal(f"`{keyword}` is not understood here.", start, self.position)
        return command

    def _pipeline(self) -> Command:
        start = self.position
        negated, timed = self._prefixes()
        commands = [self.command()]
        while True:
            self.skip_blanks()
            if self.peek() != "|" or self.at("||"):
                break
            both = self.at("|&")
            self.position += 1 + both
            self.whole_operator("|", self.position - 1)
            if both:
                commands[-1] = self._with_errors(commands[-1])
            self.skip_lines()
            commands.append(self.command())
        if len(commands) == 1 and not (negated or timed):
            return commands[0]
        return Pipeline(tuple(commands), Span(start, commands[-1].span.end), negated, timed)

    def _prefixes(self) -> tuple[bool, bool]:
        """Read `!` and `time`, each at most once, in either order."""
        negated = timed = False
        while self.peek() in {"!", "t"}:
            if not negated and self.take(_NEGATION):
                negated = True
            elif not timed and self.take(_TIMING):
                timed = True
            else:
                break
        return negated, timed

    def _with_errors(self, command: Command) -> Command:
        """Add the `2>&1` that `|&` implies to a command."""
        span = Span(self.position - 2, self.position)
        redirect = Redirect(">&", Word((Literal("1", span),), span), span, 2)
        if isinstance(command, Function | Pipeline):
            raise self.refusal("`|&` after a function's definition is not understood.", *span)
        return replace(command, redirects=(*command.redirects, redirect))

    def _connector(self) -> str:
        """Read what follows a statement; the empty string before something that closes."""
        self.skip_blanks()
        if self.peek() == "#":
            self.comment()
        match = _CONNECTOR.match(self.text, self.position, self.end)
        if match is None:
            return ""
        if match.group() == "\n":
            self.newline()
        else:
            self.position = match.end()
            if match.group() in {";", "&"}:
                self.whole_operator(match.group(), match.start())
        return match.group()

    def _closes(self, *, after_separator: bool) -> bool:
        """Return whether something that ends a script stands at the cursor.

        bash also accepts some closing keywords right after a bracket or a keyword; this does not.
        """
        character = self.peek()
        if character in {"", ")"}:
            return True
        if character == ";" and ARM_END.match(self.text, self.position, self.end):
            return True
        closing = _CLOSING_KEYWORD.match(self.text, self.position, self.end)
        return after_separator and closing is not None

    def _found(self) -> str:
        character = self.peek()
        match = _KEYWORD.match(self.text, self.position, self.end)
        return f"`{match.group()}`" if match is not None else f"`{character}`"
