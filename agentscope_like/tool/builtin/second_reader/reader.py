"""Asks bashlex, in a process of its own, for the commands in a text, and keeps its answers."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import msgspec
from msgspec.structs import replace

from agentscope_like.exception import ConfigurationError
from agentscope_like.nearest import nearest
from agentscope_like.shell import CommandAnalysis, Dissent
from agentscope_like.shell.syntax import Span
from agentscope_like.tool.builtin.second_reader.comparison import Opinion, difference

__all__ = ["ANSWER_SECONDS", "SecondReader", "SecondReaderName"]

SecondReaderName: TypeAlias = Literal["bashlex"]
"""The parsers that can be asked."""

ANSWER_SECONDS = 0.25
"""How long an answer may take before the process is killed."""

START_SECONDS = 10.0
"""How long the process may take to load the parser."""

_KEPT = 1024
_PROGRAM = Path(__file__).with_name("program.py")
_INHERITED = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""What Python itself may need to start, where it is not installed as a whole."""

_NOT_ASKED = "A second reader (bashlex) has not been asked about it yet"

_Texts: TypeAlias = tuple[str, ...]


class SecondReader:
    """Withdraws the proofs of an analysis where bashlex does not find the same commands.

    The last 1,024 answers are cached, so that each command has one answer.

    Args:
        name: The parser; bashlex is the only one.
        command: Another program to ask, with its arguments.

    Raises:
        ConfigurationError: There is no parser of this name, or it is not installed.
    """

    def __init__(self, name: SecondReaderName, *, command: tuple[str, ...] | None = None) -> None:
        known = get_args(SecondReaderName)
        if name not in known:
            raise ConfigurationError(
                f"there is no second reader {name!r}{nearest(str(name), known)}; "
                f"known: {', '.join(known)}"
            )
        if find_spec(name) is None:
            raise ConfigurationError(
                f"the second reader {name!r} is not installed: "
                f"pip install 'agentscope_like[{name}]'"
            )
        self.name = name
        self._command = command or (sys.executable, "-I", str(_PROGRAM))
        self._answers: dict[_Texts, Dissent | None] = {}

    async def checked(self, analysis: CommandAnalysis) -> CommandAnalysis:
        """Return the analysis, with a doubt if the second reader finds other commands.

        It is not asked if nothing would be allowed without a rule anyway.
        """
        if analysis.may_need_no_rule:
            texts = _texts(analysis)
            if texts not in self._answers:
                self._keep(texts, await self._dissent(analysis))
        return self.known(analysis)

    def known(self, analysis: CommandAnalysis) -> CommandAnalysis:
        """Return the cached answer of `checked`; without one, a doubt."""
        if not analysis.may_need_no_rule:
            return analysis
        not_asked = Dissent(_NOT_ASKED, _whole(analysis))
        dissent = self._answers.get(_texts(analysis), not_asked)
        return analysis if dissent is None else replace(analysis, doubts=(dissent,))

    def _keep(self, texts: _Texts, answer: Dissent | None) -> None:
        self._answers[texts] = answer
        while len(self._answers) > _KEPT:
            del self._answers[next(iter(self._answers))]

    async def _dissent(self, analysis: CommandAnalysis) -> Dissent | None:
        whole = _whole(analysis)
        try:
            opinions = await self._ask(_texts(analysis))
            for (text, script), opinion in zip(analysis.texts, opinions, strict=True):
                found = difference(text, script, opinion)
                if found is not None:
                    message, span = found
                    message = f"A second reader ({self.name}) {message}"
                    return Dissent(message, span if text == analysis.command else whole)
        except TimeoutError:
            milliseconds = round(ANSWER_SECONDS * 1000)
            message = f"A second reader ({self.name}) did not answer within {milliseconds} ms"
            return Dissent(message, whole)
        except Exception as error:
            kind = type(error).__name__
            return Dissent(f"A second reader ({self.name}) gave no answer ({kind})", whole)
        return None

    async def _ask(self, texts: _Texts) -> list[Opinion]:
        """Return what the parser finds in each text.

        Raises:
            TimeoutError: It does not answer in time.
        """
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            cwd="/",
            env={name: os.environ[name] for name in _INHERITED if name in os.environ},
            start_new_session=True,
        )
        try:
            if process.stdout is None:
                raise OSError("the process has no output")
            async with asyncio.timeout(START_SECONDS):
                await process.stdout.readline()  # it has loaded the parser
            async with asyncio.timeout(ANSWER_SECONDS):
                answer, _ = await process.communicate(msgspec.json.encode(texts))
            return msgspec.json.decode(answer, type=list[Opinion])
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.communicate()


def _texts(analysis: CommandAnalysis) -> _Texts:
    return tuple(text for text, _ in analysis.texts)


def _whole(analysis: CommandAnalysis) -> Span:
    return Span(0, len(analysis.command))
