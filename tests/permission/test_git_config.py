"""The settings of a git configuration file are read as git reads them, or not at all."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from agentscope_like.paths import (
    MOST_CONFIG_BYTES,
    GitConfigError,
    GitSetting,
    git_settings,
)

PIECES = (
    *(
        "[a]",
        '[a "B"]',
        "[a.b]",
        '[a "x\\"y"]',
        "[ a]",
        "[a ]",
        "\n",
        "\n",
        "\n",
        "k",
        "key",
        "k-1",
    ),
    *(" = ", "=", "v", '"', "\\", "\\n", "\\t", " ", "#", "; c", "\r\n", '[a\t"b"]', "[include]\n"),
    *(
        "path = x",
        "1",
        "\u00e9",
        '[a "b" ]',
        "\\\n",
        "\f",
        ". ",
        '[A "b.c"]k=v',
        "k=v\n",
        "[core]\n",
    ),
)


def test_settings_have_sections_and_values() -> None:
    """Sections and names are folded, subsections are not; a value may be quoted or go on."""
    text = b"""# comment
[Core] Bare = false ; and another
\tFsMonitor = "a b;c" d\\
 e
[remote "Origin.x"]
\turl
[diff.Odd] textconv=
"""
    assert git_settings(text) == [
        GitSetting("core.bare", "false"),
        GitSetting("core.fsmonitor", "a b;c d e"),
        GitSetting("remote.Origin.x.url", None),
        GitSetting("diff.odd.textconv", ""),
    ]


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        (b"\xef\xbb\xbf[a]k=v", "a.k", "v"),
        (b"[a]\r\nk = v \t\r\n", "a.k", "v"),
        (b"[a]k=v\f", "a.k", "v\f"),
        (b'[a]k=" v "', "a.k", " v "),
        (b"[a]k= v w # c", "a.k", "v w"),
        (b"[a]k=v;c", "a.k", "v"),
        (b'[a]k="v#c;d"e', "a.k", "v#c;de"),
        (b'[a]k=a\\tb\\n\\"\\\\c\\b', "a.k", 'a\tb\n"\\c\b'),
        (b'[a]k="a\\tb\\n\\"\\\\c\\b"', "a.k", 'a\tb\n"\\c\b'),
        (b"[a]k=a\\\nb\\\n c", "a.k", "ab c"),
        (b'[a]k="a\\\nb"', "a.k", "ab"),
        (b"[a]\n;c=1\n #d=1\nK-1=", "a.k-1", ""),
        (b"[a]k ; c", None, None),
        (b"[a]k\t\n", "a.k", None),
        (b"[A.b-9]k", "a.b-9.k", None),
        (b'[A \t"B\\"c\\\\d\\e]# "]k', 'a.B"c\\de]# .k', None),
        (b'[a ""]k=v', "a..k", "v"),
        (b"[a][b]k=v", "b.k", "v"),
        (b"[a]k=\xff", "a.k", "\udcff"),
        (b"[a]k=v" + b" " * (MOST_CONFIG_BYTES - 6), "a.k", "v"),
        (b"[a]k=v" + b" " * (MOST_CONFIG_BYTES - 5), None, None),
        (b"[a]k v", None, None),
        (b"[a]k=v\0w", None, None),
        (b"#\0\n[a]k=v", None, None),
        (b"[a]1=v", None, None),
        (b"[a]k_=v", None, None),
        (b'[a]k="v\nw"', None, None),
        (b'[a "b\n"]k', None, None),
        (b'[a "b\\\n"]k', None, None),
        (b'[a"b"]k', None, None),
        (b'[a "b" ]k', None, None),
        (b"[a_b]k", None, None),
    ],
)
def test_one_setting_is_read(text: bytes, key: str | None, value: str | None) -> None:
    """Blanks, comments, quotes, escapes and lines that go on are as in git; all else is refused."""
    if key is not None:
        assert git_settings(text) == [GitSetting(key, value)]
        return
    with pytest.raises(GitConfigError):
        git_settings(text)


def test_the_line_that_is_not_understood_is_told() -> None:
    """Lines are counted from one, whatever they end with."""
    for text, line in ((b"=", 1), (b"[a]\r\n\nk=v\n = w", 4)):
        with pytest.raises(GitConfigError, match=f"line {line} "):
            git_settings(text)


@pytest.mark.parametrize(
    "text",
    [b"[core", b'[core]\nx = "', b"[core]\nx = \\q", b"[core]\n=", b"x = y", b"[a]\n\0", b"[]"],
)
def test_what_is_not_understood_is_refused(text: bytes) -> None:
    """A setting that is overlooked would be one that nobody switches off."""
    with pytest.raises(GitConfigError):
        git_settings(text)
    assert git_settings(b"") == []


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_no_name_is_read_otherwise_than_by_git(tmp_path: Path) -> None:
    """Of random texts, either both find the same settings, or this reader refuses."""
    chance = random.Random(17)
    file = tmp_path / "config"
    both = 0
    for _ in range(150):
        text = "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 14)))
        file.write_text(text, newline="")
        listed = subprocess.run(
            ["git", "config", "-f", str(file), "--list", "--name-only", "-z"],
            capture_output=True,
            check=False,
        )
        try:
            keys = [setting.key for setting in git_settings(text.encode())]
        except GitConfigError:
            continue
        if listed.returncode == 0:
            assert keys == listed.stdout.decode().split("\0")[:-1], text
            both += bool(keys)
    assert both
