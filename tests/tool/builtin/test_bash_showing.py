"""Which programs show what is in a file that a search of the home has found, and which do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.permission import PermissionBehavior
from tests.tool.builtin.bash_kit import decide

UNSEEN = (
    *("ls -l", "stat", "du", "realpath", "readlink", "basename", "dirname", "file", "wc -l"),
    *("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum"),
    *("sum", "shasum", "cloc", "tokei", "lsattr", "getfacl", "getfattr", "namei"),
)
SHOWN = (
    *("cat", "tac", "head", "tail -n 1", "nl", "sort", "uniq", "cut -c 1", "od", "xxd", "hexdump"),
    *("strings", "base64", "sed -n p", "awk 1", "jq .", "grep x", "rev", "diff a", "git diff a"),
)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a workspace, and a home beside it that holds a secret."""
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    (tmp_path / "home" / ".ssh" / "id_rsa").write_text("secret")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.mark.parametrize("program", UNSEEN)
async def test_names_sizes_and_digests_show_nothing(program: str, work: Path) -> None:
    """What looks at names and metadata, or makes a number of a file, may be given any file."""
    decided = await decide(f"find ~ -type f | xargs {program}", work, ["allow"])
    assert decided.behavior is PermissionBehavior.ALLOW, decided.message


@pytest.mark.parametrize("program", SHOWN)
async def test_whatever_prints_a_file_is_asked_about(program: str, work: Path) -> None:
    """What prints all or a part of the files, in whatever form, would show the secrets."""
    assert (
        await decide(f"find ~ | xargs {program}", work, ["allow"])
    ).behavior is PermissionBehavior.ASK
