"""Asks the person at the terminal and reads the answers from the keyboard."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.text import Text

from agentscope_like.cli.ask.ask_user import ask, asks_questions
from agentscope_like.cli.ask.call_question import (
    Question,
    apply_choices,
    choices_view,
    question_view,
    whole_view,
)
from agentscope_like.cli.ask.respondent import (
    SESSION_SOURCE,
    Ended,
    Interrupted,
    external_result,
    is_json_object,
)
from agentscope_like.cli.project import PROJECT_SOURCE
from agentscope_like.cli.show import diff_lines, one_line
from agentscope_like.event import ConfirmResult
from agentscope_like.message import ToolCallBlock, ToolResultBlock
from agentscope_like.permission import PermissionRule
from agentscope_like.permission.explain import visible
from agentscope_like.tool.call import as_decided

if TYPE_CHECKING:
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.key_binding.key_processor import KeyPressEvent

__all__ = ["Keyboard", "LineReader", "Person"]


class LineReader(Protocol):
    """Reads lines that a person types."""

    async def line(self, prompt: str, *, default: str = "", multiline: bool = False) -> str:
        """Return the typed line.

        Raises:
            Interrupted: Ctrl-C was pressed.
            Ended: The input ended.
        """


class Keyboard:
    """Reads lines with prompt_toolkit, which edits them and keeps a history."""

    def __init__(self) -> None:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.application.current import get_app_session
        from prompt_toolkit.history import DummyHistory, InMemoryHistory

        from agentscope_like.cli.ask.quiet_input import QuietInput

        self._input = QuietInput(get_app_session().input)
        keys = self._keys()
        self._messages: PromptSession[str] = PromptSession(
            history=InMemoryHistory(), key_bindings=keys
        )
        self._answers: PromptSession[str] = PromptSession(
            history=DummyHistory(), input=self._input, key_bindings=keys
        )
        self._is_drawn = True
        self._is_edit = False
        self._answers.app.after_render += self._drawn

    def _keys(self) -> KeyBindings:
        """Return keys of our own: Ctrl-C clears a half-typed line before it interrupts."""
        from prompt_toolkit.application import get_app
        from prompt_toolkit.filters import Condition
        from prompt_toolkit.key_binding import KeyBindings

        bindings = KeyBindings()
        typed = Condition(lambda: not self._is_edit and bool(get_app().current_buffer.text))

        @bindings.add("c-c", filter=typed)
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.reset()

        return bindings

    def _drawn(self, _: object) -> None:
        """Note when the question is first drawn; what is drawn later are the person's keys."""
        if not self._is_drawn:
            self._is_drawn = True
            self._input.drawn()

    async def line(self, prompt: str, *, default: str = "", multiline: bool = False) -> str:
        """Return what was typed.

        What was typed before a question stood there, and shortly after, cannot be meant as its
        answer and is dropped.
        """
        from prompt_toolkit.formatted_text import FormattedText

        session = self._messages if prompt == MESSAGE_PROMPT else self._answers
        self._is_edit = bool(default)
        if session is self._answers:
            self._input.be_quiet()
            self._is_drawn = False
        try:
            return await session.prompt_async(
                FormattedText([("bold", prompt)]),
                default=default,
                multiline=multiline,
                handle_sigint=False,
            )
        except KeyboardInterrupt:
            raise Interrupted from None
        except EOFError:
            raise Ended from None


MESSAGE_PROMPT = "you> "


