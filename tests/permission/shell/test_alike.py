"""Which patterns stand for secrets, and which for no more than a place or an ending."""

from __future__ import annotations

import pytest

from agentscope_like.shell.facts.alike import (
    is_pattern,
    literal_folder,
    names_of_secrets,
    stands_for_places,
)
from agentscope_like.shell.surroundings import Surroundings

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


@pytest.mark.parametrize(
    ("pattern", "counts"),
    [
        ("*.c++", True),
        ("*.a.b*", False),
        ("*.[ch]", False),
        ("*/*.py", False),
        ("*/a/*.py", True),
        ("*/a/*", True),
        ("**/*", False),
        ("a*.py", True),
        ("*.py/x", True),
    ],
)
def test_only_a_plain_ending_is_no_place(pattern: str, counts: bool) -> None:
    """The last name is nothing but an ending or anything, and so is what stands before it."""
    assert stands_for_places(pattern) is counts


def test_a_text_without_a_pattern_is_its_own_folder() -> None:
    """What has no letter that stands for others is known throughout."""
    assert literal_folder("a/b") == "a/b"
    assert literal_folder("a/b*/c") == "a"
    assert literal_folder(r"a/b\c") == "a"
    assert literal_folder("a/[b]") == "a"
    assert literal_folder("?") == ""


@pytest.mark.parametrize("text", ["*", "a?", "[a", r"a\b"])
def test_each_letter_of_a_pattern_makes_one(text: str) -> None:
    """A text with one of them is a pattern; others are not."""
    assert is_pattern(text)
    assert not is_pattern("a.b-c]")


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*", ()),
        ("**/?*", ("/?", "?")),
        ("*foo*", ("foo",)),
        ("*/foo*", ("/foo", "foo")),
        ("a/*foo*", ("a/*foo", "foo")),
        ("*.pp?", (".pp?", "x.ppk")),
        ("*.PP?", (".pp?", "x.ppk")),
        ("*.en*", (".en", ".env")),
        ("/etc/sha*", ("/etc/sha", "sha")),
        ("~/.az*", ("~/.az", ".az")),
        (".nuget/n*/n*.CONFIG", (".nuget/n*/n*.config", "n*.config", ".nuget/nuget/nuget.config")),
        ("a/.dock*/?onfig.j*", ("a/.dock*/?onfig.j", "?onfig.j", ".docker/config.json")),
        (".docker/*", (".docker/", ".docker/config.json")),
        ("*kube/*", ("kube/",)),
        (r".bot\o*", (".boto",)),
    ],
)
def test_a_pattern_stands_for_what_it_matches(pattern: str, names: tuple[str, ...]) -> None:
    """It is told without its stars, with its last name, and with what of the table it matches."""
    assert names_of_secrets(pattern) == names


def test_an_ending_with_other_letters_is_more_than_one() -> None:
    """Where an ending leaves out a letter, whatever it matches is meant."""
    assert "secrets.json" in names_of_secrets("*.js[!x]n")
    assert "secrets.json" not in names_of_secrets("*.js*n")
