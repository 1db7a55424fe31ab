"""What `Bash` says of links: those that are there, and those that the command itself makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.permission import PermissionBehavior
from tests.tool.builtin.bash_kit import decide

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a workspace with plain files, and a directory that holds links to secrets."""
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_rsa").write_text("secret")
    monkeypatch.setenv("HOME", str(home))
    work = tmp_path / "work"
    for name in ("src/app.py", "src/sub/b.py", "linked/plain", "a", ".env", "key.pem"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text("x")
    (work / ".config" / "gh").mkdir(parents=True)
    (work / ".config" / "gh" / "hosts.yml").write_text("x")
    (work / "linked" / "key").symlink_to(home / ".ssh" / "id_rsa")
    (work / "env").symlink_to(".env")
    (work / ".git").mkdir()
    (work / ".git" / "config").write_text("x")
    (work / "config").symlink_to(".git/config")
    return work


REACHED_THROUGH_A_COPY = """
cp -r linked z; cat z/key
cp -a linked z && cat z/plain
cp -R linked z; head z/*
cp -dR linked z; grep -r x z
cp -r linked z; cd z; cat key
cp -r linked z; cat $(ls z)
cp -r linked z; cat < z/key
cp -r linked z; for f in z/*; do cat "$f"; done
mkdir z; cp -r linked z; cat z/linked/key
mkdir z; cp -t z -r linked; cat z/linked/key
mv linked z; cat z/key
mv linked z && grep -r x z
mkdir z; mv linked z; cat z/linked/key
ln -s src/app.py q; mv q z; cat z
cp -r linked y; mv y z; ls z
mv key.pem k; cat k
mv env e2
ln key.pem k
ln .config/gh/hosts.yml k
ln -s .config/gh k
ln .env k
ln -s .env k
cp -l .env k
cp -s .env k
ln .git/config k
ln -P .git/config k
ln -t src .git/config
ln config k
cp -l .git/config k
cp --link .git/config k
ln -s src .github
ln -sn src .github
ln -s src site-packages
cp -rs src .github
"""

NO_SECRET_BEHIND_IT = """
cp -r src z; cat z/app.py
cp -a src z && grep -r x z
mv src z; cat z/app.py
mkdir z; cp -r src z; cat z/src/app.py
cp a b; cat b
cp -p a b && cat b
mv a b; cat b
echo hi > t && mv t out && cat out
sed -i s/x/y/ a && mv a c && cat c
cp -r linked z && ls -la z
cp -r linked z; cat linked/plain
cat linked/plain; cp -r linked z
ln -s src z; cat z/app.py
ln a z; cat z
ln src/*.py linked
cp .git/config k
cp -l a z
ln -s src .src
ln -s a .github2
"""


@pytest.mark.parametrize("command", REACHED_THROUGH_A_COPY.strip().splitlines())
async def test_what_a_command_puts_under_another_name_is_not_known(
    work: Path, command: str
) -> None:
    """Reading what may be a link to a secret by then asks, and so does renaming a secret."""
    assert (await decide(command, work, mode="accept_edits")).behavior is ASK
    assert (await decide(command, work, mode="dont_ask")).behavior is DENY


@pytest.mark.parametrize("command", NO_SECRET_BEHIND_IT.strip().splitlines())
async def test_what_holds_no_link_may_be_copied_and_read(work: Path, command: str) -> None:
    """A copy of plain files is as well known as the files."""
    assert (await decide(command, work, mode="accept_edits")).behavior is ALLOW


async def test_a_rule_for_the_copy_does_not_prove_what_is_read(work: Path) -> None:
    """An allow rule for `cp` allows the copy; what is read through it still asks."""
    rules = ("allow cp:*", "allow mv:*")
    assert (await decide("cp -r linked z; cat z/key", work, rules)).behavior is ASK
    assert (await decide("mv linked z; cat z/key", work, rules)).behavior is ASK
    assert (await decide("cp -r linked z; cat a", work, rules)).behavior is ALLOW


@pytest.mark.parametrize(
    ("command", "behavior"),
    [
        ("install a z; cat z", ALLOW),
        ("ln -s a z; cat z", ALLOW),
        ("ln -s src z; cat z/app.py", ALLOW),
        ("cp a z; cat z", ALLOW),
        ("cp -r linked z; cat z/key", ASK),
        ("ln -s .env z; cat z", ASK),
    ],
)
async def test_a_rule_for_what_makes_a_file_or_a_link_proves_what_is_read_by_that_name(
    work: Path, command: str, behavior: PermissionBehavior
) -> None:
    """What is put there is known by its own name, but for links that a copy brings along."""
    rules = ("allow install:*", "allow ln:*", "allow cp:*")
    assert (await decide(command, work, rules)).behavior is behavior


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
    assert "kept secret" in decision.message


@pytest.mark.parametrize("command", NOT_FOLLOWED.strip().splitlines())
async def test_a_link_that_nobody_follows_does_not_matter(work: Path, command: str) -> None:
    """What reads around the links, or looks at names alone, needs nobody's word."""
    assert (await decide(command, work)).behavior is ALLOW
