"""Safety checks of commands: their questions no allow rule can silence (seed 002, "Bash")."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import islice, pairwise

from msgspec import Struct

from agentscope_like.lazy_property import lazy_property
from agentscope_like.paths import ENDING, TOO_MANY, PathError, TooManyFilesError
from agentscope_like.permission.command.command_rows import CommandRow, RowTable
from agentscope_like.permission.command.downloads import download_objection
from agentscope_like.permission.decision import PermissionDecision, safety_question
from agentscope_like.shell import (
    CHANGES,
    CommandAnalysis,
    Effect,
    EffectKind,
    Part,
    Surroundings,
    Unknown,
    Words,
    analyze,
    leads_elsewhere,
)
from agentscope_like.shell.catalog import bare_name, families, programs_with
from agentscope_like.shell.facts import (
    as_written,
    lines_started_by,
    raw_commands,
    raw_words,
    readings,
    reads_input,
    runs_unseen_text,
    unread_commands,
)
from agentscope_like.shell.secrets import Secrets, may_be_sensitive
from agentscope_like.shell.syntax import Literal, Span, Substitution, Word, check_text
from agentscope_like.toml_tables import table_beside

__all__ = ["find_danger"]

_READ = EffectKind.READ
_ON_FILES = CHANGES | {_READ}
_UNSEEN = frozenset({EffectKind.UNKNOWN, EffectKind.EXECUTE})
_NAME_TESTS = frozenset({"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex"})
_SHOWN_CHARACTERS = 80
_NAME = r"([^\s(){};|&<>\"'`$]{1,64}+)"
_BRACKETS = r"[ \t]{0,8}\([ \t]{0,8}\)"
_FUNCTION = re.compile(
    rf"(?:\bfunction[ \t]{{1,8}}{_NAME}(?:{_BRACKETS})?|{_NAME}{_BRACKETS})\s{{0,8}}[{{(]"
)
_FEEDING = re.compile(r"\||\$\(|`|<\(")
_BLANKS = re.compile(r"\s+")
_MOST_FUNCTIONS = 32
_MOST_REMOVED = 256
_MOST_STARTED = 32
_TOO_MANY_PATHS = "removes too many paths to check each one"


class _Danger(CommandRow, frozen=True, kw_only=True):
    """A dangerous command, and what it does, as the rest of a sentence."""

    does: str


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The table `dangers.toml`, which says what each field of a row is."""

    danger: tuple[_Danger, ...]


_table = table_beside(__file__, "dangers.toml", _Table, _Danger)


@cache
def _dangers() -> RowTable[_Danger]:
    return RowTable(_table().danger)


class _Look(Struct, frozen=True, dict=True):
    """The input of a check of one part.

    Attributes:
        analysis: The whole command.
        around: Where it runs.
        secrets: Finds the secrets that the command would read.
        started: The commands in words that were looked at, each as a line of its own.
    """

    analysis: CommandAnalysis
    around: Surroundings
    secrets: Secrets
    started: set[str]

    @lazy_property
    def printed_words(self) -> tuple[str, ...]:
        """The words that the command prints by `echo` and `printf`."""
        return tuple(
            word
            for part in self.analysis.parts
            if part.is_a("printer")
            for text in filter(None, part.argv[1:])
            for word in raw_words(text.replace("\\n", " "))
        )


def find_danger(analysis: CommandAnalysis, surroundings: Surroundings) -> PermissionDecision | None:
    """Return the first question about the command that no allow rule can silence, or None."""
    return _find_danger(analysis, surroundings, set())


def _find_danger(
    analysis: CommandAnalysis, surroundings: Surroundings, started: set[str]
) -> PermissionDecision | None:
    if analysis.script is None:
        return _in_unread_text(analysis, surroundings)
    around = surroundings.of(analysis)
    look = _Look(analysis, around, Secrets(analysis, around), started)
    for part in analysis.parts:
        try:
            for find in _PART_CHECKS if part.doubts else _READ_CHECKS:
                if reason := find(part, look):
                    return _finding(analysis.command, part.span, reason)
        except TooManyFilesError:
            return _finding(analysis.command, part.span, TOO_MANY)
    if not analysis.read_only and _breeds(analysis.command):
        return _finding(analysis.command, Span(0, len(analysis.command)), _BREEDING)
    return None


def _finding(command: str, span: Span, reason: str) -> PermissionDecision:
    message = f"`{_shown(command[span.start : span.end])}` {reason}."
    return safety_question(message, reason, (span.start, span.end))


