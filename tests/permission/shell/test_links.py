"""What is reached through links that the same command makes, copies or moves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from agentscope_like.paths.look_budget import Effort
from agentscope_like.shell import analyze
from agentscope_like.shell.facts.links import Carriers, makes_links, why_not_through_links
from agentscope_like.shell.surroundings import Surroundings
from tests.permission.shell.workspace import filled, in_workspace

_FILES = "home/.ssh/id_rsa a b src/a.py src/sub/b.py linked/plain linked/sub/f d/f pipes/x"
_FAR = "/".join(["a" * 63] * 70)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with plain files, and directories that hold links and a pipe."""
    work = filled(tmp_path_factory.mktemp("links"), _FILES)
    (work / "linked" / "key").symlink_to(work / "home" / ".ssh" / "id_rsa")
    (work / "hop").symlink_to("src")
    os.mkfifo(work / "pipe")
    (work / "big").mkdir()
    for number in range(5_000):
        (work / "big" / str(number)).touch()
    return work


def around(work: Path) -> Surroundings:
    """Return what surrounds a command of the workspace."""
    home = str(work / "home")
    return in_workspace(work, home)


def told(command: str, work: Path) -> str | None:
    """Return why a path of a command may lead elsewhere by the time that it is used, or None."""
    here = around(work)
    analysis = analyze(command, directory=here.directory, home=here.home)
    assert analysis.script is not None
    return why_not_through_links(analysis, here.of(analysis))


REACHED = """
cp -r linked z; cat z/key | z/key z
cp -d linked/key z; cat z | z z
cp -P linked/key z; cat z | z z
cp -a linked/key z; cat z | z z
cp -fd linked/key z; cat z | z z
cp --no-dereference linked/key z; cat z | z z
cp --forced linked/key z; cat z | z z
gcp -r linked z; cat z/key | z/key z
mv linked z; cat z/key | z/key z
gmv linked z; cat z/key | z/key z
mv linked/key z; cat z | z z
mv linked z; touch z/f | z/f z
mv pipe z; cat z | z z
mv big z; cat z/1 | z/1 z
mv nothing z; touch z/f | z/f z
cp -r nothing z; touch z/f | z/f z
cp -r linked z; sort < z/key | z/key z
cp -r linked z; wc -l z/key | z/key z
cp -r linked z; cat "$x" | "$x" z
cp -r linked z; cat a "$x" | "$x" z
cp -r linked "$x"; cat y/f | y/f $x
cp -rt z linked; cat z/linked/key | z/linked/key z
cp -r linked z; cat z*/key | z*/key z
cp -r linked z; cat ?/key | ?/key z
cp -r linked z/y; cat z/*/key | z/*/key z/y
cp -r linked z/y; cat */y/key | */y/key z/y
cp -r linked z; touch */key | */key z
cp -r linked z; rm z/key | z/key z
cp -r linked hop/z; cat src/z/key | src/z/key hop/z
cp -r linked src/z; cat hop/z/key | hop/z/key src/z
ln -s a z; touch z | z z
ln -s src z; touch z/f | z/f z
ln a z; touch z | z z
gln -s src z; touch z/f | z/f z
ln -s src z; touch z/../f | z/../f z
ln -s src z; touch d/../z/../f | d/../z/../f z
ln -s src z; touch WORK/z/../f | WORK/z/../f z
ln -s src z; touch /..WORK/z/../f | /..WORK/z/../f z
cp -s a z; touch z | z z
cp -l a z; touch z | z z
cp --link a z; touch z | z z
cp --symbolic-link a z; touch z | z z
cp -fl a z; touch z | z z
cp $x a z; touch z | z z
install a z; touch z | z z
sort -o z a; touch z | z z
ln -s a d/l; cp -r d z; cat z/l | z/l z
ln -s a d/l; mv d z; cat z/l | z/l z
ln -s a l; cp -P l z; cat z | z z
ln -s src l; cp -r l/sub z; cat z/b.py | z/b.py z
ln -s src z; cp -r z/sub y; cat y/b.py | y/b.py y
cp -a a d/l; cp -r d z; cat z/l | z/l z
mv a d/l; cp -r d z; cat z/l | z/l z
ln -s a d/l; cp -r d z; cat z/f | z/f z
for i in 1 2; do cat z/key; mv linked z; done | z/key z
cat z/key & mv linked z | z/key z
(cat z/key; mv linked z) | z/key z
cp -r linked z/y; grep -R x z | z z/y
cp -r linked z/y; grep -R x z* | z* z/y
cp -r linked '[x]/y'; grep -R x '[x]' | [x] [x]/y
cp -d linked/key z; cat z* | z* z
cp -r linked z/y; rg -L x z | z z/y
cp -r linked z/y; diff -r z src | z z/y
cp -r linked z/y; cp -rL z w | z z/y
cp -r linked z/y; cp -r d/. z | z z/y
cp -r linked z; cp -r d z | z z
mkdir z && cp -r linked z/y && cd z && grep -R x | . z/y
mkdir z && cp -r linked z/y && cd z && rg -L x | . z/y
mv linked z && cd z && rg x | . z
"""

