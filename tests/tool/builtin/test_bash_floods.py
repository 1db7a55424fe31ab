"""Long commands, made to take long to decide: each is decided at once, whatever they reach."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.tool.builtin.bash.bash_tool import Bash

pytestmark = pytest.mark.slow

_RULES = [
    PermissionRule(tool_name="Bash", rule_content="rm:*", behavior=PermissionBehavior.DENY),
    PermissionRule(tool_name="Write", rule_content="**/*.key", behavior=PermissionBehavior.DENY),
    PermissionRule(tool_name="Write", rule_content="build/**", behavior=PermissionBehavior.DENY),
    PermissionRule(tool_name="Read", rule_content="**/private/**", behavior=PermissionBehavior.ASK),
]
_MOST_CALLS = 2_000_000
"""About a fifth of a second; what compares all pairs of some thousand words makes more."""

_NAMES = " ".join(f"f{number}" for number in range(450))
_COPIED = " ".join(f"d/f{number}" for number in range(450))

_FLOODS = {
    "redirections": "true" + " &>f 1>&2" * 400,
    "targets of a copy": f"cp -r {_NAMES} d",
    "copies that are read": f"cp -a {_NAMES} d; cat {_COPIED}",
    "moves that are read": f"mv {_NAMES} d; cat {_COPIED}",
    "links": f"ln -s {_NAMES} d",
    "links that are written through": f"ln -s {_NAMES} d; touch {_COPIED}",
    "copies of copies": "cp -a f d; " * 125,
    "searches of one place": "grep -rn x .|" * 125 + "cat",
    "names of names": "cat $(git ls-files '*.md' | head -1)|" * 40 + "cat",
    "names handed on": "ls|" + "xargs cat|" * 60 + "cat",
    "names read in loops": "while read x; do cat $x; done;" * 60,
    "searches whose names are read": "find . | xargs cat; " * 40,
    "letters of an option": "export -" + "di" * 4_990,
    "letters of a variable": "echo $" + "dev" * 3_000 + "$(ls)",
    "scripts in scripts": "eval " * 20 + "cat " + "abc " * 2_400,
    "directories of wrappers": "env -C src" * 900,
    "commands of a search": "find . -exec rm {} \\; " * 400,
    "ends of variables": "cat " + "${HOME##*/} " * 800 + "$x",
    "options of a list": "tree -L 2 " * 800,
    "wrappers of words": "env -C src " * 800,
    "words of a search of git": "git grep x " + "abc " * 2_490,
    "commands that cannot be read": " ".join(f"git gc {each}" for each in range(800)) + "'",
    "a pattern of many names": "cat " + "*/" * 4_990,
    "places of a search whose names are read": (
        "find " + "src/0 " * 1_000 + "-name '*.py' -o " * 200 + "-name x | xargs cat"
    ),
    "names handed on by many": "git ls-files | xargs -I{} wc -l" + " {}" * 650,
    "names found for one program": "find src -exec grep -l x {} + " * 300,
    "places of a search that removes": "find " + "d/0 " * 2_000 + "-name x -delete",
    "divisions": "awk '{c++} CERT/" + "{c++} CERT/" * 900 + "' f",
    "options of programs in a text that cannot be read": "git -C " * 1_240 + "'",
    "expressions in loops": "x=1; while :; do while :; do let " + "a=b " * 2_000 + "; done; done",
    "patterns of an unknown program": "* " * 1_000 + "| xargs grep -n x",
    "arguments that may be none": "n=$(wc -l < f); cat " + "*/* " * 480 + "$n",
    "patterns": "ls " + "*/* " * 900,
    "words that are printed": "printf '" + "x" * 5_000 + "%s' " + "a " * 2_300 + "| xargs cat",
    "ends of paths": "cat " + " ".join(f'"$x"/*a{number}' for number in range(900)),
    "names in an unknown place": "cd $x; cat " + " ".join(f"a{number}" for number in range(1_500)),
    "copies of what is made": ";".join(f"touch d/{each}; cp -r d b" for each in range(170)),
    "modes": "chmod " + "o+w," * 2_400 + " f",
    "patterns for git": "git diff -- " + " ".join(f"'*a{number}'" for number in range(900)),
    "downloads": "curl x; bash f; " * 300,
    "words of an unknown program": "carry 'rm x' " * 750,
    "removals": f"rm -rf {_NAMES}",
    "directories": "cd src; ls; cd ..; " * 40,
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of a few hundred files."""
    for folder in ("src", "docs", "d"):
        for number in range(100):
            (tmp_path / folder / str(number % 10)).mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / str(number % 10) / f"{number}.md").touch()
    return tmp_path


@contextmanager
def _counted_calls() -> Iterator[Counter[str]]:
    """Count the calls of functions, of Python and built in, that this thread makes meanwhile."""
    calls: Counter[str] = Counter()

    def count(_frame: FrameType, event: str, _function: object) -> None:
        calls[event] += 1

    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("command", _FLOODS.values(), ids=_FLOODS)
@pytest.mark.parametrize("mode", [PermissionMode.EXPLORE, PermissionMode.ACCEPT_EDITS])
async def test_floods_are_decided_at_once(
    command: str, mode: PermissionMode, project: Path
) -> None:
    """No command of 10,000 characters takes many calls; what compares all pairs fails here."""
    engine = PermissionEngine(PermissionContext(mode=mode))
    for each in _RULES:
        engine.add_rule(each)
    bash = Bash(cwd=project)
    await engine.check_permission(bash, {"command": "cat $(ls) '"})  # loads what is loaded once
    with _counted_calls() as calls:
        await engine.check_permission(bash, {"command": command[:10_000]})
    assert calls["call"] + calls["c_call"] < _MOST_CALLS
