"""What is proven of a plain line at a glance is what the whole analysis proves of it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_like.message import ToolCallBlock, ToolResponse
from agentscope_like.permission import PermissionDecision, PermissionEngine, PermissionMode
from agentscope_like.shell import PlainRead, Surroundings, analyze, plain_read, steered
from agentscope_like.shell.catalog import Grammar, lookup, names, programs_with
from agentscope_like.state import AgentState
from agentscope_like.tool import Bash, Toolkit
from agentscope_like.tool.builtin.bash import bash_tool
from agentscope_like.tool.builtin.bash.environment.git_programs import git_places, place_in
from tests.oracle.corpus import everyday, harmful
from tests.permission.kit import context_of
from tests.record import read_record, world

EXAMPLES = int(os.environ.get("PLAIN_EXAMPLES", "4000"))
"""How many commands are composed; set the variable for a long run."""

DECIDED = 150 if EXAMPLES <= 4000 else 1_000_000
"""How many of the recorded lines are decided about, in each mode and under each set of rules."""

DEFAULT = PermissionMode.DEFAULT
_EACH = 100
_WORDS = (
    *("a", "HEAD", "main", "src/a.py", ".env", "1", "20", "-", "-5", "--", "x=y", "+%Y", "a:b"),
    *(
        "@",
        "%H",
        "short",
        "iso",
        "never",
        "auto",
        "git",
        "env",
        "/etc/passwd",
        "..",
        "a,b",
        "^a",
        "-x",
    ),
    *("--help", "--version", "-h", "--oneline", "--all", "-abc", "-n5", "--stat=3", "origin", "-v"),
)
_RULES = (
    (),
    ("deny git log:*", "ask echo:*", "deny date", "deny env", "allow Bash", "deny Read(src/**)"),
    ("deny g* status", "ask * --oneline", "deny wc:*", "ask Read(.env)", "allow git:*"),
)


class _Composer:
    """Composes plain lines of the catalog's own programs, sub-commands, options and values."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def line(self) -> str:
        """Return a pipeline of up to three commands."""
        stages = self._random.choice((1, 1, 1, 2, 3))
        return self._random.choice((" | ", "|")).join(self._command() for _ in range(stages))

    def _command(self) -> str:
        name = self._random.choice(_programs() if self._chance(0.5) else _proven_programs())
        return " ".join([name, *self._arguments(lookup(name))])

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _arguments(self, grammar: Grammar | None) -> Iterator[str]:
        if grammar is None:
            return
        if grammar.subs and self._chance(0.9):
            if self._chance(0.15):
                yield from self._option(grammar)
            name = self._random.choice(_subs(grammar.name))
            yield name
            yield from self._arguments(grammar.subs[name])
            return
        for _ in range(self._random.choice((0, 1, 1, 2, 3))):
            yield from self._option(grammar)
        for _ in range(self._random.choice((0, 0, 0, 1, 1, 2, 3))):
            yield self._random.choice(_WORDS)
        if self._chance(0.1):
            yield from self._option(grammar)

    def _option(self, grammar: Grammar) -> Iterator[str]:
        if not grammar.flags:
            return
        name = self._random.choice(_flags(grammar.name, grammar))
        flag = grammar.flags[name]
        letters = [each[1] for each in _flags(grammar.name, grammar) if len(each) == 2]
        if len(name) == 2 and self._chance(0.2):
            name = f"-{''.join(self._random.choices(letters, k=2))}{name[1]}"
        if flag.role is None and self._chance(0.95):
            yield name
            return
        known = flag.role.pattern.pattern if flag.role and flag.role.pattern else ""
        words = [word for word in known.replace("\\", "").split("|") if word.isalnum()]
        value = self._random.choice(words if words and self._chance(0.7) else _WORDS)
        how = self._random.choice(("alone", "next", "next", "joined", "joined"))
        if how == "joined":
            yield f"{name}{'=' if name.startswith('--') else ''}{value}"
            return
        yield name
        if how == "next":
            yield value


@cache
def _programs() -> tuple[str, ...]:
    return tuple(sorted(names()))


