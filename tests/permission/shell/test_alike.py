"""Which patterns stand for secrets, and which for no more than a place or an ending."""

from __future__ import annotations

import pytest

from agentscope_like.permission.shell.alike import (
    is_pattern,
    literal_folder,
    names_of_secrets,
    stands_for_places,
)
from agentscope_like.permission.shell.surroundings import Surroundings

AROUND = Surroundings(directory="/work", working=(), root="/work", home="/home/u")


def names_a_secret(pattern: str) -> bool:
    """Return whether one of the names that a pattern stands for is to be kept secret."""
    return any(AROUND.why_not_read(AROUND.locate(name)) for name in names_of_secrets(pattern))


@pytest.mark.parametrize(
    "pattern",
    [
        *(".e*", ".en?", "[.]env", "[^a]env", "[[:punct:]]env", r"\.env", "*.env", ".env*", ".E*"),
        *("sub/.e*", "**/.env", "*env", "*.e*", "*.pem", "*.k*", "secret*", "id_*", "*_rsa"),
        *(".ss?", ".s*/x", ".ssh/*", ".docker/c*", ".aw?/cred*", "a/b/.kube/conf*", "*secrets*"),
    ],
)
def test_a_pattern_may_stand_for_a_secret(pattern: str) -> None:
    """Whatever letters it leaves open, it is held against the names that are known."""
    assert is_pattern(pattern)
    assert names_a_secret(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        *("*", "**", "?*", "src/*", "src/**", "src/**/*.ts", "*.py", "*.py*", "*.js*", "*.[jt]s"),
        *("*.y*ml", "*.json", "*.test.ts", "*_test.go", "test*", "package*.json", ".github/*"),
        *("*config*", "**/config.json", "docs/*.md", "*/settings.py", "Dockerfile*", "README*"),
    ],
)
def test_a_place_or_an_ending_stands_for_none(pattern: str) -> None:
    """What reaches a secret only as no pattern at all would is no more than that."""
    assert is_pattern(pattern)
    assert not names_a_secret(pattern)


@pytest.mark.parametrize(
    ("pattern", "folder", "counts"),
    [
        ("*.py", "", False),
        ("**/*.py", "", False),
        ("*", "", False),
        ("src/*.py", "src", True),
        ("src/*", "src", True),
        ("src/a*/b", "src", True),
        ("se*", "", True),
        ("*crets/a", "", True),
        ("?ecrets", "", True),
        ("a/b", "a/b", True),
    ],
)
def test_a_pattern_matches_below_a_directory(pattern: str, folder: str, counts: bool) -> None:
    """Up to the first letter that stands for others, it says where that is."""
    if is_pattern(pattern):
        assert literal_folder(pattern) == folder
    assert stands_for_places(pattern) is counts
