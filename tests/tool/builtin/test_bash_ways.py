"""What `Bash` says of paths that a symlink takes elsewhere than they read."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agentscope_like.permission import PermissionBehavior
from tests.permission.kit import analyze
from tests.tool.builtin.bash_kit import decide

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a workspace with links to itself, deep into itself and out of it."""
    for name in ("work/src/sub/a.py", "work/deep/x/y/f", "work/d/f", "outside/sub/f", "work/a"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    (tmp_path / "home" / ".ssh" / "id_rsa").write_text("x")
    work = tmp_path / "work"
    (work / "empty").mkdir()
    for name, target in (
        ("self", "."),
        ("far", "deep/x/y"),
        ("dl", "d"),
        ("out", "../outside"),
        ("gone", "d/missing"),
        ("emptyl", "empty"),
        ("deep/l", "../../outside"),
        ("through", "z/l"),
    ):
        (work / name).symlink_to(target)
    return work


TAKEN_ELSEWHERE = """
touch out/../x
touch self/../x
echo x > self/../y
tee self/../x < a
sed -i s/a/b/ self/../x
rm self/../x
rm -rf self/../outside
cp a self/../z
mv a self/../z
mkdir -p out/../w
touch self/../{x,y}
touch self/../o*
cd self && touch ../x
cd self && rm -rf ../outside
pushd self && touch ../x
cd self/../outside && touch x
cd self/.. && touch x
cd far && cd .. && touch x
cd -P far && cd .. && touch x
cd -P self && touch ../x
x=self/..; touch $x/x
for d in self; do touch $d/../x; done
ln -s . l; touch l/../x
mv out q; touch q/../x
mv out q && cd q && touch ../x
rm -rf out/
rm -rf out/.
rm -r -- out//
rm -rf ./out/
rm -rf {out,d}/
rm -rf o*/
x=out/; rm -rf $x
for d in out/; do rm -rf "$d"; done
mv out/ z
"""

AS_IT_READS = """
touch src/../x
touch src/sub/../../x
touch ../work/x
echo x > d/../src/y
cp a src/../z
cd src && touch ../x
cd src/sub && rm -rf ../../d
cd src && cd .. && touch x
cd dl && touch f
cd far && touch g
touch far/../g
rm -rf d/
rm -rf d/ src/sub/
rm -rf sr*/
rm -rf dl/
rm out
rm -rf out
mv src/ z
cp -r src/ z
"""

THROUGH_A_MOVED_LINK = """
mv out d/missing; echo x > gone/f
mv out d/missing && touch gone/f
mv out self/q; echo x > q/f
mv out q; echo x > self/q/f
cd self && mv out q && cd .. && echo x > q/f
rm -rf empty; mv out empty; touch emptyl/f
mv deep z; touch through
mv deep z; touch through/f
cp -a deep z; touch through/f
mv deep z && cat through/f > y
mv out z1; touch z?/f
mv out d/l; sed -i s/a/b/ d/*/f
mv out self/q; mv q z; touch z/f
cp -s a z; echo x > self/z
ln -s src q; echo x > self/q/f
ln -s a l; touch src/../b
mv out q; rm -f d/*
"""

NO_LINK_MOVED = """
mv a b; echo x > b
mv a b && sed -i s/a/b/ b
mv src z; touch z/sub/b.py
mv src z && rm z/sub/*.py
mv a b; rm -f ./*.pyc
cp -r src z; echo x > z/f
cp -a src z && sed -i s/x/y/ z/sub/a.py
mv a self/b; echo x > b
touch src/../b; ln -s a l
rm -f d/*; mv out q
"""


@pytest.mark.parametrize(
    "command", (TAKEN_ELSEWHERE + THROUGH_A_MOVED_LINK.strip()).strip().splitlines()
)
async def test_what_leads_outside_through_a_link_is_no_edit(work: Path, command: str) -> None:
    """`..` and a slash behind a symlink count as the kernel takes them, also for moved links."""
    assert (await decide(command, work, mode="accept_edits")).behavior is ASK
    assert (await decide(command, work, mode="dont_ask")).behavior is DENY


@pytest.mark.parametrize("command", (AS_IT_READS + NO_LINK_MOVED.strip()).strip().splitlines())
async def test_what_stays_inside_is_an_edit(work: Path, command: str) -> None:
    """Where no symlink is on the way, or it leads back inside, `..` needs nobody's word."""
    assert (await decide(command, work, mode="accept_edits")).behavior is ALLOW


@pytest.mark.parametrize("command", AS_IT_READS.strip().splitlines())
def test_an_edit_changes_nothing_outside(work: Path, command: str) -> None:
    """Bash agrees: what is allowed leaves everything outside the workspace as it was."""

    def outside() -> set[tuple[str, bool]]:
        parent = work.parent
        found = (path for each in ("outside", "home") for path in (parent / each).rglob("*"))
        return {(str(path), path.is_dir()) for path in (*found, *parent.glob("*"))}

    before = outside()
    subprocess.run(["bash", "-c", command], cwd=work, check=False, capture_output=True)
    assert outside() == before


READS = """
allow | cd src && cat ../a
allow | cd far && cat f
allow | cd far && cd .. && cat a
allow | cat self/../work/a
ask | cd self/../work && cat a
ask | cat far/../../../../home/.ssh/id_rsa
ask | cat self/../home/.s*/id_rsa
ask | cd self/../outside && cat sub/f
allow | cd self/.. && cat a
"""


@pytest.mark.parametrize("row", READS.strip().splitlines())
async def test_a_read_behind_a_link_is_judged_where_it_leads(work: Path, row: str) -> None:
    """A secret behind `..` is one; a directory that bash reaches by the kernel alone asks."""
    behavior, command = row.split(" | ")
    assert (await decide(command, work)).behavior == behavior


async def test_deny_rules_see_through_dots(work: Path) -> None:
    """A rule for a path speaks of it under the name that a symlink and `..` give it."""
    from agentscope_like.permission import PermissionContext, PermissionEngine, PermissionRule
    from agentscope_like.tool import Bash

    engine = PermissionEngine(PermissionContext.model_validate({"mode": "bypass"}))
    for tool in ("Write", "Read"):
        engine.add_rule(
            PermissionRule(
                tool_name=tool,
                rule_content=f"{work.parent}/outside/sub/**",
                behavior=DENY,
                source="test",
            )
        )
    for command, expected in (
        ("cat self/../outside/sub/f", DENY),
        ("touch self/../outside/sub/f", DENY),
        ("cd self && rm ../outside/sub/f", DENY),
        ("rm -r out/sub/", DENY),
        ("git -C self/../outside diff --no-index a sub/f", DENY),
        ("cat self/../work/a", ALLOW),
        ("touch self/../outside/f", ALLOW),
    ):
        decision = await engine.check_permission(Bash(cwd=work), {"command": command})
        assert decision.behavior is expected, command


def test_what_cd_does_by_the_kernel_is_unknown() -> None:
    """`cd -P` leads to another directory than it reads, wherever a symlink is on the way."""
    followed = analyze("cd src && touch x", directory="/ws").parts[-1]
    physical = analyze("cd -P src && touch x", directory="/ws").parts[-1]
    assert (followed.directories, physical.directories) == (("/ws/src",), ())


def test_effects_keep_the_way() -> None:
    """The path is folded; the way keeps what only the kernel can take back."""
    told = {
        (each.path, each.walked)
        for each in analyze("cat a/../b c/ ./d e/.", directory="/ws").effects
    }
    assert told == {
        ("/ws/b", "/ws/a/../b"),
        ("/ws/c", "/ws/c/"),
        ("/ws/d", ""),
        ("/ws/e", "/ws/e/."),
    }


BEHIND_PATTERNS = """
for d in o*; do touch "$d/new"; done
for d in o*/; do touch "${d}new"; done
for d in o*; do mkdir "$d/new"; done
for d in o*; do echo > $d/new; done
for d in .g*; do touch "$d/new"; done
for d in .g*; do echo > "$d/hooks/new"; done
for d in *; do touch "$d/new"; done
""".strip().splitlines()

IN_PATTERNS = """
for d in s*; do touch "$d/new"; done
for d in s*/; do touch "${d}new"; done
for d in s*; do mkdir "$d/new"; done
for d in em*y; do echo > "$d/new"; done
for d in s*; do rm -f "$d/new"; done
""".strip().splitlines()


@pytest.mark.parametrize("command", BEHIND_PATTERNS)
async def test_what_a_pattern_leads_to_is_found_though_nothing_is_there_yet(
    command: str, work: Path
) -> None:
    """A file may be made below a link, or in what is sensitive, that a loop finds by a pattern."""
    (work / ".git").mkdir()
    decision = await decide(command, work, mode="accept_edits")
    assert decision.behavior is ASK


@pytest.mark.parametrize("command", IN_PATTERNS)
async def test_what_is_made_where_a_pattern_leads_is_an_edit_of_the_workspace(
    command: str, work: Path
) -> None:
    """A file may be made below plain directories that a loop finds by a pattern."""
    (work / "self").unlink()
    decision = await decide(command, work, mode="accept_edits")
    assert decision.behavior is ALLOW, decision.message
