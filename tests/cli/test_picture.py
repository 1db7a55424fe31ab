"""The picture in the README."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def shown(path: Path) -> str:
    """Return the text of an SVG, without what depends on fonts and on the version of rich."""
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))
    return html.unescape("".join(texts)).replace("\xa0", " ")


def test_the_picture_shows_what_the_program_shows(tmp_path: Path) -> None:
    """The picture is what the program shows today; else run scripts/terminal_picture.py."""
    fresh = tmp_path / "terminal.svg"
    subprocess.run([sys.executable, ROOT / "scripts/terminal_picture.py", fresh], check=True)
    text = shown(fresh)
    assert "Edit asks" in text
    assert "Run it?" in text
    assert text == shown(ROOT / "docs/assets/terminal.svg")
