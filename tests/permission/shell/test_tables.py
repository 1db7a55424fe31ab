"""The tables of what programs do with files, entry by entry: what is in one counts as such."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.permission.kit import Place, danger_of


def danger(command: str, home: Path) -> str:
    """Return why a person has to look at a command that runs beside a home with a key in it."""
    (home / ".ssh").mkdir(exist_ok=True)
    (home / ".ssh" / "id_rsa").touch()
    return danger_of(command, Place(Path("/usr"), home))


LISTING = """
ls dir vdir stat du find tree realpath readlink namei lsattr getfacl file eza exa lsd df
findmnt lsof fuser getcap getfattr grealpath
"""


@pytest.mark.parametrize("program", LISTING.split())
def test_what_lists_may_be_told_of_a_key(program: str, tmp_path: Path) -> None:
    """A program that looks at names and metadata shows no key; one that reads it does."""
    assert not danger(f"{program} ~/.ssh/id_rsa", tmp_path)
    assert danger(f"{program} ~/.ssh/id_rsa; cat ~/.ssh/id_rsa", tmp_path)


READERS = """
cat tac head tail less more nl wc sort uniq cut paste od xxd hexdump strings base64 md5sum sha1sum
sha256sum cksum sha512sum b2sum sum sed gsed awk gawk mawk jq yq bat batcat
"""


@pytest.mark.parametrize("program", READERS.split())
def test_what_reads_files_reads_no_home(program: str, tmp_path: Path) -> None:
    """A program that reads files reads nothing of a directory; one that searches reads it all."""
    script = {"sed": "-n p", "gsed": "-n p", "jq": ".", "yq": "."}.get(program, "")
    script = "1" if program.endswith("awk") else script
    assert not danger(f"{program} {script} ~", tmp_path)
    assert danger(f"{program} {script} ~/.ssh/id_rsa; rg x ~", tmp_path)


COUNTING = """
wc md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum md5 cloc tokei scc
"""


@pytest.mark.parametrize("program", COUNTING.split())
def test_what_counts_may_be_handed_all_names(program: str, tmp_path: Path) -> None:
    """A program that tells how much is in files shows none of it; one that prints it does."""
    assert not danger(f"find ~ | xargs {program}", tmp_path)
    assert danger("find ~ | xargs cat", tmp_path)


HISTORY = """
show HEAD:.ssh/id_rsa
cat-file -p HEAD:.ssh/id_rsa
log -p -- .ssh/id_rsa
whatchanged -p .ssh/id_rsa
grep key HEAD -- .ssh/id_rsa
diff HEAD -- .ssh/id_rsa
blame .ssh/id_rsa
annotate .ssh/id_rsa
config --blob HEAD:.ssh/id_rsa -l
diff-tree -p HEAD -- .ssh/id_rsa
diff-index -p HEAD -- .ssh/id_rsa
diff-files -p -- .ssh/id_rsa
range-diff a..b c..d -- .ssh/id_rsa
stash show -p -- .ssh/id_rsa
"""


@pytest.mark.parametrize("command", HISTORY.strip().splitlines())
def test_what_shows_history_shows_a_secret_in_it(command: str, tmp_path: Path) -> None:
    """What git shows of a secret that it keeps is asked about; of another file it is not."""
    assert danger(f"git {command}", tmp_path)
    assert not danger(f"git {command.replace('.ssh/id_rsa', 'src/main.c')}", tmp_path)
