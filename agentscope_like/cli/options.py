"""Parses the options of the command line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from agentscope_like.cli.errors import CliError, ExitCode
from agentscope_like.nearest import nearest
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionMode,
    PermissionRule,
    RuleError,
)

__all__ = [
    "parse_choice",
    "parse_directory",
    "parse_mode",
    "parse_rule",
    "parse_rules",
    "rule_text",
]

WordT = TypeVar("WordT", bound=str)


def parse_mode(name: str) -> PermissionMode:
    """Return the mode of this name.

    Raises:
        CliError: There is none.
    """
    known = [mode.value for mode in PermissionMode]
    if name not in known:
        raise CliError(
            f"unknown mode {name!r} (there are: {', '.join(known)}){nearest(name, known)}"
        )
    return PermissionMode(name)


def parse_choice(option: str, word: str, words: Sequence[WordT]) -> WordT:
    """Return the one of the words that an option was given.

    Args:
        option: Its name, for the message: `--confine`.
        word: What was given.
        words: What may be given.

    Raises:
        CliError: There is no such choice.
    """
    for known in words:
        if word == known:
            return known
    raise CliError(
        f"unknown value {word!r} of {option} (there are: {', '.join(words)}){nearest(word, words)}"
    )


def parse_directory(path: str | Path) -> Path:
    """Return the directory, absolute and without symbolic links.

    Raises:
        CliError: There is no such directory.
    """
    directory = Path(path).expanduser()
    if not directory.is_dir():
        what = "is not a directory" if directory.exists() else "does not exist"
        raise CliError(f"{str(path)!r} {what}; give --cwd a directory", ExitCode.NO_INPUT)
    return directory.resolve()


def parse_rule(
    text: str, behavior: PermissionBehavior | None = None, *, source: str = "command line"
) -> PermissionRule:
    """Parse a rule such as `Bash(npm run:*)`, `Read`, or `deny Bash(rm:*)`.

    Args:
        text: The tool's name, then in parentheses a pattern for its calls.
        behavior: The rule's behavior; if None, the text begins with it.
        source: Where the rule comes from, for explanations.

    Raises:
        CliError: The text is not a rule.
    """
    try:
        return PermissionRule.parse(text, behavior, source=source)
    except RuleError as error:
        raise CliError(str(error)) from error


def parse_rules(
    allow: Iterable[str] | None, deny: Iterable[str] | None, ask: Iterable[str] | None
) -> list[PermissionRule]:
    """Return the rules of the options `--allow`, `--deny` and `--ask`."""
    given = (
        (allow, PermissionBehavior.ALLOW),
        (deny, PermissionBehavior.DENY),
        (ask, PermissionBehavior.ASK),
    )
    return [parse_rule(text, behavior) for texts, behavior in given for text in texts or ()]


def rule_text(rule: PermissionRule) -> str:
    """Return the rule without its behavior: `Bash(npm run:*)`."""
    content = "" if rule.rule_content is None else f"({rule.rule_content})"
    return rule.tool_name + content
