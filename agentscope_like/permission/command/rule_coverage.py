"""Says what a command does beyond what an allow rule names: a rule allows what the person saw.

A pattern of words names a program and its arguments. It covers more operands where it ends with
`:*`, and options that choose nothing; input, redirections, another directory and options that
choose code, configuration or a destination are covered by no pattern of words. A rule for a whole
line (`= cd src && make > log`) names all that stands there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from glob import escape as glob_escape

from msgspec.structs import replace

from agentscope_like.lazy_property import lazy_property
from agentscope_like.paths import PathError, TooManyFilesError
from agentscope_like.permission.command.command_patterns import CommandPattern, WordGlob, quoted
from agentscope_like.permission.command.edits import redirect_objection
from agentscope_like.permission.command.rule_options import Argument, unnamed_words
from agentscope_like.shell import CommandAnalysis, Effect, EffectKind, Part, Surroundings, Unknown
from agentscope_like.shell.state import exported_doubt
from agentscope_like.shell.syntax import Redirect

__all__ = ["RuleCoverage"]


class RuleCoverage:
    """Decides what allow rules cover of one command.

    Args:
        analysis: The command, as it was read.
        around: Where it runs.
        edits_run: Whether the mode lets redirections into the working directories run unasked.
    """

    def __init__(self, analysis: CommandAnalysis, around: Surroundings, *, edits_run: bool) -> None:
        self._analysis = analysis
        self._around = around
        self._edits_run = edits_run

    def surroundings_objection(self, part: Part) -> str | None:
        """Return what is around the words of a part that no pattern of words covers, or None."""
        if not _environment_is_safe(part):
            return "a variable is set for it"
        if _is_fed(part, self._analysis):
            return "it is given input"
        if reason := self._redirect_objection(part):
            return reason
        return None if self._is_at_home(part) else "it runs in another directory"

    def words_objection(self, pattern: CommandPattern, part: Part) -> str | None:
        """Return a word of a part that a pattern does not cover though it matches, or None."""
        words = self._arguments(part)
        named = _named(pattern, words)
        for index in (*unnamed_words(words, named), *_scripts(part, named)):
            word = words[index]
            return (
                f"`{word}` is not named"
                if isinstance(word, str)
                else "a word is only known at run time"
            )
        return None

    @lazy_property
    def line(self) -> str | None:
        """The text by which a rule may name the whole line; None if no rule may.

        Below a working directory, `cd src && ` stands before the text, as if it were in the line.
        """
        analysis, around = self._analysis, self._around
        if not all(map(self._tells_all, analysis.parts)):
            return None
        text = analysis.command.strip()
        if _is_one_of(analysis.directory, around):
            return text
        for base in dict.fromkeys((around.root, *around.working)):
            inside = f"{base.rstrip('/')}/"
            if analysis.directory.startswith(inside):
                return f"cd {quoted(analysis.directory.removeprefix(inside))} && {text}"
        return None

    def _tells_all(self, part: Part) -> bool:
        """Return whether the text of a part tells all that it does."""
        if part.read_only:
            return True
        if not (part.argv and part.argv[0]) or part.directory is None:
            return False
        words = [word for word in self._arguments(part) if isinstance(word, Unknown)]
        values = [each.value.literal for each in part.assignments]
        if not all(map(_is_told, words)) or None in values or not self._tells_input(part):
            return False
        return redirect_objection(part, self._around) is None

    def _tells_input(self, part: Part) -> bool:
        """Return whether the text tells the input: literally, by its file, or by what reads it.

        What another command prints counts for a program that acts only on paths in its words.
        """
        if any(each.word.literal is None for each in _input_redirects(part, self._analysis)):
            return False
        if not self._analysis.may_read_a_pipe(part) or _changes_what_it_names(part):
            return True
        return all(each.read_only for each in self._analysis.parts if each is not part)

    def _arguments(self, part: Part) -> list[Argument]:
        """Return the words of a part, with what is known of those that bash computes."""
        return [
            self._globbed(word, part) if isinstance(word, Unknown) else word
            for word in part.arguments
        ]

    def _globbed(self, word: Unknown, part: Part) -> Unknown:
        """Return a glob as the names that match it now, where one may be taken for an option."""
        pattern = word.pattern
        if not pattern or not word.option or "/" in pattern or part.directory is None:
            return word
        path = f"{glob_escape(part.directory)}/{pattern}"
        try:
            found = self._around.paths(Effect(EffectKind.READ, pattern, path, part.span, glob=True))
        except (PathError, TooManyFilesError):
            return word
        return replace(word, choices=tuple(each.rpartition("/")[2] for each in found))

    def _redirect_objection(self, part: Part) -> str | None:
        if self._edits_run:
            return redirect_objection(part, self._around)
        doubted = any(doubt.span in part.redirected for doubt in part.doubts)
        return "its output is redirected" if doubted else None

    def _is_at_home(self, part: Part) -> bool:
        """Return whether a part runs in a working directory, not below or outside of them."""
        places = part.directories
        return bool(places) and all(_is_one_of(place, self._around) for place in places)


def _is_one_of(directory: str, around: Surroundings) -> bool:
    """Return whether a directory is a working directory, or the one that the session began in."""
    if directory == around.root or directory in around.working:
        return True
    try:
        found = around.locate(directory).resolved if directory else ""
        known = {around.locate(around.root).resolved}
    except (PathError, TooManyFilesError):
        return False
    known |= {location.resolved for location in around.working_directories}
    return found in known


def _is_told(word: Unknown) -> bool:
    """Return whether the text tells what a word becomes: a few texts, or the files of a glob."""
    if word.pattern is None or not word.option:
        return word.pattern is not None or bool(word.choices)
    return bool(word.choices) and not any(each.startswith("-") for each in word.choices)


def _changes_what_it_names(part: Part) -> bool:
    """Return whether a part only edits paths in its words, whatever it is fed (`tee log`)."""
    kinds = {effect.kind for effect in part.effects}
    return part.is_a("edits") and kinds <= {EffectKind.READ, EffectKind.WRITE, EffectKind.DELETE}


def _scripts(part: Part, named: Sequence[bool]) -> Iterator[int]:
    """Yield the positions of programs in the words (of awk, of sed) that may do more than read."""
    if not part.is_a("scripted"):
        return
    paths = {effect.target for effect in part.effects}
    for index, word in enumerate(part.words):
        is_named = index < len(named) and named[index]
        is_plain = index == 0 or part.argv[index] in paths
        if not (is_named or is_plain) and any(doubt.span == word.span for doubt in part.doubts):
            yield index


def _named(pattern: CommandPattern, words: Sequence[Argument]) -> list[bool]:
    """Return for each word of a pattern whether it names what it matches.

    A glob names the value of an option that stands before it or in it: `-m *`, `--tb=*`.
    """
    named: list[bool] = []
    before: str | WordGlob = ""
    for wanted, word in zip(pattern.words, words, strict=False):
        if isinstance(wanted, str):
            named.append(True)
        else:
            is_option = isinstance(word, str) and word.startswith("-")
            is_value = isinstance(before, str) and before.startswith("-") and not is_option
            named.append(is_value or "=" in wanted.pieces[0])
        before = wanted
    return named


def _environment_is_safe(part: Part) -> bool:
    return not any(
        assignment.append
        or assignment.elements is not None
        or exported_doubt(assignment.name, _value(assignment.value.literal)) is not None
        for assignment in part.assignments
    )


def _value(literal: str | None) -> str | Unknown:
    return Unknown() if literal is None else literal


_NOTHING = frozenset({"/dev/null", "-"})


def _is_fed(part: Part, analysis: CommandAnalysis) -> bool:
    """Return whether a part may read input that a redirection or a pipe gives it."""
    redirected = next(_input_redirects(part, analysis), None) is not None
    return redirected or analysis.may_read_a_pipe(part)


def _input_redirects(part: Part, analysis: CommandAnalysis) -> Iterator[Redirect]:
    """Yield the redirections that give a part an input; `< /dev/null` gives none.

    Those of the commands that run it count, and those of `exec`, which hold for all that follows.
    """
    lasting = (each for each in analysis.parts if each.is_a("keeps_redirects"))
    for giver in (part, *analysis.carriers(part), *lasting):
        for redirect in giver.redirects:
            if redirect.feeds and redirect.word.literal not in _NOTHING:
                yield redirect
