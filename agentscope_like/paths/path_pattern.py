"""Compiles the path patterns of rules, wcmatch's globs, into directories and names.

A pattern is compiled once, when its rule is loaded: braces and `~` are expanded, `.` and `//` are
dropped, and a pattern that could never match is refused. The result is a literal directory and a
tail of components, each a name or a glob.

The language is wcmatch's with GLOBSTAR, DOTGLOB, BRACE and FORCEUNIX: `*` and `?` stay within a
name and match a leading dot, `**` is any number of directories, `[a-z]`, `{a,b}`, and a backslash
quotes the next character. `src/**` is `src` too, and `src/` is the same as `src/**`.
There is no negation and there are no extended globs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from itertools import takewhile

from msgspec import Struct

from agentscope_like.paths.errors import PatternError
from agentscope_like.paths.location import names_of
from agentscope_like.paths.pattern_table import Component

__all__ = ["PatternBranch", "PatternCompiler", "escape"]

MAX_PATTERN_LENGTH = 4096
"""Characters of a pattern; the paths that its braces spell out are no longer than it is."""

MAX_ALTERNATIVES = 256
"""Paths that the braces of one pattern may spell out."""

_SPECIAL = re.compile(r"[*?\[\]{}\\!~|\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_UNSHOWABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_MAGIC = re.compile(r"\\.|([*?\[])", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED_SLASH = re.compile(r"(\\\\)|\\/")
_EXTENDED = re.compile(r"(?<!\\)[?*+@!]\([^()]*\|[^()]*\)")
_RANGE = re.compile(r"(?<!\\)\[[!^]?[^\]/]*\]")

_DEEP = Component("deep", "**")


class PatternBranch(Struct, frozen=True):
    """One alternative of a pattern, without braces.

    Attributes:
        absolute: Whether it starts at the root, or at each working directory.
        components: Its components; none for exactly where it starts.
    """

    absolute: bool
    components: tuple[Component, ...]

    @property
    def base(self) -> str:
        """Return the leading names, joined by and beginning with `/`; empty if there are none."""
        return "".join(f"/{each.text}" for each in takewhile(_is_name, self.components))


def escape(path: str) -> str:
    """Return the pattern that matches exactly `path` ("always allow this file")."""
    if not _SPECIAL.search(path):
        return path
    from wcmatch import glob  # takes 20 ms to import

    return glob.escape(path, unix=True)


class PatternCompiler:
    """Compiles many patterns and resolves each directory in them once.

    Args:
        home: What `~` stands for; the user's home by default.
        aliases: Whether to follow the symlinks of the directories that patterns name, so that
            `/var/run/**` forbids `/run/x` as well.
        anywhere: Whether a pattern that names no directory (`.env`, `**/keys/*`) matches in any,
            not only in the working directories; for rules that forbid.
        real: Returns a directory with its symlinks followed; on this host by default.
    """

    def __init__(
        self,
        *,
        home: str | None = None,
        aliases: bool = True,
        anywhere: bool = False,
        real: Callable[[str], str] | None = None,
    ) -> None:
        self._home = os.path.expanduser("~") if home is None else home
        self._aliases = aliases
        self._anywhere = anywhere
        self._resolve = self._real_here if real is None else real
        self._real: dict[str, str] = {"": ""}

    def compile(self, text: str) -> tuple[PatternBranch, ...]:
        """Return the alternatives of a pattern; a path matches it if it matches one of them.

        Args:
            text: `src/**`, `**/*.py`, `/srv/{a,b}/*`, `~/notes.txt`.

        Raises:
            PatternError: The pattern could never match, expands to too many paths, or uses the
                syntax of a similar language.
        """
        _check(text)
        return tuple(
            branch
            for alternative in _alternatives(text)
            for branch in self._read(text, alternative)
        )

    def _read(self, text: str, alternative: str) -> Iterator[PatternBranch]:
        absolute = alternative.startswith("/")
        home = ""
        if alternative.startswith("~"):
            user, slash, rest = alternative.partition("/")
            alternative = slash + rest
            if user != "~" or not self._home.startswith("/"):
                raise PatternError(
                    f"pattern {text!r}: `{user}` is not understood; write the home directory out, "
                    "or write `\\~` for a name that begins with a tilde"
                )
            absolute, home = True, self._home.rstrip("/")
        components = _split(text, alternative)
        branch = PatternBranch(absolute, (*_names(home), *components))
        yield branch
        names_no_place = "/" not in alternative or alternative.startswith("**/")
        if self._anywhere and names_no_place and components:
            yield PatternBranch(True, _split(text, f"/**/{alternative}"))
        if absolute:
            yield from self._others(branch, trusted=home.count("/") or 1)

    def _others(self, branch: PatternBranch, *, trusted: int) -> Iterator[PatternBranch]:
        """Yield the branch under the other names of its base.

        An agent cannot turn the first `trusted` names, a directory of the root or the user's home,
        into a symlink: their other name is as good as the one written (`/tmp` is `/private/tmp` on
        macOS). The rest is followed only for rules that forbid.
        """
        names = [each.text for each in takewhile(_is_name, branch.components)]
        rest = branch.components[len(names) :]
        base = branch.base
        head = "".join(f"/{name}" for name in names[:trusted])
        plain = "/".join((self._resolve(head), *names[trusted:]))
        if plain != base:
            yield PatternBranch(True, (*_names(plain), *rest))
        if self._aliases and (real := self._resolve(base)) != plain:
            yield PatternBranch(True, (*_names(real), *rest))

    def _real_here(self, base: str) -> str:
        known = self._real.get(base)
        if known is None:
            parent, _, name = base.rpartition("/")
            known = f"{self._real_here(parent)}/{name}"
            if os.path.islink(known):
                known = os.path.realpath(known).rstrip("/")
            self._real[base] = known
        return known


def _check(text: str) -> None:
    if not text:
        raise PatternError("a path pattern is empty: write `**` for everything")
    if len(text) > MAX_PATTERN_LENGTH:
        raise PatternError(
            f"pattern {text[:60]!r}... is {len(text)} characters long, over {MAX_PATTERN_LENGTH}: "
            "name a directory with `/**` instead"
        )
    if not text.strip("/"):
        raise PatternError(f"pattern {text!r}: write `/**` for everything there is")
    if found := _UNSHOWABLE.search(text):
        raise PatternError(
            f"pattern {text!r} contains the character U+{ord(found[0]):04X}, which no path has: "
            "leave it out"
        )
    if text[0] == "!":
        raise PatternError(
            f"pattern {text!r}: there is no negation; write a rule of the other behaviour for "
            f"{text[1:]!r}, or `\\!` for a name that begins with an exclamation mark"
        )
    if _EXTENDED.search(text):
        raise PatternError(
            f"pattern {text!r}: extended globs are not read; write braces, such as {{a,b}}, or "
            "put a backslash before the parenthesis of a name"
        )
    if (len(text) - len(text.rstrip("\\"))) % 2:
        raise PatternError(f"pattern {text!r} ends in a lone backslash: leave it out or double it")


def _alternatives(text: str) -> list[str]:
    if "{" not in text:
        return [text]
    import bracex  # takes 10 ms to import

    try:
        spelled = bracex.expand(text, keep_escapes=True, limit=MAX_ALTERNATIVES)
    except (bracex.ExpansionLimitException, RecursionError):
        raise PatternError(
            f"the braces of pattern {text[:60]!r} spell out over {MAX_ALTERNATIVES} paths, or nest "
            "too deep: use `*`, or several rules"
        ) from None
    if not spelled:
        raise PatternError(f"the braces of pattern {text[:60]!r} spell out no path: name one")
    if len({each.startswith(("/", "~")) for each in spelled}) > 1:
        raise PatternError(
            f"the braces of pattern {text[:60]!r} mix absolute and relative paths (an empty "
            "alternative before `/` is the root): write one rule for each"
        )
    return spelled


def _names(path: str) -> Iterator[Component]:
    return (Component("name", name) for name in names_of(path))


def _is_name(component: Component) -> bool:
    return component.shape == "name"


def _split(text: str, alternative: str) -> tuple[Component, ...]:
    """Return the components of an alternative."""
    alternative = _ESCAPED_SLASH.sub(lambda found: found[1] or "/", alternative)
    if alternative.endswith("/"):
        alternative += "**"
    components: list[Component] = []
    for component in (_component(text, part) for part in alternative.split("/")):
        is_repeated = component == _DEEP and components[-1:] == [_DEEP]
        if component.text not in ("", ".") and not is_repeated:
            components.append(component)
    return tuple(components)


def _component(text: str, part: str) -> Component:
    if part == "**":
        return _DEEP
    if not any(found[1] for found in _MAGIC.finditer(part)):
        name = _ESCAPED.sub(r"\1", part)
        if name == "..":
            raise PatternError(
                f"pattern {text!r} contains `..`, but paths are compared without it: "
                "write the directory that is meant"
            )
        return Component("name", name)
    for brackets in _RANGE.findall(part):
        for low, high in re.findall(r"([0-9A-Za-z])-([0-9A-Za-z])", brackets):
            if low > high:
                raise PatternError(
                    f"pattern {text!r}: the range {low}-{high} is empty; write {high}-{low}"
                )
    return Component("glob", part)
