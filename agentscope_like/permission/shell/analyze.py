"""The one way from the text of a command line to what it means."""

from __future__ import annotations

from functools import lru_cache

from agentscope_like.permission.shell.analysis import CommandAnalysis, Doubt
from agentscope_like.permission.shell.parts import BudgetError
from agentscope_like.permission.shell.reader import ReadError, read
from agentscope_like.permission.shell.tree import Span
from agentscope_like.permission.shell.walk import Walk

__all__ = ["analyze"]


def analyze(command: str, *, directory: str, home: str | None = None) -> CommandAnalysis:
    """Read a command line and say what it does.

    Never raises for what `command` holds: a failure is a doubt. The last 1,024 answers are kept.

    Args:
        command: The command line as it would be handed to bash.
        directory: The absolute directory it would run in.
        home: The home directory that `~` stands for, or None where unknown.
    """
    return _analyze(command, directory, home)


@lru_cache(maxsize=1024)
def _analyze(command: str, directory: str, home: str | None) -> CommandAnalysis:
    whole = Span(0, len(command))

    def unread(doubt: Doubt) -> CommandAnalysis:
        return CommandAnalysis(command, directory, None, doubts=(doubt,))

    try:
        script = read(command)
        walk = Walk(command, home)
        parts = walk.run(script, directory)
    except ReadError as error:
        return unread(Doubt(str(error), getattr(error, "span", whole)))
    except BudgetError:
        return unread(Doubt("The command line is too large to be judged.", whole))
    except Exception as error:
        return unread(Doubt(f"Reading the command failed ({type(error).__name__}).", whole))
    return CommandAnalysis(command, directory, script, parts, tuple(walk.doubts))