class Person:
    """Asks the person at the terminal.

    An empty line, or anything but one of the keys, is not an answer, so it asks again.

    Args:
        console: Where questions are shown.
        reader: Reads the answers.
    """

    def __init__(self, console: Console, reader: LineReader) -> None:
        self._console = console
        self._reader = reader

    async def confirm(self, question: Question) -> ConfirmResult:
        """Show the call and return the person's answer."""
        self._console.print(question_view(question, self._console.width))
        if question.call.apply is not None:
            return await self._applied(question)
        self._console.print(choices_view(question))
        keys = ["y", *(str(n) for n in range(1, len(question.rules) + 1)), "e", "n", "v"]
        call = question.call
        while True:
            match await self._key(f"Run it? [{'/'.join(keys)}] ", keys):
                case "y":
                    return ConfirmResult(confirmed=True, tool_call=call)
                case "n":
                    return await self._rejected(call)
                case "e":
                    try:
                        edited = call.model_copy(update={"input": await self._edited(call)})
                    except Interrupted:
                        self._console.print(Text("Nothing was edited.", "quiet"))
                        continue
                    return ConfirmResult(confirmed=True, tool_call=edited)
                case "v":
                    self._console.print(whole_view(as_decided(call)))
                case number:
                    rule = await self._scoped(question, question.rules[int(number) - 1])
                    return ConfirmResult(confirmed=True, tool_call=call, rules=[rule])

    async def _applied(self, question: Question) -> ConfirmResult:
        """Return the person's answer about what a held command changed."""
        self._console.print(apply_choices(question))
        keys = ["y", "n", *(["d"] if question.diff else []), "v"]
        call = question.call
        while True:
            match await self._key(f"Apply it? [{'/'.join(keys)}] ", keys):
                case "y":
                    return ConfirmResult(confirmed=True, tool_call=call)
                case "n":
                    return await self._rejected(call)
                case "d":
                    for line in diff_lines(question.diff or ""):
                        self._console.print(line)
                case _:
                    self._console.print(whole_view(as_decided(call)))

    async def _rejected(self, call: ToolCallBlock) -> ConfirmResult:
        message = await self._reader.line("Tell the agent (empty for nothing): ")
        return ConfirmResult(confirmed=False, tool_call=call, message=message.strip() or None)

    async def perform(self, call: ToolCallBlock) -> ToolResultBlock:
        """Show the request and return the person's text as its result."""
        if asks_questions(call):
            return await ask(call, self._console, self._reader.line)
        title = Text("You are asked to do this: ", "ask") + one_line(call.name, "call")
        self._console.print(title)
        self._console.print(whole_view(call))
        while not (text := (await self._reader.line("Result: ")).strip()):
            self._console.print(Text("The agent waits for a result; type it in words.", "quiet"))
        return external_result(call, text)

    async def next_message(self) -> str | None:
        """Return the next message to the agent, or None if the person ends the session."""
        try:
            while not (text := (await self._reader.line(MESSAGE_PROMPT)).strip()):
                pass
        except (Interrupted, Ended):
            return None
        return None if text in ("/exit", "/quit") else text

    async def _key(self, prompt: str, keys: list[str]) -> str:
        words = {"yes": "y", "no": "n", "edit": "e", "view": "v", "diff": "d"}
        while True:
            typed = (await self._reader.line(prompt)).strip().casefold()
            key = words.get(typed, typed)
            if key in keys:
                return key
            self._console.print(Text(f"Type one of {', '.join(keys)}.", "quiet"))

    async def _scoped(self, question: Question, rule: PermissionRule) -> PermissionRule:
        source = SESSION_SOURCE
        if question.can_remember:
            keys = ["s", "p"]
            prompt = "Remember it for this session or for this project? [s/p] "
            source = PROJECT_SOURCE if await self._key(prompt, keys) == "p" else SESSION_SOURCE
        return rule.model_copy(update={"source": source})

    async def _edited(self, call: ToolCallBlock) -> str:
        """Return the arguments after the person edited them, as a plain command or JSON."""
        command = _plain_command(call)
        if command is not None:
            text = await self._text("Command: ", command)
            return json.dumps({**json.loads(call.input), "command": text}, ensure_ascii=False)
        text = _as_ascii(call.input)
        while not is_json_object(text := await self._text("Arguments: ", text)):
            self._console.print(Text("That is not a JSON object; correct it.", "quiet"))
        return text

    async def _text(self, prompt: str, default: str) -> str:
        multiline = "\n" in default
        if multiline:
            self._console.print(Text("Esc, then Enter, ends the edit.", "quiet"))
        return await self._reader.line(prompt, default=default, multiline=multiline)


def _plain_command(call: ToolCallBlock) -> str | None:
    """Return the command if it has no invisible characters, so that it can be edited as text."""
    if call.name != "Bash" or not is_json_object(call.input):
        return None
    command = json.loads(call.input).get("command")
    return command if isinstance(command, str) and visible(command) == command else None


def _as_ascii(raw: str) -> str:
    """Return JSON with other characters than ASCII escaped, so that nothing is invisible."""
    if is_json_object(raw):
        return json.dumps(json.loads(raw), indent=2)
    return raw.encode("unicode_escape").decode("ascii")
