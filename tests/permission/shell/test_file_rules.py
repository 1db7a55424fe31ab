"""Rules of the file tools against commands: which rule is met, how surely, and what is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.permission import PermissionDecision
from tests.permission.kit import Place, decide, make_place

_FILES = "a src/app.py kept/a kept/b/c docs/x.txt deep/e/x.pem hops/plain led/x proc/12/a"


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a project with files, and links that lead to some of them, elsewhere or nowhere."""
    made = make_place(tmp_path_factory.mktemp("rules"), _FILES)
    work, base = made.work, made.work.parent
    (base / "other").mkdir()
    (base / "other" / "f").write_text("x")
    (work / "hops" / "way").symlink_to("../kept")
    (work / "hops" / "back").symlink_to(".")
    (work / "hops" / "gone").symlink_to("nothing")
    (work / "led" / "x").unlink()
    (work / "led" / "file").symlink_to("../kept/a")
    (work / "led" / "out").symlink_to("../../other")
    return made


def denied(command: str, where: Place, *rules: str) -> PermissionDecision:
    """Return what is decided where all is allowed but for some rules."""
    return decide(command, where, rules=["allow Bash", *(f"deny {rule}" for rule in rules)])


TOLD = """
Read(a) | terraform state list -state=a | deny a
Read(a) | terraform state list -state=b | allow
Read(a) | terraform output -state=a | deny a
Read(kept/a) | pushd kept && cd b && popd && cat a | allow
Read(kept/a) | pushd kept && cd b && popd && cat kept/a | deny kept/a
Read(a) | cat a | deny a
Read(a) | cat b | allow
Read(a) | cat WORK/a | deny a
Read(b) | bash -c 'head -1 <(cat a)' | allow
Read(a) | bash -c 'head -1 <(cat a)' | deny a
Read(a) | bash -c 'cat "$0"' a | ask
Read | cat /etc/hosts | deny /etc/hosts
Read(.) | cat . | deny .
Read(/etc/**) | cat a; cat /etc/hosts | deny /etc/hosts
Write(a) | touch a | deny a
Write(a) | cat a | allow
Read(a) | touch a | allow
Edit(a) | touch a | deny a
Grep(a) | cat a | deny a
Glob(a) | cat a | deny a
Grep | cat a | allow
Glob | cat a | allow
Write | cat a | allow
Write | rm a | deny a
Read | rm a | allow
Read(kept/**) | ls kept | deny kept
Read(kept/**) | ls -R . | allow
Glob(kept/**) | ls -R . | ask kept
Glob(kept/**) | ls . | allow
Grep(kept/**) | ls -R . | allow
Read(kept/**) | grep -r x . | ask kept
Read(kept/a) | grep -r x . | ask kept/a
Read(kept/a) | grep x * | ask kept/a
Read(**/*.pem) | rg x deep | ask deep/e/x.pem
Read(**/*.key) | grep -r x deep | allow
Read(**/*.key) | grep -r x proc/12 | allow
Read(docs/**) | grep -r x src | allow
Write(kept/a) | rm -r kept | deny kept/a
Write(kept/z) | rm -r kept | allow
Write(kept/a) | find kept -delete | ask kept/a
Write(docs/src/x) | cp -r src docs | ask docs/src
Write(docs/other) | cp -r src docs | allow
Write(a) | echo x > "$y" | ask
Read(a) | cat "$y" | ask
Write(a) | cat "$y" | allow
Write(a) | touch "$y" a | deny a
Read(kept/**) | mv kept x | ask kept
Write(x) | mv a x | deny x
Read(kept/a) | grep -R x hops | ask hops/way
Read(kept/a) | grep -r x hops | allow
Read(kept/a) | grep -R x led | ask led/file
Read(BASE/other/f) | grep -R x led | ask led/out
Read(BASE/other) | grep -R x led | ask led/out
Read(BASE/third) | grep -R x led | allow
Read(hops/plain/x) | grep -R x hops | allow
Read(kept/a/x) | grep -R x led | allow
Read(hops/back/plain) | grep -R x hops | allow
Read(kept/b/c) | grep -R x hops | ask hops/way
Read(kept/a) | cd kept; grep -r x | ask kept/a
Write(docs/kept/z) | cp -r kept docs | ask docs/kept
Write(kept/b/c) | chmod -R u+x kept | ask kept/b/c
Write(kept/b/d) | chmod -R u+x kept | allow
Write(kept/b/c) | rm -r kept | deny kept/b/c
Glob(kept/b/*) | ls -R kept | ask kept/b/c
Glob(kept/z/*) | ls -R kept | allow
Read(a) | git show HEAD:a | ask a
Read(a) | ls; ls | allow
"""
"""A rule, a command, what becomes of it, and the place that is named to a person."""


@pytest.mark.parametrize("row", TOLD.strip().splitlines())
def test_the_rule_that_speaks_of_what_is_touched_is_met(where: Place, row: str) -> None:
    """What is done, to which path, by which part; and whether that is for certain."""
    row = row.replace("WORK", str(where.work)).replace("BASE", str(where.work.parent))
    spoken, command, expected = (cell.strip() for cell in row.split(" | "))
    behavior, _, place = expected.partition(" ")
    decision = denied(command, where, spoken)
    assert decision.behavior.value == behavior
    if behavior != "allow":
        assert f"`deny {spoken}`" in decision.message
    if place:
        assert f"`{place}`" in decision.message


@pytest.mark.parametrize(
    ("command", "rule", "mode", "is_met"),
    [
        ("tool a", "Read(a)", "bypass", True),
        ("tool a", "Write(a)", "bypass", True),
        ("tool a", "Read(a)", "default", False),
        ("tool a", "Read", "bypass", False),
        ("tool b", "Read(a)", "bypass", False),
        ("tool .", "Read(a)", "bypass", False),
        ("cat a (", "Read(a)", "bypass", True),
        ("cat a (", "Read(a)", "default", False),
    ],
)
def test_names_count_where_nothing_else_is_asked(
    where: Place, command: str, rule: str, mode: str, is_met: bool
) -> None:
    """A path that is named to a program that may do anything counts in BYPASS."""
    decision = decide(command, where, mode=mode, rules=[f"deny {rule}"])
    assert (f"`deny {rule}`" in decision.message) is is_met


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ('cat "$y" a', "Read(a)"),
        ('cat "$y" c', "Read(b)"),
        ('cat "$y"; grep -r x .', "Read(b)"),
    ],
)
def test_what_is_certain_comes_before_what_may_be(where: Place, command: str, rule: str) -> None:
    """Of those that may be meant, the first; of those that are, the first too."""
    assert f"`deny {rule}`" in denied(command, where, "Read(b)", "Read(a)").message


def test_rules_for_all_of_a_tool_are_about_that_tool(where: Place) -> None:
    """Rules for all that Grep or Glob does are about those tools alone."""
    assert denied("cat a", where, "Glob", "Grep").behavior.value == "allow"
    assert denied("cat a", where, "Grep", "Read").behavior.value == "deny"


def test_a_path_is_shown_from_where_the_command_runs(where: Place) -> None:
    """At the root of the file system too, no path begins with a slash, and the root is a dot."""
    root = where._replace(work=Path("/"))
    assert "reads `etc/hosts`." in denied("cat etc/hosts", root, "Read(/etc/hosts)").message
    assert (
        "below `.`, including `etc/hosts`." in denied("ls -R .", root, "Glob(/etc/hosts)").message
    )
