"""Which paths ask of which only the end is known, and which patterns of searches."""

from __future__ import annotations

import re

import pytest

from agentscope_like.permission.command import find_danger
from tests.permission.kit import Surroundings, analyze, danger_of

_NAMED = re.compile(r"may (?:be|match) `([^`]*)`")


def told(command: str, home: str | None = "/people/anna") -> str:
    """Return which path of the table a command may reach, perhaps "all"; empty where none."""
    around = Surroundings("/ws", (), "/ws", home)
    danger = find_danger(analyze(command, directory="/ws", home=home), around)
    named = _NAMED.search(danger.message if danger else "")
    if named or danger is None:
        return named[1] if named else ""
    return "all" if "would read a whole directory" in danger.message else danger.message


@pytest.mark.parametrize(
    ("end", "path"),
    [
        ('"$x/.env"', ".env"),
        ('"$x/.env.local"', ".env.*"),
        ('"$x/.env.example"', ""),
        ('"$x/.ENV"', ".env"),
        ('"$x"/.e*', ".env"),
        ('"$x"/[.]env', ""),
        ('"$x"/?env', ""),
        ('"$x"/*nv', "*.env"),
        ('"$x"/*.pem', "*.pem"),
        ('"$x"/a*b', ""),
        ("${x}nv", ".env"),
        ("${x}a_rsa", "*_rsa"),
        ("${x}v.py", ""),
        ('"$x/.ssh/a"', ".ssh/**"),
        ('"$x/b/.ssh/c/d"', ".ssh/**"),
        ('"$x/.ssh/config"', ""),
        ('"$x/.ssh/config.d"', ""),
        ('"$x/ssh/a"', ""),
        ('"$x"/.s*/a', ".ssh/**"),
        ('"$x"/*/a', ""),
        ("${x}ssh", ""),
        ('"$x/./.env"', ".env"),
        ('"$x/etc/./shadow"', "/etc/shadow*"),
        ('"$x/.aws/credentials"', ".aws/credentials"),
        ('"$x/.sbt/b/credentials.sbt"', ".sbt/*/credentials.sbt"),
        ('"$x/b/credentials.sbt"', ".sbt/*/credentials.sbt"),
        ('"$x/shadow"', "/etc/shadow*"),
        ('"$x/etc/shadow"', "/etc/shadow*"),
        ('"$x/b/etc/shadow"', ""),
        ('"$x/etc/shadow/b"', ""),
        ('"$x/private/b"', ""),
        ('"$x/samba/private/b"', "/etc/samba/private/**"),
        ('"$x/b/etc/samba/private/b"', ""),
        ('"$x/.local/share/gem/credentials"', ".local/share/gem/credentials"),
    ],
)
def test_the_end_of_a_path_asks_where_a_secret_is_called_so(end: str, path: str) -> None:
    """A name is whole behind a slash; of the system's paths, the place counts from the root."""
    assert told(f"cat {end}") == path


@pytest.mark.parametrize(
    ("end", "path"),
    [
        ("etc/passwd", "/etc/**"),
        ("b/etc/hostname", ""),
        ("etc/b/c", "/etc/**"),
        ("boot/b", "/boot/**"),
        ("src/boot/b", ""),
        ("src/b", ""),
        (".git/hooks/pre-commit", ".git/**"),
    ],
)
def test_the_end_of_a_path_asks_where_it_is_sensitive_to_write(end: str, path: str) -> None:
    """A directory of the system is one only where the path may begin with it."""
    assert told(f'touch "$x/{end}"') == path


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.pem", "*.pem"),
        ("*.p*", "*.pem"),
        ("*.p[ex]m", "*.pem"),
        ("*.[[:alpha:]]em", "*.pem"),
        (r"*.\pem", "*.pem"),
        ("*.PEM", "*.pem"),
        ("*.e*", "*.env"),
        ("*.py", ""),
        ("*.sh", ""),
        ("*.json", ""),
        ("*.backup", ""),
        ("*.tfstate.backup", "*.tfstate.backup"),
        ("*.env~", ".env~"),
        ("*env", ".env"),
        ("env", ""),
        (".e*", ".env"),
        ("secret*", "secrets.toml"),
        ("src/*", ""),
        ("src/*.pem", "*.pem"),
        ("a/b/*.json/*", ""),
        ("a/b/*.json", ""),
        ("a/.ssh/*", ".ssh/**"),
        (".ssh/**", ".ssh/**"),
        ("**/.ssh/", ""),
        ("**", ""),
        ("/*", ""),
    ],
)
def test_a_pattern_of_a_search_asks_where_who_gives_it_looks_for_a_secret(
    pattern: str, path: str
) -> None:
    """`*.json` ends the names of many files; `*.pem` those of keys."""
    assert told(f"rg x -g '{pattern}'") == path


@pytest.mark.parametrize(
    ("place", "home", "path"),
    [
        ('"$x"', "/people/anna", "all"),
        ('"$x/."', "/people/anna", "all"),
        ('"$x/.."', "/people/anna", "all"),
        ('"$x/b/../c"', "/people/anna", "all"),
        ('"$x"/*', "/people/anna", "all"),
        ('"$x"/?', "/people/anna", "all"),
        ('"$x/b"', "/people/anna", ""),
        ('"$x/b"', None, ""),
        ('"$x/people"', "/people/anna", "all"),
        ('"$x/Anna"', "/People/anna", "all"),
        ('"$x/people"', None, ""),
        ('"$x/.ssh"', None, "all"),
        ('"$x/gcloud"', None, "all"),
        ('"$x/hub"', None, ".config/hub"),
        ('"$x/.ecs"', None, "all"),
        ('"$x/etc"', None, "all"),
        ("${x}tc", None, "all"),
        ("${x}tcb", None, ""),
    ],
)
def test_all_below_a_place_asks_where_secrets_may_have_their_place_there(
    place: str, home: str | None, path: str
) -> None:
    """Of a place, its last name counts; the names above the home are such, too."""
    assert told(f"grep -r y {place}", home) == path


@pytest.mark.parametrize(
    ("name", "asks"),
    [
        ("*.pem", True),
        (".env~", True),
        ("*.py", False),
        ("*", False),
        ("*env", False),
    ],
)
def test_a_pattern_of_find_asks_where_it_gives_an_end_of_secret_names(
    name: str, asks: bool
) -> None:
    """Any other pattern asks where it matches a secret that there is; there is none."""
    assert bool(danger_of(f"find . -name '{name}' | xargs cat")) is asks