def _shown(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= _SHOWN_CHARACTERS else shown[: _SHOWN_CHARACTERS - 1] + "…"


# Parts


def _dangerous_command(part: Part, look: _Look) -> str | None:
    computed = part.computed
    if fed := _fed_words(part, look):
        computed += (Unknown(choices=fed),)
    groups: list[tuple[Iterable[Words], Sequence[Unknown], str]] = [(readings(part), computed, "/")]
    if None in part.argv and (written := as_written(part)) is not part:
        groups.append((readings(written), (), part.directory or "/"))
    groups.append((unread_commands(part), (), "/"))
    for commands, unknown, here in groups:
        for command in commands:
            if row := _dangers().row_for(command, unknown):
                return row.does
            if command[0] in programs_with("remover") and not _is_opened(part, look):
                operands = [word for word in command[1:] if word]
                if reason := _of_removed(operands, look.around, here):
                    return f"perhaps {reason}"
    return None


def _fed_words(part: Part, look: _Look) -> tuple[str, ...]:
    """Return the words in the command text that `xargs` may append to a part's arguments."""
    carrier = part if part.parent is None else look.analysis.parts[part.parent]
    if not {part.name, carrier.name} & programs_with("feeder"):
        return ()
    return look.printed_words + tuple(
        word
        for redirect in carrier.redirects
        for segment in redirect.word.segments
        if isinstance(segment, Literal) and redirect.operator.startswith("<<")
        for word in raw_words(segment.text)
    )


def _is_opened(part: Part, look: _Look) -> bool:
    """Return whether the removed paths are known, or removed by a part that this one runs."""
    if any(effect.kind is EffectKind.DELETE for effect in part.effects):
        return True
    parts = look.analysis.parts
    if any(each.parent is not None and parts[each.parent] is part for each in parts):
        return True
    return not any(effect.kind in _UNSEEN for effect in part.effects)


def _hidden_code(part: Part, look: _Look) -> str | None:
    """Return why a part runs a program or code that is not in the command's text."""
    if runs_unseen_text(part):
        computed = None in part.argv and not reads_input(part.argv[1:])
        what = "code that is only known at run time" if computed else "its standard input as code"
        return f"runs {what}"
    if not part.argv:
        return None
    if part.argv[0] is None:
        return "runs a program whose name is only known at run time"
    if None in part.argv and families().runs_code(part.name) and any(map(_is_fed, part.words[1:])):
        return "runs the output of another command as code"
    return download_objection(part, look.analysis)


def _is_fed(word: Word) -> bool:
    return any(isinstance(each, Substitution) and each.opener == "<(" for each in word.segments)


def _started_command(part: Part, look: _Look) -> str | None:
    """Return why a command that the part starts from its words asks, or None."""
    for line in lines_started_by(part):
        if line in look.started:
            continue
        if len(look.started) == _MOST_STARTED:
            return "starts too many commands to check each one"
        if check_text(line):
            return "starts a command that cannot be read"
        look.started.add(line)
        directory = part.directory or look.analysis.directory
        inner = analyze(line, directory=directory, home=look.around.home)
        if found := _find_danger(inner, look.around, look.started):
            return f"starts `{_shown(line)}`, which {found.decision_reason}"
    return None


def _other_directory(part: Part, look: _Look) -> str | None:
    """Return why `cd` may enter a directory other than its text names.

    Bash folds `..` in the text, unless there is no such directory: then the kernel follows it.
    """
    if part.program not in programs_with("enters"):
        return None
    for effect in part.effects:
        try:
            if leads_elsewhere(effect, look.around, unless_there=True):
                return f"goes to a different directory than `{effect.path}`, because of a symlink"
        except PathError as error:
            return f"goes to a directory that cannot be checked: {error}"
    return None


def _sensitive_path(part: Part, look: _Look) -> str | None:
    for effect in part.effects:
        if effect.kind in _ON_FILES and (reason := _of_effect(effect, part, look)):
            return reason
    try:
        return look.secrets.name_objection(part)
    except PathError as error:
        return f"names a path that cannot be checked: {error}"


def _of_effect(effect: Effect, part: Part, look: _Look) -> str | None:
    try:
        if effect.kind is _READ:
            return look.secrets.read_objection(effect, part)
        return _of_change(effect, part, look.around)
    except PathError as error:
        return f"acts on a path that cannot be checked: {error}"
    except TooManyFilesError:
        return f"reaches too many files through `{effect.target}` to check each one"


def _of_change(effect: Effect, part: Part, around: Surroundings) -> str | None:
    removes = effect.kind is EffectKind.DELETE
    if effect.path is None:
        removes_all = removes and part.program == "find" and not _picks(part)
        if effect.recursive and (removes_all or part.is_a("remover")):
            return "recursively removes a path that is only known at run time"
        return _of_known_end(effect, around)
    if removes and effect.glob and (reason := _everything_in(effect, around)):
        return reason
    return _of_places(effect, part, around)


def _of_known_end(effect: Effect, around: Surroundings) -> str | None:
    """Return why a change asks if only the end of its path is known, or None."""
    if "/" not in effect.end:
        return None
    around.effort.spend(ENDING)
    reason = may_be_sensitive(effect.end)
    return f"would write a sensitive path: {reason}" if reason else None


def _of_places(effect: Effect, part: Part, around: Surroundings) -> str | None:
    """Return why a change of the paths that an effect reaches asks, or None."""
    removes = effect.kind is EffectKind.DELETE
    changes_rights = effect.recursive and part.is_a("rights")
    picks = part.program == "find" and _picks(part)
    for location in around.locations(effect) or ():
        is_picking = picks and around.contains(location)
        if removes and not is_picking and (reason := around.removal_objection(location)):
            return f"would remove a protected path: {reason}"
        if reason := around.write_objection(location, recursive=effect.recursive):
            verb = "remove" if removes else "write"
            return f"would {verb} a sensitive path: {reason}"
        if changes_rights and (reason := around.removal_objection(location)):
            return f"would change the permissions of everything below a protected path: {reason}"
    return None


def _picks(part: Part) -> bool:
    """Return whether `find` selects files by a name or path."""
    return any(
        word in _NAME_TESTS and value is not None and bool(value.strip("*?./"))
        for word, value in pairwise(part.argv)
    )


def _everything_in(effect: Effect, around: Surroundings) -> str | None:
    """Return why the effect would remove everything in a protected directory, or None."""
    directory, _, name = (effect.way or "").rstrip("/").rpartition("/")
    if name.strip("*?.") and name != ".[!.]*":
        return None
    reason = around.removal_objection(around.locate(directory or "/"))
    return f"would remove everything in a protected directory: {reason}" if reason else None


_READ_CHECKS: tuple[Callable[[Part, _Look], str | None], ...] = (
    _other_directory,
    _sensitive_path,
)
"""The checks of a part that is proven to read."""

_PART_CHECKS: tuple[Callable[[Part, _Look], str | None], ...] = (
    _dangerous_command,
    _other_directory,
    _sensitive_path,
    _hidden_code,
    _started_command,
)


# Text that could not be parsed


_BREEDING = "defines a function that starts itself endlessly (a fork bomb)"


def _in_unread_text(analysis: CommandAnalysis, around: Surroundings) -> PermissionDecision | None:
    command = analysis.command
    whole = Span(0, min(len(command), _SHOWN_CHARACTERS))
    if refused := check_text(command):
        span = refused.span
        return safety_question(refused.message, refused.message, (span.start, span.end))
    if _breeds(command):
        return _finding(command, whole, _BREEDING)
    words = raw_words(command)
    names = {bare_name(word) for word in words}
    runs_code = any(map(families().runs_code, names))
    if runs_code and names & programs_with("downloader") and _FEEDING.search(command):
        return _finding(command, whole, "cannot be parsed, and may run downloaded code")
    removed: dict[str, None] = {}
    for reading in raw_commands(command):
        if row := _dangers().row_for(reading):
            return _finding(command, whole, f"cannot be parsed, and perhaps {row.does}")
        if reading[0] in programs_with("remover"):
            removed.update(dict.fromkeys(filter(None, reading[1:])))
    if reason := _of_removed(tuple(removed), around, "/"):
        return _finding(command, whole, f"cannot be parsed, and perhaps {reason}")
    return None


def _of_removed(words: Sequence[str], around: Surroundings, here: str) -> str | None:
    """Return why removing the paths in `words` asks, or None; `*` is everything in `here`."""
    if len(words) > _MOST_REMOVED:
        return _TOO_MANY_PATHS
    for word in words:
        if word.startswith("-"):
            continue
        try:
            reason = around.removal_objection(around.locate(word.rstrip("*") or here))
        except PathError:
            continue
        except TooManyFilesError:
            return _TOO_MANY_PATHS
        if reason:
            return f"removes a protected path: {reason}"
    return None


def _breeds(command: str) -> bool:
    """Return whether the text defines a function that pipes itself into itself: a fork bomb."""
    if "(" not in command and "function" not in command:
        return False
    text = _BLANKS.sub("", command)
    names = (match[1] or match[2] for match in _FUNCTION.finditer(command))
    return any(f"{name}|{name}" in text for name in islice(names, _MOST_FUNCTIONS))
