"""What must not be removed without a person, whatever the mode."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from agentscope_like.paths import locate, locate_directories, removal_objection

HOME = "/nonexistent/u"
WORK = f"{HOME}/code/project"

SYSTEM = """
bin boot dev efi etc lib lib32 lib64 libx32 proc sbin sys usr system library applications
"""
HOLDERS = "home users var run private mnt media volumes opt srv snap nix"
HOME_PARTS = """
.ssh .gnupg .config .local .local/share .aws .kube .mozilla .password-store Desktop Documents
Downloads Library Movies Music Pictures Videos
"""


@pytest.mark.parametrize(
    ("critical", "harmless"),
    [
        ("/", "/tmp/x"),
        ("/usr", "/usr/src/app"),
        ("/usr/src", "/usr/src/app/x"),
        ("/private/etc/hosts", "/private/tmp/x"),
        ("/nix/store/x", "/nix-store/x"),
        ("/USR/lib", "usr/lib"),
        ("/etc/hosts", "etc/hosts"),
        ("/data", "/data/x"),
        ("/tmp", "/tmp/build"),
        ("/var/lib", "/var/lib/app/cache"),
        ("/home/someone", "/home/someone/project/build"),
        ("/dev/null", "/dev/shm/x"),
        ("~", "~/scratch"),
        ("/nonexistent", "/nonexistent-2/x"),
        ("~/.ssh", "~/.sshx"),
        ("~/Documents", "~/Documents/draft"),
        (".", "build"),
        ("..", "../other"),
        ("../..", "../../x"),
        (".git", ".github"),
        ("sub/.git", "sub/git"),
        (".git/", ".git/x"),
    ],
)
def test_a_critical_removal_has_a_harmless_neighbour(critical: str, harmless: str) -> None:
    """Systems, homes, workspaces and histories are critical; what lies beside or below is not."""
    directories = locate_directories([WORK], home=HOME)
    reason = removal_objection(locate(critical, directory=WORK, home=HOME), directories)
    assert reason is not None
    assert reason.startswith("`")
    assert removal_objection(locate(harmless, directory=WORK, home=HOME), directories) is None


@pytest.mark.parametrize("name", SYSTEM.split())
def test_each_part_of_the_system_is_critical(name: str) -> None:
    """Nothing below a directory that the system is made of is removed lightly."""
    for path in (f"/{name}", f"/{name}/x/y", f"/{name.upper()}/x"):
        assert removal_objection(locate(path, directory=WORK, home=HOME), ()), path
    assert removal_objection(locate(f"/data/{name}/x", directory=WORK, home=HOME), ()) is None


@pytest.mark.parametrize("name", HOLDERS.split())
def test_each_child_of_a_holder_is_critical(name: str) -> None:
    """A home, a disk or a part of the system goes as a whole; what is in it may go."""
    for path in (f"/{name}", f"/{name}/x"):
        assert removal_objection(locate(path, directory=WORK, home=HOME), ()), path
    assert removal_objection(locate(f"/{name}/x/y", directory=WORK, home=HOME), ()) is None


@pytest.mark.parametrize("name", HOME_PARTS.split())
def test_each_part_of_a_home_is_critical(name: str) -> None:
    """The directories that hold a person's files, keys or settings go as a whole."""
    assert removal_objection(locate(f"~/{name}", directory=WORK, home=HOME), ())
    assert removal_objection(locate(f"~/{name}/x", directory=WORK, home=HOME), ()) is None
    assert removal_objection(locate(f"~/code/{name}", directory=WORK, home=HOME), ()) is None


@pytest.mark.parametrize("name", [".git", ".hg", ".svn", ".bzr", ".jj"])
def test_each_history_is_critical(name: str) -> None:
    """A repository's history goes as a whole, wherever it is."""
    for path in (name, f"/data/x/{name}", name.upper()):
        assert removal_objection(locate(path, directory=WORK, home=HOME), ()), path
    assert removal_objection(locate(f"{name}x", directory=WORK, home=HOME), ()) is None


def test_a_workspace_is_critical_by_each_of_its_names(tmp_path: Path) -> None:
    """A working directory reached by a symlink, and what holds it, is the same directory."""
    real = tmp_path.resolve() / "real" / "work"
    real.mkdir(parents=True)
    (tmp_path / "alias").symlink_to(real)
    directories = locate_directories([str(tmp_path / "alias")])
    for path in (str(real), str(real.parent), str(tmp_path / "alias")):
        assert removal_objection(locate(path, directory="/"), directories)
    assert removal_objection(locate(str(real / "x"), directory="/"), directories) is None


def test_a_link_is_not_what_it_leads_to(tmp_path: Path) -> None:
    """To remove a link to the system is harmless; to remove through it is not."""
    (tmp_path / "link").symlink_to("/usr")
    directories = locate_directories([str(tmp_path)])
    link = locate("link", directory=str(tmp_path), follow=False)
    assert removal_objection(link, directories) is None
    assert removal_objection(locate("link/", directory=str(tmp_path), follow=False), directories)


def test_what_holds_a_home_is_critical() -> None:
    """The parent of a home directory goes with it."""
    location = locate("/srv/people", directory="/", home="/srv/people/staff/u")
    assert removal_objection(location, ()) is not None
    parent = locate("/srv/people/staff", directory="/", home="/srv/people/staff/u")
    assert removal_objection(parent, ()) == "`/srv/people/staff` holds the home directory"


def test_another_home_can_be_named() -> None:
    """The home that a command runs with may differ from the one a path was read with."""
    location = locate("/srv/people/v", directory="/", home=HOME)
    assert removal_objection(location, ()) is None
    there = replace(location, home="/srv/people/v")
    assert removal_objection(there, ()) == "`~` is the home directory"
