"""Detects commands that run what they themselves download."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from agentscope_like.shell import Part, Unknown, answered_once
from agentscope_like.shell.catalog import families, programs_with
from agentscope_like.shell.facts import INPUT, bare_name
from agentscope_like.shell.syntax import Redirect, Word
from agentscope_like.toml_tables import Expression, table_beside

__all__ = ["Downloads"]

_MODULE = re.compile(r"-[A-Za-z]*m(.*)")
_CODE_FILE = re.compile(r"[cm]?[jt]sx?|py[cd]?|rb|pl|pm|lua|php|tcl|r|sh|so|node")
_NAME_END = re.compile(r"[?#].*", re.DOTALL)
_CODE_WORD = re.compile(r"[\w-]+")


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `downloads.toml`, which says what each field is."""

    other_code: Expression
    shell_code: Expression
    with_value: frozenset[str]
    sub_commands: frozenset[str]
    output: Expression
    remote_name: Expression
    code: dict[str, Expression]
    named_by_server: dict[str, Expression]


_table = table_beside(__file__, "downloads.toml", _Table)


class Downloads:
    """The downloads of one command, and the parts that would run them."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts
        self._loading = [part for part in parts if part.name in programs_with("downloader")]
        if not self._loading:
            return
        self._mentions = Counter(name for part in parts for name in _mentions(part))
        names = [name for part in self._loading for name in _computed_names(part)]
        self._computed = tuple(dict.fromkeys(names))
        self._extracts = any(
            part.name in programs_with("extractor") and not part.read_only for part in parts
        )

    def run_objection(self, part: Part) -> str | None:
        """Return why the part may run downloaded code, or None.

        It does not where the script that it runs is named, and no part that may write has that
        name among its words.
        """
        if not self._loading or part.read_only or not part.argv:
            return None
        if self._is_code_inside(part):
            return "runs downloaded code, which cannot be checked"
        scripts = _scripts(part)
        if scripts is None or (_runs_code(part) and self._names_module(part)):
            return "may run downloaded code, which cannot be checked"
        if scripts and (self._extracts or any(map(self._may_be_named, scripts))):
            return "may run downloaded code, which cannot be checked"
        if any(self._mentioned(script, part) for script in scripts):
            return "runs downloaded code, which cannot be checked"
        return None

    def _is_code_inside(self, part: Part) -> bool:
        """Return whether a downloader runs inside a program's code: `sh -c "$(curl x)"`."""
        within = range(part.span.start, part.span.end)
        return _runs_code(part) and any(each.span.start in within for each in self._loading)

    def _names_module(self, part: Part) -> bool:
        """Return whether code names a script without its extension, as `import` does."""
        words = {word for code in part.argv[1:] if code for word in _CODE_WORD.findall(code)}
        return any(self._mentions[f"{word.casefold()}{_MODULE_MARK}"] for word in words)

    def _may_be_named(self, script: str) -> bool:
        """Return whether a computed name may be that of a script."""
        is_module = script.endswith(_MODULE_MARK)
        name = f"{script[:-1]}.py" if is_module else script
        return any(map(name.endswith, self._computed))

    def _mentioned(self, script: str, part: Part) -> bool:
        """Return whether a part that may write names a script; those that carry `part` do not."""
        outer = part.parent
        count = self._mentions[script] - (script in _mentions(part))
        while outer is not None:
            carrier = self._parts[outer]
            count -= script in _mentions(carrier)
            outer = carrier.parent
        return count > 0


_MODULE_MARK = "\0"
"""Marks a script's name without its extension; no file name contains it."""

_OF_PACKAGES = ("__init__", "__main__")
"""The names of the files that run with a package of Python."""


def _runs_code(part: Part) -> bool:
    name = part.name
    if families().is_shell(name):
        return any(map(_table().shell_code.fullmatch, part.options))
    interpreter = families().interpreter(name)
    code = _table().code.get(interpreter or "", _table().other_code)
    return interpreter is not None and any(map(code.fullmatch, part.options))


