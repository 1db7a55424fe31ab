"""Commands that put a link somewhere: whether anything after that could go through it."""

from __future__ import annotations

import os

import pytest

from tests.permission.kit import Place, decide, make_place

MAKES = r"""
ln -s d q; touch q/f
ln a n; touch q
ln -s a n && touch q
cp -s a n; touch q
cp -l a n; rm b
cp -pl a n; rm b
cp --link a n; touch q
cp --symbolic-link a n; touch q
ln -s a n; ls > q
ln -s a n & touch q
touch q & ln -s a n
for f in 1 2; do ln -s a n; done
for f in 1 2; do touch q; ln -s a n; done
while [ -f a ]; do ln -s a n; done
for ((i=1;i<3;i++)); do ln -s a n; done
if [ -f a ]; then touch q; ln -s a n; fi
(touch q; ln -s a n)
env touch q; ln -s a n
touch q; env ln -s a n
touch q; ln -s a n | cat
""".strip().splitlines()

TAKES = r"""
mv way q; cat b
mv way q; touch n
mv way q; grep x b
cp -P way q; cat b
cp -r e n; cat b
cp -P a way d; cat b
mv a way d; touch n
mv way* q; cat b
cp -r pipe n; cat b
mv e n; cat b
""".strip().splitlines()

QUIET = r"""
ln -s a n
cp -p a n; touch q
cp --preserve a n; touch q
touch q; ln -s a n
ln -s a n; cat b
ln -s a n; ls > /dev/null
if [ -f a ]; then ln -s a n; fi
time ln -s a n
mv way q
mv way q; ls
cat b; mv way q
cp -r e n
cp -r e n; ls d
cp -r e n; ls -R d
cp -r d n; cat b
mv a n; cat n
mv none n; cat b
mv none n; cat < /dev/null
mv way q; cat < /dev/null
rm way; cat b
touch way; cat b
tee n < way; cat b
cp a n < b; cat b
cp a n < e/l; cat b
cp b e/l; cat b
ls; cp a n; touch q
ls -l; touch q
ls -s; touch q
""".strip().splitlines()


@pytest.fixture(scope="module")
def where(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a project with a link, a directory that holds one, and a pipe."""
    made = make_place(tmp_path_factory.mktemp("links"), "a b d/f e/g")
    (made.work / "way").symlink_to("d")
    (made.work / "e" / "l").symlink_to("../a")
    os.mkfifo(made.work / "pipe")
    return made


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        *((each, "may create a link") for each in MAKES),
        *((each, "relocates a symlink") for each in TAKES),
    ],
)
def test_what_could_go_through_a_link_asks(where: Place, command: str, reason: str) -> None:
    """A write behind a link that is made; a read of content or a write behind one that is moved."""
    decision = decide(command, where, mode="accept_edits")
    assert decision.behavior.value == "ask"
    assert reason in decision.message


@pytest.mark.parametrize("command", QUIET)
def test_what_comes_before_a_link_or_beside_it_does_not_ask(where: Place, command: str) -> None:
    """Nor does what only lists, what reads no file, or a link that nothing follows."""
    assert decide(command, where, mode="accept_edits").behavior.value == "allow"


@pytest.mark.parametrize(
    ("command", "behavior"),
    [
        ("no-such-tool; cp a n; touch q", "ask"),
        ("no-such-tool; touch q", "allow"),
        ("cp a n; touch q", "allow"),
        ("no-such-tool > n; touch q", "allow"),
        ("no-such-tool; mv a n; ls", "allow"),
    ],
)
def test_what_only_a_rule_allows_may_have_made_a_link(
    where: Place, command: str, behavior: str
) -> None:
    """A copy beside it may take one on; what is neither copied nor moved is none."""
    rules = ["allow no-such-tool:*"]
    decision = decide(command, where, mode="accept_edits", rules=rules)
    assert decision.behavior.value == behavior
