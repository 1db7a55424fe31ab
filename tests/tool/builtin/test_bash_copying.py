"""What `Bash` says of copies: under which names things come to lie where they are put."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionEngine
from agentscope_like.permission.rule import PermissionRule
from agentscope_like.tool import Bash
from tests.tool.builtin.bash_kit import decide

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY

FILES = (
    *("d/.envrc", "d/notes.txt", "d/.keep", "plain/a.txt", "plain/sub/b.txt"),
    *("nested/x/.git/config", "nested/a.txt", "src/app.py", "docs/index.md", "[x]/old.txt"),
    *(".bash", "lefthook", "linked/src/other/c.txt", "globs/one/two/Jenkinsfile"),
)

SENSITIVE = """
cp d/.envrc .
cp d/.env* .
cp d/.* .
cp -t . d/.e*
cp d/.[d-f]nvrc src
cp d/.e* '[x]'
mv d/.env* .
ln d/.e* .
cp d/.e?vrc src/
cp -r d/. .
cp -r d z
cp -a nested z
cp -r n* z
cp -rT nested z
cp d/.[[:lower:]]nvrc .
cp d/.[[=e=]]nvrc .
cp d/.[[:alpha:]]* .
rm -rf nested/x/.[[:lower:]]it
shopt -s dotglob; cp d/* .
shopt -s nocaseglob; cp d/.E* .
shopt -s nullglob; cp src/app.py nested/x/.git/config ./no*
shopt -s globstar; ln globs/** docs
cp --parents nested/x/.git/config docs
cp --parents -r nested docs
mkdir -p docs/.vscode/../x
cp -b -S rc src/app.py .bash
cp --backup --suffix=rc src/app.py .bash
mv -bS rc src/app.py .bash
ln -sb -S rc src/app.py .bash
sed -irc s/a/b/ .bash
sed --in-place=rc s/a/b/ .bash
sed -i.yml s/a/b/ lefthook
sed -i.yml s/a/b/ lef*
x=rc; sed -i$x s/a/b/ .bash
rm -rf nested/x
rm -r nested/[x]
rm -rf docs nested/x
cp -r src linked
cp -rT src linked/src
cp -r src/. linked/src
cp -a src linked
"""

PLAIN = """
cp d/*.txt .
cp d/n* src
cp d/.k* .
cp -t . d/.k*
cp src/*.py docs
mv d/*.txt src
cp src/*.py '[x]'
cp -r plain z
cp -r plain/. z
cp -r p* z
cp -a plain/sub src
cp plain/[[:alpha:]]*.txt src
ln plain/** docs
shopt -s globstar; sed -i s/a/b/ plain/**/*.txt
shopt -s nullglob; rm -f plain/no*
cp --parents plain/a.txt docs
cp --parents -r plain docs
mkdir -p docs/new/../x
cp -b src/app.py docs/index.md
cp --backup -S .bak src/app.py docs/index.md
sed -i.bak s/a/b/ src/app.py
sed -i~ s/a/b/ src/*.py
cp -r plain linked
cp -r plain/. linked
cp -r linked/src/other src
rm -rf docs/*
rm -rf plain d
rm -rf nested/a.txt
mv nested/x z
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a workspace with files that are sensitive by their names, and such that are not."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "linked/src/app.py").symlink_to(tmp_path / "d" / ".envrc")
    return tmp_path


@pytest.mark.parametrize("command", SENSITIVE.strip().splitlines())
async def test_what_is_put_somewhere_under_a_sensitive_name_asks(work: Path, command: str) -> None:
    """What a pattern matches, or a directory holds, counts where it is put."""
    assert (await decide(command, work, mode="accept_edits")).behavior is ASK


@pytest.mark.parametrize("command", PLAIN.strip().splitlines())
async def test_other_copies_are_edits(work: Path, command: str) -> None:
    """Files of other names are copied and moved unasked where edits are."""
    assert (await decide(command, work, mode="accept_edits")).behavior is ALLOW


@pytest.mark.parametrize("program", ["cp", "mv", "install", "ln -s", "cp -t docs"])
async def test_a_rule_speaks_of_the_names_that_a_pattern_matches(work: Path, program: str) -> None:
    """A deny rule for a file stops a copy over it, whether the source is named or matched."""
    context = PermissionContext.model_validate({"mode": "bypass"})
    engine = PermissionEngine(context)
    engine.add_rule(
        PermissionRule(tool_name="Write", rule_content="docs/app.py", behavior=DENY, source="test")
    )
    bash = Bash(cwd=work)
    into = "" if program.endswith("docs") else " docs"
    for source, expected in (
        ("src/app.py", DENY),
        ("src/*.py", DENY),
        ("src/ap?.py", DENY),
        ("plain/*.txt", ALLOW),
    ):
        decision = await engine.check_permission(bash, {"command": f"{program} {source}{into}"})
        assert decision.behavior is expected, source


async def test_a_directory_of_very_many_files_asks(work: Path) -> None:
    """A copy of more than can be looked at is no edit that goes by itself."""
    many = work / "many"
    many.mkdir()
    for number in range(5_000):
        (many / f"f{number}").touch()
    assert (await decide("cp -r many z", work, mode="accept_edits")).behavior is ASK
    assert (await decide("cp many/f1 z", work, mode="accept_edits")).behavior is ALLOW