PLAIN = """
cp -r src z; cat z/a.py
cp a z; cat z
cp linked/key z; cat z
cp -f linked/key z; cat z
cp -i linked/key z; cat z
cp -n linked/key z; cat z
cp -u linked/key z; cat z
cp -v linked/key z; cat z
cp -p linked/key z; cat z
cp -x linked/key z; cat z
cp -fpv linked/key z; cat z
cp --force linked/key z; cat z
cp --interactive linked/key z; cat z
cp --no-clobber linked/key z; cat z
cp --update linked/key z; cat z
cp --verbose linked/key z; cat z
cp -p linked/key z; touch z
cp -a a z; touch z
cp -a src z; touch z/f
cp -r nothing z; cat z/f
mv nothing z; cat z
mv a z; cat z
mv a z; touch z
mv src z; touch z/f
mv a z < linked/key; cat z
mv linked z
ln -s a z; cat z
install a z; cat z
cp -r linked z; cat y/key
cp -r linked z; ls z
cp -r linked z; find z
cp -r linked z; cat y*/key
cp -r linked z; cat z2*
cp -r linked z; cat s*/a.py
cp -r linked z/y; cat z*
cp -r linked z; ls "$x"
cp -r linked z; echo "$x"
cp -r linked z; grep x < /dev/null
cp -r linked z; curl http://h/z
cat z/key; mv linked z
touch z; ln -s a z
ln -sfn d hop; touch src/f
touch d/l; cp -r d z; cat z/l
mkdir z; touch z/f
touch z; touch z
touch z; cat z
echo x > z; touch z
tee z < a; touch z
sed -i s/a/b/ a; touch a
gsed -i s/a/b/ a; touch a
cp -r linked z/y; grep -r x z
cp -r linked z/y; rg x z
cp -r linked z/y; cat z
cp -r linked z/y; cp -r z w
cp -r linked z/y; rm -r z
cp -r linked z/y; mv z w
cp -r linked z/y; find -L z
cp -r src z/y; grep -R x z
cp -r src z/y; cp -r d/. z
cp -r linked z/y; cp a z
mkdir z && cp -r linked z/y && cd z && grep -r x
cp -r linked z; cd d && grep -R x
cp -r linked z; git log
"""


@pytest.mark.parametrize("row", REACHED.strip().splitlines())
def test_what_may_be_a_link_by_then_is_told_of(work: Path, row: str) -> None:
    """It is said what is reached, and through what."""
    command, _, said = row.replace("WORK", str(work)).rpartition(" | ")
    target, _, through = said.rpartition(" ")
    message = told(command, work)
    assert message is not None
    assert message.startswith(f"`{target}` is reached through `")
    assert through.strip("$") in message.rpartition(" through ")[2]
    assert message.endswith("which may have become a link by then")


@pytest.mark.parametrize("command", PLAIN.strip().splitlines())
def test_what_is_no_link_by_then_is_as_well_known_as_before(work: Path, command: str) -> None:
    """Plain files stay plain wherever they are put, and what is done before does not matter."""
    assert told(command, work) is None


def test_what_cannot_be_judged_is_told_of(work: Path) -> None:
    """A path that is too long, and more than is looked at."""
    assert "characters long" in (told(f"ln -s a z; touch {_FAR}", work) or "")
    analysis = analyze("ln -s a z; touch d/*", directory=str(work), home=None)
    spent = replace(around(work), effort=Effort(0))
    assert why_not_through_links(analysis, spent) == "it reaches too many files to look at each"


@pytest.mark.parametrize(
    ("command", "makes"),
    [
        ("ln a z", True),
        ("install a z", True),
        ("mv a z", False),
        ("gmv $x z", False),
        ("cp a z", False),
        ("cp -a a z", False),
        ("cp -l a z", True),
        ("cp -s a z", True),
        ("cp -fs a z", True),
        ("cp --link a z", True),
        ("cp --sym a z", True),
        ("cp --force a z", False),
        ("cp --no-target-directory a z", False),
        ("cp $x a z", True),
    ],
)
def test_some_programs_make_links_whatever_they_are_given(command: str, makes: bool) -> None:
    """`mv` only moves those that are there; `cp` makes them where it is told to."""
    (part,) = analyze(command, directory="/ws", home="/home/u").parts
    assert makes_links(part) is makes


@pytest.mark.parametrize(
    ("command", "carries", "missing"),
    [
        ("cp -r src z", False, False),
        ("cp -r linked z", True, True),
        ("cp -r nothing z", False, True),
        ("mv nothing z", False, True),
        ('mv "$x" z', True, True),
        ("mv linked/key z", True, True),
        ("mv pipe z", True, True),
        ("mv a z", False, False),
        ("mv a linked", False, False),
        ("install linked/key z", False, False),
        ("ln -s linked z", False, False),
    ],
)
def test_only_copies_and_moves_carry_links(
    work: Path, command: str, carries: bool, missing: bool
) -> None:
    """What is not there yet counts where that is asked."""
    analysis = analyze(command, directory=str(work), home=None)
    carriers = Carriers(analysis, around(work))
    for _ in range(2):
        assert carriers.include(analysis.parts[0]) is carries
        assert carriers.include(analysis.parts[0], missing=True) is missing