@answered_once
def _mentions(part: Part) -> frozenset[str]:
    """Return the bare names in the arguments of a part that may write a file."""
    if part.read_only or part.name in programs_with("keeps_contents"):
        return frozenset()
    found = set(map(bare_name, part.written))
    for word in filter(None, part.argv[1:]):
        found.update(map(bare_name, _values(_NAME_END.sub("", word))))
    found.difference_update(_scripts(part) or ())
    for name in tuple(found):
        stem, _, ending = name.rpartition(".")
        found.add(stem)
        if _CODE_FILE.fullmatch(ending):
            found.add(f"{stem}{_MODULE_MARK}")
    return frozenset(found)


def _values(word: str) -> Iterator[str]:
    """Yield what may be a name in a word: itself, or the value that is joined to an option."""
    yield word
    yield word.partition("=")[2]
    if word.startswith("-"):
        for mark in "oO":
            yield word.partition(mark)[2]


def _computed_names(part: Part) -> Iterator[str]:
    """Yield with what the name ends under which a downloader keeps what it loads.

    Only for names that are not known, or that somebody else chooses.
    """
    name, options = part.name, part.options
    table = _table()
    pattern = table.named_by_server.get(name)
    if pattern is not None and any(map(pattern.fullmatch, options)):
        yield ""
    if any(">" in each.operator and _target(each) is None for each in part.redirects):
        yield ""
    if None not in part.argv:
        return
    if any(table.output.fullmatch(each.prefix) for each in part.computed):
        yield ""
    remote = name == "curl" and any(map(table.remote_name.fullmatch, options))
    outputs = [at for at, word in enumerate(part.argv, 1) if word and table.output.fullmatch(word)]
    if remote or (name in programs_with("names_by_address") and not outputs):
        yield ""
    unknown = _unknown_words(part)
    for at in outputs:
        if at < len(part.argv) and part.argv[at] is None:
            known = unknown.get(at, Unknown())
            texts = known.choices or (known.suffix,)
            for text in texts if known.single else ("",):
                yield _last(text)


def _last(text: str) -> str:
    """Return the last name of a path, normalised as by `bare_name`."""
    return text.rpartition("/")[2].casefold()


def _unknown_words(part: Part) -> dict[int, Unknown]:
    """Return what is known of computed words, by their spans."""
    places = [at for at, word in enumerate(part.argv) if word is None]
    if len(places) != len(part.computed):
        return {}
    return dict(zip(places, part.computed, strict=True))


def _target(redirect: Redirect) -> str | None:
    return redirect.target.literal if isinstance(redirect.target, Word) else ""


@answered_once
def _scripts(part: Part) -> tuple[str, ...] | None:
    """Return the bare names of the scripts that a part runs; None if unknown."""
    name = part.name
    if name in programs_with("sourcer"):
        operands = [word for word in part.argv[1:] if word != "--"]
        return _bare(operands[:1])
    if families().runs_code(name):
        return _scripts_of_interpreter(part)
    if part.program is None and "/" in (part.argv[0] or "" if part.argv else ""):
        return (name,)
    return ()


def _scripts_of_interpreter(part: Part) -> tuple[str, ...] | None:
    if _runs_code(part):
        return None if None in part.argv else ()
    found: list[str | None] = []
    previous = ""
    for word in part.argv[1:]:
        if word is not None and (module := _MODULE.fullmatch(word)) and not found:
            if module[1]:
                return _module(module[1])
        elif word is not None and word.startswith(("-", "+")) and word != "-":
            found += _values_of_option(word)
        elif previous in _table().with_value:
            found.append(word)
        elif _MODULE.fullmatch(previous):
            return _module(word)
        elif word not in _table().sub_commands:
            return _bare([*found, word])
        previous = word or ""
    return None


def _values_of_option(word: str) -> list[str | None]:
    value = word.partition("=")[2]
    return [value] if value else []


def _module(name: str | None) -> tuple[str, ...] | None:
    """Return the names of the files that run with a module: its packages and its own."""
    if name is None:
        return None
    return tuple([f"{each}{_MODULE_MARK}" for each in (*name.casefold().split("."), *_OF_PACKAGES)])


def _bare(words: Sequence[str | None]) -> tuple[str, ...] | None:
    """Return the bare names of words; None if one is computed or stands for stdin."""
    if any(word is None or word == "-" or INPUT.fullmatch(word) for word in words):
        return None
    return tuple([bare_name(word) for word in words if word])
