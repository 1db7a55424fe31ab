"""The records of an analysis: parts of a command line, their effects and doubts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from enum import StrEnum
from functools import wraps
from itertools import pairwise
from operator import attrgetter
from typing import Concatenate, ParamSpec, TypeVar

from msgspec import Struct

from agentscope_like.lazy_property import lazy_property
from agentscope_like.shell.catalog import bare_name, families, programs_with
from agentscope_like.shell.syntax import (
    Assignment,
    Doubt,
    Pipeline,
    Redirect,
    Script,
    Span,
    Word,
)
from agentscope_like.shell.values import UNKNOWN_NAMES, Argument, Names, Unknown

__all__ = ["CommandAnalysis", "Dissent", "Doubt", "Effect", "EffectKind", "Part", "answered_once"]

P = ParamSpec("P")
AnswerT = TypeVar("AnswerT")

_DOUBTS = attrgetter("doubts")


class EffectKind(StrEnum):
    """What a part does, from harmless to harmful (docs/design/commands.md, "Effects")."""

    READ = "read"
    UNKNOWN = "unknown"
    WRITE = "write"
    DELETE = "delete"
    NETWORK = "network"
    EXECUTE = "execute"


CHANGES = frozenset({EffectKind.WRITE, EffectKind.DELETE})
"""The kinds of effects that change files."""


class Effect(Struct, frozen=True, gc=False):
    """One effect of a part.

    Attributes:
        kind: The kind of effect.
        target: The path, host or program as written in the command; empty where nothing is named.
        path: `target` made absolute against the part's directory, `..` folded, not yet resolved
            through symlinks; None where it is not a path or cannot be known.
        span: Its place in the command text.
        recursive: Whether it reaches everything below `path`.
        glob: Whether `path` is a pattern (`*`, `?`, `[...]`) that every path it reaches matches.
        start: The known beginning of an absolute path that is not fully known; else empty.
        end: Likewise with what it ends, a pattern: behind a directory that is not known, with a
            slash and the name.
        named_after: An absolute pattern: what matches it is put here, each under its own name,
            which is why `path` is a pattern too. None where that is not so.
        walked: `path` with the `..` and the slash at the end that it was written with: behind a
            symlink, the kernel takes them otherwise than `path` has them. Empty where there is
            neither.
        backups: What was at `path` may be kept under its name with one of these added.
        names: What is known of the names that it acts on, where there is no `path`.
    """

    kind: EffectKind
    target: str
    path: str | None
    span: Span
    recursive: bool = False
    glob: bool = False
    start: str = ""
    end: str = ""
    named_after: str | None = None
    walked: str = ""
    backups: tuple[str, ...] = ()
    names: Names = UNKNOWN_NAMES

    @property
    def way(self) -> str | None:
        """Return the path as the kernel takes it; None where that is not known."""
        return self.walked or self.path


class Dissent(Doubt, frozen=True):
    """Why nothing is proven of a command line although it was parsed: its text may hold more.

    Deny and ask rules, and allow rules that match every part, count as if there were none.
    """


def answered_once(
    question: Callable[Concatenate[Part, P], AnswerT],
) -> Callable[Concatenate[Part, P], AnswerT]:
    """Cache the answer to a question about a part, once for each part.

    Args:
        question: Depends on the part and on its other arguments, which can be hashed, alone.
    """

    @wraps(question)
    def answer(part: Part, /, *args: P.args, **kwargs: P.kwargs) -> AnswerT:
        key = (question, args, *kwargs.items()) if args or kwargs else question
        answers: dict[object, AnswerT] = part.__dict__.setdefault("answers", {})
        found = answers.get(key)
        if found is None:
            found = answers[key] = question(part, *args, **kwargs)
        return found

    return answer


class Part(Struct, frozen=True, dict=True):
    """One simple command, at any depth.

    A wrapper (`env`, `timeout`, `xargs`, `sh -c '...'`, `sudo` ...) and the command that it runs
    are two parts; the inner one names the outer one as `parent`. So does a command inside a
    substitution name the command whose word holds it.

    Attributes:
        argv: The cooked words, the program's name first as written; None for a word that bash
            computes at run time.
        words: The same words with their segments and places.
        program: The bare name that the catalog knows it by (`/usr/bin/ls` is `ls`); None where the
            name is computed, or is a path outside the system directories.
        assignments: The environment prefix (`NAME=value`), as far as it applies to this part.
        redirects: Redirections of this part and of the compound commands around it.
        span: Its place in the command text.
        directory: The absolute directory it runs in; None where a `cd` made that unknown.
        directories: Every directory it may run in, `directory` first: a `cd` may have failed.
        parent: Index of the part that runs this one, or None at the top.
        effects: Everything it is known or suspected to do.
        doubts: Why it is not proven to read only; empty exactly when it is.
        computed: What is known of the words that bash computes.
    """

    argv: tuple[str | None, ...]
    words: tuple[Word, ...]
    program: str | None
    assignments: tuple[Assignment, ...]
    redirects: tuple[Redirect, ...]
    span: Span
    directory: str | None
    directories: tuple[str, ...] = ()
    parent: int | None = None
    effects: tuple[Effect, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    computed: tuple[Unknown, ...] = ()

    @property
    def read_only(self) -> bool:
        """Return whether this part is proven to read only."""
        return not self.doubts

    @lazy_property
    def name(self) -> str:
        """The program's name by `bare_name`; empty where it is computed."""
        return bare_name(self.argv[0] or "") if self.argv else ""

    @property
    def arguments(self) -> list[Argument]:
        """Return the words, with what is known of those that bash computes."""
        computed = iter(self.computed if self.argv.count(None) == len(self.computed) else ())
        return [next(computed, Unknown()) if word is None else word for word in self.argv]

    @property
    def options(self) -> tuple[str, ...]:
        """Return the known words behind the program's name that begin with a dash."""
        return tuple([word for word in self.argv[1:] if word is not None and word[:1] == "-"])

    @property
    def git_command(self) -> str | None:
        """Return the sub-command of git, after any options; None for another program."""
        if self.program != "git":
            return None
        words: Sequence[str | None] = self.argv
        if len(words) > 1 and (words[1] or "").startswith("-"):
            words = families().without_leading_options(("git", *words[1:]))
        return words[1] if len(words) > 1 else None

    def is_a(self, trait: str, *others: str) -> bool:
        """Return whether its program has one of some traits, which `catalog/traits.toml` lists."""
        return self.program in programs_with(trait) or (bool(others) and self.is_a(*others))

    @answered_once
    def has_flag(self, letters: str, *names: str) -> bool:
        """Return whether it has one of these options, by a letter in any cluster or by name.

        Args:
            letters: The letters of short options.
            names: Other options, as they are written.
        """
        return any(
            word in names or (word[1:2] != "-" and not set(letters).isdisjoint(word))
            for word in self.options
        )

    @answered_once
    def values_of(self, options: tuple[str, ...]) -> Set[str]:
        """Return the values of some options: the next word, or what follows in the same."""
        values = {value or "" for name, value in pairwise(self.argv) if name in options}
        for word in self.options:
            for option in options:
                if word.startswith(option) and word != option:
                    rest = word.removeprefix(option)
                    values |= {rest, rest.removeprefix("=")}
        return values

    @lazy_property
    def redirected(self) -> frozenset[Span]:
        """The spans of its redirections."""
        return frozenset(redirect.span for redirect in self.redirects)

    @lazy_property
    def written(self) -> frozenset[str]:
        """The paths that it writes to."""
        return frozenset(
            effect.path
            for effect in self.effects
            if effect.kind is EffectKind.WRITE and effect.path
        )


