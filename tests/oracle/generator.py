"""Composes commands from the catalog's own grammars, from shell syntax and from hostile fragments.

The catalog says what is believed to be harmless; the oracle runs it to see. Most commands are
therefore near to what the catalog allows: its programs with its options in all the ways that they
can be written, on files with odd names, joined by all the shell has for joining.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from random import Random

from agentscope_like.shell.catalog import Flag, Grammar, Role, RoleKind, lookup, names
from tests.oracle.fragments import FRAGMENTS, VALUES

__all__ = ["Generator", "installed_programs"]

_PATH = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/games")
_GROUPS = ("({})", "{{ {}; }}", "! {}", "({}) 2>&1", "{{ {}; }} >/dev/null", "f() {{ {}; }}; f")
_REFERENCES = ('"$@"', "$@", "${@}", '"${@%.*}"', "${@##*/}")
_WORD = re.compile(r"[\w.:/%-]+")
_PLAIN = re.compile(r"[\w./:=@%+,-]+")


@lru_cache(maxsize=1)
def installed_programs() -> tuple[str, ...]:
    """Return the catalog's programs that are builtins, or lie in a directory of the system."""
    return tuple(
        name
        for name in sorted(names())
        if name in FRAGMENTS["builtins"]
        or any(os.access(f"{place}/{name}", os.X_OK) for place in _PATH)
    )


@lru_cache(maxsize=4096)
def _matching(pattern: re.Pattern[str]) -> tuple[str, ...]:
    """Return texts that a pattern matches whole: from the pattern itself, and from a pool."""
    pool = dict.fromkeys(
        [*_WORD.findall(pattern.pattern), *FRAGMENTS["texts"], *FRAGMENTS["numbers"]]
    )
    return tuple(text for text in pool if pattern.fullmatch(text))


def _double_quoted(text: str) -> str:
    return '"' + re.sub(r'([$`"\\])', r"\\\1", text) + '"'


def _escaped(text: str) -> str:
    if not text or "\n" in text:
        return shlex.quote(text)
    return re.sub(r"([^\w./:=-])", r"\\\1", text)


def _ansi_quoted(text: str) -> str:
    return "$'" + "".join(f"\\x{ord(c):02x}" if c.isascii() else c for c in text) + "'"


def _braced(text: str) -> str:
    if _PLAIN.fullmatch(text) and "," not in text:
        return f"{{{text},}}"
    return shlex.quote(text)


def _halved(text: str) -> str:
    return f"'{text[:1]}'\"{text[1:]}\"" if _PLAIN.fullmatch(text) else shlex.quote(text)


_QUOTINGS: tuple[Callable[[str], str], ...] = (
    lambda text: "'" + text.replace("'", "'\\''") + "'",
    _double_quoted,
    _escaped,
    _ansi_quoted,
    _braced,
    _halved,
)


