"""What a path may be of which only the end is known."""

from __future__ import annotations

import pytest

from agentscope_like.shell.secrets.endings import (
    is_anything,
    may_be_secret,
    may_be_sensitive,
    may_hold_secrets,
)

SECRET = """
/.aws/./credentials
/.aws//credentials
/.aws/cred*
/cred*
/a?.pem
/client_secre*.json
/client_secret?.json
/id_[r]sa
/.nuget/NuGet/NuGet.Config
/.azure
/.azure/x
/.ssh/
/.env/
/.ssh/config.d/x
/*/environ
/1/environ
/ssl/private/x
/run/secrets/x
/shadow
/dev/sda
etc/shadow
tc/shadow
roc/1/environ
w?/credentials
[w]s/credentials
y.pem
.env
.ENV
.netrc
id_rsa
credentials.json
config
shadow
"""

HARMLESS = """
/.env/x
/id_rsa/x
/x/etc/shadow
/x/dev/sda
/x/proc/1/environ
/w?/credentials
/?aws/credentials
/*aws/credentials
b/credentials
/b/credentials
/.ssh/x/a.pub
/.ssh/config.d
/ca.pem
/my-CA.pem
/x.pemx
/xnetrc
/..env
/proc/1/status
/private
/?
/*
/**
/*/*
?/*
ca.pem
.env.example
.envx
.py
.json
*.e
.e*
json
.
..
"""


@pytest.mark.parametrize("ending", SECRET.split())
def test_an_end_may_be_that_of_a_secret(ending: str) -> None:
    """The last names, or patterns of them, are those of a path of the table, or below one."""
    reason = may_be_secret(ending)
    assert reason is not None
    assert reason.startswith(f"what ends with `{ending}` may be `")


@pytest.mark.parametrize("ending", HARMLESS.split())
def test_an_end_may_be_that_of_no_secret(ending: str) -> None:
    """Names that are in another order, in another place, or say nothing at all, are harmless."""
    assert may_be_secret(ending) is None


@pytest.mark.parametrize("ending", ["/.bashrc", "/.git/hooks/x", "/hooks/x", ".bashrc", "/etc/x"])
def test_an_end_may_be_that_of_what_must_not_be_written(ending: str) -> None:
    """What is written is held against the table of what is sensitive to write."""
    assert may_be_sensitive(ending) is not None


@pytest.mark.parametrize("ending", ["/README", "/x/hooks/y", "/.ssh.md", "/x.pub/y", "/srv/etc/x"])
def test_another_end_may_be_written(ending: str) -> None:
    """A name that only looks alike is not sensitive."""
    assert may_be_sensitive(ending) is None


def test_one_table_says_nothing_of_the_other() -> None:
    """A start file of a shell may be read, and a device neither read nor written."""
    assert may_be_secret("/.bashrc") is None
    assert may_be_sensitive("/.bash_history") is None
    assert may_be_secret("/.bash_history") is not None


PLACES = """
/.docker
/.docker/
/gh
/GH
/.oci
/private
/task
/..
/a/../b/..
..
.aws
.AWS
/.a??
/[a-z]ell
"""

OTHER_PLACES = """
/.env
/id_rsa
/config.json
/src
/.docker/x
/docker
aws
.
/?x
/*docker
x.d
"""


@pytest.mark.parametrize("ending", PLACES.split())
def test_a_directory_may_be_the_place_of_secrets(ending: str) -> None:
    """Each directory in which, or above which, the table says that secrets are is one."""
    assert may_hold_secrets(ending, "/home/Dell")


@pytest.mark.parametrize("ending", OTHER_PLACES.split())
def test_another_directory_is_no_place_of_secrets(ending: str) -> None:
    """A secret itself is none, nor is a directory below such a place or of another name."""
    assert not may_hold_secrets(ending, "/home/Dell")


@pytest.mark.parametrize("ending", ["", "/", "/.", "/*", "/?", "*", "/src/*"])
def test_a_directory_of_any_name_may_be_the_place_of_secrets(ending: str) -> None:
    """Where nothing is known of the name, it may be any."""
    assert may_hold_secrets(ending, None)


def test_the_names_of_the_home_are_places_too() -> None:
    """Where no home is known, only the table says which places there are."""
    assert may_hold_secrets("/dell", "/home/Dell")
    assert may_hold_secrets("/home", "/home/Dell")
    assert not may_hold_secrets("/dell", "/home/me")
    assert not may_hold_secrets("/dell", None)
    assert may_hold_secrets("/.aws", None)


@pytest.mark.parametrize(
    ("ending", "anything"),
    [
        ("", True),
        ("/", True),
        ("/*", True),
        ("a/*?", True),
        ("*", True),
        ("?", True),
        ("/[a]", False),
        ("/a*", False),
        ("/*a", False),
        ("*/a", False),
        ("/a", False),
        ("a", False),
    ],
)
def test_an_end_may_be_any_name(ending: str, anything: bool) -> None:
    """Where the last name is not there or only of pattern characters, it may be any."""
    assert is_anything(ending) is anything
