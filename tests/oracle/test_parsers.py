"""What is proven to read is read alike by bashlex and tree-sitter-bash.

PARSED_EXAMPLES is the number of generated commands that are judged; the normal run takes a sample
of the corpora, a long one all of them. Where the parsers are known to be wrong stands in
`false_alarms.toml`.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest

from agentscope_like.shell import analyze
from agentscope_like.shell.syntax import Script, read
from tests.oracle.corpus import everyday, harmful
from tests.oracle.generator import Generator
from tests.oracle.parsers import BASHLEX, TREE_SITTER, Parsers
from tests.record import read_record

EXAMPLES = int(os.environ.get("PARSED_EXAMPLES", "1500"))
SEED = int(os.environ.get("FUZZ_SEED", "20240601"))
_SAMPLED = 1500
_IS_LONG = EXAMPLES > 10_000
_MAX_FINDINGS = 20
_COMMANDS = Path(__file__).parents[1] / "data" / "commands"


class Alarm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of text that a parser is known to get wrong."""

    parser: str
    pattern: str
    why: str
    example: str


ALARMS = [
    msgspec.convert(each, Alarm)
    for each in tomllib.loads(Path(__file__).with_name("false_alarms.toml").read_text())["alarm"]
]

AGREED = [
    "ls -la | head -5; pwd",
    "cd x && ls 2>/dev/null || echo none",
    'echo $(ls `pwd`) "$(git log "$(cat x)")"',
    "diff <(sort a) <(sort b) | head",
    'for f in *.py; do [ -f "$f" ] && wc -l "$f"; done | sort -n',
    "while IFS= read -r l; do echo $l; done < <(ls)",
    "if ls; then pwd; elif id; then :; else uname; fi",
    "f() { ls; }; f",
    "ls &> /dev/null; ls >& f; ls |& cat; ls 2>&1 > $(pwd)",
    "ls # it's `x`\npwd",
    "echo é $(ls 'ñ 🎉') ü | grep \"ö\" <(cat ä)",
    "[[ -n $(ls) && $a == b* ]] && pwd",
    "case $x in a|b) ls;; *) pwd;; esac",
    "cat <<'E' | wc -l\n$(x) `y`\nE\nls",
    "(( $(ls | wc -l) > 1 + $(id) )) && pwd; (( x = $(ls) ))",
    "time { ls; id; } | cat; time -p { pwd; }",
]
"""Texts that all parsers read alike."""

MISREAD = [
    ("ls; rm x", "ls"),
    ("ls", "ls; rm x"),
    ("ls | rm x", "ls a rm x"),
    ("ls 'a;b' c", "ls 'a; b'c"),
    ("echo $(rm x)", "echo '(rm x)'"),
    ("ls > a; pwd", "ls   a; pwd"),
    ("cat <(rm x)", "cat '(rm x'"),
    ("ls\nrm x", "ls #rm x"),
    ("cat <<E\n$(rm x)\nE", "cat <<'E'\n(rm)\nE"),
    ("ls --x=\"'$(rm x)'\"; id", "ls --x=a'$(rm x)'a; id"),
    ("time { ls; rm x; }", "time { ls; rm-x; }"),
    ("(( $(rm x) )); ls", "(( 1 + 22222 )); ls"),
    ("echo $(ls && rm x)", "echo $(ls && rm=x)"),
    ("cat <<E; ls\nx\nE\nrm x", "cat <<E; ls\nx\nrm\nE"),
]
"""Texts, each with another text as which a faulty reader could take it."""


@pytest.fixture(scope="module")
def parsers() -> Iterator[Parsers]:
    """Return both parsers."""
    parsers = Parsers()
    yield parsers
    parsers.close()


def _corpus() -> list[str]:
    found = [sample.command for sample in (*everyday(), *harmful())]
    found += read_record()
    return list(dict.fromkeys(found))


def _generated(number: int) -> Iterator[str]:
    for hostility in (0.1, 0.6):
        generator = Generator(Random(SEED), hostility=hostility)
        for _ in range(number // 2):
            yield generator.command()


def _proven(commands: Iterable[str]) -> Iterator[tuple[str, Script]]:
    """Yield the texts, each with its tree, of the commands that are proven to read only."""
    for command in commands:
        analysis = analyze(command, directory="/ws", home="/home/u")
        if analysis.read_only:
            yield from analysis.texts


def _alarms(parsers: Parsers, text: str, script: Script) -> Iterator[str]:
    """Yield what a parser finds otherwise, but where it is known to be wrong."""
    for parser, found in parsers.differences(text, script).items():
        if not any(each.parser == parser and re.search(each.pattern, text) for each in ALARMS):
            yield f"{text!r}: {parser} {found.message}"


def _report(parsers: Parsers, commands: Iterable[str]) -> tuple[int, list[str]]:
    """Return how many texts were compared, and the first that are read otherwise."""
    seen: set[str] = set()
    found: list[str] = []
    for text, script in _proven(commands):
        if text not in seen and len(found) < _MAX_FINDINGS:
            seen.add(text)
            found += _alarms(parsers, text, script)
    return len(seen), found


@pytest.mark.timeout(86_400 if _IS_LONG else 300)
def test_proven_commands_of_the_corpus_are_read_alike(parsers: Parsers) -> None:
    """In what is called a read, both parsers find the commands that were read."""
    commands = _corpus()
    commands = commands if _IS_LONG else Random(SEED).sample(commands, _SAMPLED)
    compared, found = _report(parsers, commands)
    assert not found, "\n".join(found)
    assert compared > len(commands) // 8


@pytest.mark.timeout(86_400 if _IS_LONG else 300)
def test_proven_commands_of_the_generator_are_read_alike(parsers: Parsers) -> None:
    """So they do in commands that are made from the catalog, however they are spoilt."""
    compared, found = _report(parsers, _generated(EXAMPLES))
    assert not found, "\n".join(found)
    assert compared > EXAMPLES // 8


@pytest.mark.parametrize("text", AGREED)
def test_the_form_of_a_tree_does_not_count(parsers: Parsers, text: str) -> None:
    """Where all mean the same, no difference is told, whatever the form of their trees."""
    assert parsers.differences(text, read(text)) == {}


@pytest.mark.parametrize(("text", "read_as"), MISREAD)
def test_a_faulty_reading_is_found(parsers: Parsers, text: str, read_as: str) -> None:
    """Were the reader to take a text for another one, a parser would say so."""
    assert parsers.differences(text, read(read_as))
    assert not list(_alarms(parsers, text, read(text)))


@pytest.mark.parametrize("alarm", ALARMS, ids=[each.example for each in ALARMS])
def test_a_known_false_alarm_is_one(parsers: Parsers, alarm: Alarm) -> None:
    """Each kind is of a known parser, which still gets its example wrong, where bash does not."""
    assert alarm.parser in {BASHLEX, TREE_SITTER}
    assert re.search(alarm.pattern, alarm.example)
    assert alarm.parser in parsers.differences(alarm.example, read(alarm.example))
