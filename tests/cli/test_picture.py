"""The pictures in the README and the documentation."""

from __future__ import annotations

import html
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from agentscope_like.sandbox.held import held_objection

ROOT = Path(__file__).parents[2]
SHOWN = {
    "terminal.svg": ["Edit asks", "Run it?"],
    "held-question.svg": ["ran held; apply?", "! ideas.txt (removed, -1)", "Apply it?"],
}


def shown(path: Path) -> str:
    """Return the text of an SVG, without what depends on fonts and on the version of rich."""
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))
    return html.unescape("".join(texts)).replace("\xa0", " ")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the pictures as they are drawn now."""
    folder = tmp_path_factory.mktemp("pictures")
    subprocess.run([sys.executable, ROOT / "scripts/terminal_picture.py", folder], check=True)
    return folder


@pytest.mark.parametrize("name", SHOWN)
def test_the_picture_shows_what_the_program_shows(fresh: Path, name: str) -> None:
    """Each picture is what the program shows today; else run scripts/terminal_picture.py."""
    if name == "held-question.svg":
        store = Path(tempfile.gettempdir(), "layers-tried")
        if objection := held_objection(store, [], home="/nowhere"):
            pytest.skip(objection)
    text = shown(fresh / name)
    for words in SHOWN[name]:
        assert words in text
    assert text == shown(ROOT / "docs/assets" / name)
