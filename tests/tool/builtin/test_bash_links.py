"""What `Bash` says of what is read through links that are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.permission import PermissionBehavior
from tests.tool.builtin.bash_kit import decide

ALLOW, ASK = PermissionBehavior.ALLOW, PermissionBehavior.ASK


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a workspace with plain files, and a directory that holds links to secrets."""
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_rsa").write_text("secret")
    monkeypatch.setenv("HOME", str(home))
    work = tmp_path / "work"
    for name in ("src/app.py", "src/sub/b.py", "linked/plain", "a", ".env"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("x")
    (work / "linked" / "key").symlink_to(home / ".ssh" / "id_rsa")
    (work / "env").symlink_to(".env")
    return work


FOLLOWED = """
cat env
cat linked/key
wc -l < linked/key
grep -R x linked
grep -R x
grep --dereference-recursive x .
rg -L x linked
rg --follow x
diff -r linked src
find linked | xargs cat
find -L linked -type f | xargs cat
find linked -name '*.py' | xargs cat
ls linked | xargs cat
fd . linked | xargs cat
git ls-files | xargs cat
for f in $(find linked); do head -1 "$f"; done
cp -rL linked z
"""

NOT_FOLLOWED = """
cat linked/plain
grep -r x linked
grep -rl x linked | xargs cat
grep -R x src
rg x
rg -L x src
diff -r src src/sub
diff -r --no-dereference linked src
find linked -type f | xargs cat
find linked | xargs wc -l
find linked | xargs ls -l
find src | xargs cat
ls -RL linked
git ls-files src | xargs cat
"""


@pytest.mark.parametrize("command", FOLLOWED.strip().splitlines())
async def test_a_link_to_a_secret_is_as_secret(work: Path, command: str) -> None:
    """What would read a secret through a link that is there is a safety ASK."""
    decision = await decide(command, work, ("allow",))
    assert (decision.behavior, decision.bypass_immune) == (ASK, True)
    assert "a secret:" in decision.message


@pytest.mark.parametrize("command", NOT_FOLLOWED.strip().splitlines())
async def test_a_link_that_nobody_follows_does_not_matter(work: Path, command: str) -> None:
    """What reads around the links, or looks at names alone, needs nobody's word."""
    assert (await decide(command, work)).behavior is ALLOW
