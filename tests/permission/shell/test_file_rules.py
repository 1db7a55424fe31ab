"""Rules of the file tools against commands: which rule is met, how surely, and what is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.paths.look_budget import KEPT_FOR_PATHS, Effort
from agentscope_like.permission.command.file_rules import FileRules
from agentscope_like.permission.context import PermissionContext
from agentscope_like.permission.mode import PermissionBehavior, PermissionMode
from agentscope_like.permission.protocol import RuleMatch
from agentscope_like.permission.rule import PermissionRule
from agentscope_like.shell import analyze
from agentscope_like.shell.surroundings import Surroundings

_FILES = "a src/app.py kept/a kept/b/c docs/x.txt deep/e/x.pem hops/plain"


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with secrets, and links that lead to them or nowhere."""
    base = tmp_path_factory.mktemp("rules").resolve()
    work = base / "work"
    for name in _FILES.split():
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (base / "other").mkdir()
    (base / "other" / "f").write_text("x")
    (work / "hops" / "way").symlink_to("../kept")
    (work / "hops" / "back").symlink_to(".")
    (work / "hops" / "gone").symlink_to("nothing")
    (work / "led").mkdir()
    (work / "led" / "file").symlink_to("../kept/a")
    (work / "led" / "out").symlink_to("../../other")
    return work


def rule(text: str) -> PermissionRule:
    """Return the rule that `Write(kept/**)` stands for."""
    name, _, content = text.removesuffix(")").partition("(")
    return PermissionRule(
        tool_name=name, rule_content=content or None, behavior=PermissionBehavior.DENY
    )


def met(
    command: str, work: Path, *rules: str, mode: str = "default", effort: Effort | None = None
) -> RuleMatch | None:
    """Return which of the rules a command meets."""
    around = Surroundings(
        directory=str(work),
        working=(str(work),),
        root=str(work),
        home="/home/u",
        effort=effort or Effort(),
    )
    listed = FileRules(
        [rule(text) for text in rules],
        read=lambda called: analyze(called["command"], directory=str(work), home="/home/u"),
        surroundings=lambda context: around,
    )
    return listed.match({"command": command}, PermissionContext(mode=PermissionMode(mode)))


def told(command: str, work: Path, *rules: str, mode: str = "default") -> str:
    """Return what is told of the rule that is met, with a mark for how sure that is."""
    found = met(command, work, *rules, mode=mode)
    return "" if found is None else f"{'!' if found.certain else '?'} {found.told}"


TOLD = """
Read(a) | cat a | ! `cat a` reads `a`
Read(a) | cat b |
Read(a) | cat WORK/a | ! `cat WORK/a` reads `a`
Read | cat /etc/hosts | ! `cat /etc/hosts` reads `/etc/hosts`
Read(.) | cat . | ! `cat .` reads `.`
Read(/etc/**) | cat a; cat /etc/hosts | ! `cat /etc/hosts` reads `/etc/hosts`
Write(a) | touch a | ! `touch a` writes `a`
Write(a) | cat a |
Read(a) | touch a |
Edit(a) | touch a | ! `touch a` writes `a`
Grep(a) | cat a | ! `cat a` reads `a`
Glob(a) | cat a | ! `cat a` reads `a`
Grep | cat a |
Glob | cat a |
Write | cat a |
Write | rm a | ! `rm a` removes `a`
Read | rm a |
Read(kept/**) | ls kept | ! `ls kept` looks at `kept`
Read(kept/**) | ls -R . |
Glob(kept/**) | ls -R . | ? `ls -R .` looks at what is below `.`, where `kept` is
Glob(kept/**) | ls . |
Grep(kept/**) | ls -R . |
Read(kept/**) | grep -r x . | ? `grep -r x .` reads what is below `.`, where `kept` is
Read(kept/a) | grep -r x . | ? `grep -r x .` reads what is below `.`, where `kept/a` is
Read(kept/a) | grep x * | ? `grep x *` reads what is below `*`, where `kept/a` is
Read(**/*.pem) | rg x deep | ? `rg x deep` reads what is below `deep`, where `deep/e/x.pem` is
Read(**/*.key) | grep -r x deep |
Read(docs/**) | grep -r x src |
Write(kept/a) | rm -r kept | ! `rm -r kept` removes what is below `kept`, where `kept/a` is
Write(kept/z) | rm -r kept |
Write(kept/a) | find . -delete | ? `find . -delete` removes what is below `.`, where `kept/a` is
Write(docs/src/x) | cp -r src docs | ? `cp -r src docs` writes what may come to lie below `docs/src`
Write(docs/other) | cp -r src docs |
Write(a) | echo x > "$y" | ? which path `echo x > "$y"` writes cannot be told before it runs
Read(a) | cat "$y" | ? which path `cat "$y"` reads cannot be told before it runs
Write(a) | cat "$y" |
Write(a) | touch "$y" a | ! `touch "$y" a` writes `a`
Read(kept/**) | mv kept x | ? `mv kept x` moves `kept`
Write(x) | mv a x | ! `mv a x` writes `x`
Read(kept/a) | grep -R x hops | ? `grep -R x hops` reads what is below `hops`, where `hops/way` is
Read(kept/a) | grep -r x hops |
Read(kept/a) | grep -R x led | ? `grep -R x led` reads what is below `led`, where `led/file` is
Read(BASE/other/f) | grep -R x led | ? `grep -R x led` reads what is below `led`, where `led/out` is
Read(BASE/other) | grep -R x led | ? `grep -R x led` reads what is below `led`, where `led/out` is
Read(BASE/third) | grep -R x led |
Read(hops/plain/x) | grep -R x hops |
Read(a) | git show HEAD:a | ? `git show HEAD:a` may show `a`
Read(a) | ls; ls |
"""


