"""Only the catalog knows programs: by all their names alike, and none that it does not list."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import agentscope_like
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionEngine,
    PermissionMode,
)
from agentscope_like.shell import analyze, catalog
from agentscope_like.shell.catalog import names_of
from agentscope_like.tool.builtin.bash.bash_tool import Bash
from tests.oracle.corpus import everyday, harmful
from tests.record import read_record, world

pytestmark = pytest.mark.slow

PACKAGE = Path(agentscope_like.__file__).parent
UNKNOWN = "no-such-program"
CHUNKS = 4

RECORDED = list(read_record())[::10]
EVERYDAY = [sample.command for sample in everyday()]
COMMANDS = list(dict.fromkeys((*EVERYDAY, *(each.command for each in harmful()), *RECORDED)))

Runner = tuple[Bash, list[PermissionEngine]]


@pytest.fixture
def runner() -> Iterator[Runner]:
    """A shell tool in a workspace, and an engine for each mode that runs commands unasked."""
    modes = (PermissionMode.DEFAULT, PermissionMode.EXPLORE, PermissionMode.ACCEPT_EDITS)
    engines = [PermissionEngine(PermissionContext(mode=mode)) for mode in modes]
    with world() as work:
        yield Bash(cwd=work, confine="off"), engines


async def decide(command: str, runner: Runner) -> list[PermissionBehavior]:
    """Return what is decided about a command in DEFAULT, EXPLORE and ACCEPT_EDITS."""
    bash, engines = runner
    decisions = [await each.check_permission(bash, {"command": command}) for each in engines]
    return [decision.behavior for decision in decisions]


def spots(command: str) -> Iterator[tuple[int, int]]:
    """Yield where the names of programs stand in a command, as they are written there."""
    seen = set()
    for part in analyze(command, directory="/ws", home="/home/u").parts:
        if not part.words or part.words[0].literal is None:
            continue
        span, name = part.words[0].span, part.words[0].literal
        place = (span.start, span.end)
        if command[span.start : span.end] == name and place not in seen:
            seen.add(place)
            yield place


@pytest.mark.parametrize("chunk", range(CHUNKS))
async def test_all_names_of_a_program_decide_alike(chunk: int, runner: Runner) -> None:
    """Where a command runs a program by one of its names, any other of them changes nothing."""
    compared, different = 0, []
    for command in COMMANDS[chunk::CHUNKS]:
        for start, end in spots(command):
            name = command[start:end]
            for other in sorted(names_of(catalog.canonical(name)) - {name})[:2]:
                changed = f"{command[:start]}{other}{command[end:]}"
                compared += 1
                if await decide(changed, runner) != await decide(command, runner):
                    different.append(changed)
    assert different == []
    assert compared > 100


@pytest.mark.parametrize("chunk", range(CHUNKS))
async def test_an_unknown_program_is_never_allowed(chunk: int, runner: Runner) -> None:
    """A program that no table knows is not taken for harmless, wherever it stands."""
    replaced, allowed = 0, []
    for command in EVERYDAY[chunk::CHUNKS]:
        for start, end in spots(command):
            changed = f"{command[:start]}{UNKNOWN}{command[end:]}"
            default, explore, _ = await decide(changed, runner)
            replaced += 1
            if PermissionBehavior.ALLOW in (default, explore):
                allowed.append(changed)
    assert allowed == []
    assert replaced > 500


async def test_a_gnu_name_is_no_way_around(runner: Runner) -> None:
    """`gtr` may make the name of a secret as `tr` does; a name that is seen may be shown."""
    allowed = PermissionBehavior.ALLOW
    for program in ("tr", "gtr"):
        assert allowed not in await decide(f"echo xenv | {program} x . | xargs cat", runner)
    assert await decide("echo b.py | xargs cat", runner) == [allowed] * 3


PACKAGES = ("permission", "sandbox", "shell", "tool")
EXCEPTIONS = {
    "printed_output.py": "functions, each of which works out what one program prints",
    "bash_tool.py": "fields of what the tool is given",
    "argument_expander.py": "words of the messages that grep prints",
    "sandbox_shell.py": "the words of a command that it runs itself",
}
"""Modules that may list names of programs, and what for."""


def listed(tree: ast.AST) -> Iterator[tuple[int, list[str]]]:
    """Yield the literal collections of a module that look like programs: line and names."""
    known = catalog.names()
    for node in ast.walk(tree):
        match node:
            case ast.Set(elts=elements) | ast.List(elts=elements) | ast.Tuple(elts=elements):
                found = elements
            case ast.Dict(keys=keys):
                found = [key for key in keys if key is not None]
            case _:
                continue
        texts = [each.value for each in found if isinstance(each, ast.Constant)]
        names = [text for text in texts if isinstance(text, str) and text in known]
        if len(names) > 1 and 2 * len(names) >= len(found):
            yield node.lineno, names


def test_no_module_lists_programs() -> None:
    """Which programs do what is said in the catalog, so that no list can miss one of them."""
    found = {}
    files = [file for name in PACKAGES for file in sorted((PACKAGE / name).rglob("*.py"))]
    assert {file.name for file in files} >= EXCEPTIONS.keys()
    for file in files:
        for line, names in listed(ast.parse(file.read_text("utf-8"))):
            if file.name not in EXCEPTIONS:
                found[f"{file}:{line}"] = names
    assert found == {}
    assert list(listed(ast.parse('a = {"cp", "mv"}\nb = ("x", "cp")'))) == [(1, ["cp", "mv"])]


@pytest.mark.parametrize(
    ("directory", "is_known"),
    [
        ("/bin", True),
        ("/sbin", True),
        ("/usr/bin", True),
        ("/usr/sbin", True),
        ("/usr/local/bin", True),
        ("/usr/local/sbin", True),
        ("/opt/homebrew/bin", True),
        ("/usr/bin/x", False),
        ("/usr", False),
        ("/opt/bin", False),
        ("/usr/bin/..", False),
        ("usr/bin", False),
        ("bin", False),
        (".", False),
        ("~/bin", False),
    ],
)
def test_a_program_is_known_in_directories_of_the_system(directory: str, is_known: bool) -> None:
    """What lies anywhere else may be anything, whatever its name is."""
    assert analyze(f"{directory}/ls", directory="/ws", home="/home/u").read_only is is_known