@cache
def _proven_programs() -> tuple[str, ...]:
    """Return the programs of which some call is proven, git among them as often as all others."""
    found = [
        name
        for name in _programs()
        if any(plain_read(f"{name}{rest}") for rest in ("", " a", " 1", " --version"))
    ]
    return (*found, *["git"] * len(found))


@cache
def _subs(name: str) -> tuple[str, ...]:
    program, *rest = name.split()
    grammar = lookup(program)
    for each in rest:
        grammar = None if grammar is None else grammar.subs[each]
    return () if grammar is None else tuple(grammar.subs)


_known_flags: dict[str, tuple[str, ...]] = {}


def _flags(name: str, grammar: Grammar) -> tuple[str, ...]:
    return _known_flags.setdefault(name, tuple(grammar.flags))


def _not_asked() -> Surroundings:
    raise AssertionError("files were asked for that may steer a program")


def check(line: PlainRead) -> None:
    """Compare what was proven of a plain line with its analysis."""
    analysis = analyze(line.command, directory="/ws")
    assert analysis.read_only, line
    assert analysis.names_no_file, line
    assert not analysis.effects, line
    assert not analysis.inner, line
    assert [part.argv for part in analysis.parts] == list(line.commands), line
    assert [part.program for part in analysis.parts] == line.programs, line
    assert {part.directories for part in analysis.parts} == {("/ws",)}, line
    assert steered(analysis, _not_asked) is analysis, line
    alone, runs_git = len(line.commands) == 1, programs_with("runs_git")
    ours = [words for words in line.commands if words[0] in runs_git]
    places = [place_in("/ws", words, is_alone=alone) for words in ours]
    assert git_places(analysis) == tuple(dict.fromkeys(places)), line


@settings(max_examples=EXAMPLES // _EACH)
@given(st.integers(0, 1 << 60))
def test_the_analysis_proves_each_line_that_is_proven_at_a_glance(seed: int) -> None:
    """It finds the same words, no doubt, no file, nothing that steers, the same repositories."""
    composer = _Composer(seed)
    lines = list(filter(None, (plain_read(composer.line()) for _ in range(_EACH))))
    assert lines
    for line in lines:
        check(line)


def test_the_analysis_proves_each_recorded_line_that_is_proven_at_a_glance() -> None:
    """So it is for all commands that are recorded, of which hundreds are proven so."""
    lines = _recorded()
    assert len(lines) > 500
    for line in lines:
        check(line)


@pytest.mark.parametrize("rules", _RULES, ids=("no rules", "many words", "patterns"))
@pytest.mark.parametrize("mode", PermissionMode)
def test_recorded_lines_are_decided_alike(mode: PermissionMode, rules: tuple[str, ...]) -> None:
    """A decision is the same in all that it says, whether or not a line is proven at a glance."""
    lines = _recorded()
    lines = Random(f"{mode} {rules}").sample(lines, min(DECIDED, len(lines)))
    commands = [line.command for line in lines]
    with world() as work:
        quick = _decisions(commands, work, mode, rules)
        with patch.object(bash_tool, "plain_read", return_value=None):
            walked = _decisions(commands, work, mode, rules)
    assert [each for each in zip(commands, quick, walked, strict=True) if each[1] != each[2]] == []


@pytest.mark.parametrize(("path", "decided"), [("{}", "ask"), ("{}:/usr/bin:/bin", "allow")])
def test_a_program_of_the_project_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, decided: str
) -> None:
    """A line is not proven at a glance where only the project has its program."""
    (tmp_path / "date").write_text("")
    (tmp_path / "date").chmod(0o755)
    monkeypatch.setenv("PATH", path.format(tmp_path))
    assert plain_read("date") is not None
    assert [each.behavior.value for each in _decisions(["date"], tmp_path, DEFAULT, ())] == [
        decided
    ]