class CommandAnalysis(Struct, frozen=True, dict=True):
    """The analysis of a command line that every rule, check and explanation uses.

    Attributes:
        command: The text that was read.
        directory: The absolute directory it was read for.
        script: The strict reader's tree; None where it refused the text.
        parts: All simple commands at any depth, in the order of the text; empty where unread.
        doubts: Doubts that belong to no single part (the gate, the reader, a budget, a dissent).
        inner: The scripts in its words that were read as commands, each with its tree.
        held: What variables may hold, and the texts of here-documents and here-strings.
        names_no_file: Whether no part is known to name a file or to search for any; False where
            that has not been looked into.
    """

    command: str
    directory: str
    script: Script | None
    parts: tuple[Part, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    inner: tuple[tuple[str, Script], ...] = ()
    held: tuple[Unknown, ...] = ()
    names_no_file: bool = False

    @lazy_property
    def read_only(self) -> bool:
        """Return whether every part is proven to read only, and nothing is left unread."""
        return bool(self.parts) and not self.doubts and not any(map(_DOUBTS, self.parts))

    @property
    def may_need_no_rule(self) -> bool:
        """Return whether a part could be allowed without a rule that matches it."""
        return not self.doubts and any(map(_may_need_no_rule, self.parts))

    @property
    def texts(self) -> tuple[tuple[str, Script], ...]:
        """Return the texts that were read, each with its tree: the command line comes first."""
        return () if self.script is None else ((self.command, self.script), *self.inner)

    @property
    def nodes(self) -> tuple[Struct, ...]:
        """Return all nodes of its tree, in the order of the text."""
        return () if self.script is None else self.script.nodes

    @property
    def has_globs(self) -> bool:
        """Return whether an effect has a glob, so that the file system must be searched."""
        for part in self.parts:
            for effect in part.effects:
                if effect.glob:
                    return True
        return False

    @property
    def understood(self) -> bool:
        """Return whether the reader parsed it all, even if the text may hold more."""
        return self.script is not None and all(isinstance(each, Dissent) for each in self.doubts)

    @property
    def effects(self) -> tuple[Effect, ...]:
        """Return the effects of all parts, in the order of the text."""
        return tuple(effect for part in self.parts for effect in part.effects)

    @lazy_property
    def redirected_to(self) -> frozenset[str | None]:
        """The paths that redirections write or read."""
        return frozenset(
            effect.path
            for part in self.parts
            for effect in part.effects
            if effect.path and effect.span in part.redirected
        )

    def carriers(self, part: Part) -> Iterator[Part]:
        """Yield the parts that run a part, the innermost first."""
        while part.parent is not None:
            part = self.parts[part.parent]
            yield part

    def may_read_a_pipe(self, part: Part) -> bool:
        """Return whether a part may be given what another one prints.

        A pipeline within a script that stands in a word feeds all parts of that script.
        """
        inner = [script for _, script in self.inner] if part.parent is not None else []
        nodes = (node for script in inner for node in script.nodes)
        if any(isinstance(node, Pipeline) and len(node.commands) > 1 for node in nodes):
            return True
        return any(
            later.span.holds(part.span)
            for pipeline in self.nodes
            if isinstance(pipeline, Pipeline)
            for later in pipeline.commands[1:]
        )

    @property
    def all_doubts(self) -> tuple[Doubt, ...]:
        """Return every reason for which the command is not proven read-only."""
        return self.doubts + tuple([doubt for part in self.parts for doubt in part.doubts])


_EDITS = frozenset({EffectKind.READ, EffectKind.WRITE, EffectKind.DELETE})
"""The effects of a part that could be allowed without a rule that matches it."""


def _may_need_no_rule(part: Part) -> bool:
    if not part.doubts:
        return True
    return bool(part.effects) and all(effect.kind in _EDITS for effect in part.effects)