class Generator:
    """Composes commands; the same `random` state gives the same commands.

    Args:
        random: Where choices come from.
        hostility: The probability of a hostile fragment in a command.
    """

    def __init__(self, random: Random, *, hostility: float = 0.2) -> None:
        self._random = random
        self._hostility = hostility
        self._programs = installed_programs()

    def command(self) -> str:
        """Return a command line."""
        text = self._script(2) if self._chance(0.5) else self._simple(1)
        if self._chance(self._hostility):
            text = self._spoil(text)
        return text

    def every_option(self) -> Iterator[str]:
        """Yield, for each option of each program, a command that gives it; twice with operands."""
        for name in self._programs:
            grammar = lookup(name)
            if grammar is not None:
                yield from self._each_option(name, grammar)

    def _each_option(self, start: str, grammar: Grammar) -> Iterator[str]:
        for flag in (*grammar.flags, *grammar.about):
            for with_operands in (False, True, True):
                used: list[str] = []
                words = self._needed(grammar, used) + self._option(flag, grammar, 1, used)
                if with_operands:
                    words += self._operands(grammar, used, 1)
                yield " ".join([start, *words])
        for name, sub in grammar.subs.items():
            yield from self._each_option(f"{start} {name}", sub)

    def _needed(self, grammar: Grammar, used: list[str]) -> list[str]:
        """Return an option without which the program does more than read, if it has such."""
        if not grammar.needs:
            return []
        return self._option(self._pick(sorted(grammar.needs)), grammar, 1, used)

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _pick(self, options: Sequence[str]) -> str:
        return options[int(self._random.random() * len(options))]

    # Simple commands.

    def _simple(self, depth: int) -> str:
        if self._chance(0.12):
            return self._pick(FRAGMENTS["reads"])
        name = self._pick(FRAGMENTS["common"] if self._chance(0.35) else self._programs)
        grammar = lookup(name)
        if grammar is None:
            return self._pick(FRAGMENTS["reads"])
        written = name if self._chance(0.95) else f"/usr/bin/{name}"
        words = [written, *self._arguments(grammar, depth)]
        text = " ".join(words)
        if self._chance(0.06):
            text = f"{self._pick(FRAGMENTS['prefixes'])} {text}"
        if self._chance(0.12):
            text += f" {self._pick(FRAGMENTS['redirects'])}"
        return text

    def _arguments(self, grammar: Grammar, depth: int) -> list[str]:
        """Return the written arguments of a program or a sub-command."""
        if grammar.about and self._chance(0.05):
            return [self._pick(sorted(grammar.about))]
        used: list[str] = []
        options = self._options(grammar, depth, used)
        if grammar.subs and (self._chance(0.92) or not grammar.operands):
            name = self._pick(tuple(grammar.subs))
            few = options if self._chance(0.3) else []
            return [*few, name, *self._arguments(grammar.subs[name], depth)]
        operands = self._operands(grammar, used, depth)
        if self._chance(0.1) and not grammar.options_first:
            mixed = [*options, *operands]
            self._random.shuffle(mixed)
            return mixed
        if self._chance(0.12):
            return [*options, "--", *operands]
        if self._chance(0.08):
            return [*operands, *options]
        return [*options, *operands]

    def _options(self, grammar: Grammar, depth: int, used: list[str]) -> list[str]:
        known = tuple(grammar.flags)
        written = self._needed(grammar, used)
        for _ in range(self._random.choice((0, 0, 1, 1, 1, 2, 2, 3, 5))):
            if not known:
                break
            written += self._option(self._pick(known), grammar, depth, used)
        if self._chance(0.04):
            written.append(self._pick(FRAGMENTS["options"]))
        return written

    def _option(self, name: str, grammar: Grammar, depth: int, used: list[str]) -> list[str]:
        """Return one option in one of the ways that it can be written."""
        flag = grammar.flags.get(name)
        if flag is None:
            return [name]
        used.append(name)
        shown = self._abbreviate(name, grammar)
        if flag.role is None or (flag.joined and self._chance(0.4)):
            return [self._cluster(name, grammar) if shown == name else shown]
        value = self._value(flag.role, depth)
        if flag.role.kind in (RoleKind.CLAUSE, RoleKind.COMMAND):
            return [name, value]
        is_long = name.startswith("--")
        if flag.joined or (is_long and self._chance(0.5)):
            return [f"{shown}={value}" if is_long else f"{shown}{value}"]
        if not is_long and len(name) == 2 and self._chance(0.4):
            return [f"{shown}{value}"]
        return [shown, value]

    def _abbreviate(self, name: str, grammar: Grammar) -> str:
        if name.startswith("--") and len(name) > 5 and self._chance(0.06):
            return name[: self._random.randint(4, len(name))]
        return name

    def _cluster(self, name: str, grammar: Grammar) -> str:
        """Return a short option together with another."""
        if len(name) != 2 or grammar.single_dash or not self._chance(0.2):
            return name
        others = [
            other[1] for other, flag in grammar.flags.items() if len(other) == 2 and flag == Flag()
        ]
        return name + self._pick(others) if others else name

    def _operands(self, grammar: Grammar, used: Sequence[str], depth: int) -> list[str]:
        places = grammar.operands
        for when in grammar.whens:
            if when.operands is not None and not when.flags.isdisjoint(used):
                places = when.operands
        written: list[str] = []
        for place in places:
            least = 0 if place.optional or place.many else 1
            most = 3 if place.many else 1
            count = max(least, min(most, self._random.choice((0, 1, 1, 1, 1, 2, 3))))
            written += [self._value(place.role, depth) for _ in range(count)]
        if self._chance(0.03):
            written.append(self._pick(FRAGMENTS["files"]))
        return written

    # Values.

    def _value(self, role: Role, depth: int) -> str:
        if self._chance(0.04):
            return self._pick(FRAGMENTS["computed"])
        found = _matching(role.pattern) if role.pattern and self._chance(0.9) else ()
        if found:
            return self._quote(self._pick(found))
        if role.kind in (RoleKind.COMMAND, RoleKind.RUN):
            return self._simple(depth - 1) if depth > 0 else "echo x"
        if role.kind is RoleKind.CLAUSE:
            inner = self._simple(depth - 1) if depth > 0 else "cat {}"
            return f"{inner} {self._pick(FRAGMENTS['clause_ends'])}"
        if role.kind is RoleKind.SCRIPT:
            inner = self._script(depth - 1) if depth > 0 else self._pick(FRAGMENTS["reads"])
            return shlex.quote(inner)
        pool = VALUES.get(role.kind.value, FRAGMENTS["texts"])
        value = self._pick(pool)
        if role.kind is RoleKind.MATCHING and self._chance(0.5):
            value = self._pick(FRAGMENTS["formats"])
        return self._quote(value)

    def _quote(self, text: str) -> str:
        """Write a text as a word, in one of the ways that bash takes back to the same text."""
        if self._chance(0.7):
            return text if _PLAIN.fullmatch(text) else shlex.quote(text)
        return self._random.choice(_QUOTINGS)(text)

    # Compound commands.

    def _script(self, depth: int) -> str:
        if depth <= 0:
            return self._simple(0)
        forms: Mapping[str, Callable[[int], str]] = {
            "pipe": self._pipeline,
            "list": self._list,
            "loop": self._loop,
            "condition": self._condition,
            "substitution": self._substitution,
            "variable": self._variable,
            "directory": self._directory,
            "heredoc": self._heredoc,
            "wrapper": self._wrapper,
            "group": self._group,
            "case": self._case,
            "parameters": self._parameters,
        }
        order = ("pipe", "pipe", "pipe", "list", "list", *forms)
        return forms[self._pick(order)](depth - 1)

    def _pipeline(self, depth: int) -> str:
        stages = [self._simple(depth)]
        stages += (
            self._pick(FRAGMENTS["filters"]) if self._chance(0.7) else self._simple(depth)
            for _ in range(self._random.choice((1, 1, 2, 3)))
        )
        return self._pick((" | ", " | ", "|", " |& ", " |\n")).join(stages)

    def _list(self, depth: int) -> str:
        parts = [self._script(depth) for _ in range(self._random.choice((2, 2, 3)))]
        return self._pick(("; ", " && ", " || ", "\n", " & ", ";")).join(parts)

    def _group(self, depth: int) -> str:
        inner = self._script(depth)
        form = self._pick(_GROUPS)
        return form.format(inner)

    def _loop(self, depth: int) -> str:
        name = self._pick(
            ("f", "i", "x", "line", "IFS", "PATH") if self._chance(0.1) else ("f", "i")
        )
        body = self._use(name, depth)
        words = " ".join(self._pick(FRAGMENTS["files"] + FRAGMENTS["globs"]) for _ in range(2))
        form = self._pick(
            (
                "for {name} in {words}; do {body}; done",
                "for {name} in $({command}); do {body}; done",
                "{command} | while read -r {name}; do {body}; done",
                "while read {name}; do {body}; done < f",
                "{command} | while IFS= read -r {name}; do {body}; done | sort",
                "for (({name}=0; {name}<2; {name}++)); do {body}; done",
            )
        )
        command = self._simple(depth)
        return form.format(name=name, words=words, body=body, command=command)

    def _use(self, name: str, depth: int) -> str:
        """Return a command that uses a variable."""
        command = self._simple(depth)
        word = self._pick(
            (f'"${name}"', f"${name}", f"${{{name}}}", f'"${{{name}%.*}}"', f"${{{name}##*/}}")
        )
        return (
            f"{command} {word}" if self._chance(0.8) else self._pick(FRAGMENTS["uses"]).format(word)
        )

    def _condition(self, depth: int) -> str:
        test = self._pick(FRAGMENTS["tests"]) if self._chance(0.7) else self._simple(depth)
        form = self._pick(
            ("if {t}; then {a}; fi", "if {t}; then {a}; else {b}; fi", "{t} && {a}", "{t} || {a}")
        )
        return form.format(t=test, a=self._script(depth), b=self._simple(depth))

    def _case(self, depth: int) -> str:
        subject = self._pick(('"$HOME"', "x", "$(uname)", "$x", '"$PWD"'))
        patterns = self._pick(("x", "*", "[a-z]*", "a|b", '"$x"'))
        return f"case {subject} in {patterns}) {self._script(depth)};; *) :;; esac"

    def _substitution(self, depth: int) -> str:
        inner = self._simple(depth)
        form = self._pick(
            ("$({})", '"$({})"', "<({})", "`{}`", "${{x:-$({})}}", "--color=$({})", "{{a,$({})}}")
        )
        if form == "`{}`" and ("`" in inner or "\\" in inner):
            form = "$({})"
        return f"{self._simple(depth)} {form.format(inner)}"

    def _variable(self, depth: int) -> str:
        name = self._pick(("x", "y", "opts", "X", "dir"))
        value = self._pick(
            (
                *FRAGMENTS["files"],
                *FRAGMENTS["options"],
                *FRAGMENTS["computed"],
                "'-n 3'",
                '"a b"',
                "$(pwd)",
            )
        )
        join = self._pick(("; ", " && ", "\n"))
        return f"{name}={value}{join}{self._use(name, depth)}"

    def _parameters(self, depth: int) -> str:
        pool = FRAGMENTS["files"] + FRAGMENTS["options"] + FRAGMENTS["computed"]
        words = " ".join(self._pick(pool) for _ in range(self._random.choice((1, 1, 2, 3))))
        command = self._simple(depth)
        word = self._pick(('"$1"', "$1", '"$@"', "$2", '"${1@Q}"', "${1%.*}"))
        use = f"{command} {word}" if self._chance(0.4) else self._pick(FRAGMENTS["uses"])
        form = self._pick(
            (
                "set -- {words}; {use}",
                "set -- {words}\nshift && {use}",
                "set -- x {words}; for f; do {use}; shift; done",
                "set -- f; {{ set -- {words}; }}; {use}",
                "if {command}; then set -- {words}; else set -- g; fi; {use}",
                "sh -c '{command} \"$1\"' _ {words}",
            )
        )
        return form.format(words=words, use=use.replace("{0}", word), command=command)

    def _directory(self, depth: int) -> str:
        place = self._pick(FRAGMENTS["directories"])
        return f"cd {place} {self._pick(('&&', ';'))} {self._script(depth)}"

    def _heredoc(self, depth: int) -> str:
        command = self._pick(
            ("cat", "grep foo", "wc -l", "jq .", "while read x; do echo $x; done", "sort")
        )
        word = self._pick(("EOF", "'EOF'", '"EOF"', "\\EOF", "-EOF"))
        end = "EOF"
        body = self._pick(FRAGMENTS["bodies"])
        after = self._pick(("", "", f"; {self._simple(depth)}", f" | {self._simple(depth)}"))
        return f"{command} <<{word}{after}\n{body}\n{end}\n"

    def _wrapper(self, depth: int) -> str:
        inner = self._simple(depth)
        wrapper = self._pick(FRAGMENTS["wrappers"])
        return f"{wrapper} {inner}" if "{}" not in wrapper else wrapper.format(inner)

    # Hostile changes.

    def _spoil(self, text: str) -> str:
        """Put a hostile fragment somewhere."""
        words = text.split(" ")
        place = self._random.randint(1, len(words))
        way = self._random.random()
        if way < 0.35:
            words.insert(place, self._pick(FRAGMENTS["injections"]))
        elif way < 0.7:
            words.insert(place, self._pick(FRAGMENTS["options"]))
        elif way < 0.85:
            words.insert(place, self._pick(FRAGMENTS["globs"] + FRAGMENTS["computed"]))
        else:
            return f"{self._pick(FRAGMENTS['hostile_prefixes'])} {text}"
        return " ".join(words)