@pytest.mark.parametrize("row", TOLD.strip().splitlines())
def test_the_rule_that_speaks_of_what_is_touched_is_met(work: Path, row: str) -> None:
    """What is done, to which path, by which part; and whether that is for certain."""
    row = row.replace("WORK", str(work)).replace("BASE", str(work.parent))
    spoken, command, expected = (cell.strip() for cell in row.split(" |"))
    assert told(command, work, spoken) == expected


@pytest.mark.parametrize(
    ("command", "name", "mode", "expected"),
    [
        ("tool a", "Read(a)", "bypass", "? `tool a` names `a`, and may do anything with it"),
        ("tool a", "Write(a)", "bypass", "? `tool a` names `a`, and may do anything with it"),
        ("tool a", "Read(a)", "default", ""),
        ("tool a", "Read", "bypass", ""),
        ("tool b", "Read(a)", "bypass", ""),
        ("tool .", "Read(a)", "bypass", ""),
        ("cat a (", "Read(a)", "bypass", "? `cat a (` names `a`, and may do anything with it"),
        ("cat a (", "Read(a)", "default", ""),
    ],
)
def test_names_count_where_nothing_else_is_asked(
    work: Path, command: str, name: str, mode: str, expected: str
) -> None:
    """A path that is named to a program that may do anything counts in BYPASS."""
    assert told(command, work, name, mode=mode) == expected


def test_what_is_certain_comes_before_what_may_be(work: Path) -> None:
    """Of those that may be meant, the first; of those that are, the first too."""
    found = met('cat "$y" a', work, "Read(b)", "Read(a)")
    assert found is not None
    assert (found.rule.rule_content, found.certain) == ("a", True)
    found = met('cat "$y" c', work, "Read(b)", "Read(a)")
    assert found is not None
    assert (found.rule.rule_content, found.certain) == ("b", False)
    found = met('cat "$y"; grep -r x .', work, "Read(b)", "Read(a)")
    assert found is not None
    assert (found.rule.rule_content, found.certain) == ("b", False)


def test_where_no_rule_counts_nothing_is_looked_at(work: Path) -> None:
    """Rules for all that Grep or Glob does are about those tools alone."""
    for rules in ((), ("Grep",), ("Glob", "Grep")):
        assert met("cat a", work, *rules, effort=Effort(0)) is None
    found = met("cat a", work, "Grep", "Read(z)", effort=Effort(0))
    assert found is not None
    assert (found.rule.tool_name, found.certain) == ("Read", False)


def test_where_enough_has_been_looked_at_a_rule_may_be_met(work: Path) -> None:
    """The first rule stands for those that nobody had the effort to look at."""
    many = "cat " + " ".join(f"f{number}" for number in range(200))
    found = met(many, work, "Read(z)", "Read(y)", effort=Effort(1_500))
    assert found is not None
    assert (found.rule.rule_content, found.certain) == ("z", False)
    assert found.told == "it reaches too many files to look at each"
    assert met(many, work, "Read(z)", "Read(y)") is None
    found = met("grep -r x .", work, "Read(z)", "Read(**/y)", effort=Effort(KEPT_FOR_PATHS))
    assert found is not None
    assert (found.rule.rule_content, found.certain) == ("z", False)
    assert found.told == "`grep -r x .` reads what is below `.`, which is too much to look at"
    found = met(f'cat "$y"; {many}', work, "Write(z)", "Read(y)", effort=Effort(1_500))
    assert found is not None
    assert (found.rule.rule_content, found.told) == (
        "y",
        'which path `cat "$y"` reads cannot be told before it runs',
    )
    found = met("grep -R x deep", work, "Read(z)", effort=Effort(KEPT_FOR_PATHS))
    assert found is not None
    assert found.rule.rule_content == "z"
