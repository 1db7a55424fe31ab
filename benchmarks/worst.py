"""Looks for the command line that takes longest to decide.

    python -m benchmarks.worst [--seconds 120] [--seed 1] [--repeat | --stretch] [--save FILE]

Texts of up to 10,000 characters are made of pieces of shell syntax and of whole commands, joined,
repeated and nested; the slowest are varied further. With `--repeat`, each piece and each command of
the corpus is repeated alone instead, in several ways, in an order by the seed; with `--stretch`,
some words of a command of the corpus are repeated where they stand, or give way to one that is.
Each text is decided in EXPLORE and in ACCEPT_EDITS, first in an empty directory without rules, then
among many files with rules that forbid and rules that allow, which are held against whatever a
command reaches. What counts is the processor time of this process, so that the parsers in their own
process are no part of it; they have a time limit. The interpreter collects no garbage meanwhile: it
would look through all that the search has in memory. The slowest are measured again at the end,
since a busy machine makes any text slow at times.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TypeAlias

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.tool import Bash
from tests.oracle.corpus import everyday, harmful
from tests.oracle.fragments import FRAGMENTS

Rules: TypeAlias = dict[PermissionBehavior, dict[str, tuple[str, ...]]]

LENGTH = 10_000
KEPT = 40
AGAIN = 5
SHOWN = 5
SHORT = 120
SLOW = 0.02
SHORT_PIECE = 9
SEPARATORS = ("", " ", ";", "\n", "|", " && ", "; ")
AROUND = (("echo $", ""), ("cat ", " $x"), ('"', ""), ("x=", "; ls"))
MODES = (PermissionMode.EXPLORE, PermissionMode.ACCEPT_EDITS)
RULES: Rules = {
    PermissionBehavior.DENY: {"Bash": ("rm:*", "git * --force"), "Write": ("**/*.key", "build/**")},
    PermissionBehavior.ASK: {"Bash": ("docker:*",), "Read": ("**/private/**",)},
    PermissionBehavior.ALLOW: {"Bash": ("npm run:*", "cat:*", "make *")},
}
LENGTHS = (700, 2_000, 5_000, LENGTH)
PLACES = ("a", "a/b", ".", "a/link", "*", "*/*", "crowd", "links", "folders", "huge", "$x", "-a")
CROWDED = ("crowd", "links", "folders", "huge")
# fmt: off
PIECES = (
    "'", '"', "\\", "`", "$(", ")", "(", "{", "}", "${x", "${x:-", "${x%", "${x//", "$x",
    "$((", "))", "[[ ", " ]]", "[", "]", "*", "?", "**/", "*/", "../", "a/", "~", "~/",
    "{a,b}", "{1..9}", ",", ";", "\n", "|", "||", "&&", "&", " ", "\t", "<", ">", ">>", "<<<",
    "<<a\na\n", "2>&1", "<(", ">(", "x=", "x=$x", "x=$x$x", "x=~:", "=", "#", "!", "--", "-",
    "-a", "--all=", "é", "$'\\x41'", '$"a"', "if ", "then ", "fi;", "for x in ", "do ",
    "done;", "while ", "case x in ", "esac;", "f() ", "{ ", "time ", "env ", "xargs ",
    "timeout 1 ", "bash -c '", "sh -c ", "find . -exec ", "cd a;", "cd ..;", "ls ", "cat ",
    "rm ", "cp -r ", "mv ", "ln -s a ", "mkdir ", "sed -i s/a/b/ ", "tee ", "touch ",
    "grep -r a ", "git status;", "git -C a ", "awk '{print}' ", "sed -n p ", "jq . ", "$1 ",
    "set -- ", "crowd/*", "links/*", "folders/*", "huge/*", "crowd ", "links ", "huge ", "*/* ",
    "mv crowd/* a", "cp -r links a", "grep -R x huge", "rm folders/*",
)
# fmt: on


def make_tree(root: Path) -> None:
    """Put directories, files and links into a directory, some of them in great number."""
    for name in "abcdefgh":
        for inner in "abcdefgh":
            folder = root / name / inner
            folder.mkdir(parents=True)
            for number in range(20):
                (folder / f"{name}{number}").touch()
        (root / name / "link").symlink_to("a")
        (root / name / "up").symlink_to("..")
    for name in CROWDED:
        (root / name).mkdir()
    for number in range(1_400):
        (root / CROWDED[0] / f"f{number}").touch()
        (root / CROWDED[1] / f"l{number}").symlink_to("../a/a/a1")
    for number in range(350):
        (root / CROWDED[2] / f"d{number}").mkdir()
    for number in range(9_000):
        (root / CROWDED[3] / f"f{number}").touch()


def engines(rules: Rules) -> list[PermissionEngine]:
    """Return an engine of each mode, with the rules."""
    found = []
    for mode in MODES:
        engine = PermissionEngine(PermissionContext(mode=mode))
        for behavior, tools in rules.items():
            for tool, contents in tools.items():
                for content in contents:
                    engine.add_rule(
                        PermissionRule(
                            tool_name=tool,
                            rule_content=content,
                            behavior=behavior,
                            source="benchmark",
                        )
                    )
        found.append(engine)
    return found


class Search:
    """Makes texts, and remembers the slowest of them."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.slowest: list[tuple[float, str]] = []
        self.tried = 0
        self._commands = [sample.command for sample in (*everyday(), *harmful())]
        self._pieces = [*PIECES, *(str(each) for kind in FRAGMENTS.values() for each in kind)]

    def texts(self, options: argparse.Namespace) -> Iterator[str]:
        """Return the texts to try."""
        if options.repeat:
            return self.repeated()
        return self.stretched() if options.stretch else iter(self.text, None)

    def text(self) -> str:
        """Return a new text, or one of the slowest with something changed."""
        if self.slowest and self.random.random() < 0.5:
            return self._varied(self.random.choice(self.slowest)[1])
        return self._composed()

    def repeated(self) -> Iterator[str]:
        """Yield each piece and each command, repeated to the full length, in several ways."""
        commands = self.random.sample(self._commands, len(self._commands))
        for unit in dict.fromkeys(filter(None, (*self._pieces, *commands))):
            for separator in SEPARATORS:
                text = separator.join([unit] * (LENGTH // len(unit + separator) + 1))
                yield text[:LENGTH]
                if len(unit) < SHORT_PIECE:
                    yield from (f"{b}{text[: LENGTH - 20]}{a}" for b, a in AROUND)

    def stretched(self) -> Iterator[str]:
        """Yield commands in which words are repeated where they stand, without an end."""
        while True:
            commands = self.random.sample(self._commands, self.random.choice((1, 1, 2, 3)))
            text = self.random.choice(SEPARATORS).join(commands)
            lengths = self.random.sample(LENGTHS, self.random.choice((1, 1, 2, 3)))
            for length in sorted(lengths):
                text = self._stretched(text, length)
            yield text

    def _stretched(self, text: str, length: int) -> str:
        words = text.split(" ")
        start = self.random.randrange(len(words))
        end = start + self.random.choice((1, 1, 1, 2, 3))
        is_place = self.random.random() < 0.4
        unit = self.random.choice(PLACES) if is_place else " ".join(words[start:end])
        rest = " ".join([*words[:start], *words[end:]])
        repeated = [unit] * max(1, (length - len(rest)) // (len(unit) + 1))
        return " ".join([*words[:start], *repeated, *words[end:]])[:LENGTH]

    def _piece(self) -> str:
        pieces = self._commands if self.random.random() < 0.2 else self._pieces
        return self.random.choice(pieces)

    def _composed(self) -> str:
        unit = "".join(self._piece() for _ in range(self.random.choice((1, 1, 2, 3, 5, 8))))
        before, after = (self._piece() for _ in range(2))
        if self.random.random() < 0.3:
            depth = self.random.choice((5, 20, 39, 100, 1000))
            opening, closing = self.random.choice(
                (("$(", ")"), ("(", ")"), ("{ ", ";}"), ("`", "`"), ("${x:-", "}"), ('"$(', ')"'))
            )
            unit = opening * depth + unit + closing * depth
        separator = self.random.choice(SEPARATORS)
        times = self.random.choice((1, 10, 50, 200, LENGTH)) if len(unit) < LENGTH else 1
        body = separator.join([unit] * min(times, LENGTH // max(1, len(unit) + len(separator))))
        return (before + body + after)[:LENGTH]

    def _varied(self, text: str) -> str:
        start, end = sorted(self.random.randrange(len(text) + 1) for _ in range(2))
        match self.random.randrange(4):
            case 0:
                new = text[:start] + self._piece() + text[start:]
            case 1:
                new = text[:start] + text[end:] + text[start:end]
            case 2:
                new = text[:end] + text[start:end] + text[end:]
            case _:
                new = text[:start] + self._piece() * self.random.randrange(1, 9) + text[end:]
        return new[:LENGTH] or " "

    def remember(self, seconds: float, text: str) -> None:
        """Keep a text if it is one of the slowest."""
        self.tried += 1
        self.slowest = sorted([*self.slowest, (seconds, text)], reverse=True)[:KEPT]


async def decided(engine: PermissionEngine, bash: Bash, text: str) -> float:
    """Return the seconds of processor time that deciding a text takes, nothing of it known yet."""
    gc.disable()
    begin = time.process_time()
    await engine.check_permission(bash, {"command": text})
    spent = time.process_time() - begin
    gc.enable()
    return spent


async def searched(search: Search, texts: Iterator[str], rules: Rules, seconds: float) -> None:
    """Decide texts for a while where the process stands."""
    bash, judges = Bash(), engines(rules)
    await decided(judges[0], bash, "echo $(ls)")
    end = time.monotonic() + seconds
    for text in texts:
        if time.monotonic() > end:
            break
        unread = (f"{text[: LENGTH - 9]}{' ' * number}" for number in range(9))
        for engine in judges:
            spent = await decided(engine, bash, next(unread))
            if spent > SLOW:
                spent = min(spent, await decided(engine, bash, next(unread)))
            search.remember(spent, text)
    slowest = dict.fromkeys(text for _, text in search.slowest)
    search.slowest = [(await again(judges, bash, text), text) for text in slowest]
    search.slowest.sort(reverse=True)


async def again(judges: list[PermissionEngine], bash: Bash, text: str) -> float:
    """Return what a text takes in the slower mode, each the least of some measures: no chance."""
    unread = (f"{text[: LENGTH - 20]}{' ' * number}" for number in range(10, 20))
    return max(
        [min([await decided(each, bash, next(unread)) for _ in range(AGAIN)]) for each in judges]
    )


def told(search: Search, scene: str) -> None:
    """Print the slowest texts."""
    print(f"{scene}: {search.tried:,} decisions; the slowest, in milliseconds of processor time")
    for seconds, text in search.slowest[:SHOWN]:
        shown = text if len(text) < SHORT else f"{text[:80]} ... {text[-30:]}"
        print(f"{seconds * 1e3:8.1f}  {len(text):6,} characters  {shown!r}")


async def main() -> None:
    """Search in both scenes and print the slowest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--repeat", action="store_true", help="repeat each piece and each command")
    way.add_argument("--stretch", action="store_true", help="repeat words within commands")
    parser.add_argument("--save", type=Path, help="a file for the slowest texts, as JSON")
    options = parser.parse_args()
    slowest: list[str] = []
    for scene, rules in (("no rules, no files", {}), ("rules, and 13,600 files", RULES)):
        search = Search(options.seed)
        with tempfile.TemporaryDirectory() as place:
            if rules:
                make_tree(Path(place))
            os.chdir(place)
            await searched(search, search.texts(options), rules, options.seconds / 2)
            os.chdir("/")
        told(search, scene)
        slowest += [text for _, text in search.slowest]
        if options.save:
            options.save.write_text(json.dumps(slowest, indent=1))


if __name__ == "__main__":
    asyncio.run(main())