@pytest.mark.parametrize(("words", "state"), [(("touch", "made"), "error"), (("pwd",), "success")])
def test_what_the_analysis_does_not_prove_does_not_run(
    tmp_path: Path, words: tuple[str, ...], state: str
) -> None:
    """Were more proven at a glance than is so, the call would be allowed, and nothing would run."""
    command = " ".join(words)
    toolkit = Toolkit(tools=[Bash(cwd=tmp_path, confine="off")])
    block = ToolCallBlock(id="1", name="Bash", input=json.dumps({"command": command}))
    with patch.object(bash_tool, "plain_read", return_value=PlainRead(command, [words])):
        result = toolkit.call(block, AgentState())
    assert isinstance(result, ToolResponse)
    assert result.state.value == state
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("rule", "analyses"), [("deny make:*", 0), ("ask npm run:*", 0), ("deny date -s:*", 1)]
)
def test_rules_about_other_programs_need_no_analysis(
    tmp_path: Path, rule: str, analyses: int
) -> None:
    """Where no word of a plain line begins what a rule is about, the whole analysis is left out."""
    with patch.object(bash_tool, "analyze", wraps=analyze) as analyzed:
        found = _decisions(["date"], tmp_path, DEFAULT, (rule,))
    assert [each.behavior.value for each in found] == ["allow"]
    assert analyzed.call_count == analyses


@cache
def _recorded() -> list[PlainRead]:
    samples = [sample.command for sample in (*everyday(), *harmful())]
    commands = dict.fromkeys((*read_record(), *samples))
    return list(filter(None, map(plain_read, commands)))


def _decisions(
    commands: list[str], work: Path, mode: PermissionMode, rules: tuple[str, ...]
) -> list[PermissionDecision]:
    engine, bash = PermissionEngine(context_of(rules, mode)), Bash(cwd=work, confine="off")

    async def decide() -> list[PermissionDecision]:
        return [await engine.check_permission(bash, {"command": each}) for each in commands]

    return asyncio.run(decide())


@pytest.mark.parametrize(
    ("proven", "neighbour"),
    [
        ("git log -5", "git log -5 -p"),
        ("git log --oneline -n 3 | wc -l", "git log --oneline -n 3 | wc -l a"),
        ("git --no-pager log", "git -C a log"),
        ("git branch -a", "git branch a"),
        ("git log --format=%h", "git log --format=%GG"),
        ("git status -s", "git status -v"),
        ("echo a b", "echo $a"),
        ("date +%Y", "date -s 1"),
        ("echo xargs", "xargs"),
        ("head -5", "head -5 a"),
        ("sort -n", "sort -o a"),
        ("pwd", "/tmp/pwd"),
        ("sort -k 2", "sort -k"),
        ("sort -t , -k2", "sort -k -r"),
        ("sort -nr", "sort -nq"),
        ("git log --author=a=b", "git log --output=a=b"),
        ("git log --max-count 3", "git log --no-such 3"),
        ("git log --max-count=3 main", "git log --max-count=3 -L1"),
        ("git reflog", "git show"),
        ("git tag -n5", "git tag a"),
        ("git --no-pager --no-pager log -1", "git -p log -1"),
        ("head -n 5", "head -n -5"),
        ("head -c5", "head -5x"),
        ("tail -n +3", "tail -f"),
        ("wc -lc", "wc -"),
        ("wc", "grep"),
        ("date -R +%Y", "date +%Y +%m"),
        ("date -d 1 -u", "date a"),
        ("tr a b", "tr a b c"),
        ("tr -d a", "sort -no a"),
        ("uname -a", "uname -a b"),
        ("sleep 1", "sleep infinity"),
        ("nproc --ignore 1", "nproc 1"),
        ("nproc --ignore=1", "nproc --no-such=1"),
        ("basename a .py", "xargs basename"),
        ("uniq -f 1", "uniq a"),
        ("echo -- -n", "uname --"),
        ("env", "printenv -x a"),
        ("nice", "nice ls"),
        ("printf a -b", "printf -v a"),
        ("sleep 1 2s", "sleep 1 x"),
        ("factor 1 2", "sleep x 1"),
        ("seq 1 -1", "seq 1 -x"),
        ("expr 1 -x", "wc -5"),
        ("sort -k1 -t , -u", "sort -t"),
        ("echo a | wc", "echo a | | wc"),
        ("git rev-parse HEAD --short", "git describe"),
        ("|".join(["wc"] * 128), "|".join(["wc"] * 129)),
    ],
)
def test_what_names_a_file_or_may_change_one_is_left_to_the_analysis(
    proven: str, neighbour: str
) -> None:
    """A plain line of texts, numbers and names is proven at a glance; its neighbour is not."""
    assert plain_read(proven) is not None
    assert plain_read(neighbour) is None
